"""One row of a QDN search: a version of a resource, what its publisher says about it, and how it is rated."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....text import original, printable, shortened
from ...limits import LISTED_TEXT_CHARS, QDN_LISTED_VERSION_WINDOWS
from ...node.node import Reading
from ...replies.arbitrary import Publication, ResourceMetadata
from ...replies.arbitrary import Resource as ListedResource
from ...words.services import find_service, service_name
from ...words.times import IsoTime, Milliseconds, iso
from .publications import transaction
from .ratings import RATED, Rated, ratings
from .versions import versions_of, without_default

_UNCOUNTED = (
    "Rows without versions were published too often to count them here; get_qdn_resource counts those of one."
)


class Resource(Struct):
    """What is absent was not given by the publisher, or is not known here."""

    signature: str | None
    service: int | None
    serviceName: str | None
    name: str | None
    identifier: str | None
    size: Annotated[int | None, Meta(description="Bytes.")]
    timestamp: Annotated[int | None, Meta(description="Of this version, in ms.")]
    time: IsoTime | None
    publisher: Annotated[str | None, Meta(description="Null if the node lacks the transaction.")]
    blockHeight: Annotated[int | None, Meta(description="Null while unconfirmed.")]
    title: str | UnsetType = UNSET
    description: Annotated[str | UnsetType, Meta(description="Its beginning.")] = UNSET
    tags: list[str] | UnsetType = UNSET
    created: Annotated[Milliseconds | UnsetType, Meta(description="First published, if updated since.")] = (
        UNSET
    )
    createdTime: IsoTime | UnsetType = UNSET
    versions: Annotated[int | UnsetType, Meta(description="How often it was published.")] = UNSET
    rating: Annotated[Rated | UnsetType, Meta(description="Of an app or website.")] = UNSET


def version_row(row: Publication) -> Resource:
    return Resource(
        row.signature,
        row.service,
        service_name(row.service),
        row.name,
        row.identifier,
        row.size,
        row.timestamp,
        iso(row.timestamp),
        row.creatorAddress,
        row.blockHeight,
    )


async def latest_row(reading: Reading, row: ListedResource) -> Resource:
    """The latest version of a resource. Only its transaction says who published it."""
    service, version = find_service(row.service), await transaction(reading, row.latestSignature)
    timestamp = row.created if row.updated is None else row.updated
    found = Resource(
        row.latestSignature,
        None if service is None else service.code,
        row.service,
        row.name,
        row.identifier,
        row.size,
        timestamp,
        None if timestamp is None else iso(timestamp),
        None if version is None else version.creatorAddress,
        None if version is None or version.blockHeight is UNSET else version.blockHeight,
    )
    return described(found, None if service is not None and service.is_private else row)


def described(row: Resource, listed: ListedResource | None) -> Resource:
    """With what the publisher says about it."""
    if listed is None:
        return row
    told = listed.metadata or ResourceMetadata()
    row.title = told.title or UNSET
    row.description = _beginning(told.description) if told.description else UNSET
    row.tags = told.tags or UNSET
    if listed.created is not None and listed.updated is not None:
        row.created, row.createdTime = listed.created, iso(listed.created)
    else:
        row.versions = 1
    return row


def _beginning(text: str) -> str:
    return printable(shortened(original(text), LISTED_TEXT_CHARS))


async def rate(reading: Reading, rows: list[Resource]) -> None:
    apps = [row for row in rows if row.identifier is None and row.serviceName in RATED]
    known = await ratings(reading, {row.serviceName for row in apps if row.serviceName})
    for row in apps:
        row.rating = known.get((row.serviceName or "", row.name or ""), UNSET)


async def count(reading: Reading, rows: list[Resource]) -> list[str]:
    """Count the versions of what was updated since it was first published, and say so where that takes too much.

    Raises: ToolError.
    """
    updated: dict[tuple[str, str], list[Resource]] = {}
    for row in rows:
        if row.created is not UNSET and row.serviceName is not None and row.name is not None:
            updated.setdefault((row.serviceName, row.name), []).append(row)
    left, notes = QDN_LISTED_VERSION_WINDOWS, list[str]()
    for (service, name), of_name in updated.items():
        first_ms = min(row.created for row in of_name if row.created is not UNSET)
        counted, asked = await versions_of(reading, service, original(name), first_ms, left)
        left -= asked
        if counted is None:
            notes = [_UNCOUNTED]
            continue
        for row in of_name:
            row.versions = counted[without_default(row.identifier)]
    return notes
