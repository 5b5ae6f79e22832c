"""Registered names."""

from msgspec import Struct

from .plain import plain


class NameSummary(Struct):
    name: str | None = None

    def __post_init__(self) -> None:
        self.name = plain(self.name)
