"""Chat messages of the last 24 hours, which is as long as nodes keep them."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...endpoints.chat import CHAT_MESSAGE, CHAT_MESSAGES
from ...limits import PAGE_ROWS
from ...node.node import Node, Reading
from ...replies.chat import ChatMessage
from ...words.arguments import Account, EarlierThan, LaterThan, Limit, MessageSignature, Offset, Reverse
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import ListAnswer, fitting, follows, one_more, page_of
from ..read_only import tool
from .criteria import Criteria, exactly_one, refuse_monologue, refuse_unknown_group

_Sender = Annotated[Account, Meta(description="Only from this address.")]
_Signature = Annotated[MessageSignature, Meta(description="Only this message, in full.")]


class MessageList(Criteria, frozen=True, forbid_unknown_fields=True):
    sender: _Sender | UnsetType = UNSET
    after: LaterThan | UnsetType = UNSET
    before: EarlierThan | UnsetType = UNSET
    signature: _Signature | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Message(Struct, omit_defaults=True):
    signature: str
    timestamp: Milliseconds
    time: IsoTime
    sender: str
    senderName: str | None
    kind: Annotated[str, Meta(description="text, encrypted or binary.")]
    text: Annotated[str | None, Meta(description="Null unless kind is text.")]
    bytes: int
    groupId: Annotated[int | UnsetType, Meta(description="Absent in direct chat.")] = UNSET
    recipient: str | UnsetType = UNSET
    recipientName: str | UnsetType = UNSET
    chatReference: Annotated[
        str | UnsetType, Meta(description="Signature of the message that this one edits or answers.")
    ] = UNSET


class Messages(ListAnswer):
    messages: list[Message]


@tool("Chat messages")
async def get_chat_messages(args: MessageList, node: Node) -> Messages:
    """Chat of the last 24 hours in a group or between two addresses, newest first, as text. Encrypted and
    binary messages are marked, not shown."""
    exactly_one(group_id=args.group_id, involving=args.involving, signature=args.signature)
    refuse_monologue(args.involving)
    reading = node.reading()
    if args.signature is not UNSET:
        rows, shown = [await reading.get(CHAT_MESSAGE, signature=args.signature)], 1
    else:
        rows, shown = await _lines(reading, args), args.limit
    if not rows:
        await refuse_unknown_group(reading, args.group_id)
    messages = fitting([_message(row) for row in rows[:shown]])
    return Messages(
        messages,
        page=page_of(args, args.offset, len(messages), follows(rows, messages), **_pinned(args, messages)),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _lines(reading: Reading, args: MessageList) -> list[ChatMessage]:
    rows = await reading.get(
        CHAT_MESSAGES,
        **args.as_core_names_them(),
        limit=one_more(args.limit),
        offset=args.offset,
        reverse=args.reverse,
    )
    return [*rows]


def _pinned(args: MessageList, messages: list[Message]) -> dict[str, str]:
    """New messages must not shift the pages of a list that starts with the newest."""
    if not args.reverse or not messages or args.before is not UNSET:
        return {}
    return {"before": iso(messages[0].timestamp + 1)}


def _message(row: ChatMessage) -> Message:
    return Message(
        row.signature,
        row.timestamp,
        iso(row.timestamp),
        row.sender,
        row.senderName,
        row.kind,
        row.text,
        row.size,
        row.txGroupId or UNSET,
        row.recipient or UNSET,
        row.recipientName or UNSET,
        row.chatReference or UNSET,
    )
