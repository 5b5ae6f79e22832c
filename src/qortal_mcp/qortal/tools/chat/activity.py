"""Chat of the last 24 hours: who talks where, and how much."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.chat import ACTIVE_CHATS, CHAT_COUNT, CHAT_GROUP_STATS, CHAT_MESSAGE, CHAT_STATS
from ...limits import PAGE_ROWS
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.chat import DirectChat, GroupChat, GroupSize
from ...words.arguments import Account, Limit, Offset, Reverse
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Answer, ListAnswer, fitting, page_of
from ..read_only import tool
from .criteria import (
    UNLISTED,
    Criteria,
    DecodeText,
    Encoding,
    HasReference,
    exactly_one,
    refuse_monologue,
    refuse_unknown_group,
)

# Messages that do not belong to a group.
_DIRECT = 0


class ActiveList(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    has_chat_reference: HasReference | UnsetType = UNSET
    encoding: Encoding | UnsetType = UNSET
    decode_text: DecodeText | UnsetType = UNSET


class Chat(Struct, omit_defaults=True):
    groupId: int | UnsetType = UNSET
    groupName: str | UnsetType = UNSET
    address: Annotated[str | UnsetType, Meta(description="The other address in a direct chat.")] = UNSET
    name: str | UnsetType = UNSET
    timestamp: Annotated[Milliseconds | UnsetType, Meta(description="Absent if there are no messages.")] = (
        UNSET
    )
    time: IsoTime | UnsetType = UNSET
    sender: Annotated[str | UnsetType, Meta(description="Of the newest message.")] = UNSET
    senderName: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET
    kind: Annotated[str | UnsetType, Meta(description="text, encrypted or binary.")] = UNSET
    text: str | UnsetType = UNSET


class Chats(ListAnswer):
    chats: list[Chat]


@tool("Active chats")
async def list_active_chats(args: ActiveList, node: Node) -> Chats:
    """Where an address chats: its groups with their newest message, and direct chats of the last 24 hours."""
    reading = node.reading()
    active = await reading.get(ACTIVE_CHATS, address=args.address, haschatreference=args.has_chat_reference)
    every: list[GroupChat | DirectChat] = [*active.groups, *active.direct]
    every.sort(key=lambda row: -(row.timestamp or 0))
    rows = every[args.offset : args.offset + args.limit]
    chats = fitting(await side_by_side(*(_chat(reading, row) for row in rows)))
    return Chats(
        chats,
        page=page_of(args, args.offset, len(chats), args.offset + len(chats) < len(every)),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _chat(reading: Reading, row: GroupChat | DirectChat) -> Chat:
    chat = Chat(sender=row.sender or UNSET, senderName=row.senderName or UNSET)
    if row.timestamp is not None:
        chat.timestamp, chat.time = row.timestamp, iso(row.timestamp)
    if isinstance(row, DirectChat):
        chat.address, chat.name = row.address, row.name or UNSET
        return chat
    chat.groupId, chat.groupName = row.groupId, row.groupName or UNSET
    if row.signature is not None:
        chat.signature = row.signature
        # Only the message itself shows whether it is text.
        message = await reading.optional(CHAT_MESSAGE, signature=row.signature)
        if message is not None:
            chat.kind, chat.text = message.kind, message.text or UNSET
    return chat


class ChatCount(Criteria, frozen=True, forbid_unknown_fields=True):
    limit: Annotated[Limit, Meta(description="Rows of each ranking.")] = 10
    offset: Annotated[Offset, UNLISTED] = 0
    reverse: Reverse = True


class GroupActivity(Struct):
    groupId: Annotated[int, Meta(description="0: direct chat.")]
    messages: Annotated[int | None, Meta(description="Null for direct chat.")]
    bytes: Annotated[int, Meta(description="Of the node's memory.")]


class SenderActivity(Struct):
    sender: str
    senderName: str | None
    bytes: Annotated[int, Meta(description="Of the node's memory.")]


class ChatStats(Answer, omit_defaults=True):
    count: Annotated[int | UnsetType, Meta(description="Messages in the chat that was asked for.")] = UNSET
    groups: list[GroupActivity] | UnsetType = UNSET
    senders: list[SenderActivity] | UnsetType = UNSET


@tool("Chat statistics")
async def get_chat_stats(args: ChatCount, node: Node) -> ChatStats:
    """How many messages a group or two addresses exchanged in the last 24 hours; without arguments, the busiest
    groups and senders."""
    reading = node.reading()
    if args.group_id is UNSET and args.involving is UNSET:
        groups, senders = await _busiest(reading, args)
        return ChatStats(groups=groups, senders=senders, asOf=reading.as_of, notes=reading.notes())
    exactly_one(group_id=args.group_id, involving=args.involving)
    refuse_monologue(args.involving)
    count = await reading.get(CHAT_COUNT, **args.as_core_names_them())
    if not count:
        await refuse_unknown_group(reading, args.group_id)
    return ChatStats(count=count, asOf=reading.as_of, notes=reading.notes())


async def _busiest(reading: Reading, args: ChatCount) -> tuple[list[GroupActivity], list[SenderActivity]]:
    filters = {name: value for name, value in args.as_core_names_them().items() if value is not UNSET}
    if filters:
        raise invalid_argument("Invalid arguments.", "A filter needs group_id or involving.")
    sizes, senders = await side_by_side(
        reading.get(CHAT_GROUP_STATS, limit=args.limit), reading.get(CHAT_STATS, limit=args.limit)
    )
    groups = await side_by_side(*(_group_activity(reading, size) for size in sizes))
    return groups, [SenderActivity(row.sender, row.senderName, row.size) for row in senders]


async def _group_activity(reading: Reading, row: GroupSize) -> GroupActivity:
    """Core reports bytes; the number of messages takes a request of its own."""
    count = None if row.groupId == _DIRECT else await reading.follow(CHAT_COUNT, txGroupId=row.groupId)
    return GroupActivity(row.groupId, count, row.size)
