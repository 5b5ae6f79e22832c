"""Tables of bounds. The reasons are the comments that stand above the numbers in the code."""

import inspect
import re
from typing import Any

from msgspec import Struct

from qortal_mcp.limits import Limits
from qortal_mcp.qortal.limits import NodeLimits

from .markdown import code, table

_HEAD = "Of clients, and of what they are answered:"
_FIELD = re.compile(r"    (\w+): (?:Positive|Seconds) = ")
_COMMENT = re.compile(r"    # (.*)")


def all_limits() -> str:
    return f"{_HEAD}\n\n{_table(Limits)}\nOf a node:\n\n{_table(NodeLimits)}"


def _table(kind: type[Struct]) -> str:
    values = kind()
    rows = [(code(name), _written(name, getattr(values, name)), why) for name, why in reasons(kind)]
    return table(["limit", "value", "why"], rows)


def reasons(kind: type[Struct]) -> list[tuple[str, str]]:
    """Each field with the comment above it; fields that follow one another share a comment."""
    found: list[tuple[str, str]] = []
    comment: list[str] = []
    after_field = False
    for line in inspect.getsource(kind).splitlines():
        if match := _COMMENT.match(line):
            comment = [match[1]] if after_field else [*comment, match[1]]
            after_field = False
        elif match := _FIELD.match(line):
            found.append((match[1], " ".join(comment)))
            after_field = True
        else:
            comment, after_field = [], False
    return found


def _written(name: str, value: Any) -> str:
    if name.endswith("bytes") and value % 1024 == 0:
        return f"{value // 1024 // 1024} MiB" if value % (1024 * 1024) == 0 else f"{value // 1024} KiB"
    return f"{value:g} s" if name.endswith("seconds") else f"{value:,}"
