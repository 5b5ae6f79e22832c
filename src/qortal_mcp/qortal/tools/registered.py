"""One registered name, found by its path or, where that is never sent, through the search."""

from ...text import original
from ..endpoints.names import NAME, NAMES_SEARCH
from ..endpoints.record import DOTS, fits_a_path, json_of
from ..limits import LIMIT
from ..node.failures import not_found
from ..node.node import Reading
from ..replies.names import RegisteredName

# Core has other endpoints at these paths. Its names ignore case, its paths do not.
_SHADOWED = frozenset({"search", "forsale"})
# How many pages of the search are looked through. In it `%` and `_` match any text, so others may come first.
_PAGES = 5

_read_names = json_of(list[RegisteredName])


async def find_name(reading: Reading, asked: str, pages: int = _PAGES) -> RegisteredName:
    """Look-alikes are found too, except for names that can only be searched. Raises: ToolError."""
    if fits_a_path(asked) or asked in DOTS:  # which no name can be, so that it is refused
        return await reading.get(NAME, name=asked.upper() if asked in _SHADOWED else asked)
    for page in range(pages):
        rows = await reading.get_as(
            _read_names, NAMES_SEARCH, query=asked, prefix=True, limit=LIMIT, offset=page * LIMIT
        )
        # The search ignores case, and no two names differ in nothing else.
        for row in rows:
            if original(row.name).lower() == asked.lower():
                return row
        if len(rows) < LIMIT:
            break
    raise not_found("Name not found.")
