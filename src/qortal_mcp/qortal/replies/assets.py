"""Assets, who holds them and how they are traded for each other."""

from msgspec import UNSET, Struct, UnsetType

from ..limits import CONTENT_CHARS, LISTED_TEXT_CHARS
from ..words.amounts import exact, written
from ..words.times import Milliseconds
from .plain import Count, Number, Whole, plain


class AssetBalance(Struct):
    assetId: Number
    balance: str
    assetName: str | None = None
    address: str = ""

    def __post_init__(self) -> None:
        self.balance = exact(self.balance)
        self.assetName = plain(self.assetName)
        self.address = plain(self.address) or ""


class Asset(Struct):
    assetId: Number
    name: str
    owner: str = ""
    description: str = ""
    # Of 0.00000001 of the asset each, whether it can be divided or not.
    quantity: Whole = 0
    isDivisible: bool = False
    isUnspendable: bool = False
    creationGroupId: Whole = 0

    def __post_init__(self) -> None:
        self.name = plain(self.name) or ""
        self.owner = plain(self.owner) or ""
        self.description = plain(self.description, LISTED_TEXT_CHARS) or ""

    @property
    def amount(self) -> str:
        """How much was issued."""
        return written(self.quantity)


class AssetDetail(Asset):
    """One asset with all that its owner wrote about it."""

    # Up to 400 kB of text.
    data: str | None = None

    def __post_init__(self) -> None:
        self.name = plain(self.name) or ""
        self.owner = plain(self.owner) or ""
        self.description = plain(self.description, CONTENT_CHARS) or ""
        self.data = plain(self.data, CONTENT_CHARS)


class HeightRange(Struct):
    begin: Count
    end: Count
    isRewardDistribution: bool = False


class BalanceChange(Struct):
    address: str
    # Negative where a balance shrank.
    amount: str

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""
        self.amount = exact(self.amount)


class PriceLevel(Struct):
    """What waits at one price. Price and amount have the same units in both directions of a pair."""

    price: str
    unfulfilled: str
    unfulfilledAssetId: Number

    def __post_init__(self) -> None:
        self.price = exact(self.price)
        self.unfulfilled = exact(self.unfulfilled)


class Order(Struct):
    orderId: str
    haveAssetId: Number
    wantAssetId: Number
    # Of the asset with the higher id, whichever is offered.
    amount: str
    # In the asset with the lower id.
    price: str
    timestamp: Milliseconds
    fulfilled: str = "0.00000000"
    isClosed: bool = False
    isFulfilled: bool = False
    creator: str | None = None

    def __post_init__(self) -> None:
        self.orderId = plain(self.orderId) or ""
        self.creator = plain(self.creator)
        self.amount = exact(self.amount)
        self.price = exact(self.price)
        self.fulfilled = exact(self.fulfilled)


class AssetTrade(Struct):
    """The initiating order is the later one; it met the target order, which had been waiting."""

    initiatingOrderId: str
    targetOrderId: str
    # What the target's owner was given.
    initiatorAmount: str
    # What the initiator was given.
    targetAmount: str
    timestamp: Milliseconds
    initiatorSaving: str = "0.00000000"

    def __post_init__(self) -> None:
        self.initiatingOrderId = plain(self.initiatingOrderId) or ""
        self.targetOrderId = plain(self.targetOrderId) or ""
        self.initiatorAmount = exact(self.initiatorAmount)
        self.targetAmount = exact(self.targetAmount)
        self.initiatorSaving = exact(self.initiatorSaving)


class TradeWithOrders(Struct):
    trade: AssetTrade
    initiatingOrder: Order
    targetOrder: Order


class RecentTrade(Struct):
    assetId: Number
    otherAssetId: Number
    amount: str
    otherAmount: str
    timestamp: Milliseconds

    def __post_init__(self) -> None:
        self.amount = exact(self.amount)
        self.otherAmount = exact(self.otherAmount)


class AssetTransaction(Struct):
    type: str
    timestamp: Milliseconds
    creatorAddress: str
    signature: str = ""
    blockHeight: Count | None = None
    recipient: str | None = None
    assetId: Number | None = None
    amount: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        self.type = plain(self.type) or ""
        self.creatorAddress = plain(self.creatorAddress) or ""
        self.signature = plain(self.signature) or ""
        self.recipient = plain(self.recipient)
        if self.amount is not UNSET:
            self.amount = exact(self.amount)
