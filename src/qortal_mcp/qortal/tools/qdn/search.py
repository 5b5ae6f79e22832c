"""QDN, the data that people publish on the chain: what was published, never its content."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ....text import original, printable
from ...endpoints.names import NAMES_OF
from ...limits import LIMIT, PAGE_ROWS_BYTES, ROWS_BYTES
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...words.arguments import (
    Account,
    AskedName,
    ConfirmationStatus,
    EarlierThan,
    FromHeight,
    GroupId,
    Heights,
    LaterThan,
    Offset,
    Reverse,
    ServiceName,
    SmallLimit,
)
from ...words.services import Service
from ...words.times import iso, milliseconds
from ..answers import ListAnswer, fitting, page_at
from ..read_only import tool
from ..scanning.spans import span_of
from .publications import Wanted, each_once, every_version
from .published import public_service, registered_name
from .rows import Resource, count, described, latest_row, rate, version_row
from .topics import Topic, about

_Words = Annotated[str, Meta(min_length=1, max_length=100, description="Topic words, all required.")]
_PAGE_ROWS = 10
_REPEATED = (
    "Of some resources the latest version is not among those asked for; an earlier page may have shown them."
)
_NO_TAGS = "Nodes look for words in names, identifiers, titles and descriptions, not in tags."
# Names that Core searches at once.
_NAMES = 20


class QdnSearch(Struct, frozen=True, forbid_unknown_fields=True):
    query: _Words | UnsetType = UNSET
    address: Account | UnsetType = UNSET
    service: (
        Annotated[ServiceName, Meta(description="Such as APP, WEBSITE, BLOG_POST or 1110.")] | UnsetType
    ) = UNSET
    name: AskedName | UnsetType = UNSET
    from_height: Annotated[FromHeight, Meta(description="First block.")] | UnsetType = UNSET
    heights: Annotated[Heights, Meta(description="Blocks from from_height, else the newest.")] | UnsetType = (
        UNSET
    )
    since: Annotated[LaterThan, Meta(description="After this time (ISO, ms, 7d).")] | UnsetType = UNSET
    until: Annotated[EarlierThan, Meta(description="Before this time.")] | UnsetType = UNSET
    status: Annotated[ConfirmationStatus, Meta(description="In a block yet.")] = "CONFIRMED"
    history: Annotated[bool, Meta(description="List all versions.")] = False
    limit: SmallLimit = _PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True
    tx_group_id: GroupId | UnsetType = UNSET


class Resources(ListAnswer):
    resources: Annotated[
        list[Resource], Meta(description="Newest version first; with query, by the first version.")
    ]


class Hits(Struct):
    """Rows with their offsets in Core's list."""

    rows: list[tuple[int, Resource]]
    # How many of Core's rows were looked at.
    read: int
    following: int | None
    is_cut: bool = False
    # Arguments of the next page that were computed here.
    resolved: dict[str, Any] = {}
    notes: list[str] = []


@tool("Search QDN")
async def search_qdn(args: QdnSearch, node: Node) -> Resources:
    """What was published on QDN by topic, publisher, service or name (at least one), newest
    first: latest version with title, size, rating, number of versions; no content."""
    _refuse_contradictions(args)
    service = None if args.service is UNSET else public_service(args.service)
    reading = node.reading()
    search = _publications if args.query is UNSET else _topic
    asked = registered = None if args.name is UNSET else original(args.name)
    hits = await search(reading, args, service, asked)
    if asked is not None and not hits.read:
        # Core's lists ignore case but not look-alikes; the other tools ignore both.
        registered = await registered_name(reading, asked)
        hits = hits if registered == asked else await search(reading, args, service, registered)
    elif asked is not None and hits.rows and (name := hits.rows[0][1].name) is not None:
        registered = original(name)
    rows = [row for _, row in hits.rows]
    await rate(reading, rows)
    uncounted = await count(reading, rows)
    resources = fitting(rows, PAGE_ROWS_BYTES if args.limit <= _PAGE_ROWS else ROWS_BYTES)
    following = hits.following if len(resources) == len(rows) else hits.rows[len(resources)][0]
    notes, resolved = [*hits.notes, *uncounted], {**hits.resolved}
    if registered is not None and registered != asked and resources:
        resolved["name"] = printable(registered)
        notes.append(f'The registered name is "{printable(registered)}".')
    if hits.is_cut:
        notes.append(f"Stopped after looking at {hits.read} rows of the node; page.next goes on from there.")
    return Resources(
        resources,
        page=page_at(args, len(resources), following, **resolved),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _refuse_contradictions(args: QdnSearch) -> None:
    """Raises: ToolError."""
    if args.query is UNSET and args.address is UNSET and args.service is UNSET and args.name is UNSET:
        raise invalid_argument("Invalid arguments.", "Give at least one of query, address, service and name.")
    by_height = args.from_height is not UNSET or args.heights is not UNSET
    by_time = args.since is not UNSET or args.until is not UNSET
    if by_height and by_time:
        raise invalid_argument("Invalid arguments.", "Give either heights or times.")
    if (by_height or by_time) and args.status != "CONFIRMED":
        raise invalid_argument(
            "Invalid status.", "Only confirmed publications can be searched by height or time."
        )
    if args.query is UNSET:
        return
    if not original(args.query).split():
        raise invalid_argument("Invalid query.", "Give at least one word.")
    if by_height or args.status != "CONFIRMED" or args.history or args.tx_group_id is not UNSET:
        raise invalid_argument(
            "Invalid query.", "It combines with address or name, service, since and until only."
        )
    if args.address is not UNSET and args.name is not UNSET:
        raise invalid_argument("Invalid address.", "With query, give either address or name.")


async def _publications(reading: Reading, args: QdnSearch, service: Service | None, name: str | None) -> Hits:
    """What Core's search of transactions finds."""
    start, blocks = args.from_height, args.heights
    resolved: dict[str, Any] = {}
    if args.since is not UNSET or args.until is not UNSET:
        span = await span_of(reading, args.since, args.until)
        start, blocks = span.first, span.last - span.first + 1
        # What is published meanwhile must not shift the pages.
        resolved["until"] = iso(span.until_ms)
        if blocks < 1:
            return Hits([], 0, None)
    elif start is UNSET and blocks is not UNSET:
        start = resolved["from_height"] = max(1, await reading.height() - blocks + 1)
    wanted = Wanted(
        service=None if service is None else service.name,
        name=name,
        address=args.address or None,
        group_id=None if args.tx_group_id is UNSET else args.tx_group_id,
        status=args.status,
        first_block=start or None,
        blocks=blocks or None,
        newest_first=args.reverse,
    )
    find = every_version if args.history else each_once
    found = await find(reading, wanted, args.limit, args.offset)
    rows = [(row.at, described(version_row(row.publication), row.listed)) for row in found.rows]
    notes = [_REPEATED] if found.may_repeat else []
    return Hits(rows, found.read, found.following, found.is_cut, resolved, notes)


async def _topic(reading: Reading, args: QdnSearch, service: Service | None, name: str | None) -> Hits:
    """What Core's search of resources finds."""
    names, notes = None if name is None else [name], []
    if args.address is not UNSET:
        owned = await reading.get(NAMES_OF, address=args.address, limit=LIMIT)
        names = [original(row.name) for row in owned[:_NAMES] if row.name]
        if not names:
            return Hits([], 0, None, notes=["This account owns no name, and topics are found by name."])
        notes.append("Searched are the names that this account owns now.")
        if len(owned) > _NAMES:
            notes.append(f"Only the first {_NAMES} names of this account are searched.")
    if args.since is not UNSET or args.until is not UNSET:
        notes.append("With query, since and until are about the first version.")
    topic = Topic(
        words=original(args.query or "").split(),
        service=None if service is None else service.name,
        names=names,
        after_ms=None if args.since is UNSET else milliseconds(args.since),
        before_ms=None if args.until is UNSET else milliseconds(args.until),
        newest_first=args.reverse,
    )
    found = await about(reading, topic, args.limit, args.offset)
    rows = await side_by_side(*(latest_row(reading, row.resource) for row in found.rows))
    if not rows:
        notes.append(_NO_TAGS)
    placed = [(each.at, row) for each, row in zip(found.rows, rows, strict=True)]
    return Hits(placed, found.read, found.following, found.is_cut, {}, notes)
