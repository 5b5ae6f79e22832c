"""Finding transactions. Core has a list for each purpose, each with other filters; what it
cannot do is done here, so that all filters combine."""

from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import UNSET, Struct, structs

from ...endpoints.addresses import ADDRESS_OF_KEY, PUBLIC_KEY
from ...endpoints.blocks import BLOCK_AT_HEIGHT
from ...endpoints.record import Endpoint
from ...endpoints.transactions import (
    BLOCK_TRANSACTIONS,
    PENDING,
    SEARCH,
    TRANSACTIONS_OF_CREATOR,
    UNCONFIRMED,
)
from ...limits import FILTERED_ROWS, LIMIT, OPEN_SEARCH_ROWS, WAITING_ROWS
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.transactions import MEMBERS, Transaction
from ...words.arguments import is_height
from ...words.base58 import is_address
from ..answers import follows, one_more

# What Core answers for an account that never signed anything.
_NO_KEY = "false"


class Criteria(Struct, frozen=True):
    """What to look for; None where it does not matter."""

    status: str
    newest_first: bool
    address: str | None = None
    # Address, and public key if known.
    creator: str | None = None
    creator_key: str | None = None
    types: tuple[str, ...] = ()
    group_id: int | None = None
    block: str | None = None
    first_block: int | None = None
    blocks: int | None = None

    @property
    def narrows_creator(self) -> bool:
        """Whether only some of a creator's transactions are wanted; Core cannot filter these."""
        others = self.types or self.group_id is not None or self.address or self.first_block is not None
        return self.creator is not None and bool(others)

    def fits(self, row: Transaction) -> bool:
        """Whether a row matches, apart from status and height."""
        return (
            (not self.types or row.type in self.types)
            and self.group_id in (None, 0 if row.txGroupId is UNSET else row.txGroupId)
            and self.creator in (None, row.creatorAddress)
            and (self.address is None or _takes_part(self.address, row))
        )


class Found(Struct):
    """Rows, the offset after each of them, and the offset to continue from; None if there are no more."""

    rows: list[Transaction]
    after: list[int]
    next_offset: int | None = None


def _takes_part(address: str, row: Transaction) -> bool:
    named = any(getattr(row, member) == address for member in MEMBERS)
    return named or (row.payments is not UNSET and any(paid.recipient == address for paid in row.payments))


async def find_transactions(reading: Reading, wanted: Criteria, limit: int, offset: int) -> Found:
    """One page of matching transactions. Raises: ToolError."""
    if wanted.block is not None:
        return _page(await _in_block(reading, wanted), limit, offset)
    if wanted.status == "PENDING":
        return _page(await _waiting(reading, PENDING, wanted, txGroupId=wanted.group_id), limit, offset)
    if wanted.status == "UNCONFIRMED":
        return _page(await _unconfirmed(reading, wanted), limit, offset)
    never_signed = wanted.creator is not None and wanted.creator_key is None
    if wanted.status == "BOTH" and (wanted.address is not None or wanted.narrows_creator or never_signed):
        return await _unconfirmed_then_confirmed(reading, wanted, limit, offset)
    if never_signed:
        return Found([], [])
    if wanted.narrows_creator:
        return await _filtered(reading, wanted, limit, offset)
    if wanted.creator_key is not None:
        return await _paged(_creator_window(reading, wanted), limit, offset)
    if wanted.types or wanted.address is not None:
        return await _paged(_search_window(reading, wanted), limit, offset)
    return await _open_search(reading, wanted, limit, offset)


def _page(rows: list[Transaction], limit: int, offset: int) -> Found:
    shown = rows[offset : offset + limit]
    return _found(shown, offset, offset + limit < len(rows))


def _found(rows: list[Transaction], offset: int, more: bool) -> Found:
    after = list(range(offset + 1, offset + 1 + len(rows)))
    return Found(rows, after, offset + len(rows) if more else None)


async def _in_block(reading: Reading, wanted: Criteria) -> list[Transaction]:
    assert wanted.block is not None, "only called when a block is given"
    signature = wanted.block
    if is_height(signature):
        signature = (await reading.get(BLOCK_AT_HEIGHT, height=int(signature))).signature
    ask = reading.get if signature == wanted.block else reading.follow
    rows = [row for row in await ask(BLOCK_TRANSACTIONS, signature=signature) if wanted.fits(row)]
    return rows[::-1] if wanted.newest_first else rows


async def _unconfirmed(reading: Reading, wanted: Criteria) -> list[Transaction]:
    return await _waiting(reading, UNCONFIRMED, wanted, txType=list(wanted.types) or None)


async def _waiting(
    reading: Reading, endpoint: Endpoint[list[Transaction]], wanted: Criteria, **values: Any
) -> list[Transaction]:
    """All waiting transactions, of which there are never many. Core does not know their participants yet."""
    rows: list[Transaction] = []
    for offset in range(0, WAITING_ROWS, LIMIT):
        window = await reading.get(
            endpoint, **values, limit=LIMIT, offset=offset, reverse=wanted.newest_first
        )
        rows += window
        if len(window) < LIMIT:
            break
    return [row for row in rows if wanted.fits(row)]


# Rows by limit and offset.
Window = Callable[[int, int], Coroutine[Any, Any, list[Transaction]]]


def _search_window(reading: Reading, wanted: Criteria, address: str | None = None) -> Window:
    return lambda limit, offset: reading.get(
        SEARCH,
        startBlock=wanted.first_block,
        blockLimit=wanted.blocks,
        txGroupId=wanted.group_id,
        txType=list(wanted.types) or None,
        address=address or wanted.address,
        confirmationStatus=wanted.status,
        limit=limit,
        offset=offset,
        reverse=wanted.newest_first,
    )


def _creator_window(reading: Reading, wanted: Criteria) -> Window:
    return lambda limit, offset: reading.get(
        TRANSACTIONS_OF_CREATOR,
        publickey=wanted.creator_key,
        confirmationStatus=wanted.status,
        limit=limit,
        offset=offset,
        reverse=wanted.newest_first,
    )


async def _paged(window: Window, limit: int, offset: int) -> Found:
    rows = await window(one_more(limit), offset)
    return _found(rows[:limit], offset, follows(rows, rows[:limit]))


async def _open_search(reading: Reading, wanted: Criteria, limit: int, offset: int) -> Found:
    """Without filters, Core returns only a few rows at once."""
    window, end = _search_window(reading, wanted), offset + limit + 1
    windows = await side_by_side(
        *(window(min(OPEN_SEARCH_ROWS, end - start), start) for start in range(offset, end, OPEN_SEARCH_ROWS))
    )
    rows = [row for rows in windows for row in rows]
    return _found(rows[:limit], offset, len(rows) > limit)


async def _filtered(reading: Reading, wanted: Criteria, limit: int, offset: int) -> Found:
    """Of the transactions that involve an account, those that match. Offsets count all that involve it."""
    window = _search_window(reading, wanted, wanted.creator)
    found = Found([], [])
    for start in range(offset, offset + FILTERED_ROWS, LIMIT):
        rows = await window(LIMIT, start)
        for place, row in enumerate(rows, start + 1):
            if wanted.fits(row):
                found.rows.append(row)
                found.after.append(place)
                if len(found.rows) == limit:
                    found.next_offset = place
                    return found
        if len(rows) < LIMIT:
            return found
    found.next_offset = offset + FILTERED_ROWS
    return found


async def _unconfirmed_then_confirmed(reading: Reading, wanted: Criteria, limit: int, offset: int) -> Found:
    waiting = await _unconfirmed(reading, wanted)
    first = _page(waiting, limit, offset)
    if len(first.rows) == limit:
        return _found(first.rows, offset, more=True)
    confirmed = await find_transactions(
        reading,
        structs.replace(wanted, status="CONFIRMED"),
        limit - len(first.rows),
        max(0, offset - len(waiting)),
    )
    following = confirmed.next_offset
    return Found(
        [*first.rows, *confirmed.rows],
        [*first.after, *(len(waiting) + place for place in confirmed.after)],
        None if following is None else len(waiting) + following,
    )


async def creator_of(reading: Reading, text: str) -> tuple[str, str | None]:
    """Address and public key, given either; no key if the account never signed anything."""
    if not is_address(text):
        return await reading.get(ADDRESS_OF_KEY, publickey=text), text
    key = await reading.get(PUBLIC_KEY, address=text)
    return text, None if key == _NO_KEY else key
