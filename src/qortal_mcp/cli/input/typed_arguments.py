"""Arguments for somebody else's tool or prompt: read by what its schema says about each."""

from collections.abc import Collection, Sequence

import msgspec
from msgspec import Raw

from ...protocol.decoding import decode_as
from ...text import shortened, visible
from ..running.failures import WrongUsage
from . import call_arguments


def read(words: Sequence[str], whole: str | None, texts: Collection[str]) -> dict[str, Raw]:
    """The arguments of a call. Those in `texts` take only text, and get exactly what was typed.

    Raises: WrongUsage.
    """
    call_arguments.check(words)
    typed = [word for word in words if "=" in word and word.partition("=")[0] in texts]
    found = call_arguments.read([word for word in words if word not in typed], whole)
    for word in typed:
        name, _, text = word.partition("=")
        if name in found:
            raise WrongUsage(f"The argument {_quoted(name)} is given twice.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise WrongUsage(f"The value of {_quoted(name)} is not UTF-8.") from None
        found[name] = Raw(msgspec.json.encode(text))
    return found


def texts_of(words: Sequence[str]) -> dict[str, str]:
    """Arguments that all take text, as those of prompts do. Raises: WrongUsage."""
    names = {word.partition("=")[0] for word in words} - {""}
    return {name: decode_as(raw, str) for name, raw in read(words, None, names).items()}


def _quoted(name: str) -> str:
    return f'"{shortened(visible(name), 60)}"'
