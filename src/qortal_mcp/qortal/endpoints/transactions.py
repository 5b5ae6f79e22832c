"""Transactions. Lists always get a status and a limit: without the first Core fails, without the
second it returns everything."""

from collections.abc import Mapping
from typing import Any

from ..limits import PAGE_ROWS
from ..replies.transactions import Transaction, raw_transaction
from ..words.arguments import (
    Address,
    BlockSignature,
    ConfirmationStatus,
    ExactAmount,
    FromHeight,
    Heights,
    Limit,
    Offset,
    OfGroup,
    PublicKey,
    Reference,
    Signature,
)
from ..words.times import Milliseconds
from .parameters import CoreType, CoreTypes
from .record import HOURS, SECONDS, SECONDS_AT_ONE_BLOCK, UNTIL_NEXT_BLOCK, Endpoint, Same, json_of, number

_PAGE = {"limit": Limit, "offset": Offset, "reverse": bool}
_FIRST_PAGE = {"limit": PAGE_ROWS}
_FIRST_CONFIRMED = {"confirmationStatus": "CONFIRMED", **_FIRST_PAGE}
_transactions = json_of(list[Transaction])


def _last_block(values: Mapping[str, Any]) -> int | None:
    """Where a search of confirmed transactions ends, if it is limited to blocks."""
    first, count = values.get("startBlock"), values.get("blockLimit")
    return None if first is None or count is None else first + count - 1


def _is_decided(rows: list[Transaction]) -> bool:
    """Whether no group has yet to approve any of them."""
    return all(row.approvalStatus != "PENDING" for row in rows)


def _is_confirmed(row: Transaction | dict[str, Any]) -> bool:
    """Also of a row as Core sent it."""
    return bool(row.get("blockHeight") if isinstance(row, dict) else row.blockHeight)


TRANSACTION = Endpoint(
    "/transactions/signature/{signature}",
    json_of(Transaction),
    UNTIL_NEXT_BLOCK,
    path={"signature": Signature},
    returns="One transaction, confirmed or not.",
    noun="Transaction",
    is_on_chain=_is_confirmed,
)
RAW_TRANSACTION = Endpoint(
    "/transactions/signature/{signature}/raw",
    raw_transaction,
    HOURS,
    path={"signature": Signature},
    returns="The bytes of a transaction in Base58, as plain text.",
    noun="Transaction",
)
TRANSACTION_AFTER = Endpoint(
    "/transactions/reference/{reference}",
    json_of(Transaction),
    UNTIL_NEXT_BLOCK,
    path={"reference": Reference},
    returns="A transaction with this reference; any one of them if there are several.",
    noun="Transaction",
    same=Same.NEVER,
)
BLOCK_TRANSACTIONS = Endpoint(
    "/transactions/block/{signature}",
    _transactions,
    UNTIL_NEXT_BLOCK,
    path={"signature": BlockSignature},
    returns="All transactions of a block.",
    noun="Block",
)
UNCONFIRMED = Endpoint(
    "/transactions/unconfirmed",
    _transactions,
    SECONDS,
    query={"txType": CoreTypes, "creator": PublicKey, **_PAGE},
    returns="Transactions that are not in a block yet.",
    defaults=_FIRST_PAGE,
)
PENDING = Endpoint(
    "/transactions/pending",
    _transactions,
    SECONDS,
    query={"txGroupId": OfGroup, **_PAGE},
    returns="Transactions waiting for a group's approval.",
    defaults=_FIRST_PAGE,
    same=Same.AT_ONE_BLOCK,
)
SEARCH = Endpoint(
    "/transactions/search",
    _transactions,
    SECONDS_AT_ONE_BLOCK,
    query={
        "startBlock": FromHeight,
        "blockLimit": Heights,
        "txGroupId": OfGroup,
        "txType": CoreTypes,
        "address": Address,
        "confirmationStatus": ConfirmationStatus,
        **_PAGE,
    },
    returns="Transactions by type, participant and more; without a type or an address at most 20 at once.",
    defaults=_FIRST_CONFIRMED,
    more_with=("txType", "address"),
    last_block_of=_last_block,
    is_final=_is_decided,
)
TRANSACTIONS_OF_ADDRESS = Endpoint(
    "/transactions/address/{address}",
    _transactions,
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query=_PAGE,
    returns="Confirmed transactions that involve an account.",
    since="3.3.1",
    defaults=_FIRST_PAGE,
)
TRANSACTIONS_OF_CREATOR = Endpoint(
    "/transactions/creator/{publickey}",
    _transactions,
    SECONDS,
    path={"publickey": PublicKey},
    query={"confirmationStatus": ConfirmationStatus, **_PAGE},
    returns="Transactions made by the owner of a public key.",
    defaults=_FIRST_CONFIRMED,
    same=Same.AT_ONE_BLOCK,
)
PAYMENTS = Endpoint(
    "/transactions/payments/between",
    _transactions,
    SECONDS,
    query={
        "recipientAddress": Address,
        "senderAddress": Address,
        "amount": ExactAmount,
        "startBlock": FromHeight,
        "blockLimit": Heights,
        "confirmationStatus": ConfirmationStatus,
        **_PAGE,
    },
    returns="Payments by sender, recipient and exact amount; a sender or a recipient is required.",
    since="5.0.7",
    defaults=_FIRST_CONFIRMED,
    same=Same.AT_ONE_BLOCK,
)
UNIT_FEE = Endpoint(
    "/transactions/unitfee",
    number,
    HOURS,
    query={"txType": CoreType, "timestamp": Milliseconds},
    returns="The fee of a type of transaction in units of 0.00000001 QORT, as plain text.",
    is_aside=True,
    since="3.1.0",
)

FAMILY: tuple[Endpoint[Any], ...] = (
    TRANSACTION,
    RAW_TRANSACTION,
    TRANSACTION_AFTER,
    BLOCK_TRANSACTIONS,
    UNCONFIRMED,
    PENDING,
    SEARCH,
    TRANSACTIONS_OF_ADDRESS,
    TRANSACTIONS_OF_CREATOR,
    PAYMENTS,
    UNIT_FEE,
)
