"""Accounts, what they mint, and with whom they share the rewards."""

from msgspec import field

from ..words.base58 import is_address, is_bytes
from ..words.times import Milliseconds
from .reply import Count, Reply, Text, Whole


class Account(Reply):
    address: Text
    level: Whole
    blocksMinted: Whole
    flags: Whole = 0
    blocksMintedAdjustment: Whole = 0
    blocksMintedPenalty: Whole = 0
    publicKey: Text | None = None


class RewardShare(Reply):
    """Who mints, and who gets how much of it. A share of one's own is what a node mints with."""

    mintingAccount: Text
    recipient: Text
    rewardSharePublicKey: Text
    # A percentage with two places, such as "25.00".
    sharePercent: Text
    minterPublicKey: Text = ""


class OnlineAccount(Reply):
    timestamp: Milliseconds
    minterAddress: Text
    recipientAddress: Text
    rewardSharePublicKey: Text
    minterLevel: Whole = 0
    isMinterMember: bool = False


class OnlineLevel(Reply):
    level: Whole
    count: Count


class Penalty(Reply):
    address: Text
    # Zero or negative.
    blocksMintedPenalty: Whole


class PenaltyTotals(Reply):
    totalPenalties: Count
    maxPenalty: Whole | None = None
    minPenalty: Whole | None = None
    penaltyHash: Text | None = None


class AccountLevel(Reply):
    address: Text
    level: Whole


class Report(Reply):
    """The dealings of an account. Amounts are whole QORT here."""

    address: Text
    transfer: bool = False
    sponseeCount: Whole = 0
    arbitraryCount: Whole = 0
    transferAssetCount: Whole = 0
    transferPrivsCount: Whole = 0
    sellCount: Whole = 0
    sellAmount: Whole = 0
    buyCount: Whole = 0
    buyAmount: Whole = 0


class Sponsorship(Report):
    """The dealings of all that the account sponsored."""

    names: list[Text] = field(default_factory=list)
    avgBalance: Whole = 0


def key_or_false(body: bytes) -> Text:
    """Reads a public key; `false` is what Core writes where it knows none. Raises: ValueError."""
    text = body.decode().strip()
    if text != "false" and not is_bytes(text, 32):
        raise ValueError("not a public key")
    return text


def one_address(body: bytes) -> Text:
    """Reads an address. Raises: ValueError."""
    text = body.decode().strip()
    if not is_address(text):
        raise ValueError("not an address")
    return text
