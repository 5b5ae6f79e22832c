"""The price of QORT in a foreign coin through time, as candles: open, high, low, close, volume."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ....server.context import Context
from ...endpoints.blocks import LAST_BLOCK
from ...node.node import Node, Reading
from ...words.arguments import EarlierThan, LaterThan, OneChain
from ...words.chains import Chain, find_chain
from ...words.times import INTERVALS_MS, Interval, iso, milliseconds, start_of
from ..answers import ListAnswer, Page, fitting
from ..read_only import tool
from ..scanning.spans import Covered, Span, between, covered, span_of
from .candles import Candle, Candles
from .totals import QORT
from .whole_lists import completed_trades, trades_forward

# A month of days, its first and last one not whole. They fit in a page of 8 kB.
_CANDLES = 31
_HOUR_MS = INTERVALS_MS["hour"]

_CUT = "Only the oldest of the span: page.next goes on. Weeks, or a limit of up to 200, show more at once."
_SPLIT = "There were more trades in this {interval} than one call may read: the next call goes on within it, in a candle of its own."
_NONE = "No trades in this span; the newest trade of {chain} was at {time}."
_NEVER = "No completed trades against {chain} yet."


class PriceHistoryOf(Struct, frozen=True, forbid_unknown_fields=True):
    chain: OneChain
    interval: (
        Annotated[Interval, Meta(description="UTC; weeks from Monday. Else the shortest that fits the page.")]
        | UnsetType
    ) = UNSET
    since: LaterThan | UnsetType = UNSET
    until: EarlierThan | UnsetType = UNSET
    limit: Annotated[
        int,
        Meta(
            ge=1,
            le=200,
            description="Candles per page; so many intervals without since.",
            extra={"clamp": True},
        ),
    ] = _CANDLES


class PriceHistory(ListAnswer):
    foreignCurrency: str
    interval: Interval
    priceUnit: str
    volumeForeignUnit: str
    candles: Annotated[
        list[Candle],
        Meta(
            description="Oldest first. Intervals without trades are left out. The first and the last one hold only "
            "trades of the range."
        ),
    ]
    range: Covered
    complete: Annotated[bool, Meta(description="Whether the range is all that was asked for.")]


@tool("Price history")
async def get_price_history(args: PriceHistoryOf, node: Node, ctx: Context) -> PriceHistory:
    """Price of QORT in a foreign coin through time, as candles: open, high, low, close, volume, trades."""
    reading = node.reading()
    chain = find_chain(args.chain)
    assert chain is not None, "the argument was checked"
    since = await _since(reading, args)
    # Trades are found by time, not by block: the sample chain has some from before its first block.
    span = structs.replace(await span_of(reading, since, args.until), since_ms=milliseconds(since))
    interval = _shortest(span, args.limit) if args.interval is UNSET else args.interval
    found, reached = Candles(interval), span.since_ms + 1
    async for rows, reached in trades_forward(reading, chain, span.since_ms, span.until_ms):
        found.add(rows)
        done, total = (ms // _HOUR_MS for ms in (reached - span.since_ms, span.until_ms - span.since_ms))
        await ctx.progress(done, total, f"hours, {found.trades:,} trades read")
        if found.count > args.limit:
            break
    notes = []
    candles = found.made()
    if reached < span.until_ms and len(candles) > 1:
        # There may be more trades in the last one.
        reached = candles.pop().timestamp
    elif reached < span.until_ms:
        notes.append(_SPLIT.format(interval=interval))
    shown = fitting(candles[: args.limit])
    if len(shown) < len(candles):
        reached = candles[len(shown)].timestamp
    if not shown:
        notes.append(await _why_none(reading, chain))
    complete = reached >= span.until_ms
    if not complete:
        notes.append(_CUT)
    return PriceHistory(
        chain.name,
        interval,
        f"{chain.ticker} per {QORT}",
        chain.ticker,
        shown,
        await _covered(reading, span, reached),
        complete,
        page=Page(len(shown), UNSET if complete else _following(args, interval, span, reached)),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _since(reading: Reading, args: PriceHistoryOf) -> str:
    """Where to begin: without a time, so that there are as many intervals as candles on a page, the current one included."""
    _, until_ms = between(args.since, args.until)
    if args.since is not UNSET:
        return args.since
    newest = (await reading.get(LAST_BLOCK)).timestamp
    last = newest if until_ms is None else max(0, min(newest, until_ms - 1))
    interval: Interval = "day" if args.interval is UNSET else args.interval
    first = start_of(interval, last) - (args.limit - 1) * INTERVALS_MS[interval]
    return iso(max(0, first - 1))


def _shortest(span: Span, candles: int) -> Interval:
    """The shortest interval of which a span has at most so many."""
    for interval, length_ms in INTERVALS_MS.items():
        first, last = start_of(interval, span.since_ms + 1), start_of(interval, span.until_ms - 1)
        if (last - first) // length_ms < candles:
            return interval
    return "week"


async def _covered(reading: Reading, span: Span, reached: int) -> Covered:
    last = span.last if reached >= span.until_ms else (await span_of(reading, UNSET, iso(reached))).last
    return covered(span, last, min(reached, span.until_ms))


def _following(args: PriceHistoryOf, interval: Interval, span: Span, reached: int) -> dict[str, Any]:
    return {
        "chain": args.chain,
        "interval": interval,
        "since": iso(reached - 1),
        "until": iso(span.until_ms),
        "limit": args.limit,
    }


async def _why_none(reading: Reading, chain: Chain) -> str:
    newest = await completed_trades(reading, chain, 1)
    if not newest:
        return _NEVER.format(chain=chain.name)
    return _NONE.format(chain=chain.name, time=iso(newest[0].tradeTimestamp))
