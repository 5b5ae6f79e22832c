"""Secrets that we hold, which a model, an endpoint or a server may repeat: they are never shown, kept or passed on."""

from collections.abc import Iterable
from typing import Any

HIDDEN = "***"
# Shorter values are words like any other: without them nothing could be read.
_SHORTEST = 6


class Secrets:
    """What must not be seen."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        # The longest first, in case that one is part of another.
        self.values = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)

    def hidden(self, text: str) -> str:
        """The text without them."""
        for value in self.values:
            text = text.replace(value, HIDDEN)
        return text

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
        if not self._secrets.values:
            return piece
        text = self._secrets.hidden(self._held + piece)
        at = len(text) - self._open_end(text)
        self._held = text[at:]
        return text[:at]

    def _open_end(self, text: str) -> int:
        """How many characters at the end may be the beginning of a secret."""
        longest = min(len(text), len(self._secrets.values[0]) - 1)
        return next(
            (
                size
                for size in range(longest, 0, -1)
                if any(value.startswith(text[-size:]) for value in self._secrets.values)
            ),
            0,
        )

    def end(self) -> str:
        held, self._held = self._held, ""
        return held
