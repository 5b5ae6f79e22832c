"""Chat of the last day: nodes keep it in memory for 24 hours."""

from typing import Any

from ..limits import PAGE_ROWS
from ..replies.chat import ActiveChats, ChatLine, ChatMessage, GroupSize, SenderSize
from ..words.arguments import Address, ChatTime, GroupNumber, Limit, MessageSignature, Offset, TwoAddresses
from .parameters import Encoding
from .record import SECONDS, Endpoint, json_of

_BASE64 = {"encoding": "BASE64"}
_FILTERS = {
    "txGroupId": GroupNumber,
    "involving": TwoAddresses,
    "sender": Address,
    "before": ChatTime,
    "after": ChatTime,
    "reference": MessageSignature,
    "chatreference": MessageSignature,
    "haschatreference": bool,
}

CHAT_MESSAGES = Endpoint(
    "/chat/messages",
    json_of(list[ChatLine]),
    SECONDS,
    query={**_FILTERS, "encoding": Encoding, "limit": Limit, "offset": Offset, "reverse": bool},
    defaults={"limit": 20, **_BASE64},
    returns="Messages of a group or between two addresses, oldest first; exactly one of the two must be given.",
)
CHAT_COUNT = Endpoint(
    "/chat/messages/count",
    json_of(int),
    SECONDS,
    # Core takes limit and offset here, and would count a page only.
    query=_FILTERS,
    returns="Number of messages, as plain text.",
    since="4.0.2",
)
CHAT_MESSAGE = Endpoint(
    "/chat/message/{signature}",
    json_of(ChatMessage),
    SECONDS,
    path={"signature": MessageSignature},
    query={"encoding": Encoding},
    defaults=_BASE64,
    returns="One message.",
    noun="Message",
    absent=frozenset({125}),
    since="3.6.0",
)
ACTIVE_CHATS = Endpoint(
    "/chat/active/{address}",
    json_of(ActiveChats),
    SECONDS,
    path={"address": Address},
    query={"encoding": Encoding, "haschatreference": bool},
    defaults=_BASE64,
    returns="The newest message in each of an account's groups, silent ones included, and direct chats.",
)
CHAT_STATS = Endpoint(
    "/chat/stats",
    json_of(list[SenderSize]),
    SECONDS,
    query={"limit": Limit},
    defaults={"limit": PAGE_ROWS},
    returns="The senders who use most of the node's chat memory, in bytes.",
    since="6.1.6",
)
CHAT_GROUP_STATS = Endpoint(
    "/chat/groupstats",
    json_of(list[GroupSize]),
    SECONDS,
    query={"limit": Limit},
    defaults={"limit": PAGE_ROWS},
    returns="The groups that use most of the node's chat memory, in bytes; group 0 is direct chat.",
    since="6.1.6",
)

FAMILY: tuple[Endpoint[Any], ...] = (
    CHAT_MESSAGES,
    CHAT_COUNT,
    CHAT_MESSAGE,
    ACTIVE_CHATS,
    CHAT_STATS,
    CHAT_GROUP_STATS,
)
