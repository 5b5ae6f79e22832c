"""Blocks: one, many, and who signed them."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import ToolError, invalid_argument
from ...endpoints.blocks import (
    BLOCK_AT_HEIGHT,
    BLOCK_AT_TIME,
    BLOCK_OF_SIGNATURE,
    FIRST_BLOCK,
    LAST_BLOCK,
    MINTING_INFO,
    SIGNERS,
)
from ...limits import PAGE_ROWS
from ...node.node import Node, Reading
from ...replies.blocks import Block, MintingInfo, Signer
from ...words.arguments import (
    Account,
    BlockSignature,
    EarlierThan,
    Height,
    LaterThan,
    Limit,
    Moment,
    Offset,
    Reverse,
)
from ...words.times import IsoTime, Milliseconds, iso, milliseconds
from ..answers import Amount, Answer, ListAnswer, fitting, follows, one_more, page_of
from ..read_only import tool
from ..scanning.spans import NO_BLOCKS, span_of, times_alone
from .lists import ListedBlock, TransactionCount, blocks_in_a_row, blocks_of_signer


class OneBlock(Struct, frozen=True, forbid_unknown_fields=True):
    height: Height | UnsetType = UNSET
    signature: BlockSignature | UnsetType = UNSET
    time: Moment | UnsetType = UNSET
    position: Annotated[Literal["first", "last"], Meta(description="First or newest block.")] | UnsetType = (
        UNSET
    )
    minting: Annotated[bool, Meta(description="Add how the minter won it.")] = False


class Minting(Struct):
    """Distances are whole numbers of up to 256 bits, as text."""

    minterLevel: Annotated[int, Meta(description="Effective for minting (founders: 10).")]
    keyDistance: str
    maxDistance: str
    keyDistanceRatio: Annotated[float, Meta(description="From 0, the best, to 1.")]
    timeDelta: Annotated[int, Meta(description="Milliseconds since the previous block.")]


class BlockAnswer(Answer):
    height: int
    signature: str
    reference: Annotated[str | None, Meta(description="Signature of the previous block.")]
    timestamp: Milliseconds
    time: IsoTime
    version: int
    transactionCount: TransactionCount
    totalFees: Amount
    atCount: Annotated[int, Meta(description="Contracts that ran.")]
    atFees: Amount
    unit: Annotated[str, Meta(description="Of the fees.")]
    minterAddress: str | None
    minterLevel: Annotated[
        int, Meta(description="Effective for minting (founders: 10), now, not when the block was made.")
    ]
    minterPublicKey: Annotated[
        str | None,
        Meta(description="Usually a key of a reward share: rewardSharePublicKey in other answers."),
    ]
    minterSignature: str | None
    transactionsSignature: str | None
    onlineAccountsCount: Annotated[int, Meta(description="Only counted in blocks before a payout.")]
    onlineAccountsTimestamp: Milliseconds | None
    minting: Minting | UnsetType | None = UNSET


@tool("Block")
async def get_block(args: OneBlock, node: Node) -> BlockAnswer:
    """One block, by exactly one of height, signature, time (newest by then) or position: minter, fees,
    counts. search_transactions lists its transactions."""
    given = [name for name in _WAYS if getattr(args, name) is not UNSET]
    if len(given) != 1:
        raise invalid_argument(
            f"Invalid {given[-1] if given else 'arguments'}.", f"Give exactly one of {', '.join(_WAYS)}."
        )
    reading = node.reading()
    block = await _WAYS[given[0]](reading, args)
    info = await _minting(reading, block) if args.minting else None
    notes = ["The node does not know how this block was won."] if args.minting and info is None else []
    return BlockAnswer(
        block.height,
        block.signature,
        block.reference,
        block.timestamp,
        iso(block.timestamp),
        block.version,
        block.transactionCount,
        block.totalFees,
        block.atCount,
        block.atFees,
        "QORT",
        block.minterAddress,
        block.minterLevel,
        block.minterPublicKey,
        block.minterSignature,
        block.transactionsSignature,
        block.onlineAccountsCount,
        block.onlineAccountsTimestamp,
        UNSET if not args.minting else _shown_minting(info),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _by_height(reading: Reading, args: OneBlock) -> Block:
    return await reading.get(BLOCK_AT_HEIGHT, height=args.height)


async def _by_signature(reading: Reading, args: OneBlock) -> Block:
    return await reading.get(BLOCK_OF_SIGNATURE, signature=args.signature)


async def _by_time(reading: Reading, args: OneBlock) -> Block:
    assert isinstance(args.time, str), "the caller gave a time"
    timestamp = milliseconds(args.time)
    try:
        return await reading.get(BLOCK_AT_TIME, timestamp=timestamp)
    except ToolError as exc:
        # Core leaves out the first block, which was the newest until the second came.
        first = await reading.optional(FIRST_BLOCK) if exc.code == "NOT_FOUND" else None
        if first is None or first.timestamp > timestamp:
            raise
        return first


async def _by_position(reading: Reading, args: OneBlock) -> Block:
    return await reading.get(FIRST_BLOCK if args.position == "first" else LAST_BLOCK)


_WAYS = {"height": _by_height, "signature": _by_signature, "time": _by_time, "position": _by_position}


async def _minting(reading: Reading, block: Block) -> MintingInfo | None:
    return await reading.optional(MINTING_INFO, height=block.height)


def _shown_minting(info: MintingInfo | None) -> Minting | None:
    if info is None:
        return None
    return Minting(
        info.minterLevel, str(info.keyDistance), info.maxDistance, info.keyDistanceRatio, info.timeDelta
    )


class BlockList(Struct, frozen=True, forbid_unknown_fields=True):
    from_height: Annotated[int, Meta(ge=1, le=2**31 - 1, description="Height to start at.")] | UnsetType = (
        UNSET
    )
    since: LaterThan | UnsetType = UNSET
    until: EarlierThan | UnsetType = UNSET
    signer: Account | UnsetType = UNSET
    newest_first: Annotated[bool, Meta(description="Go down from there; else up.")] = True
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    # Earlier clients gave an exclusive end height.
    before_height: Annotated[int, Meta(ge=1, le=2**31 - 1, extra={"unlisted": True})] | UnsetType = UNSET
    include_online_signatures: Annotated[bool, Meta(extra={"unlisted": True})] = False


class Blocks(ListAnswer):
    blocks: list[ListedBlock]


@tool("Blocks")
async def list_blocks(args: BlockList, node: Node) -> Blocks:
    """Consecutive blocks, newest first, or those that one account signed: height, time, minter, number of
    transactions."""
    by_height = args.from_height is not UNSET or args.before_height is not UNSET
    by_time = times_alone(
        args.since, args.until, from_height=args.from_height, before_height=args.before_height
    )
    if args.signer is not UNSET and (by_height or by_time or not args.newest_first):
        raise invalid_argument(
            "Invalid signer.",
            "A signer's blocks come newest first: leave out from_height, since, until and newest_first.",
        )
    reading = node.reading()
    span = await span_of(reading, args.since, args.until) if by_time else None
    height = (await reading.get(LAST_BLOCK)).height
    # The next pages count from where this one started, whatever has been added on top of it.
    resolved: dict[str, Any] = {}
    notes = ["Online signatures are never returned."] if args.include_online_signatures else []
    if args.signer is not UNSET:
        found = await blocks_of_signer(reading, args.signer, height, limit=args.limit, offset=args.offset)
    elif span is not None:
        resolved = {"until": iso(span.until_ms)}
        notes += [NO_BLOCKS] if span.is_empty else []
        found = await blocks_in_a_row(
            reading,
            span.first,
            span.last,
            downwards=args.newest_first,
            limit=args.limit,
            offset=args.offset,
        )
    else:
        highest = height if args.before_height is UNSET else min(height, args.before_height - 1)
        lowest = 1
        if not args.newest_first:
            lowest = 1 if args.from_height is UNSET else args.from_height
        elif args.from_height is not UNSET:
            highest = min(highest, args.from_height)
        if args.from_height is not UNSET and args.from_height > height:
            notes.append(f"from_height {args.from_height} is above the newest block, {height}.")
        resolved = {"from_height": highest} if args.newest_first else {"newest_first": False}
        found = await blocks_in_a_row(
            reading, lowest, highest, downwards=args.newest_first, limit=args.limit, offset=args.offset
        )
    blocks = fitting(found.blocks)
    return Blocks(
        blocks,
        page=page_of(
            args, args.offset, len(blocks), found.more or len(blocks) < len(found.blocks), **resolved
        ),
        asOf=reading.as_of,
        notes=reading.notes(*notes, *([found.note] if found.note else [])),
    )


class SignerList(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class SignerRow(Struct):
    address: str
    blockCount: int
    recipient: Annotated[str | None, Meta(description="Who shares the rewards.")]
    rewardSharePublicKey: str | None


class Signers(ListAnswer):
    signers: list[SignerRow]


@tool("Block signers")
async def list_block_signers(args: SignerList, node: Node) -> Signers:
    """How many blocks each minting account signed, most first; or one account's count."""
    reading = node.reading()
    rows = await reading.get(
        SIGNERS,
        address=UNSET if args.address is UNSET else [args.address],
        limit=one_more(args.limit),
        offset=args.offset,
        reverse=args.reverse,
    )
    shown = fitting([_signer(row) for row in rows[: args.limit]])
    return Signers(
        shown,
        page=page_of(args, args.offset, len(shown), follows(rows, shown)),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


def _signer(row: Signer) -> SignerRow:
    return SignerRow(row.mintingAccount, row.blockCount, row.recipientAccount, row.rewardSharePublicKey)
