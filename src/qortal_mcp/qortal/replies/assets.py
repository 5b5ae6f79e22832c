"""Assets, who holds them and how they are traded for each other."""

from msgspec import UNSET, UnsetType

from ..words.amounts import written
from ..words.times import Milliseconds
from .reply import Amount, Count, ListedText, LongText, Number, Reply, Text, Whole


class AssetBalance(Reply):
    assetId: Number
    balance: Amount
    assetName: Text | None = None
    address: Text = ""


class Asset(Reply):
    assetId: Number
    name: Text
    owner: Text = ""
    description: ListedText = ""
    # Of 0.00000001 of the asset each, whether it can be divided or not.
    quantity: Whole = 0
    isDivisible: bool = False
    isUnspendable: bool = False
    creationGroupId: Whole = 0

    @property
    def amount(self) -> str:
        """How much was issued."""
        return written(self.quantity)


class AssetDetail(Asset):
    """One asset with all that its owner wrote about it."""

    description: LongText = ""
    # Up to 400 kB of text.
    data: LongText | None = None


class HeightRange(Reply):
    begin: Count
    end: Count
    isRewardDistribution: bool = False


class BalanceChange(Reply):
    address: Text
    # Negative where a balance shrank.
    amount: Amount


class PriceLevel(Reply):
    """What waits at one price. Price and amount have the same units in both directions of a pair."""

    price: Amount
    unfulfilled: Amount
    unfulfilledAssetId: Number


class Order(Reply):
    orderId: Text
    haveAssetId: Number
    wantAssetId: Number
    # Of the asset with the higher id, whichever is offered.
    amount: Amount
    # In the asset with the lower id.
    price: Amount
    timestamp: Milliseconds
    fulfilled: Amount = "0.00000000"
    isClosed: bool = False
    isFulfilled: bool = False
    creator: Text | None = None
    haveAssetName: Text | None = None
    wantAssetName: Text | None = None


class AssetTrade(Reply):
    """The initiating order is the later one; it met the target order, which had been waiting."""

    initiatingOrderId: Text
    targetOrderId: Text
    # What the target's owner was given.
    initiatorAmount: Amount
    # What the initiator was given.
    targetAmount: Amount
    timestamp: Milliseconds
    initiatorSaving: Amount = "0.00000000"


class TradeWithOrders(Reply):
    trade: AssetTrade
    initiatingOrder: Order
    targetOrder: Order


class RecentTrade(Reply):
    assetId: Number
    otherAssetId: Number
    amount: Amount
    otherAmount: Amount
    timestamp: Milliseconds


class AssetTransaction(Reply):
    type: Text
    timestamp: Milliseconds
    creatorAddress: Text
    signature: Text = ""
    blockHeight: Count | None = None
    recipient: Text | None = None
    assetId: Number | None = None
    amount: Amount | UnsetType = UNSET
