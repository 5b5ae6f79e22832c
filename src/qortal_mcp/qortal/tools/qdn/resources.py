"""QDN, the data that people publish on the chain: what was published, never its content."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ....text import original, printable
from ...endpoints.arbitrary import PUBLICATIONS
from ...node.node import Node
from ...replies.arbitrary import Publication, ResourceMetadata, ResourceStatus
from ...words.arguments import (
    Address,
    AskedName,
    ConfirmationStatus,
    FromHeight,
    GroupId,
    Heights,
    Identifier,
    Offset,
    Reverse,
    ServiceName,
    SmallLimit,
)
from ...words.services import service_name
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Answer, ListAnswer, fitting, page_of
from ..read_only import tool
from .published import find_published, public_service, registered_name, wanted_identifier

_PUBLISHED = "Published. The list does not say whether this node has the content."


class QdnSearch(Struct, frozen=True, forbid_unknown_fields=True):
    address: Address | UnsetType = UNSET
    service: ServiceName | UnsetType = UNSET
    name: AskedName | UnsetType = UNSET
    from_height: FromHeight | UnsetType = UNSET
    heights: Heights | UnsetType = UNSET
    status: Annotated[ConfirmationStatus, Meta(description="Whether it is in a block yet.")] = "CONFIRMED"
    limit: SmallLimit = 10
    offset: Offset = 0
    reverse: Reverse = True
    tx_group_id: GroupId | UnsetType = UNSET


class Resource(Struct):
    signature: str
    service: int
    serviceName: str | None
    name: str | None
    identifier: str | None
    size: Annotated[int, Meta(description="Bytes.")]
    timestamp: Milliseconds
    time: IsoTime
    publisher: str
    blockHeight: Annotated[int | None, Meta(description="Null while unconfirmed.")]


class Resources(ListAnswer):
    resources: list[Resource]


@tool("Search QDN")
async def search_qdn(args: QdnSearch, node: Node) -> Resources:
    """Find what was published on QDN (websites, apps, blog posts, files...) by publisher, service or
    registered name, newest first. Give at least one of these. Returns metadata, no content."""
    if args.address is UNSET and args.service is UNSET and args.name is UNSET:
        raise invalid_argument("Invalid arguments.", "Give at least one of address, service and name.")
    by_height = args.from_height is not UNSET or args.heights is not UNSET
    if by_height and args.status != "CONFIRMED":
        raise invalid_argument("Invalid status.", "Only confirmed publications can be searched by height.")
    service = None if args.service is UNSET else public_service(args.service)
    reading = node.reading()
    start = args.from_height
    if start is UNSET and args.heights is not UNSET:
        start = max(1, await reading.height() - args.heights + 1)

    async def publications(name: str | None) -> list[Publication]:
        return await reading.get(
            PUBLICATIONS,
            startBlock=start,
            blockLimit=args.heights,
            txGroupId=args.tx_group_id,
            service=None if service is None else service.name,
            name=name,
            address=args.address,
            confirmationStatus=args.status,
            limit=args.limit,
            offset=args.offset,
            reverse=args.reverse,
        )

    asked = None if args.name is UNSET else original(args.name)
    registered = asked
    rows = await publications(asked)
    if asked is not None and not rows:
        # Core's list ignores case but not look-alikes; the other tools ignore both.
        registered = await registered_name(reading, asked)
        rows = rows if registered == asked else await publications(registered)
    elif asked is not None and rows[0].name is not None:
        registered = original(rows[0].name)
    resources = fitting([_resource(row) for row in rows[: args.limit]])
    # Core does not say whether more follow, so a full page is followed by one that may be empty.
    more = len(rows) >= args.limit or len(resources) < len(rows)
    resolved: dict[str, Any] = {} if start is UNSET else {"from_height": start}
    notes = []
    if registered is not None and registered != asked and resources:
        resolved["name"] = printable(registered)
        notes.append(f'The registered name is "{printable(registered)}".')
    return Resources(
        resources,
        page=page_of(args, args.offset, len(resources), more, **resolved),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _resource(row: Publication) -> Resource:
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
    latestSignature: Annotated[str | None, Meta(description="The newest transaction that published it.")]


@tool("QDN resource")
async def get_qdn_resource(args: OneResource, node: Node) -> ResourceAnswer:
    """One QDN resource: title, description, size, times, listed status. No content."""
    service = public_service(args.service)
    reading = node.reading()
    found = await find_published(reading, service, args.name, wanted_identifier(args.identifier))
    row = found.resource
    about = row.metadata or ResourceMetadata()
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
        latestSignature=row.latestSignature,
        asOf=reading.as_of,
        notes=reading.notes(*found.notes),
    )
