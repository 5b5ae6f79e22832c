"""Which messages of a chat are wanted: what the chat tools have in common."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.groups import GROUP
from ...node.node import Reading
from ...words.arguments import Account, GroupNumber, MessageSignature, Moment, TwoAccounts
from ...words.times import milliseconds

UNLISTED = Meta(extra={"unlisted": True})
HasReference = Annotated[bool, UNLISTED]
# Earlier clients choose an encoding. Here text is always decoded, and other data is never shown.
Encoding = Annotated[Literal["BASE58", "BASE64", "base58", "base64"], UNLISTED]
DecodeText = Annotated[bool, UNLISTED]

_EARLIEST_MS = 1_500_000_000_000

_Sender = Annotated[Account, UNLISTED]
_Time = Annotated[Moment, UNLISTED]
_Reference = Annotated[MessageSignature, UNLISTED]


class Criteria(Struct, frozen=True, forbid_unknown_fields=True):
    group_id: GroupNumber | UnsetType = UNSET
    involving: TwoAccounts | UnsetType = UNSET
    sender: _Sender | UnsetType = UNSET
    after: _Time | UnsetType = UNSET
    before: _Time | UnsetType = UNSET
    reference: _Reference | UnsetType = UNSET
    chat_reference: _Reference | UnsetType = UNSET
    has_chat_reference: HasReference | UnsetType = UNSET
    encoding: Encoding | UnsetType = UNSET
    decode_text: DecodeText | UnsetType = UNSET

    def as_core_names_them(self) -> dict[str, Any]:
        return {
            "txGroupId": self.group_id,
            "involving": self.involving,
            "sender": self.sender,
            "after": _time(self.after),
            "before": _time(self.before),
            "reference": self.reference,
            "chatreference": self.chat_reference,
            "haschatreference": self.has_chat_reference,
        }


def _time(time: str | UnsetType) -> int | UnsetType:
    return UNSET if time is UNSET else as_core_takes_it(milliseconds(time))


def as_core_takes_it(time_ms: int) -> int:
    """Core refuses times before 2017; no chat is nearly as old."""
    return max(time_ms, _EARLIEST_MS)


def exactly_one(**given: object) -> None:
    """Raises: ToolError unless one of the arguments was given."""
    if sum(value is not UNSET for value in given.values()) != 1:
        raise invalid_argument("Invalid arguments.", f"Give exactly one of {', '.join(given)}.")


def refuse_monologue(involving: list[str] | UnsetType) -> None:
    """Core reads the same address given twice as everything this address sends and receives. Raises: ToolError."""
    if involving is not UNSET and len(set(involving)) == 1:
        raise invalid_argument("Invalid involving.", "Give two different addresses.")


async def refuse_unknown_group(reading: Reading, group_id: int | UnsetType) -> None:
    """Core treats a group that does not exist as a silent one. Raises: ToolError."""
    if group_id is not UNSET:
        await reading.get(GROUP, groupid=group_id)
