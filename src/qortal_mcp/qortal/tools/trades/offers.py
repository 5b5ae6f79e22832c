"""Offers of QORT for foreign coins, and single trades."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.crosschain import HIDDEN_OFFERS, TRADE
from ...limits import PAGE_ROWS
from ...node.node import Node
from ...replies.crosschain import Trade
from ...words.amounts import ratio, units
from ...words.arguments import Address, ChainName, ExactAmount, Limit, Offset, OtherAccount, Reverse
from ...words.chains import find_chain
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Amount, Answer, ListAnswer, fitting, page_of
from ..read_only import tool
from .purchase import Purchase, by_price, cheapest_for, purchase_of
from .whole_lists import open_offers

_TAKEN_WHOLE = "Offers can only be taken whole, so this is more than was asked for."
_PART = "The market is too large for one call: these are from the {count} offers that could be read, newest first; there may be more."
PresenceExpiry = Annotated[
    int | UnsetType, Meta(description="The trader's bot counts as online until then (ms).")
]


class OfferList(Struct, frozen=True, forbid_unknown_fields=True):
    chain: ChainName | UnsetType = UNSET
    creator: Annotated[OtherAccount, Meta(description="Address or @name.")] | UnsetType = UNSET
    sort: Annotated[Literal["newest", "price"], Meta(description="price: cheapest first, by chain.")] = (
        "newest"
    )
    qort: (
        Annotated[
            ExactAmount,
            Meta(description="Cheapest offers for this much QORT, and their cost; needs chain."),
        ]
        | UnsetType
    ) = UNSET
    hidden: Annotated[bool, Meta(description="Instead, those hidden after failed purchases.")] = False
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Offer(Struct, omit_defaults=True):
    tradeAddress: str
    creator: str
    offeringQort: Amount
    expectedForeign: Amount
    foreignCurrency: str
    mode: str
    timestamp: Milliseconds
    time: IsoTime
    price: Annotated[str | None, Meta(description="Foreign coins per QORT, rounded to eight places.")]
    priceUnit: str
    creatorPresenceExpiry: PresenceExpiry = UNSET


class Offers(ListAnswer, omit_defaults=True):
    offers: list[Offer]
    purchase: Annotated[
        Purchase | UnsetType,
        Meta(description="If qort was given: all offers to take, whatever page this is."),
    ] = UNSET


@tool("Trade offers")
async def list_trade_offers(args: OfferList, node: Node) -> Offers:
    """Open offers of QORT for foreign coins, newest first, with the price; or the cheapest for an amount."""
    reading = node.reading()
    chain = None if args.chain is UNSET else find_chain(args.chain)
    wanted = None if args.qort is UNSET else _wanted(args)
    notes, is_whole = [], True
    if args.hidden:
        rows = await reading.get(HIDDEN_OFFERS, foreignBlockchain=None if chain is None else chain.name)
    else:
        rows, is_whole = await open_offers(reading, chain)
        notes += [] if is_whole else [_PART.format(count=len(rows))]
    if args.creator is not UNSET:
        rows = [row for row in rows if row.qortalCreator == args.creator]
    if wanted is None and args.sort == "newest":
        rows = sorted(
            rows, key=lambda row: (row.creationTimestamp, row.qortalAtAddress), reverse=args.reverse
        )
    else:
        rows = by_price(rows)
    purchase: Purchase | UnsetType = UNSET
    if wanted is not None and chain is not None:
        rows = cheapest_for(wanted, rows)
        purchase = purchase_of(wanted, rows, chain.ticker, is_whole=is_whole)
        notes += [_TAKEN_WHOLE] if units(purchase.qort) > wanted else []
    offers = fitting([_offer(row) for row in rows[args.offset : args.offset + args.limit]])
    more = args.offset + len(offers) < len(rows)
    return Offers(
        offers,
        purchase,
        page=page_of(args, args.offset, len(offers), more, **({"hidden": True} if args.hidden else {})),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _wanted(args: OfferList) -> int:
    """How much QORT to buy, in units of 0.00000001. Raises: ToolError."""
    assert args.qort is not UNSET, "only asked if there is an amount"
    if args.chain is UNSET:
        raise invalid_argument(
            "Missing argument chain.", "Prices in different coins cannot be compared, so qort needs it."
        )
    if args.hidden:
        raise invalid_argument("Invalid hidden.", "Hidden offers are not for sale, so qort cannot take them.")
    wanted = units(args.qort)
    if not wanted:
        raise invalid_argument("Invalid qort.", "It must be more than 0.")
    return wanted


def _offer(row: Trade) -> Offer:
    return Offer(
        row.qortalAtAddress,
        row.qortalCreator,
        row.qortAmount,
        row.expectedForeignAmount,
        row.foreignBlockchain,
        row.mode,
        row.creationTimestamp,
        iso(row.creationTimestamp),
        ratio(row.expectedForeignAmount, row.qortAmount),
        coins_per_qort(row.foreignBlockchain),
        UNSET if row.creatorPresenceExpiry is None else row.creatorPresenceExpiry,
    )


def coins_per_qort(chain_name: str) -> str:
    """The unit of a price."""
    chain = find_chain(chain_name)
    return f"{chain_name if chain is None else chain.ticker} per QORT"


class OneTrade(Struct, frozen=True, forbid_unknown_fields=True):
    trade_address: Annotated[Address, Meta(description="Address of its contract.")]


class TradeAnswer(Answer, omit_defaults=True):
    """Fields that are not set, or not set yet, are left out."""

    tradeAddress: str
    mode: Annotated[str, Meta(description="OFFERING, TRADING, REDEEMED (completed), CANCELLED or REFUNDED.")]
    creator: Annotated[str, Meta(description="Seller of the QORT.")]
    offeringQort: Amount
    expectedForeign: Amount
    foreignCurrency: str
    price: Annotated[str | None, Meta(description="Foreign coins per QORT, rounded to eight places.")]
    priceUnit: str
    timestamp: Milliseconds
    time: IsoTime
    contract: Annotated[str, Meta(description="Kind of contract.")]
    qortBalance: Annotated[str | UnsetType, Meta(description="QORT that the contract holds.")] = UNSET
    buyer: Annotated[str | UnsetType, Meta(description="Where the buyer receives the QORT.")] = UNSET
    creatorTradeAddress: str | UnsetType = UNSET
    partnerTradeAddress: str | UnsetType = UNSET
    tradeTimeoutMinutes: int | UnsetType = UNSET
    refundTimeoutMinutes: int | UnsetType = UNSET
    refundHeight: Annotated[
        int | UnsetType, Meta(description="Block from which the seller gets a refund.")
    ] = UNSET
    tradingSince: Milliseconds | UnsetType = UNSET
    tradingSinceTime: IsoTime | UnsetType = UNSET
    lockedUntil: Annotated[
        int | UnsetType, Meta(description="The buyer's coins are locked until this time (ms).")
    ] = UNSET
    lockedUntilTime: IsoTime | UnsetType = UNSET
    sellerLockedUntil: Annotated[
        int | UnsetType, Meta(description="The seller's lock (ms), in the oldest contracts.")
    ] = UNSET
    sellerLockedUntilTime: IsoTime | UnsetType = UNSET
    creatorForeignPKH: str | UnsetType = UNSET
    partnerForeignPKH: str | UnsetType = UNSET
    hashOfSecretA: str | UnsetType = UNSET
    hashOfSecretB: str | UnsetType = UNSET
    creatorPresenceExpiry: PresenceExpiry = UNSET
    partnerPresenceExpiry: PresenceExpiry = UNSET


@tool("Trade")
async def get_trade(args: OneTrade, node: Node) -> TradeAnswer:
    """One trade by its contract's address, in any state: mode, amounts, price, both sides, timeouts."""
    reading = node.reading()
    row = await reading.get(TRADE, ataddress=args.trade_address)
    answer = TradeAnswer(
        tradeAddress=row.qortalAtAddress,
        mode=row.mode,
        creator=row.qortalCreator,
        offeringQort=row.qortAmount,
        expectedForeign=row.expectedForeignAmount,
        foreignCurrency=row.foreignBlockchain,
        price=ratio(row.expectedForeignAmount, row.qortAmount),
        priceUnit=coins_per_qort(row.foreignBlockchain),
        timestamp=row.creationTimestamp,
        time=iso(row.creationTimestamp),
        contract=row.acctName,
        asOf=reading.as_of,
        notes=reading.notes(),
    )
    _fill_in(answer, row)
    return answer


# Member of the answer -> member of Core's reply.
_MEMBERS = {
    "qortBalance": "qortBalance",
    "buyer": "qortalPartnerReceivingAddress",
    "creatorTradeAddress": "qortalCreatorTradeAddress",
    "partnerTradeAddress": "qortalPartnerAddress",
    "tradeTimeoutMinutes": "tradeTimeout",
    "refundTimeoutMinutes": "refundTimeout",
    "refundHeight": "tradeRefundHeight",
    "creatorForeignPKH": "creatorForeignPKH",
    "partnerForeignPKH": "partnerForeignPKH",
    "hashOfSecretA": "hashOfSecretA",
    "hashOfSecretB": "hashOfSecretB",
    "creatorPresenceExpiry": "creatorPresenceExpiry",
    "partnerPresenceExpiry": "partnerPresenceExpiry",
}
_TIMES = {
    "tradingSince": ("tradeModeTimestamp", 1),
    # Core has these in seconds.
    "lockedUntil": ("lockTimeA", 1000),
    "sellerLockedUntil": ("lockTimeB", 1000),
}


def _fill_in(answer: TradeAnswer, row: Trade) -> None:
    """Add what is known of the trade so far."""
    for member, source in _MEMBERS.items():
        if (value := getattr(row, source)) is not None:
            setattr(answer, member, value)
    for member, (source, unit_ms) in _TIMES.items():
        if (value := getattr(row, source)) is not None:
            setattr(answer, member, value * unit_ms)
            setattr(answer, f"{member}Time", iso(value * unit_ms))
