"""Tables of bounds. The reasons are the comments that stand above the numbers in the code."""

import inspect
import re
from typing import Any

from msgspec import Struct

from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.bridge.gathered.limits import GatheredLimits
from qortal_mcp.bridge.limits import BridgeLimits
from qortal_mcp.console.asking.limits import ConsoleLimits
from qortal_mcp.limits import Limits
from qortal_mcp.qortal.limits import NodeLimits

from .markdown import code, table

_HEAD = "Of clients, and of what they are answered:"
_FIELD = re.compile(r"    (\w+): (?:Positive|Seconds)(?: \| None)? = ")
_COMMENT = re.compile(r"    # (.*)")


def all_limits() -> str:
    return (
        f"{_HEAD}\n\n{_table(Limits)}\nOf a node:\n\n{_table(NodeLimits)}\n"
        f"Of a question to a model (`ask`):\n\n{_table(AgentLimits)}\n"
        f"Of questions over HTTP (`POST /ask`):\n\n{_table(ConsoleLimits)}"
    )


def agent_limits() -> str:
    return _table(AgentLimits)


def bridge_limits() -> str:
    return _table(BridgeLimits)


def gathered_limits() -> str:
    return _table(GatheredLimits)


def _table(kind: type[Struct]) -> str:
    values = kind()
    rows = [
        (
            ", ".join(code(name) for name in names),
            " · ".join(_written(name, getattr(values, name)) for name in names),
            why,
        )
        for names, why in reasons(kind)
    ]
    return table(["limit", "value", "why"], rows)


def reasons(kind: type[Struct]) -> list[tuple[tuple[str, ...], str]]:
    """The fields below each comment, and the comment, which is about all of them."""
    found: list[tuple[tuple[str, ...], str]] = []
    names: tuple[str, ...] = ()
    comment: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        if match := _FIELD.match(line):
            names = (*names, match[1])
            continue
        if names:
            found.append((names, " ".join(comment)))
            names, comment = (), []
        comment = [*comment, match[1]] if (match := _COMMENT.match(line)) else []
    return [*found, (names, " ".join(comment))] if names else found


def _written(name: str, value: Any) -> str:
    if value is None:
        return "no limit"
    if name.endswith("bytes") and value % 1024 == 0:
        return f"{value // 1024 // 1024} MiB" if value % (1024 * 1024) == 0 else f"{value // 1024} KiB"
    return f"{value:g} s" if name.endswith("seconds") else f"{value:,}"
