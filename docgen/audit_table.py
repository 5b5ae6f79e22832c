"""The table of what `audit` finds: every code with its severity, its title, and who breaks on it."""

from qortal_mcp.audit.checks import CHECKS
from qortal_mcp.audit.judging.clients import impact, measured_clients, measured_codes

from .markdown import code, table


def codes_table() -> str:
    rows = [(code(one.code), one.severity, one.title, breaks(one.code)) for one in CHECKS]
    return table(["code", "severity", "what is found", "clients that break"], rows)


# With fewer exceptions than this the exceptions are shorter to read.
_FEW = 4


def breaks(name: str) -> str:
    """Which measured clients break on a code."""
    if name not in measured_codes():
        return "not measured"
    broken = [one.client for one in impact(name)]
    spared = [client for client in measured_clients() if client not in broken]
    if broken and len(spared) < _FEW:
        return f"all but {', '.join(spared)}" if spared else "all"
    return ", ".join(broken) or "none"
