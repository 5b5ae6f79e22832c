"""JSON for files that are reviewed: one member per line, so that a change of one thing is a change of one line."""

from collections.abc import Iterable
from typing import Any

import msgspec

# What is not longer than this is easier to read on one line.
_SHORT = 100


def lines(value: Any, depth: int) -> str:
    """A value as JSON. Down to this depth, objects and lists of objects that are not short stand on several lines."""
    return _written(msgspec.to_builtins(value), depth, "") + "\n"


def _written(value: Any, depth: int, margin: str) -> str:
    flat = msgspec.json.encode(value).decode()
    if depth == 0 or len(flat) <= _SHORT or not _has_objects(value):
        return flat
    inner = margin + " "
    if isinstance(value, dict):
        members = (
            f"{msgspec.json.encode(name).decode()}: {_written(part, depth - 1, inner)}"
            for name, part in value.items()
        )
        return f"{{\n{_joined(members, inner)}\n{margin}}}"
    return f"[\n{_joined((_written(part, depth - 1, inner) for part in value), inner)}\n{margin}]"


def _has_objects(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )


def _joined(parts: Iterable[str], margin: str) -> str:
    return ",\n".join(margin + part for part in parts)
