"""What replies are made of: counts, and text that is safe to show."""

from typing import Annotated, overload

from msgspec import Meta

from ...text import printable, shortened
from ..limits import TEXT_CHARS

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


@overload
def plain(text: str, at_most: int = TEXT_CHARS) -> str: ...
@overload
def plain(text: None, at_most: int = TEXT_CHARS) -> None: ...
def plain(text: str | None, at_most: int = TEXT_CHARS) -> str | None:
    """A stranger's text, safe to show."""
    return None if text is None else printable(shortened(text, at_most))
