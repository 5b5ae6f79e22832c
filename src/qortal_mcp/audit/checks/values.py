"""Values inside results: JSON in texts, and numbers in JSON."""

import json
from collections.abc import Iterator
from typing import Any

from ..subjects import MISSING


def json_in(text: str) -> Any:
    """The JSON in a text; MISSING where it is none. Numbers in words are no JSON either."""
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
    left = [("", value)]
    while left:
        path, part = left.pop()
        if isinstance(part, int) and not isinstance(part, bool):
            yield path, part
        elif isinstance(part, dict):
            left += [(f"{path}.{key}", inner) for key, inner in part.items()]
        elif isinstance(part, list):
            left += [(f"{path}[{at}]", inner) for at, inner in enumerate(part)]
