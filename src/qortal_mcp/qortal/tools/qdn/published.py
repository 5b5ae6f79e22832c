"""One published resource, found in the listing: its metadata, and what the listing says about its content."""

from msgspec import UNSET, Struct, UnsetType

from ....server.tool_errors import refused
from ....text import original, printable
from ...endpoints.arbitrary import RESOURCES
from ...endpoints.record import DOTS
from ...node.failures import NodeFailure, not_found
from ...node.node import ABSENT, Reading
from ...replies.arbitrary import Resource
from ...words.services import Service, find_service
from ..registered import find_name

# What Core calls a resource without an identifier.
DEFAULT = "default"


class Found(Struct, frozen=True):
    resource: Resource
    # As Core writes it, hidden characters included.
    name: str
    notes: list[str]


def public_service(written: str) -> Service:
    """The service that an argument names. Raises: ToolError for services that hold encrypted data."""
    service = find_service(written)
    assert service is not None, "the argument was checked"
    if service.is_private:
        raise refused("Private services hold encrypted data and are not read here.")
    return service


def wanted_identifier(written: str | UnsetType) -> str | None:
    """None for the default resource, which has no identifier."""
    identifier = None if written is UNSET else original(written)
    return None if identifier == DEFAULT else identifier


async def find_published(reading: Reading, service: Service, name: str, identifier: str | None) -> Found:
    """Raises: ToolError if there is no such resource."""
    asked = original(name)
    row, notes = await _listed(reading, service, asked, identifier), []
    if row is None:
        # The listing wants a name exactly as registered; people spell it in their own way.
        registered = await registered_name(reading, asked)
        if registered != asked:
            asked = registered
            row = await _listed(reading, service, asked, identifier)
            notes.append(f'The registered name is "{printable(asked)}".')
    if row is None:
        raise not_found("Resource not found.")
    return Found(row, asked, notes)


async def registered_name(reading: Reading, asked: str) -> str:
    """A name as registered, or as given if it is not registered. Hidden characters included."""
    if asked in DOTS:
        return asked
    try:
        return original((await find_name(reading, asked)).name)
    except NodeFailure as exc:
        if exc.code not in ABSENT:
            raise
        return asked


async def _listed(reading: Reading, service: Service, name: str, identifier: str | None) -> Resource | None:
    rows = await reading.get(
        RESOURCES,
        service=service.name,
        name=name,
        identifier=identifier,
        default=True if identifier is None else None,
        includestatus=True,
        includemetadata=True,
        limit=1,
    )
    return rows[0] if rows else None
