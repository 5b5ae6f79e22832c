"""Transactions by what they are about, and how one of them is shown in a line."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ....text import shortened
from ...replies.transactions import Transaction
from ...words.services import service_name
from ...words.times import IsoTime, iso
from ..answers import Amount
from .moves import has_effect

# Each type belongs to one kind. What no kind lists is in the last one.
KINDS: dict[str, tuple[str, ...]] = {
    "payments": ("PAYMENT", "MULTI_PAYMENT", "TRANSFER_ASSET"),
    "payouts": ("AT",),
    "names": ("REGISTER_NAME", "UPDATE_NAME"),
    "nameSales": ("SELL_NAME", "CANCEL_SELL_NAME", "BUY_NAME"),
    "publications": ("ARBITRARY",),
    "groups": ("CREATE_GROUP", "UPDATE_GROUP"),
    "groupMembers": (
        "JOIN_GROUP",
        "LEAVE_GROUP",
        "GROUP_INVITE",
        "CANCEL_GROUP_INVITE",
        "GROUP_KICK",
        "GROUP_BAN",
        "CANCEL_GROUP_BAN",
        "ADD_GROUP_ADMIN",
        "REMOVE_GROUP_ADMIN",
    ),
    "approvals": ("GROUP_APPROVAL",),
    "polls": ("CREATE_POLL",),
    "votes": ("VOTE_ON_POLL",),
    "contracts": ("DEPLOY_AT",),
    "messages": ("MESSAGE",),
    "assets": ("ISSUE_ASSET", "UPDATE_ASSET"),
    "assetOrders": ("CREATE_ASSET_ORDER", "CANCEL_ASSET_ORDER"),
    "minting": ("REWARD_SHARE", "TRANSFER_PRIVS"),
}
OTHERS = "others"
KIND_OF = {kind: name for name, kinds in KINDS.items() for kind in kinds}

# A text in a line.
_CHARS = 60


class Item(Struct, omit_defaults=True):
    """A transaction in short; get_transaction shows it in full."""

    signature: str
    type: str
    time: IsoTime
    creatorAddress: str
    recipient: str | UnsetType = UNSET
    amount: Amount | UnsetType = UNSET
    unit: str | UnsetType = UNSET
    # What it is about: a name, a group, a poll, an asset, a publication.
    subject: str | UnsetType = UNSET
    approvalStatus: str | UnsetType = UNSET


def item(row: Transaction) -> Item:
    has_amount = row.amount is not UNSET and row.type not in _PRICED
    return Item(
        row.signature or "",
        row.type,
        iso(row.timestamp),
        row.creatorAddress if row.type != "AT" else row.atAddress or row.creatorAddress,
        _first(row, "recipient", "seller", "member", "offender", "invitee", "newOwner", "aTAddress"),
        row.amount if has_amount else UNSET,
        _unit(row) if has_amount else UNSET,
        _subject(row),
        UNSET if has_effect(row) or row.approvalStatus is UNSET else row.approvalStatus,
    )


# Their amount is in the asset with the higher id, at a price: get_transaction explains it.
_PRICED = frozenset({"CREATE_ASSET_ORDER"})


def _unit(row: Transaction) -> str:
    if row.assetId is UNSET or row.assetId == 0:
        return "QORT"
    return f"asset {row.assetId}" if row.assetName is UNSET else shortened(row.assetName, _CHARS)


def _subject(row: Transaction) -> str | UnsetType:
    if row.type == "ARBITRARY" and row.service is not UNSET:
        parts = (service_name(row.service) or str(row.service), row.name, row.identifier)
        return "/".join(shortened(part, _CHARS) for part in parts if part)
    found = _first(row, "name", "groupName", "pollName", "assetName", "orderId")
    if found is UNSET and row.groupId is not UNSET:
        return f"group {row.groupId}"
    if found is UNSET and row.pricePair is not UNSET:
        return shortened(row.pricePair, _CHARS)
    return found if found is UNSET else shortened(found, _CHARS)


def _first(row: Transaction, *members: str) -> str | UnsetType:
    values: list[Any] = [getattr(row, member) for member in members]
    return next((value for value in values if value), UNSET)
