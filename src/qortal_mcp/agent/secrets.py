"""Secrets that we hold, which a model, an endpoint or a server may repeat: they are never shown, kept or passed on."""

import re
from collections.abc import Iterable
from typing import Any

HIDDEN = "***"
# Shorter values are words like any other: without them nothing could be read.
_SHORTEST = 6
# What people give as a key to a server that wants none.
_PLACEHOLDERS = frozenset({"ollama", "lm-studio", "llama.cpp", "not-needed"})


def is_secret(value: str) -> bool:
    """Whether a key, token or header that we hold must not be seen."""
    return len(value) >= _SHORTEST and value.lower() not in _PLACEHOLDERS


class Secrets:
    """What must not be seen."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        # The longest first, in case that one is the beginning of another.
        self.values = sorted(set(filter(is_secret, values)), key=len, reverse=True)
        # Without values: what never matches.
        self.pattern = re.compile("|".join(map(re.escape, self.values)) or r"(?!)")

    def hidden(self, text: str) -> str:
        """The text without them."""
        return self.pattern.sub(HIDDEN, text)

    def hidden_in(self, value: Any) -> Any:
        """The same for all texts of a decoded value."""
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, list):
            return [self.hidden_in(item) for item in value]
        if isinstance(value, dict):
            return {self.hidden(name): self.hidden_in(item) for name, item in value.items()}
        return value


class SecretsInPieces:
    """The same for a text that arrives in pieces: the beginning of a secret is held back until it is known to be none."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = ""

    def add(self, piece: str) -> str:
        text = self._held + piece
        shown: list[str] = []
        at = 0
        while True:
            open_end = self._open_end(text, at)
            found = self._secrets.pattern.search(text, at)
            # One that begins where another may go on could be the beginning of that.
            if found is None or found.start() >= open_end:
                self._held = text[open_end:]
                return "".join([*shown, text[at:open_end]])
            shown += [text[at : found.start()], HIDDEN]
            at = found.end()

    def _open_end(self, text: str, start: int) -> int:
        """Where the beginning of a secret stands that has not arrived in full; the end of the text if nowhere."""
        values = self._secrets.values
        longest = len(values[0]) - 1 if values else 0
        for at in range(max(start, len(text) - longest), len(text)):
            rest = text[at:]
            if any(value.startswith(rest) and value != rest for value in values):
                return at
        return len(text)

    def end(self) -> str:
        held, self._held = self._held, ""
        return self._secrets.hidden(held)
