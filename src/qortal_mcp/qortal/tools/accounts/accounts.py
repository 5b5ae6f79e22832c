"""Accounts: whether an address is valid, what it holds, whose it is."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...endpoints.addresses import ACCOUNT, BALANCE
from ...endpoints.assets import ASSET, ASSET_BALANCES
from ...endpoints.names import NAMES_OF, PRIMARY_NAME
from ...limits import ASSETS, NAMES
from ...node.failures import NodeFailure
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.assets import AssetBalance
from ...words.arguments import Account, AnyText, AssetId, AssetIds
from ...words.base58 import is_address
from ..answers import Amount, Answer
from ..read_only import tool

QORT = "QORT"
_FOUNDER = 1
_ZERO = "0.00000000"


class Validity(Struct):
    isValid: bool


@tool("Validate address")
def validate_address(address: AnyText) -> Validity:
    """Whether a text is a valid Qortal address, checksum included; not whether it was ever used. Needs no node."""
    return Validity(is_address(address))


class OneBalance(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account
    asset_id: AssetId = 0


class Balance(Answer):
    address: str
    assetId: int
    assetName: str
    balance: Amount
    unit: str


@tool("Balance")
async def get_balance(args: OneBalance, node: Node) -> Balance:
    """Confirmed balance of one address in QORT or another asset, as an exact decimal string."""
    reading = node.reading()
    asking = reading.get(BALANCE, address=args.address, assetId=args.asset_id)
    # Most calls by far are about QORT, whose name needs no second request.
    if args.asset_id == 0:
        balance, name = await asking, QORT
    else:
        balance, name = await side_by_side(asking, _asset_name(reading, args.asset_id))
    notes = []
    if balance == _ZERO and await reading.optional(ACCOUNT, address=args.address) is None:
        notes.append("This address has not appeared on the chain yet.")
    return Balance(
        args.address, args.asset_id, name, balance, name, asOf=reading.as_of, notes=reading.notes(*notes)
    )


async def _asset_name(reading: Reading, asset_id: int) -> str:
    return (await reading.get(ASSET, assetId=asset_id)).name if asset_id else QORT


class OneAccount(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account
    include_assets: Annotated[bool, Meta(description="List asset balances.")] = True
    asset_ids: AssetIds | UnsetType = UNSET
    include_zero: Annotated[bool, Meta(description="Also list assets with balance 0.")] = False


class Holding(Struct):
    assetId: int
    assetName: str
    balance: Amount


class AccountOverview(Answer):
    address: str
    publicKey: str | None
    level: int
    blocksMinted: int
    blocksMintedAdjustment: int
    blocksMintedPenalty: int
    isFounder: bool
    balance: Annotated[str, Meta(pattern=r"^-?[0-9]+\.[0-9]{8}$", description="In QORT, exact.")]
    primaryName: str | None
    names: list[str]
    assetBalances: list[Holding]


@tool("Account overview")
async def get_account_overview(args: OneAccount, node: Node) -> AccountOverview:
    """One account at a glance: minting level, QORT balance, registered names and up to 20 asset balances.
    Use get_balance when only one balance is wanted."""
    reading = node.reading()
    address = args.address
    account, balance, primary, (names, names_note), (holdings, holdings_note) = await side_by_side(
        reading.get(ACCOUNT, address=address),
        reading.get(BALANCE, address=address, assetId=0),
        reading.optional(PRIMARY_NAME, address=address),
        _names(reading, address),
        _holdings(reading, args),
    )
    if args.include_assets:
        holdings = [Holding(0, QORT, balance), *holdings]
    # Core loses the primary name when only its data is edited; then the oldest name is used.
    primary_name = (primary.name if primary is not None else None) or (names[0] if names else None)
    return AccountOverview(
        address,
        account.publicKey,
        account.level,
        account.blocksMinted,
        account.blocksMintedAdjustment,
        account.blocksMintedPenalty,
        bool(account.flags & _FOUNDER),
        balance,
        primary_name,
        names,
        holdings,
        asOf=reading.as_of,
        notes=reading.notes(*(note for note in (names_note, holdings_note) if note)),
    )


async def _names(reading: Reading, address: str) -> tuple[list[str], str]:
    rows = await reading.get(NAMES_OF, address=address, limit=NAMES)
    names = [row.name for row in rows if row.name is not None]
    if len(rows) < NAMES or not await reading.get(NAMES_OF, address=address, limit=1, offset=NAMES):
        return names, ""
    return names, f"The account owns more names; names lists the oldest {NAMES}."


async def _holdings(reading: Reading, args: OneAccount) -> tuple[list[Holding], str]:
    """Assets besides QORT, by id, and a note if there are more than fit, or fewer than requested."""
    if not args.include_assets:
        return [], ""
    asset_ids, note = args.asset_ids, ""
    try:
        rows = await _balances(reading, args, asset_ids)
    except NodeFailure as exc:
        asset_ids, note = await _existing(reading, args.asset_ids, exc)
        rows = await _balances(reading, args, asset_ids)
    held = {row.assetId: row for row in rows if row.assetId}
    wanted = [] if asset_ids is UNSET or not args.include_zero else asset_ids
    absent = sorted({asset_id for asset_id in wanted if asset_id} - held.keys())
    names = await side_by_side(*(_asset_name(reading, asset_id) for asset_id in absent))
    held |= {
        asset_id: AssetBalance(asset_id, _ZERO, name) for asset_id, name in zip(absent, names, strict=True)
    }
    holdings = [Holding(row.assetId, row.assetName or "", row.balance) for _, row in sorted(held.items())]
    if len(holdings) < ASSETS:
        return holdings, note
    return holdings[: ASSETS - 1], f"assetBalances lists the first {ASSETS}; use asset_ids for others."


async def _balances(
    reading: Reading, args: OneAccount, asset_ids: list[int] | UnsetType
) -> list[AssetBalance]:
    return await reading.get(
        ASSET_BALANCES,
        address=[args.address],
        assetid=asset_ids,
        ordering="ACCOUNT_ASSET",
        excludeZero=not args.include_zero,
        limit=ASSETS + 1,
    )


async def _existing(
    reading: Reading, asset_ids: list[int] | UnsetType, failure: NodeFailure
) -> tuple[list[int], str]:
    """The assets that exist, and a note about the others, for which Core refused the whole request.

    Raises: ToolError if none exist, or if Core had another reason.
    """
    if asset_ids is UNSET or failure.code != "NOT_FOUND":
        raise failure
    found = await side_by_side(*(reading.optional(ASSET, assetId=asset_id) for asset_id in asset_ids))
    pairs = [*zip(asset_ids, found, strict=True)]
    existing = [asset_id for asset_id, asset in pairs if asset is not None]
    if len(existing) in (0, len(asset_ids)):
        raise failure
    unknown = ", ".join(str(asset_id) for asset_id, asset in pairs if asset is None)
    return existing, f"There is no asset {unknown}."
