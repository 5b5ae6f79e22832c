"""docs/clients.md: what each measured client does with each defect, from the data that the audit uses."""

from collections.abc import Iterable, Sequence

from qortal_mcp.audit.checks import SUBJECTS
from qortal_mcp.audit.judging.clients import (
    MODERN_CLIENTS,
    Behaviour,
    Client,
    Outcome,
    behaviours,
    clients,
    measured_on,
)
from qortal_mcp.audit.reports.impacts import OUTCOME_WORDS

from .markdown import code, table

# One word for a cell; from worst to least.
_CELLS: dict[Outcome | None, str] = {
    "server unusable": "**off**",
    "hangs": "hangs",
    "call fails": "fails",
    "tool missing": "drops",
    "garbage": "misreads",
    None: "·",
}
_SHORT = {
    "codex": "Codex",
    "claude-code": "Claude",
    "gemini-cli": "Gemini",
    "ts-sdk-1": "TS 1",
    "ts-sdk-2": "TS 2",
    "inspector-cli": "Insp.",
    "ai-sdk-mcp": "AI SDK",
    "python-sdk-1": "Py 1",
    "python-sdk-2": "Py 2",
    "fastmcp": "Fast",
    "openai-agents": "OpenAI",
    "pydantic-ai": "Pyd.",
    "langchain-mcp-adapters": "Lang.",
    "ts-sdk-2-auto": "TS 2 auto",
    "codex+mcp_2026_07_28": "Codex 2026",
    "inspector-cli-auto": "Insp. auto",
}


def page() -> str:
    measured = behaviours()
    usual = [one for one in measured if not one.is_modern]
    modern = [one for one in measured if one.is_modern or "discover" in one.name]
    parts = [_HEAD.format(day=measured_on(), forms=len(measured), clients=len(clients())), _connecting()]
    parts.append(_LEGEND)
    parts += _matrices(usual, tuple(clients()), "###")
    parts.append("## Clients of 2026-07-28\n\nThe same with clients that try `server/discover` first.\n")
    parts += _matrices(modern, MODERN_CLIENTS, "###")
    parts.append("## Client by client\n")
    parts += [_client(key, one, measured) for key, one in clients(modes=True).items() if key in _SHORT]
    return "\n".join(parts)


_HEAD = """# What MCP clients do with what servers get wrong

Written by `scripts/docs` from `audit/judging/clients.json`. Measured on {day}: {forms} forms of defects, each served by a stub that does
nothing else wrong, to {clients} clients. Agents were the real programs with a scripted model; libraries were called directly. Other versions may
differ. `qortal-mcp audit --clients CODE` shows one defect with what was seen of each client; [audit.md](audit.md) explains the codes.
"""

_LEGEND = """## Defect by defect

· not affected; *misreads*: the call succeeds and the model gets nothing, or something wrong; *fails*: the call fails; *drops*: that tool is not
offered; *hangs*: nothing happens until the client gives up; **off**: none of the server's tools are offered. A cell is the worst of the forms
that were measured; an asterisk means that some forms do less harm. Empty: not measured.
"""


def _connecting() -> str:
    rows = [(one.name, one.version, one.asks, one.probes, one.pages, one.stale) for one in clients().values()]
    head = [
        "client",
        "version",
        "asks for",
        "tries server/discover",
        "pages it reads",
        "a session that is gone",
    ]
    return "## How they connect\n\n" + table(head, rows)


def _matrices(measured: Sequence[Behaviour], keys: Sequence[str], level: str) -> list[str]:
    """One table for each subject."""
    parts = []
    for subject, checks in SUBJECTS.items():
        rows = []
        for check in checks:
            forms = [one for one in measured if one.code == check.code]
            if forms:
                rows.append((f"{check.title} ({code(check.code)})", *(_cell(forms, key) for key in keys)))
        if rows:
            parts.append(f"{level} {subject}\n\n" + table(["defect", *(_SHORT[key] for key in keys)], rows))
    return parts


def _cell(forms: Iterable[Behaviour], key: str) -> str:
    found = [one.outcomes[key] for one in forms if key in one.outcomes]
    if not found:
        return ""
    worst = next(outcome for outcome in _CELLS if outcome in found)
    return _CELLS[worst] + ("\\*" if any(one != worst for one in found) else "")


def _client(key: str, client: Client, measured: Sequence[Behaviour]) -> str:
    mine = [one for one in measured if key in one.outcomes]
    fine = sum(one.outcomes[key] is None for one in mine)
    lines = [f"### {client.name} {client.version}", "", f"Not affected by {fine} of {len(mine)} forms.", ""]
    for outcome, words in OUTCOME_WORDS.items():
        hit = [one for one in mine if one.outcomes[key] == outcome]
        if hit:
            lines.append(f"- {words[:1].upper()}{words[1:]}: {', '.join(_named(hit, mine))}.")
    return "\n".join([*lines, ""])


def _named(hit: Sequence[Behaviour], mine: Sequence[Behaviour]) -> list[str]:
    """The codes, with the forms where not all of them do it."""
    found = []
    for name in dict.fromkeys(one.code for one in hit):
        all_forms = [one for one in mine if one.code == name]
        forms = [one for one in hit if one.code == name]
        only = (
            f" ({'; '.join(dict.fromkeys(one.form for one in forms))})" if len(forms) < len(all_forms) else ""
        )
        found.append(f"{code(name)}{only}")
    return found
