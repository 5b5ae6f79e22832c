"""Minting: what an account minted, which accounts it sponsored, and its reward shares."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.context import Context
from ....server.tool_errors import invalid_argument
from ...endpoints.addresses import ACCOUNT, MINTERSHIP, ONLINE_ACCOUNTS, REWARD_SHARES, SPONSOR, SPONSORSHIP
from ...endpoints.admin import NODE_INFO
from ...endpoints.groups import GROUPS_JOINED
from ...limits import NAMES, PAGE_ROWS, SHARES
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.addresses import Account as AccountReply
from ...replies.addresses import Report, RewardShare, Sponsorship
from ...words.arguments import Account, EarlierThan, LaterThan, Limit, Offset, OtherAccount
from ...words.minting import MINTING_GROUP
from ..answers import Answer, ListAnswer, Page, fitting, page_of, page_on
from ..read_only import tool
from ..scanning.spans import between
from .earnings import Earnings, earned
from .prospects import (
    ASSUMED_RULES,
    UNKNOWN_RULES,
    ExpectedPayout,
    NextLevel,
    expected_payout,
    is_minting,
    next_level,
    why_not_minting,
)

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
    address: Account
    since: Annotated[LaterThan, Meta(description="Earnings after this time (ISO, ms, 7d).")] = "7d"
    until: EarlierThan | UnsetType = UNSET


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
    isMintingNow: Annotated[bool | None, Meta(description="Null if the node does not tell who is online.")]
    whyNotMinting: str | None
    isInMintingGroup: Annotated[bool | None, Meta(description="Null on a test chain.")]
    nextLevel: Annotated[
        NextLevel | None, Meta(description="Null at the highest level, and on a test chain.")
    ]
    expectedPayout: Annotated[
        ExpectedPayout | None, Meta(description="Null if it is not online, and on a test chain.")
    ]
    earnings: Annotated[Earnings | None, Meta(description="Null if the node does not record balances.")]
    wasInPrivilegeTransfer: bool | None
    rewardShares: Annotated[list[Share], Meta(description="As minter or recipient.")]
    sponsor: Annotated[str | None, Meta(description="Who first shared rewards with this account.")]
    sponsees: Annotated[Sponsees | None, Meta(description="Accounts it ever shared rewards with.")]
    dealings: Dealings | None
    page: Annotated[Page | UnsetType, Meta(description="If more payouts follow.")] = UNSET


@tool("Minting profile")
async def get_minting_profile(args: OneMinter, node: Node, ctx: Context) -> MintingProfile:
    """Whether an account mints now, its next level and when, expected payout and earnings; penalty, reward shares,
    sponsor, sponsored accounts."""
    between(args.since, args.until)  # refuses times in the wrong order before anything is asked
    reading = node.reading()
    address = args.address
    # Core's reports fail for accounts it has never seen; the caller must then hear that there is no such account.
    account, own, sponsorship, sponsor, shares, info = await side_by_side(
        reading.get(ACCOUNT, address=address),
        reading.optional(MINTERSHIP, address=address),
        reading.optional(SPONSORSHIP, address=address),
        reading.optional(SPONSOR, address=address),
        reading.get(REWARD_SHARES, involving=[address], limit=SHARES + 1),
        reading.optional(NODE_INFO),
    )
    is_test_net = None if info is None else info.isTestNet
    now, earnings = await side_by_side(
        _now(reading, address, account, shares, is_test_net),
        earned(reading, address, args.since, args.until, is_main_net=not is_test_net, ctx=ctx),
    )
    notes = []
    if len(shares) > SHARES:
        notes.append(f"rewardShares lists the first {SHARES}; list_reward_shares returns all.")
    if own is None or sponsorship is None:
        notes.append("This node does not report on sponsorship.")
    elif len(sponsorship.names) > NAMES:
        notes.append(f"sponsees.names lists {NAMES} of {len(sponsorship.names)}.")
    if is_test_net is not False:
        notes.append(UNKNOWN_RULES if is_test_net else ASSUMED_RULES)
    page: Page | UnsetType = UNSET
    if earnings.earnings is not None and earnings.next_since is not None:
        page = page_on(args, len(earnings.earnings.payouts), since=earnings.next_since)
    return MintingProfile(
        address,
        account.level,
        bool(account.flags & _FOUNDER),
        account.blocksMinted,
        account.blocksMintedAdjustment,
        account.blocksMintedPenalty,
        now.is_minting,
        now.why_not,
        now.is_member,
        now.next_level,
        now.expected,
        earnings.earnings,
        None if own is None else own.transfer,
        [_share(row) for row in shares[:SHARES]],
        None if sponsor is None else sponsor.address,
        None if sponsorship is None else _sponsees(sponsorship),
        None if own is None else _dealings(own),
        page,
        asOf=reading.as_of,
        notes=reading.notes(*notes, *earnings.notes),
    )


class _Now(Struct, frozen=True):
    is_minting: bool | None
    why_not: str | None
    is_member: bool | None
    next_level: NextLevel | None
    expected: ExpectedPayout | None


async def _now(
    reading: Reading, address: str, account: AccountReply, shares: list[RewardShare], is_test_net: bool | None
) -> _Now:
    """How the account stands now. Only on the main net is it known who may mint, and what for."""
    online, groups = await side_by_side(
        reading.optional(ONLINE_ACCOUNTS), reading.optional(GROUPS_JOINED, address=address)
    )
    tip = await reading.tip()
    is_member = None
    if not is_test_net and groups is not None:
        is_member = any(group.groupId == MINTING_GROUP for group in groups)
    minting = why = expected = None
    if online is not None:
        minting = is_minting(address, online, is_member)
        # Rows beyond the listed ones may be what the account mints with.
        has_share = len(shares) > SHARES or any(row.mintingAccount == address for row in shares)
        why = None if minting else why_not_minting(address, online, is_member, has_share)
        if tip is not None and not is_test_net:
            expected = expected_payout(address, online, shares, tip, members_only=is_test_net is False)
    level = None if tip is None or is_test_net else next_level(account, tip)
    return _Now(minting, why, is_member, level, expected)


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
    minter: Annotated[OtherAccount, Meta(description="Who mints.")] | UnsetType = UNSET
    recipient: Annotated[OtherAccount, Meta(description="Who gets a share.")] | UnsetType = UNSET
    involving: Annotated[OtherAccount, Meta(description="Either of the two.")] | UnsetType = UNSET
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
