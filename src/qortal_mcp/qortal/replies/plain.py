"""What replies are made of: counts, and text that is safe to show."""

from typing import Annotated

from msgspec import Meta

from ...text import printable, shortened
from ..limits import TEXT_CHARS

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


def plain(text: str | None) -> str | None:
    """A stranger's text, safe to show."""
    return None if text is None else printable(shortened(text, TEXT_CHARS))
