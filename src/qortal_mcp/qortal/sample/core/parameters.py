"""Query parameters as Core reads them: the first value counts, an empty number counts as missing."""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import parse_qsl

from .replies import bad_parameter, core_error

_INT_BITS = 31
_LONG_BITS = 63


class Parameters:
    def __init__(self, query: str) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in parse_qsl(query, keep_blank_values=True, errors="replace"):
            self._values.setdefault(name, []).append(value)

    def text(self, name: str) -> str | None:
        values = self._values.get(name)
        return values[0] if values else None

    def texts(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def integer(self, name: str, bits: int = _INT_BITS) -> int | None:
        text = self.text(name)
        return None if not text else _integer(name, text, bits)

    def longs(self, name: str) -> list[int]:
        return [_integer(name, text, _LONG_BITS) for text in self.texts(name) if text]

    def long(self, name: str) -> int | None:
        return self.integer(name, _LONG_BITS)

    def flag(self, name: str) -> bool:
        return (self.text(name) or "").lower() == "true"

    def answer(self, name: str) -> bool | None:
        """True, false, or None if not given."""
        return self.flag(name) if self.text(name) else None

    def choice(self, name: str, allowed: Collection[str]) -> str | None:
        """One of Core's own words, as Core writes it."""
        text = self.text(name)
        if text and text not in allowed:
            raise bad_parameter(name)
        return text or None

    def choices(self, name: str, allowed: Collection[str]) -> list[str]:
        """Several of Core's own words."""
        texts = [text for text in self.texts(name) if text]
        if not set(texts) <= set(allowed):
            raise bad_parameter(name)
        return texts


def path_integer(name: str, text: str) -> int:
    """A part of the path that is a number."""
    return _integer(name, text, _INT_BITS)


def path_long(name: str, text: str) -> int:
    """A part of the path that is a number of 64 bits."""
    return _integer(name, text, _LONG_BITS)


def _integer(name: str, text: str, bits: int) -> int:
    digits = text[1:] if text[0] in "+-" else text
    # No longer than a 64-bit number: Core would refuse it anyway.
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
        raise bad_parameter(name)
    number = int(text)
    if not -(2**bits) <= number < 2**bits:
        raise bad_parameter(name)
    return number


class Paging:
    """limit, offset and reverse, as the database takes them."""

    def __init__(self, parameters: Parameters) -> None:
        self.limit = parameters.integer("limit")
        self.offset = parameters.integer("offset") or 0
        self.reverse = parameters.flag("reverse")

    def of(self, rows: Sequence[Any]) -> list[Any]:
        """The page of rows that are in ascending order."""
        return self.cut(rows[::-1] if self.reverse else rows)

    def cut(self, rows: Sequence[Any]) -> list[Any]:
        """The page of rows that are in the order asked for."""
        if self.offset < 0:
            raise core_error(5)
        return list(rows[self.offset :] if self.all else rows[self.offset : self.offset + (self.limit or 0)])

    @property
    def all(self) -> bool:
        return self.limit is None or self.limit <= 0
