"""Assets: what was issued on the chain besides QORT, and who holds it."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.assets import ASSET_BALANCES, ASSETS
from ...endpoints.parameters import Ordering
from ...limits import PAGE_ROWS
from ...node.node import Node
from ...replies.assets import Asset
from ...words.arguments import Accounts, AssetIds, Limit, Offset, Reverse
from ..answers import Amount, Answer, ListAnswer, fitting, page_of
from ..read_only import tool
from .named import AssetRef, named_asset

Quantity = Annotated[
    str | None,
    Meta(description="Issued units of the asset, exact. Null for QORT, which is minted block by block."),
]
_CIRCULATING = "get_network_overview returns the circulating QORT."


def _quantity(row: Asset) -> str | None:
    """Core has no quantity for QORT, and writes 0."""
    return row.amount if row.assetId else None


class AssetList(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = False
    # Core would send up to 400 kB for each asset; get_asset returns the data of one.
    include_data: Annotated[bool, Meta(description="Ignored.", extra={"unlisted": True})] = False


class AssetRow(Struct):
    assetId: int
    name: str
    owner: str
    description: str
    quantity: Quantity
    isDivisible: bool
    isUnspendable: bool


class AssetRows(ListAnswer):
    assets: list[AssetRow]


@tool("Assets")
async def list_assets(args: AssetList, node: Node) -> AssetRows:
    """All assets issued on the chain, by id, QORT (0) first."""
    reading = node.reading()
    rows = await reading.get(ASSETS, limit=args.limit, offset=args.offset, reverse=args.reverse)
    listed = fitting(
        [
            AssetRow(
                row.assetId,
                row.name,
                row.owner,
                row.description,
                _quantity(row),
                row.isDivisible,
                row.isUnspendable,
            )
            for row in rows[: args.limit]
        ]
    )
    notes = ["Data is not listed; get_asset returns the data of one asset."] if args.include_data else []
    # Core does not say whether more follow, so a full page is followed by one that may be empty.
    more = len(rows) >= args.limit or len(listed) < len(rows)
    return AssetRows(
        listed,
        page=page_of(args, args.offset, len(listed), more),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


class OneAsset(Struct, frozen=True, forbid_unknown_fields=True):
    asset: AssetRef


class AssetAnswer(Answer):
    assetId: int
    name: str
    owner: str
    description: str
    quantity: Quantity
    isDivisible: bool
    isUnspendable: bool
    creationGroupId: int
    data: Annotated[str | None, Meta(description="What its owner stored with it.")]


@tool("Asset")
async def get_asset(args: OneAsset, node: Node) -> AssetAnswer:
    """One asset by id or exact name: owner, description, quantity and data."""
    reading = node.reading()
    row = await named_asset(reading, args.asset)
    return AssetAnswer(
        row.assetId,
        row.name,
        row.owner,
        row.description,
        _quantity(row),
        row.isDivisible,
        row.isUnspendable,
        row.creationGroupId,
        row.data,
        asOf=reading.as_of,
        notes=reading.notes(*([] if row.assetId else [_CIRCULATING])),
    )


class HolderList(Struct, frozen=True, forbid_unknown_fields=True):
    asset: AssetRef | UnsetType = UNSET
    addresses: Accounts | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    asset_ids: Annotated[AssetIds, Meta(extra={"unlisted": True})] | UnsetType = UNSET
    ordering: Annotated[Ordering, Meta(extra={"unlisted": True})] = "ASSET_BALANCE_ACCOUNT"
    exclude_zero: Annotated[bool, Meta(extra={"unlisted": True})] = False
    reverse: Reverse = True


class Holder(Struct):
    address: str
    assetId: int
    assetName: str | None
    balance: Amount


class Holders(ListAnswer):
    holders: list[Holder]


@tool("Asset holders")
async def list_holders(args: HolderList, node: Node) -> Holders:
    """Who holds an asset, richest first (asset 0: the QORT rich list), or what given addresses hold, highest
    asset id first. Give asset, addresses, or both."""
    if args.asset is UNSET and args.addresses is UNSET and args.asset_ids is UNSET:
        raise invalid_argument("Invalid arguments.", "Give at least one of asset and addresses.")
    if args.asset is not UNSET and args.asset_ids is not UNSET:
        raise invalid_argument("Invalid asset_ids.", "Give either asset or asset_ids.")
    reading = node.reading()
    asset_ids = args.asset_ids
    if args.asset is not UNSET:
        asset_ids = [(await named_asset(reading, args.asset)).assetId]
    rows = await reading.get(
        ASSET_BALANCES,
        address=args.addresses,
        assetid=asset_ids,
        ordering=args.ordering,
        excludeZero=args.exclude_zero,
        limit=args.limit,
        offset=args.offset,
        reverse=args.reverse,
    )
    holders = fitting(
        [Holder(row.address, row.assetId, row.assetName, row.balance) for row in rows[: args.limit]]
    )
    more = len(rows) >= args.limit or len(holders) < len(rows)
    return Holders(
        holders,
        page=page_of(args, args.offset, len(holders), more),
        asOf=reading.as_of,
        notes=reading.notes(),
    )
