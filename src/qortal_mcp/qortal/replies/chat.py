"""Chat of the last day: what was said, and how much of it there is."""

import base64
import binascii
from typing import ClassVar, Literal

from msgspec import Struct, field

from ..limits import CONTENT_CHARS, LISTED_CHAT_CHARS
from ..words.base58 import is_bytes
from ..words.times import Milliseconds
from .plain import Count, Number, plain

Kind = Literal["text", "encrypted", "binary"]


class ChatMessage(Struct):
    """Data becomes text where it is meant as text and is text; `kind` says what it is, `size` how much."""

    text_chars: ClassVar[int] = CONTENT_CHARS

    signature: str
    timestamp: Milliseconds
    sender: str
    isText: bool
    isEncrypted: bool
    txGroupId: Count = 0
    senderName: str | None = None
    recipient: str | None = None
    recipientName: str | None = None
    chatReference: str | None = None
    data: str | None = None
    kind: Kind = "binary"
    size: Count = 0
    text: str | None = None

    def __post_init__(self) -> None:
        self.signature = plain(self.signature)
        self.sender = plain(self.sender)
        self.recipient = plain(self.recipient)
        self.senderName = _name(self.senderName, self.sender)
        self.recipientName = _name(self.recipientName, self.recipient)
        self.chatReference = plain(self.chatReference)
        content = _bytes(self.data)
        self.data, self.size = None, len(content)
        self.kind, self.text = self._read(content)

    def _read(self, content: bytes) -> tuple[Kind, str | None]:
        if self.isEncrypted:
            return "encrypted", None
        if not self.isText:
            return "binary", None
        try:
            return "text", plain(content.decode(), self.text_chars)
        except UnicodeDecodeError:
            return "binary", None


class ChatLine(ChatMessage):
    """One of many: only the beginning of a long text."""

    text_chars: ClassVar[int] = LISTED_CHAT_CHARS


class GroupChat(Struct):
    """A group and who spoke last in it; nothing but the group where nobody did."""

    groupId: Number
    groupName: str | None = None
    timestamp: Milliseconds | None = None
    sender: str | None = None
    senderName: str | None = None
    signature: str | None = None

    def __post_init__(self) -> None:
        self.groupName = plain(self.groupName)
        self.sender = plain(self.sender)
        self.senderName = _name(self.senderName, self.sender)
        # It is what the message is asked for by.
        self.signature = self.signature if self.signature and is_bytes(self.signature, 64) else None


class DirectChat(Struct):
    address: str
    timestamp: Milliseconds
    sender: str
    name: str | None = None
    senderName: str | None = None

    def __post_init__(self) -> None:
        self.address = plain(self.address)
        self.sender = plain(self.sender)
        self.name = _name(self.name, self.address)
        self.senderName = _name(self.senderName, self.sender)


class ActiveChats(Struct):
    groups: list[GroupChat] = field(default_factory=list)
    direct: list[DirectChat] = field(default_factory=list)


class SenderSize(Struct):
    sender: str
    size: Count
    senderName: str | None = None

    def __post_init__(self) -> None:
        self.sender = plain(self.sender)
        self.senderName = _name(self.senderName, self.sender)


class GroupSize(Struct):
    groupId: Number
    size: Count


def _name(name: str | None, address: str | None) -> str | None:
    """Core puts the address where there is no name."""
    shown = plain(name)
    return None if shown == address else shown


def _bytes(data: str | None) -> bytes:
    try:
        return base64.b64decode(data or "", validate=True)
    except binascii.Error:
        raise ValueError("not Base64") from None
