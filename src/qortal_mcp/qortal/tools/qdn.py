"""QDN, the data that people publish on the chain: what was published, never its content."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...server.tool import tool
from ...server.tool_errors import invalid_argument
from ..answers import ListAnswer, fitting, page_of
from ..endpoints.arbitrary import PUBLICATIONS
from ..node import Node
from ..replies.arbitrary import Publication
from ..services import find_service, service_name
from ..times import IsoTime, Milliseconds, iso
from ..types import (
    Address,
    ConfirmationStatus,
    FromHeight,
    GroupId,
    Heights,
    Name,
    Offset,
    Reverse,
    ServiceName,
    SmallLimit,
)


class QdnSearch(Struct, frozen=True, forbid_unknown_fields=True):
    address: Address | UnsetType = UNSET
    service: ServiceName | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    from_height: FromHeight | UnsetType = UNSET
    heights: Heights | UnsetType = UNSET
    status: Annotated[ConfirmationStatus, Meta(description="Whether in a block yet.")] = "CONFIRMED"
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
        raise invalid_argument("Invalid status.", "Only confirmed publications can be looked up by height.")
    reading = node.reading()
    start = args.from_height
    if start is UNSET and args.heights is not UNSET:
        start = max(1, await reading.height() - args.heights + 1)
    service = None if args.service is UNSET else find_service(args.service)
    rows = await reading.get(
        PUBLICATIONS,
        startBlock=start,
        blockLimit=args.heights,
        txGroupId=args.tx_group_id,
        service=None if service is None else service.name,
        name=args.name,
        address=args.address,
        confirmationStatus=args.status,
        limit=args.limit,
        offset=args.offset,
        reverse=args.reverse,
    )
    resources = fitting([_resource(row) for row in rows[: args.limit]])
    # Core does not tell whether more follow, so a full page is followed by one that may be empty.
    more = len(rows) >= args.limit or len(resources) < len(rows)
    resolved = {} if start is UNSET else {"from_height": start}
    return Resources(
        resources,
        page=page_of(args, args.offset, len(resources), more, **resolved),
        asOf=reading.as_of,
        notes=reading.notes(),
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
