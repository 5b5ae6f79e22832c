"""Chat of the last day: what was said, and how much of it there is."""

import base64
import binascii
from typing import Annotated, Literal

from msgspec import field

from ..limits import LISTED_CHAT_CHARS
from ..words.base58 import is_bytes
from ..words.blobs import is_encrypted, summary
from ..words.times import Milliseconds
from .reply import Chars, Count, LongText, Number, Reply, Text

Kind = Literal["text", "encrypted", "binary"]


class ChatMessage(Reply):
    """Data becomes text where it is meant as text and is text; `kind` says what it is, `size` how much."""

    signature: Text
    timestamp: Milliseconds
    sender: Text
    isText: bool
    isEncrypted: bool
    txGroupId: Count = 0
    senderName: Text | None = None
    recipient: Text | None = None
    recipientName: Text | None = None
    chatReference: Text | None = None
    data: Text | None = None
    kind: Kind = "binary"
    size: Count = 0
    text: LongText | None = None

    def __post_init__(self) -> None:
        content = _bytes(self.data)
        self.data, self.size = None, len(content)
        self.kind, self.text = self._read(content)
        super().__post_init__()
        self.senderName = _name(self.senderName, self.sender)
        self.recipientName = _name(self.recipientName, self.recipient)

    def _read(self, content: bytes) -> tuple[Kind, str | None]:
        if self.isEncrypted:
            return "encrypted", None
        if not self.isText:
            return "binary", None
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return "binary", None
        if is_encrypted(text):
            return "encrypted", None
        return ("text", text) if summary(text) is None else ("binary", None)


class ChatLine(ChatMessage):
    """One of many: only the beginning of a long text."""

    text: Annotated[str, Chars(LISTED_CHAT_CHARS)] | None = None


class GroupChat(Reply):
    """A group and who spoke last in it; nothing but the group where nobody did."""

    groupId: Number
    groupName: Text | None = None
    timestamp: Milliseconds | None = None
    sender: Text | None = None
    senderName: Text | None = None
    signature: Text | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.senderName = _name(self.senderName, self.sender)
        # It is what the message is asked for by.
        self.signature = self.signature if self.signature and is_bytes(self.signature, 64) else None


class DirectChat(Reply):
    address: Text
    timestamp: Milliseconds
    sender: Text
    name: Text | None = None
    senderName: Text | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.name = _name(self.name, self.address)
        self.senderName = _name(self.senderName, self.sender)


class ActiveChats(Reply):
    groups: list[GroupChat] = field(default_factory=list)
    direct: list[DirectChat] = field(default_factory=list)


class SenderSize(Reply):
    sender: Text
    size: Count
    senderName: Text | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.senderName = _name(self.senderName, self.sender)


class GroupSize(Reply):
    groupId: Number
    size: Count


def _name(name: str | None, address: str | None) -> str | None:
    """Core puts the address where there is no name."""
    return None if name == address else name


def _bytes(data: str | None) -> bytes:
    try:
        return base64.b64decode(data or "", validate=True)
    except binascii.Error:
        raise ValueError("not Base64") from None
