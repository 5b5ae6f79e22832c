"""Sums of one account: in and out per asset, and fees."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct

from ....text import shortened
from ...endpoints.assets import ASSET
from ...limits import ASSETS
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.transactions import Transaction
from ...words.amounts import written
from ..answers import Amount
from .moves import QORT, Move, fee_of, moves_of


class AssetFlow(Struct, rename={"in_": "in"}):
    """What came in and went out, without fees."""

    assetId: int
    unit: str
    in_: Amount
    out: Amount


class Sums(Struct):
    """Sums in the making, in units of 0.00000001."""

    fees: int = 0
    transactions: int = 0
    # In and out by asset.
    assets: dict[int, list[int]] = {}

    def add(self, address: str, moves: list[Move], fee: int) -> None:
        """Count one transaction of an account."""
        self.transactions += 1
        self.fees += fee
        for move in moves:
            both = self.assets.setdefault(move.asset_id, [0, 0])
            both[0] += move.amount if move.recipient == address else 0
            both[1] += move.amount if move.sender == address else 0

    def flows(self, names: dict[int, str]) -> list[AssetFlow]:
        """QORT first, even if none moved, then what the account paid itself: anybody can send it any asset."""
        moved = sorted(
            {QORT: [0, 0], **self.assets}.items(), key=lambda flow: (flow[0] != QORT, not flow[1][1], flow[0])
        )
        return [
            AssetFlow(asset_id, names.get(asset_id, f"asset {asset_id}"), written(came), written(went))
            for asset_id, (came, went) in moved[:ASSETS]
        ]

    def note(self) -> list[str]:
        """Says so if not all assets are shown."""
        hidden = len({QORT, *self.assets}) - ASSETS
        return [f"{hidden} more assets moved; {ASSETS} are shown."] if hidden > 0 else []

    @property
    def qort(self) -> int:
        return sum(self.assets.get(QORT, (0, 0)))


def own_moves(address: str, row: Transaction) -> tuple[list[Move], int]:
    """What a transaction moved to or from an account, and the fee if the account paid it."""
    moves = [move for move in moves_of(row) if address in (move.sender, move.recipient)]
    return moves, fee_of(row) if row.creatorAddress == address else 0


Fees = Annotated[Amount, Meta(description="In QORT.")]

# Assets whose names are looked up; with those of the scan these are fewer than 200 requests.
_LOOKED_UP = 8
_HIGHEST_ID = 2**31 - 1
# Longer than a name on the chain can be.
_NAME_CHARS = 60


class AssetNames:
    """Names of the assets that were met, for the units of amounts."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {QORT: "QORT"}

    def meet(self, row: Transaction) -> None:
        if row.type == "TRANSFER_ASSET" and row.assetName is not UNSET and row.assetId is not UNSET:
            self._names.setdefault(row.assetId, shortened(row.assetName, _NAME_CHARS))

    async def all_of(self, reading: Reading, asset_ids: set[int]) -> dict[int, str]:
        """Payments among several and payouts name their asset by number alone."""
        unknown = sorted(
            asset_id for asset_id in asset_ids - self._names.keys() if 0 <= asset_id <= _HIGHEST_ID
        )[:_LOOKED_UP]
        found = await side_by_side(*(reading.optional(ASSET, assetId=asset_id) for asset_id in unknown))
        return self._names | {
            asset.assetId: shortened(asset.name, _NAME_CHARS) for asset in found if asset is not None
        }
