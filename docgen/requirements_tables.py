"""The tables of what the specification demands: where the audit looks at it, and where its severity is another."""

from qortal_mcp.audit.checks import CHECKS

from .markdown import code, table
from .requirements import REQUIREMENTS, Requirement


def requirements_table() -> str:
    """Every requirement with the codes that find it, or the reason why none can."""
    every = [one for rows in REQUIREMENTS.values() for one in rows]
    parts = [f"{_count(every, 'MUST')}, {_count(every, 'SHOULD')}; the others say why there is none.\n"]
    for subject, rows in REQUIREMENTS.items():
        body = [(one.word, one.revisions, one.text, _how(one)) for one in rows]
        parts.append(f"**{subject}**\n\n" + table(["word", "revisions", "a server", "found by"], body))
    return "\n".join(parts)


def _count(rows: list[Requirement], word: str) -> str:
    mine = [one for one in rows if one.word == word]
    return f"{sum(bool(one.codes) for one in mine)} of {len(mine)} that say {word} have a check"


def _how(one: Requirement) -> str:
    return ", ".join(map(code, one.codes)) or f"no check: {one.reason}"


def departures_table() -> str:
    """Every check whose severity is not the word of the specification."""
    rows = [(one.severity, code(one.code), one.departs) for one in CHECKS if one.departs]
    return table(["here", "code", "why"], rows)
