"""Who comes to and leaves groups: invitations, requests to join, bans and kicks."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.groups import BANS, GROUP, INVITES_OF, INVITES_TO, KICKS, REQUESTS_OF, REQUESTS_TO
from ...endpoints.record import Endpoint
from ...limits import PAGE_ROWS
from ...node.node import Node, Reading
from ...replies.groups import Ban, Invite, JoinRequest, Kick
from ...words.arguments import Address, GroupNumber, Limit, Offset, Reverse
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import ListAnswer, fitting, follows, one_more, page_of
from ..read_only import tool

Row = Invite | JoinRequest | Ban | Kick

# What Core lists without pages: by group, and by address if it can.
_WHOLE_LISTS: dict[str, tuple[Endpoint[Any], Endpoint[Any] | None]] = {
    "invites": (INVITES_TO, INVITES_OF),
    "join_requests": (REQUESTS_TO, REQUESTS_OF),
    "bans": (BANS, None),
}


class EventList(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Annotated[Literal["invites", "join_requests", "bans", "kicks"], Meta(description="What to list.")]
    group_id: GroupNumber | UnsetType = UNSET
    address: Address | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Event(Struct, omit_defaults=True):
    groupId: int
    address: Annotated[str, Meta(description="Who was invited, asks to join, was banned or kicked.")]
    by: Annotated[str | UnsetType, Meta(description="Who did it, if known.")] = UNSET
    timestamp: Milliseconds | UnsetType = UNSET
    time: IsoTime | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    expiry: Annotated[int | UnsetType, Meta(description="In ms; absent if it does not expire.")] = UNSET
    expiryTime: IsoTime | UnsetType = UNSET
    isExpired: Annotated[bool | UnsetType, Meta(description="As of the newest block.")] = UNSET


class Events(ListAnswer):
    events: list[Event]


@tool("Group events")
async def list_group_events(args: EventList, node: Node) -> Events:
    """Invitations, join requests or bans of a group; invitations, join requests or kicks of an address.
    Expired ones are marked."""
    reading = node.reading()
    rows, has_more = await (_kicks if args.kind == "kicks" else _whole_list)(reading, args)
    if not rows and args.group_id is not UNSET:
        await reading.get(GROUP, groupid=args.group_id)  # a group that does not exist is not an empty group
    events = fitting([_event(row, reading.as_of.time) for row in rows])
    return Events(
        events,
        page=page_of(args, args.offset, len(events), has_more or len(events) < len(rows)),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _kicks(reading: Reading, args: EventList) -> tuple[list[Row], bool]:
    """Newest first."""
    if args.address is UNSET:
        raise invalid_argument("Invalid address.", "Kicks are listed by address; group_id filters them.")
    rows: list[Row] = [
        *await reading.get(
            KICKS,
            address=args.address,
            groupId=args.group_id,
            limit=one_more(args.limit),
            offset=args.offset,
            reverse=args.reverse,
        )
    ]
    shown = rows[: args.limit]
    return shown, follows(rows, shown)


async def _whole_list(reading: Reading, args: EventList) -> tuple[list[Row], bool]:
    """By group if one is given, filtered by address; by address otherwise. Core has no pages here."""
    by_group, by_address = _WHOLE_LISTS[args.kind]
    if args.group_id is not UNSET:
        rows: list[Row] = await reading.get(by_group, groupid=args.group_id)
    elif by_address is None:
        raise invalid_argument("Invalid group_id.", f"A list of {args.kind} needs it; address filters them.")
    elif args.address is not UNSET:
        rows = await reading.get(by_address, address=args.address)
    else:
        raise invalid_argument("Invalid arguments.", "Give group_id or address.")
    rows = [row for row in rows if args.address in (UNSET, _whom(row))]
    shown = rows[args.offset : args.offset + args.limit]
    return shown, args.offset + len(shown) < len(rows)


def _whom(row: Row) -> str:
    match row:
        case Invite():
            return row.invitee
        case JoinRequest():
            return row.joiner
        case Ban():
            return row.offender
        case Kick():
            return row.member


def _event(row: Row, now: str | None) -> Event:
    event = Event(row.groupId, _whom(row))
    if isinstance(row, Invite):
        event.by = row.inviter
    if isinstance(row, Ban):
        event.by, event.timestamp = row.admin, row.banned
    if isinstance(row, Kick):
        event.timestamp = row.timestamp
    if isinstance(row, Ban | Kick):
        event.reason = row.reason or UNSET
    if event.timestamp is not UNSET:
        event.time = iso(event.timestamp)
    if isinstance(row, Invite | Ban) and row.expiry is not None:
        event.expiry, event.expiryTime = row.expiry, iso(row.expiry)
        # Times in the same format sort like their texts.
        event.isExpired = UNSET if now is None else event.expiryTime <= now
    return event
