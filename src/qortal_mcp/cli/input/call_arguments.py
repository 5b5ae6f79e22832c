"""A tool's arguments as given on a command line: `key=value` words, or one JSON object.

A value is read as JSON if possible, otherwise as text. An argument that only takes text stays text even if it happens to
look like a number or a boolean: a name may be 123, and an amount 12.5.
"""

from collections.abc import Collection, Sequence

import msgspec
from msgspec import Raw

from ...text import shortened, visible
from ..running.failures import WrongUsage


def read(words: Sequence[str], whole: str | None, texts: Collection[str] = ()) -> dict[str, Raw]:
    """The arguments of a call; numbers stay as typed. `texts` are those that only take text.

    Raises: WrongUsage.
    """
    found = {} if whole is None else _object(whole)
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise WrongUsage(f"Arguments must be KEY=VALUE, not {_quoted(word)}.")
        if name in found:
            raise WrongUsage(f"The argument {_quoted(name)} is given twice.")
        found[name] = _value(name, text, name in texts)
    return found


def _object(whole: str) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(whole, type=dict[str, Raw])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise WrongUsage("--args must be a JSON object.") from None


def _value(name: str, text: str, is_text: bool) -> Raw:
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise WrongUsage(f"The value of {_quoted(name)} is not UTF-8.") from None
    try:
        value = msgspec.json.decode(encoded)
    except (msgspec.DecodeError, RecursionError):
        return Raw(msgspec.json.encode(text))
    return Raw(msgspec.json.encode(text) if is_text and isinstance(value, bool | int | float) else encoded)


def _quoted(text: str) -> str:
    return f'"{shortened(visible(text), 60)}"'
