"""Trades against foreign coins, and the foreign chains themselves."""

import csv
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct

from ..words.amounts import exact, written
from ..words.base58 import is_address
from ..words.times import Milliseconds
from .plain import Count, Whole, plain

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


class Trade(Struct):
    """A contract that offers QORT for a foreign coin, in any of its modes.

    Core has deprecated copies of some members, named after Bitcoin whatever the coin; they are left out.
    """

    qortalAtAddress: str
    qortalCreator: str
    qortAmount: str
    expectedForeignAmount: str
    foreignBlockchain: str
    mode: str
    creationTimestamp: Milliseconds
    acctName: str = ""
    qortalCreatorTradeAddress: str | None = None
    qortBalance: str | None = None
    # In minutes.
    tradeTimeout: Whole | None = None
    refundTimeout: Whole | None = None
    tradeModeTimestamp: Milliseconds | None = None
    tradeRefundHeight: Whole | None = None
    lockTimeA: Seconds | None = None
    lockTimeB: Seconds | None = None
    creatorForeignPKH: str | None = None
    partnerForeignPKH: str | None = None
    hashOfSecretA: str | None = None
    hashOfSecretB: str | None = None
    qortalPartnerAddress: str | None = None
    qortalPartnerReceivingAddress: str | None = None
    creatorPresenceExpiry: Milliseconds | None = None
    partnerPresenceExpiry: Milliseconds | None = None

    def __post_init__(self) -> None:
        self.qortalAtAddress = plain(self.qortalAtAddress) or ""
        self.qortalCreator = plain(self.qortalCreator) or ""
        self.foreignBlockchain = plain(self.foreignBlockchain) or ""
        self.mode = plain(self.mode) or ""
        self.acctName = plain(self.acctName) or ""
        self.qortAmount = exact(self.qortAmount)
        self.expectedForeignAmount = exact(self.expectedForeignAmount)
        self.qortBalance = None if self.qortBalance is None else exact(self.qortBalance)
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


def _set(text: str | None) -> str | None:
    """Bytes that a contract never filled are zeros, which Base58 writes as ones."""
    return plain(text) if text and text.strip("1") else None


def _address(text: str | None) -> str | None:
    return text if text and is_address(text) else None


class CompletedTrade(Struct):
    tradeTimestamp: Milliseconds
    qortAmount: str
    foreignAmount: str
    atAddress: str
    sellerAddress: str
    buyerReceivingAddress: str | None = None

    def __post_init__(self) -> None:
        self.qortAmount = exact(self.qortAmount)
        self.foreignAmount = exact(self.foreignAmount)
        self.atAddress = plain(self.atAddress) or ""
        self.sellerAddress = plain(self.sellerAddress) or ""
        self.buyerReceivingAddress = plain(self.buyerReceivingAddress)


class LedgerEntry(Struct):
    """A line of a ledger: so much of the market's coin against the currency."""

    market: str
    currency: str
    quantity: str
    total_price: str
    commission: str
    commission_currency: str
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
        plain(market) or "",
        plain(currency) or "",
        exact(quantity),
        exact(total),
        exact(commission),
        plain(commission_currency) or "",
        int(time.timestamp()) * 1000,
    )


class SignedFee(Struct):
    timestamp: Milliseconds
    data: str
    atAddress: str
    # In the smallest unit of the foreign coin.
    fee: Count

    def __post_init__(self) -> None:
        self.data = plain(self.data) or ""
        self.atAddress = plain(self.atAddress) or ""


class CoinStatus(Struct):
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


def scaled(body: bytes) -> str:
    """Reads a number of 0.00000001 as an amount. Raises: ValueError."""
    return written(whole_number(body))
