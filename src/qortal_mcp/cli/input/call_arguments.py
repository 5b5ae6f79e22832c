"""A tool's arguments as given on a command line: `key=value` words, or one JSON object.

A value is read as JSON if possible, otherwise as text. An argument that only takes text stays text even if it happens to
look like a number or a boolean: a name may be 123, and an amount 12.5.
"""

from collections.abc import Collection, Sequence

import msgspec
from msgspec import Raw

from ...server.input.private_keys import looks_secret
from ...text import shortened, visible
from ..running.failures import WrongUsage


def read(
    words: Sequence[str], whole: str | None, texts: Collection[str] = (), required: Sequence[str] = ()
) -> dict[str, Raw]:
    """The arguments of a call; numbers stay as typed. `texts` are those that only take text.

    Raises: WrongUsage.
    """
    check(words, required)
    found = {} if whole is None else _object(whole)
    for word in words:
        name, _, text = word.partition("=")
        if name in found:
            raise WrongUsage(f"The argument {_quoted(name)} is given twice.")
        found[name] = _value(name, text, name in texts)
    return found


def check(words: Sequence[str], required: Sequence[str] = ()) -> None:
    """Every word has a name. What is said of one without depends on what is known to be needed.

    Raises: WrongUsage.
    """
    for at, word in enumerate(words):
        if word.partition("=")[1] and not word.startswith("="):
            continue
        if looks_secret(" ".join(words)) or looks_secret(word):
            raise WrongUsage(
                "Arguments must be KEY=VALUE. One looks like a key or a seed: nothing here takes one."
            )
        raise WrongUsage(f"Arguments must be KEY=VALUE, not {_quoted(word)}.{_hint(words, at, required)}")


def _hint(words: Sequence[str], at: int, required: Sequence[str]) -> str:
    missing = [name for name in required if not any(word.startswith(f"{name}=") for word in words)]
    if len(missing) == 1:
        return f" Write {as_typed(f'{missing[0]}={words[at]}')}."
    if at and "=" in words[at - 1]:
        whole = as_typed(f"{words[at - 1]} {words[at]}")
        return f" If it belongs to the value before it, write both in quotes: {whole}."
    return ""


def as_typed(word: str) -> str:
    """As a shell reads it."""
    import shlex

    return shortened(visible(shlex.quote(word)), 120)


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
