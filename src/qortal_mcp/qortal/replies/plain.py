"""What replies are made of: counts, and text that is safe to show."""

from typing import Annotated, overload

from msgspec import Meta

from ...text import printable, shortened
from ..limits import TEXT_CHARS

# Core counts in 64 bits; a number of any length would be passed on, added up and written out at any cost.
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
# Heights, and the numbers of assets and groups: what the node tells may be what it is asked for next.
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]


@overload
def plain(text: str, at_most: int = TEXT_CHARS) -> str: ...
@overload
def plain(text: None, at_most: int = TEXT_CHARS) -> None: ...
def plain(text: str | None, at_most: int = TEXT_CHARS) -> str | None:
    """A stranger's text, safe to show."""
    return None if text is None else printable(shortened(text, at_most))
