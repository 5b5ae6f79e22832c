"""One QDN resource: what its publisher says about it, how often it was updated, how it is rated. Never its content."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...node.node import Node
from ...replies.arbitrary import ResourceMetadata, ResourceStatus
from ...words.arguments import AskedName, Identifier, ServiceName
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Answer
from ..read_only import tool
from .published import find_published, public_service, wanted_identifier
from .ratings import Rated, ratings
from .versions import count_versions

_PUBLISHED = "Published. The list does not say whether this node has the content."
_UNCOUNTED = "Too much was published under this name and service to count the versions."


def _described(status: ResourceStatus) -> str:
    """Core's words, except where they claim more than the list knows: it lags behind until somebody opens the content."""
    return _PUBLISHED if status.status == "PUBLISHED" else status.description


class OneResource(Struct, frozen=True, forbid_unknown_fields=True):
    service: ServiceName
    name: AskedName
    identifier: Identifier | UnsetType = UNSET


class ResourceAnswer(Answer):
    """Null: not given by the publisher."""

    service: int
    serviceName: str
    name: str
    identifier: str | None
    title: str | None
    description: str | None
    category: str | None
    tags: list[str]
    status: Annotated[
        str | None,
        Meta(
            description="As listed. READY: this node has it. PUBLISHED: it may have it, as the list lags behind."
        ),
    ]
    statusDescription: str | None
    size: Annotated[int | None, Meta(description="Bytes, as published (compressed).")]
    timestamp: Annotated[int | None, Meta(description="First published, in ms.")]
    time: IsoTime | None
    updated: Milliseconds | None
    updatedTime: IsoTime | None
    versions: Annotated[int | None, Meta(description="How often it was published. Null: too often to count.")]
    rating: Annotated[Rated | None, Meta(description="Of an app or website; null if not rated.")]
    latestSignature: Annotated[str | None, Meta(description="The newest transaction that published it.")]


@tool("QDN resource")
async def get_qdn_resource(args: OneResource, node: Node) -> ResourceAnswer:
    """One QDN resource: title, description, size, versions, times, rating, listed status. No content."""
    service = public_service(args.service)
    reading = node.reading()
    found = await find_published(reading, service, args.name, wanted_identifier(args.identifier))
    row = found.resource
    about = row.metadata or ResourceMetadata()
    versions = await count_versions(reading, service, found)
    rated = {} if row.identifier is not None else await ratings(reading, (service.name,))
    return ResourceAnswer(
        service=service.code,
        serviceName=row.service,
        name=row.name,
        identifier=row.identifier,
        title=about.title,
        description=about.description,
        category=about.categoryName or about.category,
        tags=about.tags,
        status=None if row.status is None else row.status.status,
        statusDescription=None if row.status is None else _described(row.status),
        size=row.size,
        timestamp=row.created,
        time=None if row.created is None else iso(row.created),
        updated=row.updated,
        updatedTime=None if row.updated is None else iso(row.updated),
        versions=versions,
        rating=rated.get((service.name, row.name)),
        latestSignature=row.latestSignature,
        asOf=reading.as_of,
        notes=reading.notes(*found.notes, *([_UNCOUNTED] if versions is None else [])),
    )
