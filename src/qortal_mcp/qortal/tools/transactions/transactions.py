"""Transactions: one, many, payments, and what they cost."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ...endpoints.chat import CHAT_MESSAGE
from ...endpoints.transactions import PAYMENTS, TRANSACTION, TRANSACTION_AFTER, UNIT_FEE
from ...limits import PAGE_ROWS, PAGE_ROWS_BYTES, ROWS_BYTES
from ...node.failures import NodeFailure, not_found
from ...node.node import Node, Reading
from ...replies.transactions import Transaction
from ...words.amounts import written
from ...words.arguments import (
    Account,
    BlockId,
    ConfirmationStatus,
    Creator,
    EarlierThan,
    ExactAmount,
    FromHeight,
    Heights,
    LaterThan,
    Limit,
    Offset,
    OfGroup,
    Reference,
    Reverse,
    Signature,
    TransactionType,
    TransactionTypes,
)
from ...words.times import iso
from ...words.transaction_types import NOT_REPORTED, NOT_SENT, find_type
from ..answers import Amount, Answer, ListAnswer, fitting, follows, one_more, page_at, page_of
from ..read_only import tool
from ..scanning.spans import NO_BLOCKS, Span, span_of, times_alone
from .rows import PaymentRow, Shown, WholeTransaction, listed, payment, whole
from .search import Criteria, Found, creator_of, find_transactions

# How the addresses of contracts begin.
_CONTRACT = "A"
_IS_CHAT = "This is the signature of a chat message: get_chat_messages shows it."
_NO_PAYOUTS = "Payouts of contracts, such as those of trades, are not payments; search_transactions finds them by type AT."


class OneTransaction(Struct, frozen=True, forbid_unknown_fields=True):
    signature: Signature | UnsetType = UNSET
    reference: Reference | UnsetType = UNSET


@tool("Transaction")
async def get_transaction(args: OneTransaction, node: Node) -> WholeTransaction:
    """One transaction, confirmed or not, with all fields of its type: by its signature, or by the
    reference it carries (its maker's previous transaction)."""
    if (args.signature is UNSET) == (args.reference is UNSET):
        name = "arguments" if args.signature is UNSET else "reference"
        raise invalid_argument(f"Invalid {name}.", "Give exactly one of signature, reference.")
    reading = node.reading()
    if args.signature is not UNSET:
        row, notes = await _signed(reading, args.signature), []
    else:
        row = await reading.get(TRANSACTION_AFTER, reference=args.reference)
        notes = ["Several transactions may have this reference; this is one of them."]
    if row.type in NOT_REPORTED:
        notes.append(f"Core does not report {NOT_REPORTED[row.type]} of a {row.type} transaction.")
    return whole(row, reading.as_of, reading.notes(*notes))


async def _signed(reading: Reading, signature: str) -> Transaction:
    """Raises: ToolError, which says so if it is the signature of a chat message."""
    try:
        return await reading.get(TRANSACTION, signature=signature)
    except NodeFailure as exc:
        if exc.code != "NOT_FOUND" or await reading.optional(CHAT_MESSAGE, signature=signature) is None:
            raise
        raise not_found("Transaction not found.", _IS_CHAT) from None


class TransactionSearch(Struct, frozen=True, forbid_unknown_fields=True):
    address: Annotated[Account, Meta(description="Only those that involve it.")] | UnsetType = UNSET
    creator: Creator | UnsetType = UNSET
    types: TransactionTypes | UnsetType = UNSET
    group_id: OfGroup | UnsetType = UNSET
    block: BlockId | UnsetType = UNSET
    from_height: FromHeight | UnsetType = UNSET
    heights: Heights | UnsetType = UNSET
    since: LaterThan | UnsetType = UNSET
    until: EarlierThan | UnsetType = UNSET
    status: Annotated[
        Literal["CONFIRMED", "UNCONFIRMED", "BOTH", "PENDING"],
        Meta(description="PENDING: waiting for a group's approval."),
    ] = "CONFIRMED"
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Transactions(ListAnswer):
    transactions: list[Shown]


@tool("Search transactions")
async def search_transactions(args: TransactionSearch, node: Node) -> Transactions:
    """Transactions, newest first; filters combine. Long texts are cut: get_transaction shows one in full."""
    by_height = args.from_height is not UNSET or args.heights is not UNSET
    if args.status != "CONFIRMED" and (by_height or args.block is not UNSET):
        raise invalid_argument("Invalid status.", "Only confirmed transactions can be searched by block.")
    if by_height and args.block is not UNSET:
        raise invalid_argument("Invalid block.", "Give either block, or from_height and heights.")
    by_time = times_alone(
        args.since, args.until, block=args.block, from_height=args.from_height, heights=args.heights
    )
    if by_time and args.status != "CONFIRMED":
        raise invalid_argument("Invalid status.", "Only confirmed transactions can be searched by time.")
    reading = node.reading()
    span = await span_of(reading, args.since, args.until) if by_time else None
    start = await _start(reading, args.from_height, args.heights) if span is None else span.first
    heights = args.heights if span is None else span.last - span.first + 1
    address, key = (None, None) if args.creator is UNSET else await creator_of(reading, args.creator)
    wanted = Criteria(
        args.status,
        args.reverse,
        address=None if args.address is UNSET else args.address,
        creator=address,
        creator_key=key,
        types=() if args.types is UNSET else tuple(kind for text in args.types if (kind := find_type(text))),
        group_id=None if args.group_id is UNSET else args.group_id,
        block=None if args.block is UNSET else args.block,
        first_block=start,
        blocks=None if heights is UNSET else heights,
    )
    is_empty = span is not None and span.is_empty
    found = Found([], []) if is_empty else await find_transactions(reading, wanted, args.limit, args.offset)
    budget = PAGE_ROWS_BYTES if args.limit <= PAGE_ROWS else ROWS_BYTES
    shown = fitting([listed(row) for row in found.rows], budget)
    following = found.after[len(shown) - 1] if len(shown) < len(found.rows) else found.next_offset
    resolved = _resolved(span, start)
    if not args.reverse:
        resolved["reverse"] = False
    notes = [NO_BLOCKS] if is_empty else []
    if address is not None and key is None:
        notes.append("The creator has no confirmed transactions yet.")
    if args.group_id and not shown and following is None:
        notes.append(
            "group_id finds transactions under a group's approval; list_group_events and list_group_members "
            "show what happened in a group."
        )
    if following is not None and len(shown) < args.limit and len(shown) == len(found.rows):
        notes.append("There may be more: only part of the transactions was searched.")
    return Transactions(
        shown,
        page=page_at(args, len(shown), following, **resolved),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _start(reading: Reading, first: int | UnsetType, heights: int | UnsetType) -> int | None:
    """The first block to search: as given, or so that the newest ones are searched."""
    if first is not UNSET or heights is UNSET:
        return None if first is UNSET else first
    return max(1, await reading.height() - heights + 1)


def _resolved(span: Span | None, start: int | None) -> dict[str, Any]:
    """What the next pages must share with this one, whatever blocks follow."""
    if span is not None:
        return {"until": iso(span.until_ms)}
    return {} if start is None else {"from_height": start}


class PaymentSearch(Struct, frozen=True, forbid_unknown_fields=True):
    sender: Annotated[Account, Meta(description="Who paid.")] | UnsetType = UNSET
    recipient: Annotated[Account, Meta(description="Who was paid.")] | UnsetType = UNSET
    amount: ExactAmount | UnsetType = UNSET
    from_height: FromHeight | UnsetType = UNSET
    since: LaterThan | UnsetType = UNSET
    until: EarlierThan | UnsetType = UNSET
    status: Annotated[ConfirmationStatus, Meta(description="Whether it is in a block yet.")] = "CONFIRMED"
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Payments(ListAnswer):
    payments: list[PaymentRow]


@tool("Find payments")
async def find_payments(args: PaymentSearch, node: Node) -> Payments:
    """QORT payments by sender, recipient (at least one) and exact amount, newest first: did A pay B? Without
    payouts of contracts."""
    if args.sender is UNSET and args.recipient is UNSET:
        raise invalid_argument("Invalid arguments.", "Give at least one of sender and recipient.")
    if args.from_height is not UNSET and args.status != "CONFIRMED":
        raise invalid_argument("Invalid status.", "Only confirmed payments can be searched by height.")
    by_time = times_alone(args.since, args.until, from_height=args.from_height)
    if by_time and args.status != "CONFIRMED":
        raise invalid_argument("Invalid status.", "Only confirmed payments can be searched by time.")
    reading = node.reading()
    span = await span_of(reading, args.since, args.until) if by_time else None
    is_empty = span is not None and span.is_empty
    rows = [] if is_empty else await _payments(reading, args, span)
    payments = fitting([payment(row) for row in rows[: args.limit]])
    may_be_paid_by_contract = args.sender is UNSET or args.sender.startswith(_CONTRACT)
    notes = [NO_BLOCKS] if is_empty else []
    if may_be_paid_by_contract:
        notes.append(_NO_PAYOUTS)
    return Payments(
        payments,
        page=page_of(args, args.offset, len(payments), follows(rows, payments), **_resolved(span, None)),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _payments(reading: Reading, args: PaymentSearch, span: Span | None) -> list[Transaction]:
    return await reading.get(
        PAYMENTS,
        senderAddress=args.sender,
        recipientAddress=args.recipient,
        amount=args.amount,
        startBlock=args.from_height if span is None else span.first,
        blockLimit=None if span is None else span.last - span.first + 1,
        confirmationStatus=args.status,
        limit=one_more(args.limit),
        offset=args.offset,
        reverse=args.reverse,
    )


class FeeFor(Struct, frozen=True, forbid_unknown_fields=True):
    type: TransactionType


class Fee(Answer):
    type: str
    fee: Amount
    unit: str


@tool("Fee")
async def get_fee(args: FeeFor, node: Node) -> Fee:
    """The current minimum fee for one type of transaction (Core's unit fee), in QORT."""
    kind = find_type(args.type)
    if kind is None or kind in NOT_SENT:
        raise invalid_argument("Invalid type.", "Transactions of this type cannot be sent.")
    reading = node.reading()
    fee = await reading.get(UNIT_FEE, txType=kind)
    notes = []
    if kind == "CHAT":
        notes.append(f"Chat messages are free, although Core reports a unit fee of {written(fee)}.")
        fee = 0
    return Fee(kind, written(fee), "QORT", asOf=reading.as_of, notes=reading.notes(*notes))
