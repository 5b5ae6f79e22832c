"""Lists of blocks: consecutive, and by signer. This makes up for what Core's paging leaves out."""

from typing import Annotated

from msgspec import Meta, Struct

from ...endpoints.blocks import BLOCK_RANGE, BLOCKS_OF_SIGNER
from ...limits import BLOCKS_AT_ONCE, SIGNER_WINDOWS, YOUNG_CHAIN_BLOCKS
from ...node.failures import NodeFailure
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.blocks import Block, BlockSummary
from ...words.times import IsoTime, Milliseconds, iso

TransactionCount = Annotated[int, Meta(description="Without those made by contracts (type AT).")]

_NEVER_SIGNED = "This address has no known public key on the chain, so it has not signed a block."


class ListedBlock(Struct):
    height: int
    signature: str
    timestamp: Milliseconds | None
    time: IsoTime | None
    minterAddress: str | None
    transactionCount: TransactionCount


class BlockPage(Struct):
    """A page of blocks, whether more follow, and a note on it."""

    blocks: list[ListedBlock]
    more: bool = False
    note: str | None = None


async def blocks_in_a_row(
    reading: Reading, lowest: int, highest: int, *, downwards: bool, limit: int, offset: int
) -> BlockPage:
    """Of all blocks between two heights, those after an offset."""
    begin = highest - offset if downwards else lowest + offset
    left = begin - lowest + 1 if downwards else highest - begin + 1
    if left < 1:
        return BlockPage([])
    blocks = await _in_a_row(reading, begin, min(limit, left), downwards)
    # A node that holds fewer blocks than it says has no more to return.
    more = len(blocks) == limit < left
    return BlockPage([_listed(block) for block in blocks], more)


async def _in_a_row(reading: Reading, begin: int, count: int, downwards: bool) -> list[Block]:
    step = -1 if downwards else 1
    windows = await side_by_side(
        *(
            reading.get(
                BLOCK_RANGE,
                height=begin + step * done,
                count=min(BLOCKS_AT_ONCE, count - done),
                reverse=downwards,
            )
            for done in range(0, count, BLOCKS_AT_ONCE)
        )
    )
    return [block for window in windows for block in window]


def _listed(block: Block) -> ListedBlock:
    return ListedBlock(
        block.height,
        block.signature,
        block.timestamp,
        iso(block.timestamp),
        block.minterAddress,
        block.transactionCount,
    )


async def blocks_of_signer(
    reading: Reading, signer: str, height: int, *, limit: int, offset: int
) -> BlockPage:
    """Blocks that an account signed, newest first.

    Core keeps new blocks in its database and old ones in an archive, applies limit and offset to each of the
    two, and returns nothing at all if the archive has nothing. So the database is read first, then the archive.
    """
    try:
        newest = await _window(reading, signer, 0)
    except NodeFailure as exc:
        if exc.code != "NOT_FOUND":
            raise
        return BlockPage([], note=_NEVER_SIGNED)
    if not newest and height <= YOUNG_CHAIN_BLOCKS:
        everything = await _in_a_row(reading, height, height, downwards=True)
        signed = [_listed(block) for block in everything if block.minterAddress == signer]
        return BlockPage(signed[offset : offset + limit], offset + limit < len(signed))
    if not newest:
        return BlockPage(
            [], note="This node lists a signer's blocks only if some of them are in its archive."
        )
    recent, has_archive = await _in_database(reading, signer, newest)
    rows = recent[offset : offset + limit]
    if has_archive:
        rows += await _archived(
            reading,
            signer,
            {row.height for row in recent},
            max(0, offset - len(recent)),
            limit + 1 - len(rows),
        )
    more = len(rows) > limit or offset + limit < len(recent)
    return BlockPage([_summarized(row, signer) for row in rows[:limit]], more)


async def _window(reading: Reading, signer: str, offset: int) -> list[BlockSummary]:
    return await reading.get(
        BLOCKS_OF_SIGNER, address=signer, limit=BLOCKS_AT_ONCE, offset=offset, reverse=True
    )


async def _in_database(
    reading: Reading, signer: str, newest: list[BlockSummary]
) -> tuple[list[BlockSummary], bool]:
    """The rows of the database, and whether more are in the archive; everything if it fits one window."""
    following = await _window(reading, signer, BLOCKS_AT_ONCE) if len(newest) >= BLOCKS_AT_ONCE else []
    if not following:
        return newest, False
    # As long as the archive continues it fills every window but its last; any extra rows come from the database.
    recent = newest[:-BLOCKS_AT_ONCE]
    for window in range(2, SIGNER_WINDOWS):
        if len(following) <= BLOCKS_AT_ONCE:
            break
        recent += following[:-BLOCKS_AT_ONCE]
        following = await _window(reading, signer, window * BLOCKS_AT_ONCE)
    return recent, True


async def _archived(
    reading: Reading, signer: str, recent: set[int], offset: int, count: int
) -> list[BlockSummary]:
    rows: list[BlockSummary] = []
    while len(rows) < count:
        window = await _window(reading, signer, offset + len(rows))
        found = [row for row in window if row.height not in recent]
        rows += found
        if len(found) < BLOCKS_AT_ONCE:
            break
    return rows[:count] if count > 0 else []


def _summarized(row: BlockSummary, signer: str) -> ListedBlock:
    return ListedBlock(
        row.height,
        row.signature,
        row.timestamp,
        None if row.timestamp is None else iso(row.timestamp),
        signer,
        row.transactionCount,
    )
