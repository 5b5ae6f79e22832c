"""Trades of QORT against foreign coins."""

import asyncio
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...server.tool import tool
from ..amounts import ratio
from ..answers import Amount, ListAnswer, fitting, page_of
from ..chains import CHAINS, Chain, find_chain
from ..endpoints.crosschain import HIDDEN_OFFERS, TRADE_OFFERS
from ..limits import OFFER_WINDOWS, OFFERS_AT_ONCE
from ..node import Node, Reading
from ..replies.crosschain import TradeOffer
from ..times import IsoTime, Milliseconds, iso
from ..types import ChainName, Limit, Offset, Reverse


class OfferList(Struct, frozen=True, forbid_unknown_fields=True):
    chain: ChainName | UnsetType = UNSET
    hidden: Annotated[bool, Meta(description="Instead list offers hidden after failed purchases.")] = False
    limit: Limit = 20
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
    price: Annotated[str | None, Meta(description="Foreign coins for one QORT, rounded to eight places.")]
    priceUnit: str
    creatorPresenceExpiry: Annotated[
        int | UnsetType, Meta(description="Until then (ms) the seller's trade bot counts as online.")
    ] = UNSET


class Offers(ListAnswer):
    offers: list[Offer]


@tool("Trade offers")
async def list_trade_offers(args: OfferList, node: Node) -> Offers:
    """Open offers of QORT for foreign coins on the cross-chain exchange, newest first, with the price."""
    reading = node.reading()
    chain = None if args.chain is UNSET else find_chain(args.chain)
    rows = await (_hidden_offers if args.hidden else _open_offers)(reading, chain)
    rows = sorted(rows, key=lambda row: (row.creationTimestamp, row.qortalAtAddress), reverse=args.reverse)
    offers = fitting([_offer(row) for row in rows[args.offset : args.offset + args.limit]])
    more = args.offset + len(offers) < len(rows)
    return Offers(
        offers,
        page=page_of(args, args.offset, len(offers), more, **({"hidden": True} if args.hidden else {})),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _hidden_offers(reading: Reading, chain: Chain | None) -> list[TradeOffer]:
    return await reading.get(HIDDEN_OFFERS, foreignBlockchain=None if chain is None else chain.name)


async def _open_offers(reading: Reading, chain: Chain | None) -> list[TradeOffer]:
    """Every open offer, whatever Core's paging leaves out.

    Core takes limit and offset for each kind of contract, drops what is not on offer, merges, and cuts what
    is more than the limit. So a short window is not the last one; only an empty one is. And a full window may
    have lost rows: then each chain is asked for itself, and a chain with several kinds of contract as a whole.
    """
    name = None if chain is None else chain.name
    found: list[TradeOffer] = []
    for window in range(OFFER_WINDOWS):
        rows = await reading.get(
            TRADE_OFFERS, foreignBlockchain=name, limit=OFFERS_AT_ONCE, offset=window * OFFERS_AT_ONCE
        )
        if len(rows) >= OFFERS_AT_ONCE and chain is None:
            each = await asyncio.gather(*(_open_offers(reading, chain) for chain in CHAINS))
            return [row for rows in each for row in rows]
        if len(rows) >= OFFERS_AT_ONCE and chain is not None and chain.contracts > 1:
            return await reading.get(TRADE_OFFERS, foreignBlockchain=name)
        if not rows:
            break
        found += rows
    return found


def _offer(row: TradeOffer) -> Offer:
    chain = find_chain(row.foreignBlockchain)
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
        f"{row.foreignBlockchain if chain is None else chain.ticker} per QORT",
        UNSET if row.creatorPresenceExpiry is None else row.creatorPresenceExpiry,
    )
