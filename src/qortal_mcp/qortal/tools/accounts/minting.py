"""Minting: what an account minted, which accounts it sponsored, and its reward shares."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.addresses import ACCOUNT, MINTERSHIP, REWARD_SHARES, SPONSOR, SPONSORSHIP
from ...limits import NAMES, PAGE_ROWS, SHARES
from ...node.node import Node
from ...node.side_by_side import side_by_side
from ...replies.addresses import Report, RewardShare, Sponsorship
from ...words.arguments import Address, Limit, Offset, OtherAddress
from ..answers import Answer, ListAnswer, fitting, page_of
from ..read_only import tool

_FOUNDER = 1

WholeQort = Annotated[int, Meta(description="In whole QORT, rounded down.")]


class Share(Struct):
    minter: str
    minterPublicKey: str
    recipient: str
    rewardSharePublicKey: str
    sharePercent: Annotated[str, Meta(description="The recipient's part, in percent.")]
    isSelfShare: Annotated[bool, Meta(description="A minter's own share, which a node mints with.")]


def _share(row: RewardShare) -> Share:
    return Share(
        row.mintingAccount,
        row.minterPublicKey,
        row.recipient,
        row.rewardSharePublicKey,
        row.sharePercent,
        row.mintingAccount == row.recipient,
    )


class OneMinter(Struct, frozen=True, forbid_unknown_fields=True):
    address: Address


class Dealings(Struct):
    """What accounts did, as counted by Core."""

    publications: int
    assetTransfers: int
    privilegeTransfers: int
    sales: int
    soldQort: WholeQort
    purchases: int
    boughtQort: WholeQort


class Sponsees(Struct):
    count: int
    names: list[str]
    averageBalanceQort: WholeQort
    dealings: Dealings


class MintingProfile(Answer):
    address: str
    level: Annotated[int, Meta(description="0 to 10.")]
    isFounder: bool
    blocksMinted: int
    blocksMintedAdjustment: int
    blocksMintedPenalty: Annotated[int, Meta(description="Zero or negative.")]
    wasInPrivilegeTransfer: bool | None
    rewardShares: Annotated[list[Share], Meta(description="As minter or recipient.")]
    sponsor: Annotated[str | None, Meta(description="Who first shared rewards with this account.")]
    sponsees: Annotated[Sponsees | None, Meta(description="Accounts it ever shared rewards with.")]
    dealings: Dealings | None


@tool("Minting profile")
async def get_minting_profile(args: OneMinter, node: Node) -> MintingProfile:
    """One account as a minter: level, blocks minted, penalty, reward shares, sponsor and sponsored accounts.
    Use it to judge who a minter is."""
    reading = node.reading()
    address = args.address
    # Core's reports fail for accounts it has never seen; the caller must then hear that there is no such account.
    account, own, sponsorship, sponsor, shares = await side_by_side(
        reading.get(ACCOUNT, address=address),
        reading.optional(MINTERSHIP, address=address),
        reading.optional(SPONSORSHIP, address=address),
        reading.optional(SPONSOR, address=address),
        reading.get(REWARD_SHARES, involving=[address], limit=SHARES + 1),
    )
    notes = []
    if len(shares) > SHARES:
        notes.append(f"rewardShares lists the first {SHARES}; list_reward_shares returns all.")
    if own is None or sponsorship is None:
        notes.append("This node does not report on sponsorship.")
    elif len(sponsorship.names) > NAMES:
        notes.append(f"sponsees.names lists {NAMES} of {len(sponsorship.names)}.")
    return MintingProfile(
        address,
        account.level,
        bool(account.flags & _FOUNDER),
        account.blocksMinted,
        account.blocksMintedAdjustment,
        account.blocksMintedPenalty,
        None if own is None else own.transfer,
        [_share(row) for row in shares[:SHARES]],
        None if sponsor is None else sponsor.address,
        None if sponsorship is None else _sponsees(sponsorship),
        None if own is None else _dealings(own),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _sponsees(report: Sponsorship) -> Sponsees:
    return Sponsees(report.sponseeCount, report.names[:NAMES], report.avgBalance, _dealings(report))


def _dealings(report: Report) -> Dealings:
    return Dealings(
        report.arbitraryCount,
        report.transferAssetCount,
        report.transferPrivsCount,
        report.sellCount,
        report.sellAmount,
        report.buyCount,
        report.buyAmount,
    )


class ShareList(Struct, frozen=True, forbid_unknown_fields=True):
    minter: Annotated[OtherAddress, Meta(description="Who mints.")] | UnsetType = UNSET
    recipient: Annotated[OtherAddress, Meta(description="Who gets a share.")] | UnsetType = UNSET
    involving: Annotated[OtherAddress, Meta(description="Either of the two.")] | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0


class Shares(ListAnswer):
    rewardShares: list[Share]


@tool("Reward shares")
async def list_reward_shares(args: ShareList, node: Node) -> Shares:
    """Who shares minting rewards with whom, and how much. Give at least one of minter, recipient, involving."""
    filters = {"minters": args.minter, "recipients": args.recipient, "involving": args.involving}
    given = {name: [address] for name, address in filters.items() if address is not UNSET}
    if not given:
        raise invalid_argument("Invalid arguments.", "Give at least one of minter, recipient and involving.")
    reading = node.reading()
    rows = await reading.get(REWARD_SHARES, **given, limit=args.limit, offset=args.offset)
    shares = fitting([_share(row) for row in rows[: args.limit]])
    # Core does not say whether more follow, so a full page is followed by one that may be empty.
    more = len(rows) >= args.limit or len(shares) < len(rows)
    return Shares(
        shares,
        page=page_of(args, args.offset, len(shares), more),
        asOf=reading.as_of,
        notes=reading.notes(),
    )
