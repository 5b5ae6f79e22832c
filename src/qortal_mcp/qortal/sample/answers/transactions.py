"""Transactions of the sample chain."""

from collections.abc import Callable
from typing import Any

from ...node.source import RawReply
from ...words.amounts import units
from ...words.transaction_types import TRANSACTION_TYPES
from ..chain import Chain
from ..core.checks import base58_of, valid_address
from ..core.order import Rows, as_stored, by_time
from ..core.parameters import Paging, Parameters
from ..core.raw_transactions import participant_in
from ..core.replies import Routes, as_json, as_text, core_error, page
from . import blocks

STATUSES = ("CONFIRMED", "UNCONFIRMED", "BOTH")
_MOST_WITHOUT_CRITERIA = 20
# Fields that name an account other than the transaction's creator.
_OTHERS = (
    "recipient",
    "atAddress",
    "aTAddress",
    "seller",
    "owner",
    "newOwner",
    "member",
    "admin",
    "offender",
    "invitee",
    "target",
)
# Before the first fees were decided they were a tenth of what they are now.
_OLD_UNIT_FEE = 100_000

Fits = Callable[[dict[str, Any]], bool]


def by_signature(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    return as_json(_found(chain["transactionBySignature"], base58_of(signature, 101)))


def raw(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    return as_text(_found(chain["raw"], base58_of(signature, 101)))


def by_reference(chain: Chain, parameters: Parameters, reference: str) -> RawReply:
    base58_of(reference, 126)
    for row in (*as_stored(chain), *chain["unconfirmed"]):
        if row["reference"] == reference:
            return as_json(row)
    raise core_error(311)


def _found(table: dict[str, Any], signature: str) -> Any:
    if signature not in table:
        raise core_error(311)
    return table[signature]


def unconfirmed(chain: Chain, parameters: Parameters) -> RawReply:
    types, creator = parameters.choices("txType", TRANSACTION_TYPES), parameters.text("creator")
    paging = Paging(parameters)
    key = None if creator is None else base58_of(creator, 112)
    rows = [
        row
        for row in chain["unconfirmed"]
        if (not types or row["type"] in types) and key in (None, _creator_key(chain, row))
    ]
    return as_json(paging.of(rows))


def pending(chain: Chain, parameters: Parameters) -> RawReply:
    group_id, paging = parameters.integer("txGroupId"), Paging(parameters)
    return as_json(paging.of([row for row in chain["pending"] if group_id in (None, row["txGroupId"])]))


def search(chain: Chain, parameters: Parameters) -> RawReply:
    start, end = parameters.integer("startBlock"), parameters.integer("blockLimit")
    group_id, address = parameters.integer("txGroupId"), parameters.text("address")
    types = parameters.choices("txType", TRANSACTION_TYPES)
    status, paging = parameters.choice("confirmationStatus", STATUSES), Paging(parameters)
    if not types and not address and (paging.limit is None or paging.limit > _MOST_WITHOUT_CRITERIA):
        raise core_error(125)
    in_heights = _in_heights(chain, start, end, status, paging)
    if status is None:
        raise page(500)
    return _sorted_page(
        chain,
        status,
        paging,
        lambda row: (
            in_heights(row)
            and group_id in (None, row["txGroupId"])
            and (not types or row["type"] in types)
            # Participants are recorded when a transaction gets into a block.
            and (not address or ("blockHeight" in row and address in _participants(chain, row)))
        ),
    )


def of_address(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    paging = Paging(parameters)
    valid_address(address)
    return _sorted_page(chain, "CONFIRMED", paging, lambda row: address in _participants(chain, row))


def of_creator(chain: Chain, parameters: Parameters, publickey: str) -> RawReply:
    status, paging = parameters.choice("confirmationStatus", STATUSES), Paging(parameters)
    base58_of(publickey, 112)
    if status is None:
        raise page(500)
    rows = [row for row in _stored(chain, status) if _creator_key(chain, row) == publickey]
    # The database finds them by creator and type.
    rows.sort(key=lambda row: TRANSACTION_TYPES.index(row["type"]))
    return as_json(paging.cut(by_time(rows, newest_first=paging.reverse)))


def payments(chain: Chain, parameters: Parameters) -> RawReply:
    recipient, sender = parameters.text("recipientAddress"), parameters.text("senderAddress")
    start, count = parameters.integer("startBlock"), parameters.integer("blockLimit")
    status, paging = parameters.choice("confirmationStatus", STATUSES), Paging(parameters)
    if not recipient and not sender:
        raise core_error(125)
    for address in filter(None, (recipient, sender)):
        valid_address(address)
    amount = _amount(parameters.text("amount"))
    in_heights = _in_heights(chain, start, count, status, paging)
    if sender and chain["publicKeys"].get(sender, "false") == "false":
        return as_json([])
    if status is None:
        raise page(500)
    return _sorted_page(
        chain,
        status,
        paging,
        lambda row: (
            row["type"] == "PAYMENT"
            and in_heights(row)
            and (not recipient or row["recipient"] == recipient)
            and (not sender or row["creatorAddress"] == sender)
            and amount in (None, units(row["amount"]))
        ),
    )


def _amount(text: str | None) -> int | None:
    if not text:
        return None
    try:
        return units(text)
    except ValueError:
        raise core_error(125) from None


def _in_heights(
    chain: Chain, start: int | None, count: int | None, status: str | None, paging: Paging
) -> Fits:
    """Whether a row is in the requested blocks. Only confirmed rows can be requested this way."""
    if start is None and count is None:
        return lambda row: True
    if status != "CONFIRMED":
        raise core_error(125)
    if start is None:
        start = chain["height"] - (count or 0) if paging.reverse else 1
    first = start
    return lambda row: first <= row["blockHeight"] and (count is None or row["blockHeight"] < first + count)


def _sorted_page(chain: Chain, status: str, paging: Paging, fits: Fits) -> RawReply:
    rows = [row for row in _stored(chain, status) if fits(row)]
    if status == "BOTH":
        # Without filters the database uses its index of times, which keeps the order.
        rows.sort(key=lambda row: -row["timestamp"] if paging.reverse else row["timestamp"])
    else:
        rows = by_time(rows, newest_first=paging.reverse)
    return as_json(paging.cut(rows))


def _stored(chain: Chain, status: str) -> Rows:
    confirmed = [] if status == "UNCONFIRMED" else as_stored(chain)
    return [*confirmed, *([] if status == "CONFIRMED" else chain["unconfirmed"])]


def _participants(chain: Chain, row: dict[str, Any]) -> set[str | None]:
    others = {row.get(member) for member in _OTHERS}
    paid = {payment["recipient"] for payment in row.get("payments", [])}
    return (
        {row["creatorAddress"], participant_in(row["type"], chain["raw"][row["signature"]])} | others | paid
    )


def _creator_key(chain: Chain, row: dict[str, Any]) -> str:
    known: str = chain["publicKeys"].get(row["creatorAddress"], "false")
    return known


def unit_fee(chain: Chain, parameters: Parameters) -> RawReply:
    kind, moment = parameters.choice("txType", TRANSACTION_TYPES), parameters.long("timestamp")
    parameters.integer("level")
    fee = chain["unitFees"].get(kind)
    if fee is None:
        raise page(500)
    if not isinstance(fee, int):
        raise core_error(125)
    return as_text(str(_OLD_UNIT_FEE if moment is not None and moment < 0 else fee))


ROUTES: Routes = {
    "/transactions/signature/{signature}": by_signature,
    "/transactions/signature/{signature}/raw": raw,
    "/transactions/reference/{reference}": by_reference,
    "/transactions/block/{signature}": blocks.transactions,
    "/transactions/unconfirmed": unconfirmed,
    "/transactions/pending": pending,
    "/transactions/search": search,
    "/transactions/address/{address}": of_address,
    "/transactions/payments/between": payments,
    "/transactions/unitfee": unit_fee,
    "/transactions/creator/{publickey}": of_creator,
}
