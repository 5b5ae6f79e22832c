"""Values inside results: JSON in texts, and numbers in JSON."""

import json
from collections.abc import Iterator
from typing import Any

from ....schemas import paths
from ...subjects import MISSING


def json_in(text: str) -> Any:
    """The JSON in a text; MISSING where it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def compact(value: Any) -> str:
    try:
        return "" if value is MISSING else json.dumps(value, separators=(",", ":"))
    except (ValueError, RecursionError, TypeError):
        return ""


def numbers(value: Any) -> Iterator[tuple[str, int]]:
    """The whole numbers in a value, with their places."""
    # Iterators in place of lists: the places of a million numbers are not all kept.
    left: list[Iterator[tuple[str, Any]]] = [iter([("", value)])]
    while left:
        path, part = next(left[-1], ("", MISSING))
        if part is MISSING:
            left.pop()
        elif isinstance(part, int) and not isinstance(part, bool):
            yield path, part
        elif isinstance(part, dict | list):
            left.append(_inner(path, part))


def _inner(path: str, part: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(part, dict):
        for key, inner in part.items():
            yield paths.within(path, key), inner
    else:
        for at, inner in enumerate(part):
            yield paths.at(path, at), inner
