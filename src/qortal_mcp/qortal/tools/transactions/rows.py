"""Transactions as they are shown: in full, and shortened in lists."""

from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from ....text import shortened
from ...limits import LISTED_BYTES_CHARS, LISTED_TEXT_CHARS
from ...node.as_of import AsOf
from ...replies.transactions import MEMBERS, Members, Transaction
from ...words.services import service_name
from ...words.times import IsoTime, iso
from ..answers import Amount

T = TypeVar("T", bound=Members)

QORT = 0
# What a list leaves out: keys and numbers that mean nothing to people.
_NOT_LISTED = frozenset(
    {
        "reference",
        "creatorPublicKey",
        "rewardSharePublicKey",
        "metadataHash",
        "version",
        "nonce",
        "compression",
        "dataType",
        "minimumBlockDelay",
        "maximumBlockDelay",
        "newMinimumBlockDelay",
        "newMaximumBlockDelay",
        "andMask",
        "orMask",
        "xorMask",
        "previousFlags",
        "timestampSignature",
        "tags",
        "aTType",
        # The names of the assets are included.
        "haveAssetId",
        "wantAssetId",
        "amountAssetId",
        "amountAssetName",
    }
)
# What goes without saying.
_USUAL = {
    "txGroupId": 0,
    "approvalStatus": "NOT_REQUIRED",
    "isEncrypted": False,
    "isText": True,
    "assetId": QORT,
    "fee": "0.00000000",
    "payments": [],
}
_IDS = frozenset({"signature", "creatorAddress", "recipient", "atAddress", "aTAddress", "time"})


class Shown(Members, kw_only=True, omit_defaults=True):
    """Fields depend on the type of the transaction."""

    time: IsoTime
    serviceName: str | UnsetType = UNSET
    unit: Annotated[str | UnsetType, Meta(description="Of amount; fee is always in QORT.")] = UNSET


class WholeTransaction(Shown, kw_only=True):
    asOf: AsOf
    notes: list[str] | UnsetType = UNSET


class PaymentRow(Struct):
    signature: str
    sender: str
    recipient: str
    amount: Amount
    unit: str
    fee: Amount | None
    timestamp: int
    time: IsoTime
    blockHeight: Annotated[int | None, Meta(description="Null while unconfirmed.")]


def whole(row: Transaction, as_of: AsOf, notes: list[str] | UnsetType) -> WholeTransaction:
    return WholeTransaction(**_members(row), asOf=as_of, notes=notes)


def listed(row: Transaction) -> Shown:
    """A transaction, shortened; get_transaction shows it in full."""
    members = {
        name: _short(name, value, row)
        for name, value in _members(row).items()
        if name not in _NOT_LISTED and (name not in _USUAL or _USUAL[name] != value)
    }
    # The bytes repeat what the text says.
    if "text" in members:
        members.pop("data", None)
    return Shown(**members)


def payment(row: Transaction) -> PaymentRow:
    return PaymentRow(
        row.signature or "",
        row.creatorAddress,
        row.recipient or "",
        row.amount or "0.00000000",
        "QORT",
        row.fee or None,
        row.timestamp,
        iso(row.timestamp),
        None if row.blockHeight is UNSET else row.blockHeight,
    )


def _members(row: Transaction) -> dict[str, Any]:
    members = {name: value for name in MEMBERS if (value := getattr(row, name)) is not UNSET}
    members["time"] = iso(row.timestamp)
    if row.service is not UNSET and (service := service_name(row.service)) is not None:
        members["serviceName"] = service
    if row.amount is not UNSET:
        members["unit"] = _unit(row)
    return members


def _unit(row: Transaction) -> str:
    if row.amountAssetName is not UNSET:
        return row.amountAssetName
    if row.assetId is UNSET or row.assetId == QORT:
        return "QORT"
    return f"asset {row.assetId}" if row.assetName is UNSET else row.assetName


def _short(name: str, value: Any, row: Transaction) -> Any:
    if not isinstance(value, str) or name in _IDS:
        return value
    is_bytes = name in ("creationBytes", "message") or (
        name == "data" and row.type in ("ARBITRARY", "MESSAGE", "CHAT")
    )
    return shortened(value, LISTED_BYTES_CHARS if is_bytes else LISTED_TEXT_CHARS)
