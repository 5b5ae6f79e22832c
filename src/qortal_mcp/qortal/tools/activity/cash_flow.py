"""What an account earned, paid out and spent on fees: per month, per day, or per counterparty."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.context import Context
from ...limits import PAGE_ROWS, PAGE_ROWS_BYTES, ROWS_BYTES
from ...node.node import Node
from ...replies.transactions import Transaction
from ...words.amounts import written
from ...words.arguments import Account, EarlierThan, LaterThan, Limit, Offset
from ...words.times import iso
from ..answers import ListAnswer, Page, fitting, page_at, page_on
from ..read_only import tool
from ..scanning.scan import scan
from ..scanning.spans import Covered, span_of
from .moves import COUNTED, INCOMPLETE_PAYMENTS, Move
from .sums import AssetFlow, AssetNames, Fees, Sums, own_moves

# How much of an ISO time names the day or the month.
_PERIODS = {"month": len("2026-11"), "day": len("2026-11-15")}


class CashFlowOf(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account
    by: Annotated[Literal["month", "day", "counterparty"], Meta(description="What a row is.")] = "month"
    since: LaterThan = "1y"
    until: EarlierThan | UnsetType = UNSET
    # Rows are few, and page.next says where the others begin.
    limit: Annotated[Limit, Meta(extra={"unlisted": True})] = PAGE_ROWS
    offset: Offset = 0


Transactions = Annotated[int, Meta(description="Those that moved something or cost the account a fee.")]


class FlowRow(Struct, kw_only=True, omit_defaults=True):
    period: Annotated[
        str | UnsetType, Meta(description="Month or day (UTC) in which the transactions were made.")
    ] = UNSET
    counterparty: Annotated[
        str | UnsetType | None, Meta(description="Null: fees without one, or with several.")
    ] = UNSET
    transactions: Transactions
    fees: Fees
    assets: list[AssetFlow]


class Total(Struct):
    transactions: Transactions
    fees: Fees
    assets: list[AssetFlow]


class CashFlow(ListAnswer):
    address: str
    range: Covered
    complete: Annotated[
        bool, Meta(description="Whether the range is all that was asked for; else page.next goes on.")
    ]
    total: Annotated[Total, Meta(description="Of the whole range, not only of the rows shown.")]
    flows: list[FlowRow]
    feesUnit: Annotated[str, Meta(description="Of all fees here.")] = "QORT"


@tool("Cash flow")
async def get_cash_flow(args: CashFlowOf, node: Node, ctx: Context) -> CashFlow:
    """What an account received, paid and spent on fees, without minting rewards: per month, day or counterparty, and
    in total."""
    reading = node.reading()
    span = await span_of(reading, args.since, args.until)
    book = _Book(args.address, args.by)
    scanned = await scan(reading, span, book.take, ctx, address=args.address)
    names = await book.names.all_of(reading, set(book.total.assets))
    keys = book.keys()
    rows = [book.row(key, names) for key in keys[args.offset : args.offset + args.limit]]
    shown = fitting(rows, PAGE_ROWS_BYTES if args.limit <= PAGE_ROWS else ROWS_BYTES)
    reached = args.offset + len(shown)
    pinned = {"since": iso(span.since_ms), "until": iso(span.until_ms)}
    if shown and reached < len(keys):
        page = page_at(args, len(shown), reached, **pinned)
    elif scanned.complete:
        page = Page(len(shown))
    else:
        page = page_on(args, len(shown), **scanned.following())
    return CashFlow(
        args.address,
        scanned.covered,
        scanned.complete,
        Total(book.total.transactions, written(book.total.fees), book.total.flows(names)),
        shown,
        page=page,
        asOf=reading.as_of,
        notes=reading.notes(
            *span.notes,
            COUNTED,
            *book.total.note(),
            *([INCOMPLETE_PAYMENTS] if book.has_multi_payments else []),
        ),
    )


class _Book:
    """The sums of an account by month, day or counterparty."""

    def __init__(self, address: str, by: str) -> None:
        self.names = AssetNames()
        self.total = Sums()
        self.has_multi_payments = False
        self._address = address
        self._by = by
        self._rows: dict[str | None, Sums] = {}

    def take(self, row: Transaction) -> None:
        moves, fee = own_moves(self._address, row)
        if not moves and not fee:
            return
        self.names.meet(row)
        self.has_multi_payments = self.has_multi_payments or row.type == "MULTI_PAYMENT"
        self.total.add(self._address, moves, fee)
        if self._by != "counterparty":
            self._of(iso(row.timestamp)[: _PERIODS[self._by]]).add(self._address, moves, fee)
            return
        others: dict[str, list[Move]] = {}
        for move in moves:
            other = move.sender if move.recipient == self._address else move.recipient
            others.setdefault(other, []).append(move)
        for other, with_it in others.items():
            self._of(other).add(self._address, with_it, fee if len(others) == 1 else 0)
        if fee and len(others) != 1:
            self._of(None).add(self._address, [], fee)

    def _of(self, key: str | None) -> Sums:
        return self._rows.setdefault(key, Sums())

    def keys(self) -> list[str | None]:
        """Periods in their order; counterparties with whom most QORT changed hands first, plain fees last."""
        if self._by != "counterparty":
            return sorted(self._rows, key=str)
        return sorted(
            self._rows,
            key=lambda key: (key is None, -self._rows[key].qort, -self._rows[key].transactions, str(key)),
        )

    def row(self, key: str | None, names: dict[int, str]) -> FlowRow:
        sums = self._rows[key]
        is_counterparty = self._by == "counterparty"
        return FlowRow(
            period=UNSET if is_counterparty or key is None else key,
            counterparty=key if is_counterparty else UNSET,
            transactions=sums.transactions,
            fees=written(sums.fees),
            assets=sums.flows(names),
        )
