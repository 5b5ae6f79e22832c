"""Trades against foreign coins, and the foreign chains themselves."""

import csv
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from ..words.amounts import written
from ..words.base58 import is_address
from ..words.times import Milliseconds
from .reply import Amount, Count, Reply, Text, Whole

_LEDGER_COLUMNS = [
    "Market",
    "Currency",
    "Quantity",
    "Commission Paid",
    "Commission Currency",
    "Total Price",
    "Date Time",
    "Exchange",
]
# Since 1970, up to the end of the year 9999.
Seconds = Annotated[int, Meta(ge=0, le=253_402_300_799)]

_LEDGER_TIME = "%Y%m%d %H:%M"


class Trade(Reply):
    """A contract that offers QORT for a foreign coin, in any of its modes.

    Core has deprecated copies of some members, named after Bitcoin whatever the coin; they are left out.
    """

    qortalAtAddress: Text
    qortalCreator: Text
    qortAmount: Amount
    expectedForeignAmount: Amount
    foreignBlockchain: Text
    mode: Text
    creationTimestamp: Milliseconds
    acctName: Text = ""
    qortalCreatorTradeAddress: Text | None = None
    qortBalance: Amount | None = None
    # In minutes.
    tradeTimeout: Whole | None = None
    refundTimeout: Whole | None = None
    tradeModeTimestamp: Milliseconds | None = None
    tradeRefundHeight: Whole | None = None
    lockTimeA: Seconds | None = None
    lockTimeB: Seconds | None = None
    creatorForeignPKH: Text | None = None
    partnerForeignPKH: Text | None = None
    hashOfSecretA: Text | None = None
    hashOfSecretB: Text | None = None
    qortalPartnerAddress: Text | None = None
    qortalPartnerReceivingAddress: Text | None = None
    creatorPresenceExpiry: Milliseconds | None = None
    partnerPresenceExpiry: Milliseconds | None = None

    def __post_init__(self) -> None:
        self.qortalCreatorTradeAddress = _address(self.qortalCreatorTradeAddress)
        self.qortalPartnerAddress = _address(self.qortalPartnerAddress)
        self.qortalPartnerReceivingAddress = _address(self.qortalPartnerReceivingAddress)
        self.creatorForeignPKH = _set(self.creatorForeignPKH)
        self.partnerForeignPKH = _set(self.partnerForeignPKH)
        self.hashOfSecretA = _set(self.hashOfSecretA)
        self.hashOfSecretB = _set(self.hashOfSecretB)
        self.lockTimeA = self.lockTimeA or None
        self.lockTimeB = self.lockTimeB or None
        self.refundTimeout = self.refundTimeout or None
        self.tradeRefundHeight = self.tradeRefundHeight or None
        super().__post_init__()


def _set(text: str | None) -> str | None:
    """Bytes that a contract never filled are zeros, which Base58 writes as ones."""
    return text if text and text.strip("1") else None


def _address(text: str | None) -> str | None:
    return text if text and is_address(text) else None


class CompletedTrade(Reply):
    tradeTimestamp: Milliseconds
    qortAmount: Amount
    foreignAmount: Amount
    atAddress: Text
    sellerAddress: Text
    buyerReceivingAddress: Text | None = None


class LedgerEntry(Reply):
    """A line of a ledger: so much of the market's coin against the currency."""

    market: Text
    currency: Text
    quantity: Amount
    total_price: Amount
    commission: Amount
    commission_currency: Text
    # To the minute.
    timestamp: int


def ledger_entries(body: bytes) -> list[LedgerEntry]:
    """Raises: ValueError where it is no ledger."""
    try:
        rows = list(csv.reader(body.decode().splitlines(), strict=True))
    except csv.Error as exc:
        raise ValueError("not CSV") from exc
    if not rows or rows[0] != _LEDGER_COLUMNS:
        raise ValueError("not a ledger")
    return [_ledger_entry(row) for row in rows[1:] if row]


def _ledger_entry(row: list[str]) -> LedgerEntry:
    if len(row) != len(_LEDGER_COLUMNS):
        raise ValueError("a line of another length")
    market, currency, quantity, commission, commission_currency, total, when, _ = row
    time = datetime.strptime(when, _LEDGER_TIME).replace(tzinfo=UTC)
    return LedgerEntry(
        market,
        currency,
        quantity,
        total,
        commission,
        commission_currency,
        int(time.timestamp()) * 1000,
    )


class SignedFee(Reply):
    timestamp: Milliseconds
    data: Text
    atAddress: Text
    # In the smallest unit of the foreign coin.
    fee: Count


class CoinStatus(Reply):
    enabled: bool
    # Always zero for Pirate Chain.
    connectedServers: Count = 0
    knownServers: Count = 0


def whole_number(body: bytes) -> int:
    """Reads a number that is the whole body. Raises: ValueError."""
    digits = body.strip()
    if not digits.isdigit() or len(digits) > 19:
        raise ValueError("not a whole number")
    return int(digits)


def scaled(body: bytes) -> Amount:
    """Reads a number of 0.00000001 as an amount. Raises: ValueError."""
    return written(whole_number(body))
