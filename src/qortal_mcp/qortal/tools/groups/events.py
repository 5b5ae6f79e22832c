"""Who comes to and leaves groups: invitations, requests to join, bans and kicks."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ....server.tool_errors import invalid_argument
from ...endpoints.groups import BANS, GROUP, INVITES_OF, INVITES_TO, KICKS, REQUESTS_OF, REQUESTS_TO
from ...endpoints.record import Endpoint
from ...limits import ADMINISTERED_GROUPS, PAGE_ROWS
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.groups import Ban, Invite, JoinRequest, Kick
from ...words.arguments import Account, GroupNumber, Limit, Offset, OtherAccount, Reverse
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import ListAnswer, fitting, follows, one_more, page_of
from ..read_only import tool
from .administered import administered, of_each, requests_to

Row = Invite | JoinRequest | Ban | Kick

# What Core lists without pages: by group, and by address if it can.
_WHOLE_LISTS: dict[str, tuple[Endpoint[Any], Endpoint[Any] | None]] = {
    "join_requests": (REQUESTS_TO, REQUESTS_OF),
    "invites": (INVITES_TO, INVITES_OF),
    "bans": (BANS, None),
}
_WAITING = ("join_requests", "invites")


class EventList(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Annotated[
        Literal["invites", "join_requests", "bans", "kicks", "waiting"],
        Meta(description="waiting: join_requests and open invites."),
    ]
    group_id: GroupNumber | UnsetType = UNSET
    address: Account | UnsetType = UNSET
    admin: Annotated[OtherAccount, Meta(description="In all groups it administers.")] | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Event(Struct, omit_defaults=True):
    groupId: int
    address: Annotated[str, Meta(description="Who was invited, asks to join, was banned or kicked.")]
    groupName: Annotated[str | UnsetType, Meta(description="With admin.")] = UNSET
    kind: Annotated[Literal["invite", "join_request"] | UnsetType, Meta(description="Of what waits.")] = UNSET
    by: Annotated[str | UnsetType, Meta(description="Who did it, if known.")] = UNSET
    timestamp: Milliseconds | UnsetType = UNSET
    time: IsoTime | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    expiry: Annotated[int | UnsetType, Meta(description="In ms; absent if it does not expire.")] = UNSET
    expiryTime: IsoTime | UnsetType = UNSET
    isExpired: Annotated[bool | UnsetType, Meta(description="As of the newest block.")] = UNSET


class Events(ListAnswer):
    events: list[Event]


class _Found(Struct):
    """All rows of a list, or one page of those that Core pages."""

    rows: list[Row]
    has_more: bool = False
    group_names: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@tool("Group events")
async def list_group_events(args: EventList, node: Node) -> Events:
    """Invitations, join requests or bans of a group, or of all groups of an admin; invitations, join requests or
    kicks of an address."""
    reading = node.reading()
    if args.kind == "kicks":
        found = await _kicks(reading, args)
    else:
        found = await (_whole_list if args.admin is UNSET else _of_admin)(reading, args)
        _cut_to_page(found, args, reading.as_of.time)
    if not found.rows and args.group_id is not UNSET:
        await reading.get(GROUP, groupid=args.group_id)  # a group that does not exist is not an empty group
    now = reading.as_of.time
    events = fitting([_event(row, now, found.group_names) for row in found.rows])
    if args.kind == "waiting":
        for event, row in zip(events, found.rows, strict=False):
            event.kind = "invite" if isinstance(row, Invite) else "join_request"
    return Events(
        events,
        page=page_of(args, args.offset, len(events), found.has_more or len(events) < len(found.rows)),
        asOf=reading.as_of,
        notes=reading.notes(*found.notes),
    )


async def _kicks(reading: Reading, args: EventList) -> _Found:
    """Newest first."""
    if args.admin is not UNSET:
        raise invalid_argument("Invalid admin.", "Kicks are listed by address; group_id filters them.")
    if args.address is UNSET:
        raise invalid_argument("Invalid address.", "Kicks are listed by address; group_id filters them.")
    rows = await reading.get(
        KICKS,
        address=args.address,
        groupId=args.group_id,
        limit=one_more(args.limit),
        offset=args.offset,
        reverse=args.reverse,
    )
    shown = rows[: args.limit]
    return _Found([*shown], follows(rows, shown))


async def _whole_list(reading: Reading, args: EventList) -> _Found:
    """By group if one is given, by address otherwise. Core has no pages here."""
    lists = await side_by_side(*(_of_kind(reading, args, kind) for kind in _kinds(args)))
    return _Found([row for rows in lists for row in rows])


async def _of_kind(reading: Reading, args: EventList, kind: str) -> list[Row]:
    by_group, by_address = _WHOLE_LISTS[kind]
    rows: list[Row]
    if args.group_id is not UNSET:
        rows = await reading.get(by_group, groupid=args.group_id)
    elif by_address is None:
        raise invalid_argument(
            "Invalid group_id.", f"A list of {kind} needs it or admin; address filters them."
        )
    elif args.address is not UNSET:
        rows = await reading.get(by_address, address=args.address)
    else:
        raise invalid_argument("Invalid arguments.", "Give group_id, address or admin.")
    return rows


async def _of_admin(reading: Reading, args: EventList) -> _Found:
    """Of all groups that an account administers, or of one of them."""
    assert args.admin is not UNSET, "this list is by admin"
    all_groups = await administered(reading, args.admin)
    groups = [group for group in all_groups if args.group_id in (UNSET, group.groupId)]
    found = _Found([])
    if not groups:
        found.notes.append(
            f"{args.admin} administers {'no group' if args.group_id is UNSET else 'other groups or none'}."
        )
    if len(groups) > ADMINISTERED_GROUPS:
        found.notes.append(
            f"Only the first {ADMINISTERED_GROUPS} of {len(groups):,} groups were read; give group_id for another."
        )
        groups = groups[:ADMINISTERED_GROUPS]
    found.group_names = {group.groupId: group.groupName for group in groups}
    for kind in _kinds(args):
        if kind == "join_requests":
            found.rows += await requests_to(reading, args.admin, groups)
        else:
            found.rows += await of_each(reading, _WHOLE_LISTS[kind][0], groups)
    return found


def _kinds(args: EventList) -> tuple[str, ...]:
    return _WAITING if args.kind == "waiting" else (args.kind,)


def _cut_to_page(found: _Found, args: EventList, now: str | None) -> None:
    """Leave the rows of one page: filtered by address, and without expired ones if it is about what waits."""
    rows = [row for row in found.rows if args.address in (UNSET, _whom(row))]
    if args.kind == "waiting":
        waiting = [row for row in rows if not _is_expired(row, now)]
        if expired := len(rows) - len(waiting):
            found.notes.append(f"Expired invitations left out: {expired}.")
        rows = waiting
    found.rows = rows[args.offset : args.offset + args.limit]
    found.has_more = args.offset + len(found.rows) < len(rows)


def _is_expired(row: Row, now: str | None) -> bool:
    if now is None or not isinstance(row, Invite | Ban) or row.expiry is None:
        return False
    # Times in the same format sort like their texts.
    return iso(row.expiry) <= now


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


def _event(row: Row, now: str | None, group_names: dict[int, str]) -> Event:
    event = Event(row.groupId, _whom(row), group_names.get(row.groupId, UNSET))
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
        event.isExpired = UNSET if now is None else _is_expired(row, now)
    return event
