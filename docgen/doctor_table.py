"""The table of what `doctor` checks."""

from qortal_mcp.doctor.checks import CHECKS

from .markdown import code, table


def checks_table() -> str:
    return table(["check", "question"], [(code(one.code), one.asks) for one in CHECKS])
