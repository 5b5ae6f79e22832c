"""Blocks. Their online signatures are never requested: they can be hundreds of kilobytes."""

from collections.abc import Sequence
from typing import Any

from ..limits import PAGE_ROWS
from ..replies.blocks import Block, BlockSummary, MintingInfo, Signer
from ..replies.transactions import Transaction
from ..words.arguments import Address, Addresses, BlockSignature, Height, Limit, Offset
from ..words.times import Milliseconds
from .parameters import HeavyLimit
from .record import HOURS, LIVE, UNTIL_NEXT_BLOCK, Endpoint, Same, json_of, number


def _height(block: Block) -> int:
    return block.height


def _highest(blocks: Sequence[Block | BlockSummary]) -> int | None:
    return max((block.height for block in blocks), default=None)


def _itself(height: int) -> int:
    return height


# The newest blocks may still be replaced, so a block is only certain until the next one, or once it is settled.
LAST_BLOCK = Endpoint(
    "/blocks/last", json_of(Block), LIVE, returns="The newest block.", noun="Block", same=Same.AT_ONE_BLOCK
)
FIRST_BLOCK = Endpoint(
    "/blocks/first", json_of(Block), HOURS, returns="The first block.", noun="Block", is_aside=True
)
BLOCK_AT_HEIGHT = Endpoint(
    "/blocks/byheight/{height}",
    json_of(Block),
    UNTIL_NEXT_BLOCK,
    path={"height": Height},
    returns="The block at a height.",
    noun="Block",
    height_of=_height,
)
BLOCK_OF_SIGNATURE = Endpoint(
    "/blocks/signature/{signature}",
    json_of(Block),
    UNTIL_NEXT_BLOCK,
    path={"signature": BlockSignature},
    returns="The block with a signature.",
    noun="Block",
    height_of=_height,
)
BLOCK_AT_TIME = Endpoint(
    "/blocks/timestamp/{timestamp}",
    json_of(Block),
    UNTIL_NEXT_BLOCK,
    path={"timestamp": Milliseconds},
    returns="The newest block at or before a time; never the first block.",
    noun="Block",
    height_of=_height,
)
CHILD_BLOCK = Endpoint(
    "/blocks/child/{signature}",
    json_of(Block),
    UNTIL_NEXT_BLOCK,
    path={"signature": BlockSignature},
    returns="The block that follows another; none for the newest.",
    noun="Block",
    height_of=_height,
)
CHAIN_HEIGHT = Endpoint(
    "/blocks/height",
    number,
    LIVE,
    returns="The height of the newest block, as plain text.",
    same=Same.AT_ONE_BLOCK,
)
HEIGHT_OF_SIGNATURE = Endpoint(
    "/blocks/height/{signature}",
    number,
    UNTIL_NEXT_BLOCK,
    path={"signature": BlockSignature},
    returns="The height of the block with a signature, as plain text.",
    noun="Block",
    height_of=_itself,
)
MINTING_INFO = Endpoint(
    "/blocks/byheight/{height}/mintinginfo",
    json_of(MintingInfo),
    UNTIL_NEXT_BLOCK,
    path={"height": Height},
    returns="How close the race for a block was, by current levels.",
    noun="Block",
)
BLOCK_RANGE = Endpoint(
    "/blocks/range/{height}",
    json_of(list[Block]),
    UNTIL_NEXT_BLOCK,
    path={"height": Height},
    query={"count": HeavyLimit, "reverse": bool},
    returns="Consecutive blocks from a height, upwards or downwards.",
    defaults={"count": 20},
    height_of=_highest,
)
BLOCK_SUMMARIES = Endpoint(
    "/blocks/summaries",
    json_of(list[BlockSummary]),
    UNTIL_NEXT_BLOCK,
    query={"start": Height, "count": Limit},
    returns="Summaries of consecutive blocks from a height.",
    defaults={"start": 1, "count": 20},
    height_of=_highest,
)
BLOCKS_OF_SIGNER = Endpoint(
    "/blocks/signer/{address}",
    json_of(list[BlockSummary]),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"limit": HeavyLimit, "offset": Offset, "reverse": bool},
    returns="Blocks that an account signed. Limit and offset apply to the database and the archive separately; "
    "empty if the archive holds none.",
    noun="Signer",
    defaults={"limit": PAGE_ROWS},
    row_sources=2,
    # Each node decides when it moves blocks to its archive.
    same=Same.NEVER,
)
SIGNERS = Endpoint(
    "/blocks/signers",
    json_of(list[Signer]),
    # Core goes through every block.
    HOURS,
    query={"address": Addresses, "limit": Limit, "offset": Offset, "reverse": bool},
    returns="How many blocks each key signed, fewest first.",
    defaults={"limit": PAGE_ROWS},
    same=Same.AT_ONE_BLOCK,
)
TRANSACTIONS_IN_BLOCK = Endpoint(
    "/blocks/signature/{signature}/transactions",
    json_of(list[Transaction]),
    UNTIL_NEXT_BLOCK,
    path={"signature": BlockSignature},
    returns="All transactions of a block.",
    noun="Block",
)

FAMILY: tuple[Endpoint[Any], ...] = (
    LAST_BLOCK,
    FIRST_BLOCK,
    BLOCK_AT_HEIGHT,
    BLOCK_OF_SIGNATURE,
    BLOCK_AT_TIME,
    CHILD_BLOCK,
    CHAIN_HEIGHT,
    HEIGHT_OF_SIGNATURE,
    MINTING_INFO,
    BLOCK_RANGE,
    BLOCK_SUMMARIES,
    BLOCKS_OF_SIGNER,
    SIGNERS,
    TRANSACTIONS_IN_BLOCK,
)
