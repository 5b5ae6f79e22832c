"""How often a resource was published. Core lists publications by name and service, not by identifier."""

from collections import Counter

from ...endpoints.arbitrary import PUBLICATIONS
from ...limits import QDN_VERSION_WINDOWS, QDN_VERSIONS_AT_ONCE
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.arbitrary import Publication
from ...words.services import Service
from .published import DEFAULT, Found

# Publications requested at once.
_WINDOW = 20


async def count_versions(reading: Reading, service: Service, found: Found) -> int | None:
    """None if that takes too many requests. Raises: ToolError."""
    resource = found.resource
    if resource.updated is None or resource.created is None:
        return 1
    counted, _ = await versions_of(reading, service.name, found.name, resource.created, QDN_VERSION_WINDOWS)
    return None if counted is None else counted[resource.identifier]


async def versions_of(
    reading: Reading, service: str, name: str, since_ms: int, most: int
) -> tuple[Counter[str | None] | None, int]:
    """How often each resource of a name that was first published at a time or later was published, by its identifier, and
    how many requests that took; None if it takes more than so many.

    Raises: ToolError.
    """

    async def window(number: int) -> list[Publication]:
        return await reading.get(
            PUBLICATIONS,
            service=service,
            name=name,
            confirmationStatus="CONFIRMED",
            limit=_WINDOW,
            offset=number * _WINDOW,
            reverse=True,
        )

    versions: dict[str, str | None] = {}
    asked, at_once = 0, 1
    while asked < most and reading.has_room:
        pages = await side_by_side(*(window(asked + number) for number in range(at_once)))
        asked += at_once
        for rows in pages:
            versions |= {row.signature: without_default(row.identifier) for row in rows}
            # Nothing older than its first version belongs to a resource.
            if len(rows) < _WINDOW or rows[-1].timestamp < since_ms:
                return Counter(versions.values()), asked
        at_once = min(2 * at_once, QDN_VERSIONS_AT_ONCE, most - asked)
    return None, asked


def without_default(identifier: str | None) -> str | None:
    return None if identifier == DEFAULT else identifier
