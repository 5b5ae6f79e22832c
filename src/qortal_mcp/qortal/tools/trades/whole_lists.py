"""Complete lists of trades, although Core's paging leaves rows out, read at most a hundred rows at once.

Core has several kinds of trade contract for some chains. It applies limit and offset to each kind, merges what
it found, and cuts that to the limit again. A full page may therefore have lost rows, and the next page
does not bring them back.

The reading limits how many windows a list may take, which also ends lists that would never end.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from itertools import count as counting

from ....server.tool_errors import ToolError, too_large
from ...endpoints.blocks import FIRST_BLOCK
from ...endpoints.contracts import CONTRACTS_BY_CODE
from ...endpoints.crosschain import COMPLETED_TRADES, HIDDEN_OFFERS, TRADE, TRADE_OFFERS
from ...limits import LIMIT, SCAN_REQUESTS, TRADES_AT_ONCE
from ...node.node import Reading
from ...node.side_by_side import a_few_at_once, side_by_side
from ...replies.crosschain import CompletedTrade, Trade
from ...words.chains import CHAINS, Chain

# Requests completed trades of one chain, with the given limit, order and start.
Ask = Callable[..., Awaitable[list[CompletedTrade]]]

OFFERING = "OFFERING"
_HOUR_MS = 3_600_000
_ALL = 2**31


# Offers by the address of their contract.
Found = dict[str, Trade]


async def open_offers(reading: Reading, chain: Chain | None) -> tuple[list[Trade], bool]:
    """The open offers of one chain or of all, and whether these are all of them: a market may be larger than what
    one call may read. The newest are read first.

    Raises: ToolError.
    """
    found: Found = {}
    try:
        await _add_offers(reading, chain, found)
    except ToolError as exc:
        if exc.code != "TOO_LARGE" or not found:
            raise
        return list(found.values()), False
    return list(found.values()), True


async def _add_offers(reading: Reading, chain: Chain | None, found: Found) -> None:
    """Core drops what is not on offer after it has cut a window, so even an empty window may be followed by
    others; the contracts themselves show where the end is."""
    chains = CHAINS if chain is None else (chain,)
    for window in counting():
        rows, goes_on = await side_by_side(
            _window(reading, chain, window, found), _has_contracts(reading, chains, (window + 1) * LIMIT)
        )
        if rows >= LIMIT and len(chains) > 1:
            await side_by_side(*(_add_offers(reading, one, found) for one in CHAINS))
            return
        if rows >= LIMIT and len(chains[0].contracts) > 1:
            await _add_offers_of_several_kinds(reading, chains[0], found)
            return
        if not goes_on:
            return


async def _window(
    reading: Reading, chain: Chain | None, window: int, found: Found, newest_first: bool = True
) -> int:
    """Add the offers of one window, and return how many there were."""
    rows = await reading.get(
        TRADE_OFFERS,
        foreignBlockchain=None if chain is None else chain.name,
        limit=LIMIT,
        offset=window * LIMIT,
        reverse=newest_first,
    )
    found |= {row.qortalAtAddress: row for row in rows}
    return len(rows)


async def _has_contracts(reading: Reading, chains: Iterable[Chain], offset: int) -> bool:
    """Whether more than that many contracts of any one kind still run."""
    hashes = [code_hash for chain in chains for code_hash in chain.code_hashes]
    found = await side_by_side(
        *(
            reading.get(CONTRACTS_BY_CODE, codehash=code_hash, isExecutable=True, limit=1, offset=offset)
            for code_hash in hashes
        )
    )
    return any(found)


async def _add_offers_of_several_kinds(reading: Reading, chain: Chain, found: Found) -> None:
    """Offers of kinds that crowd each other out.

    Windows from both ends show nearly all of them. A few of one kind among many of another appear in none: those
    are requested one by one, by the addresses of their contracts.
    """
    kinds = await side_by_side(*(_running(reading, code_hash) for code_hash in chain.code_hashes))
    windows = range(-(-max(map(len, kinds)) // LIMIT))
    _, hidden = await side_by_side(
        a_few_at_once(
            (
                _window(reading, chain, window, found, newest_first)
                for newest_first in (True, False)
                for window in windows
            ),
            TRADES_AT_ONCE,
        ),
        reading.get(HIDDEN_OFFERS, foreignBlockchain=chain.name),
    )
    known = found.keys() | {row.qortalAtAddress for row in hidden}
    unseen = [address for kind in kinds for address in kind if address not in known]
    await a_few_at_once((_add_offer(reading, address, found) for address in unseen), TRADES_AT_ONCE)


async def _add_offer(reading: Reading, address: str, found: Found) -> None:
    """Add one offer, if it is still there."""
    try:
        row = await reading.follow(TRADE, ataddress=address)
    except ToolError as exc:
        if exc.code != "NOT_FOUND":
            raise
        return
    if row.mode == OFFERING:
        found[row.qortalAtAddress] = row


async def _running(reading: Reading, code_hash: str) -> list[str]:
    """Addresses of all contracts of a kind that still run."""
    found: dict[str, None] = {}
    for window in counting():
        rows = await reading.get(
            CONTRACTS_BY_CODE, codehash=code_hash, isExecutable=True, limit=LIMIT, offset=window * LIMIT
        )
        known = len(found)
        found |= dict.fromkeys(row.ATAddress for row in rows)
        if len(rows) < LIMIT or len(found) == known:
            break
    return list(found)


async def completed_trades(
    reading: Reading,
    chain: Chain,
    count: int,
    *,
    newest_first: bool = True,
    since: int | None = None,
    until: int | None = None,
    buyer_key: str | None = None,
    seller_key: str | None = None,
) -> list[CompletedTrade]:
    """At least that many trades of one chain after and before a time, if there are: the newest, or the oldest."""

    async def ask(**values: int | bool | None) -> list[CompletedTrade]:
        return await reading.get(
            COMPLETED_TRADES,
            foreignBlockchain=chain.name,
            buyerPublicKey=buyer_key,
            sellerPublicKey=seller_key,
            **values,
        )

    async def read(since: int | None) -> list[CompletedTrade]:
        if not newest_first:
            return _earlier(await _forward(ask, count, since, until), until)
        if until is not None and await _has_later(ask, since, until):
            return await _before(reading, ask, count, since, until)
        if count > LIMIT and len(chain.contracts) > 1:
            return await _backward(reading, ask, count, since)
        return await _pages(ask, count, since)

    rows = await read(since)
    if not rows and since is not None:
        # Core finds nothing at all if the time is before its first blocks.
        oldest = await ask(limit=1)
        if oldest and oldest[0].tradeTimestamp > since:
            rows = await read(None)
    return rows


async def trades_forward(
    reading: Reading, chain: Chain, since: int, until: int
) -> AsyncIterator[tuple[list[CompletedTrade], int]]:
    """All trades of one chain after one time and before another, oldest first, page by page: each with the time before
    which all have been read. Ends before `until` if there are more than one call may read.

    Raises: ToolError.
    """

    async def ask(**values: int | None) -> list[CompletedTrade]:
        return await reading.get(COMPLETED_TRADES, foreignBlockchain=chain.name, **values)

    page = await ask(limit=LIMIT, minimumTimestamp=max(1, since))
    if not page:
        # Core finds nothing at all if the time is before its first blocks.
        page = await ask(limit=LIMIT)
        if page and page[0].tradeTimestamp <= since:
            page = []
    for asked in counting(2):
        known = {row.atAddress: row for row in page}
        rows = sorted(
            (row for row in known.values() if row.tradeTimestamp > since), key=lambda row: row.tradeTimestamp
        )
        if len(known) < LIMIT or (rows and rows[-1].tradeTimestamp >= until):
            yield _earlier(rows, until), until
            return
        # The last block on a page may go on on the next one.
        whole = [row for row in rows if row.tradeTimestamp < rows[-1].tradeTimestamp]
        if not whole:
            raise too_large("One block has more trades than one call may read.")
        since = whole[-1].tradeTimestamp
        yield whole, since + 1
        if asked >= SCAN_REQUESTS or not reading.has_room:
            return
        page = await ask(limit=LIMIT, minimumTimestamp=since)


async def _pages(ask: Ask, count: int, since: int | None) -> list[CompletedTrade]:
    """Newest first: of one kind of contract, or a single page, which Core cuts correctly."""
    rows: dict[str, CompletedTrade] = {}
    for start in range(0, count, LIMIT):
        asked, known = min(count - start, LIMIT), len(rows)
        page = await ask(limit=asked, offset=start, reverse=True, minimumTimestamp=since)
        rows |= {row.atAddress: row for row in page}
        if len(page) < asked or len(rows) == known:
            break
    return list(rows.values())


async def _forward(ask: Ask, count: int, since: int | None, until: int | None = None) -> list[CompletedTrade]:
    """From a time on, oldest first. The first page of a list is exact, so every page starts a new list: at the
    last block that the previous page holds completely. No block has a hundred trades of one chain."""
    rows: dict[str, CompletedTrade] = {}
    while len(rows) < count:
        page, known = await ask(limit=LIMIT, minimumTimestamp=since), len(rows)
        rows |= {row.atAddress: row for row in page}
        # A node that returns the same rows for every request would be asked for ever.
        if len(page) < LIMIT or len(rows) == known:
            break
        last = page[-1].tradeTimestamp
        following = max((row.tradeTimestamp for row in page if row.tradeTimestamp < last), default=None)
        if following is None or (since is not None and following <= since):
            break
        since = following
        if until is not None and since >= until:
            break
    return list(rows.values())


async def _backward(reading: Reading, ask: Ask, count: int, since: int | None) -> list[CompletedTrade]:
    """Newest first, where kinds of contract crowd each other out."""
    rows = {row.atAddress: row for row in await ask(limit=LIMIT, reverse=True, minimumTimestamp=since)}
    if len(rows) < LIMIT:
        return _newest_first(rows)
    # Some trades of the oldest block may not be on the page.
    oldest = min(row.tradeTimestamp for row in rows.values())
    return await _before(reading, ask, count, since, oldest + 1, rows)


async def _has_later(ask: Ask, since: int | None, until: int) -> bool:
    newest = await ask(limit=1, reverse=True, minimumTimestamp=since)
    return bool(newest) and newest[0].tradeTimestamp >= until


async def _before(
    reading: Reading,
    ask: Ask,
    count: int,
    since: int | None,
    until: int,
    known: dict[str, CompletedTrade] | None = None,
) -> list[CompletedTrade]:
    """Newest first, before a time at which there were trades or after which some came. Core has no filter for what is
    older than a time, so older trades are read forward, from ever longer ago up to those that are known."""
    rows = dict(known or {})
    newest = max((row.tradeTimestamp for row in rows.values()), default=until)
    oldest, is_whole, span = until - 1, False, _HOUR_MS
    begin = max(since or 1, (await reading.get(FIRST_BLOCK)).timestamp)
    while len(rows) < count and not is_whole:
        span = max(newest - oldest, 2 * span)
        start: int | None = max(oldest - span, begin)
        # Core finds nothing right after its first block, although there are later trades.
        if start == begin or not await ask(limit=1, minimumTimestamp=start):
            start, is_whole = since, True
        older = await _forward(ask, _ALL, start, until=oldest)
        # Known rows keep their place: some trades of a block may have been on a page already.
        rows |= {
            row.atAddress: row for row in older if row.tradeTimestamp <= oldest and row.atAddress not in rows
        }
        oldest = start if start is not None else oldest
    return _newest_first(rows)


def _newest_first(rows: dict[str, CompletedTrade]) -> list[CompletedTrade]:
    return sorted(rows.values(), key=lambda row: -row.tradeTimestamp)


def _earlier(rows: list[CompletedTrade], until: int | None) -> list[CompletedTrade]:
    return rows if until is None else [row for row in rows if row.tradeTimestamp < until]
