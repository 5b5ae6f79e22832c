"""Values that were meant to be something else: words for booleans, lists for text."""

from typing import Any

from . import values
from .repair import ABSENT

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def boolean(value: Any) -> Any:
    """The boolean that is meant; ABSENT if that cannot be known."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    return True if word in _TRUE else False if word in _FALSE else ABSENT


def text(value: Any) -> str:
    """A string, the parts of a list one per line, anything else as JSON."""
    if isinstance(value, list):
        return "\n".join(map(_part, value))
    return _part(value)


def _part(value: Any) -> str:
    return value if isinstance(value, str) else values.text_of(value)
