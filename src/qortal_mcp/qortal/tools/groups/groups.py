"""Groups: which exist, and who is in them."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ....text import original
from ...endpoints.groups import GROUP, GROUP_MEMBERS, GROUPS, GROUPS_JOINED, GROUPS_OWNED
from ...limits import ADMIN_WINDOWS, ADMINS_AT_ONCE, PAGE_ROWS
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.groups import Group, GroupMembers, Member
from ...words.arguments import Account, GroupNumber, Limit, NamePart, Offset, Reverse
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Answer, ListAnswer, fitting, follows, one_more, page_of
from ..read_only import tool
from ..whole_list import note_on_part, whole_list

_IsOpen = Annotated[bool, Meta(description="Anyone may join.")]
_Threshold = Annotated[str, Meta(description="Admins that must approve, such as ONE or PCT40.")]


class GroupList(Struct, frozen=True, forbid_unknown_fields=True):
    query: NamePart | UnsetType = UNSET
    owner: Account | UnsetType = UNSET
    member: Account | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = False


class GroupRow(Struct, omit_defaults=True):
    groupId: int
    groupName: str
    owner: str
    ownerPrimaryName: str | None
    description: str
    isOpen: _IsOpen
    memberCount: int
    created: Milliseconds
    createdTime: IsoTime
    isAdmin: Annotated[bool | UnsetType, Meta(description="Whether this address is an admin.")] = UNSET


class Groups(ListAnswer):
    groups: list[GroupRow]


@tool("Groups")
async def list_groups(args: GroupList, node: Node) -> Groups:
    """Groups by name: all of them, those an address owns, or those it is a member of."""
    if args.owner is not UNSET and args.member is not UNSET:
        raise invalid_argument("Invalid arguments.", "Give at most one of owner and member.")
    reading = node.reading()
    notes: list[str] = []
    if args.owner is not UNSET or args.member is not UNSET:
        count, rows = await _of_address(reading, args)
        groups = fitting([_row(row) for row in rows])
        more = args.offset + len(groups) < count
    elif args.query is not UNSET:
        # Core cannot search groups.
        every, is_whole = await whole_list(reading, GROUPS, lambda row: row.groupId, reverse=args.reverse)
        notes = note_on_part("groups", every, is_whole)
        rows = _named(every, args.query)
        groups = fitting([_row(row) for row in rows[args.offset : args.offset + args.limit]])
        more = args.offset + len(groups) < len(rows)
    else:
        rows = await reading.get(GROUPS, limit=one_more(args.limit), offset=args.offset, reverse=args.reverse)
        groups = fitting([_row(row) for row in rows[: args.limit]])
        more = follows(rows, groups)
    return Groups(
        groups,
        page=page_of(args, args.offset, len(groups), more),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _named(rows: list[Group], query: str | UnsetType) -> list[Group]:
    """The groups whose name contains a text, in any case."""
    if query is UNSET:
        return rows
    wanted = original(query).casefold()
    return [row for row in rows if wanted in original(row.groupName).casefold()]


async def _of_address(reading: Reading, args: GroupList) -> tuple[int, list[Group]]:
    """How many groups an address has, and one page of them: Core has no pages here."""
    if args.member is not UNSET:
        rows, joined = await reading.get(GROUPS_JOINED, address=args.member), None
    else:
        rows, joined = await side_by_side(
            reading.get(GROUPS_OWNED, address=args.owner), reading.get(GROUPS_JOINED, address=args.owner)
        )
    rows = _named(rows, args.query)
    ordered = rows[::-1] if args.reverse else rows
    page = ordered[args.offset : args.offset + args.limit]
    return len(rows), page if joined is None else await _counted(reading, page, joined)


async def _counted(reading: Reading, owned: list[Group], joined: list[Group]) -> list[Group]:
    """Core's list by owner has no member counts. Its list by member has, and owners are members of their groups."""
    counted = {row.groupId: row for row in joined}
    missing = [row.groupId for row in owned if row.groupId not in counted]
    found = await side_by_side(*(reading.follow(GROUP, groupid=number) for number in missing))
    counted |= dict(zip(missing, found, strict=True))
    return [counted[row.groupId] for row in owned]


def _row(row: Group) -> GroupRow:
    return GroupRow(
        row.groupId,
        row.groupName,
        row.owner,
        row.ownerPrimaryName,
        row.description,
        row.isOpen,
        row.memberCount,
        row.created,
        iso(row.created),
        UNSET if row.isAdmin is None else row.isAdmin,
    )


class OneGroup(Struct, frozen=True, forbid_unknown_fields=True):
    group_id: GroupNumber


class GroupAnswer(Answer):
    groupId: int
    groupName: str
    owner: str
    ownerPrimaryName: str | None
    description: str
    isOpen: _IsOpen
    memberCount: int
    adminCount: int
    approvalThreshold: _Threshold
    minimumBlockDelay: Annotated[int, Meta(description="Blocks until an approved transaction takes effect.")]
    maximumBlockDelay: Annotated[int, Meta(description="Blocks after which a pending one expires.")]
    created: Milliseconds
    createdTime: IsoTime
    updated: Milliseconds | None
    updatedTime: IsoTime | None


@tool("Group")
async def get_group(args: OneGroup, node: Node) -> GroupAnswer:
    """One group: owner, size, whether anyone may join, and its rules for approving transactions."""
    reading = node.reading()
    group, counts = await side_by_side(
        reading.get(GROUP, groupid=args.group_id),
        reading.get(GROUP_MEMBERS, groupid=args.group_id, limit=1),
    )
    return GroupAnswer(
        group.groupId,
        group.groupName,
        group.owner,
        group.ownerPrimaryName,
        group.description,
        group.isOpen,
        group.memberCount,
        counts.adminCount,
        group.approvalThreshold,
        group.minimumBlockDelay,
        group.maximumBlockDelay,
        group.created,
        iso(group.created),
        group.updated,
        None if group.updated is None else iso(group.updated),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


class MemberList(Struct, frozen=True, forbid_unknown_fields=True):
    group_id: GroupNumber
    only_admins: Annotated[bool, Meta(description="Only admins.")] = False
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = False


class MemberRow(Struct):
    member: str
    primaryName: str | None
    isAdmin: bool
    joined: Annotated[int | None, Meta(description="Milliseconds since 1970; null with only_admins.")]
    joinedTime: IsoTime | None


class Members(ListAnswer):
    memberCount: int
    adminCount: int
    members: list[MemberRow]


@tool("Group members")
async def list_group_members(args: MemberList, node: Node) -> Members:
    """Members of a group by address, with primary name, time of joining and whether they are admins."""
    reading = node.reading()
    notes: list[str] = []
    asking = reading.get(
        GROUP_MEMBERS,
        groupid=args.group_id,
        onlyAdmins=args.only_admins,
        limit=args.limit,
        offset=args.offset,
        reverse=args.reverse,
    )
    if args.only_admins:
        page = await asking
        admins, total = {row.member for row in page.members}, page.adminCount
    else:
        page, admins = await side_by_side(asking, _admins(reading, args.group_id))
        total = page.memberCount
        if page.adminCount > ADMIN_WINDOWS * ADMINS_AT_ONCE:
            notes.append(f"isAdmin is only right for the first {ADMIN_WINDOWS * ADMINS_AT_ONCE} admins.")
    members = fitting([_member(row, admins) for row in page.members[: args.limit]])
    return Members(
        page.memberCount,
        page.adminCount,
        members,
        page=page_of(args, args.offset, len(members), args.offset + len(members) < total),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _admins(reading: Reading, group_id: int) -> set[str]:
    """All admins. On a page of members Core marks only those that are on the same page of admins."""

    async def window(offset: int) -> GroupMembers:
        return await reading.get(
            GROUP_MEMBERS, groupid=group_id, onlyAdmins=True, limit=ADMINS_AT_ONCE, offset=offset
        )

    first = await window(0)
    # The node says how many there are, but it does not decide how many are requested.
    end = min(first.adminCount, ADMIN_WINDOWS * ADMINS_AT_ONCE)
    others = await side_by_side(*map(window, range(ADMINS_AT_ONCE, end, ADMINS_AT_ONCE)))
    return {row.member for each in (first, *others) for row in each.members}


def _member(row: Member, admins: set[str]) -> MemberRow:
    joined_time = None if row.joined is None else iso(row.joined)
    return MemberRow(row.member, row.primaryName, row.member in admins, row.joined, joined_time)
