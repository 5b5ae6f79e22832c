"""What changed in a time: for one account, or on the whole chain."""

from collections import Counter, deque
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.context import Context
from ...limits import PAGE_ROWS_BYTES, SCAN_REQUESTS
from ...node.node import Node
from ...replies.transactions import Transaction
from ...words.amounts import written
from ...words.arguments import Account, EarlierThan, LaterThan
from ...words.transaction_types import TRANSACTION_TYPES
from ..answers import Answer, Page, page_on
from ..read_only import tool
from ..scanning.scan import scan
from ..scanning.spans import Covered, span_of
from .kinds import KIND_OF, KINDS, OTHERS, Item, item
from .moves import COUNTED, INCOMPLETE_PAYMENTS, fee_of, has_effect
from .sums import AssetFlow, AssetNames, Fees, Sums, own_moves
from .traded import TRADE_REQUESTS, CoinTrades, traded

# Examples of each kind, if they fit.
_ITEMS = 3
_WHOLE_CHAIN = "Fees are those of transactions, without what contracts pay to run. Not counted: minting rewards, unconfirmed transactions."

_TYPES = frozenset(TRANSACTION_TYPES)
_UNKNOWN = "UNKNOWN"

_encode = msgspec.json.Encoder().encode


class ChangesIn(Struct, frozen=True, forbid_unknown_fields=True):
    address: Annotated[Account, Meta(description="Else the whole chain.")] | UnsetType = UNSET
    since: LaterThan = "24h"
    until: EarlierThan | UnsetType = UNSET


class Call(Struct):
    tool: str
    arguments: dict[str, Any]


class Kind(Struct, omit_defaults=True):
    kind: str
    count: int
    types: Annotated[dict[str, int], Meta(description="Transactions by type.")]
    newest: Annotated[list[Item], Meta(description="The newest few.")]
    withoutEffect: Annotated[
        int | UnsetType, Meta(description="Of the count: a group has yet to approve them, or did not.")
    ] = UNSET


class Changes(Answer, kw_only=True):
    address: Annotated[str | None, Meta(description="Null: the whole chain.")]
    range: Covered
    complete: Annotated[
        bool, Meta(description="Whether the range is all that was asked for; else page.next goes on.")
    ]
    blocks: int
    transactions: Annotated[int, Meta(description="Without payouts of contracts.")]
    payouts: Annotated[int, Meta(description="Payouts of contracts (type AT).")]
    fees: Fees
    feesUnit: Annotated[str, Meta(description="Of all fees here.")] = "QORT"
    assets: Annotated[
        list[AssetFlow] | UnsetType, Meta(description="What the account received and paid, without fees.")
    ] = UNSET
    trades: Annotated[list[CoinTrades], Meta(description="Completed trades of QORT for foreign coins.")]
    changes: list[Kind]
    listing: Annotated[
        Call, Meta(description="Lists all of them; with the types of a kind added, all of that kind.")
    ]
    page: Page


@tool("What changed")
async def get_changes(args: ChangesIn, node: Node, ctx: Context) -> Changes:
    """What happened in a time, to an account or on the chain: sums, counts and newest few by kind (payments,
    names, sales, groups, polls, publications), trades."""
    reading = node.reading()
    span = await span_of(reading, args.since, args.until)
    address = None if args.address is UNSET else args.address
    seen = _Seen(address)
    scanned = await scan(
        reading, span, seen.take, ctx, address=address, requests=SCAN_REQUESTS - TRADE_REQUESTS
    )
    trades, more = await traded(reading, address, span.since_ms, scanned.until_ms)
    names = await seen.names.all_of(reading, set(seen.sums.assets))
    kinds = seen.kinds(PAGE_ROWS_BYTES - len(_encode(trades)))
    notes = [*span.notes, *more, _WHOLE_CHAIN if address is None else COUNTED]
    notes += seen.sums.note()
    if address is not None and seen.types["MULTI_PAYMENT"]:
        notes.append(INCOMPLETE_PAYMENTS)
    return Changes(
        address=address,
        range=scanned.covered,
        complete=scanned.complete,
        blocks=max(0, scanned.last - span.first + 1),
        transactions=sum(seen.types.values()) - seen.types["AT"],
        payouts=seen.types["AT"],
        fees=written(seen.sums.fees),
        assets=UNSET if address is None else seen.sums.flows(names),
        trades=trades,
        changes=kinds,
        listing=_listing(address, scanned.covered),
        page=Page(len(kinds)) if scanned.complete else page_on(args, len(kinds), **scanned.following()),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _listing(address: str | None, covered: Covered) -> Call:
    arguments = {} if address is None else {"address": address}
    return Call("search_transactions", {**arguments, "since": covered.since, "until": covered.until})


class _Seen:
    """What was seen of an account, or of the whole chain."""

    def __init__(self, address: str | None) -> None:
        self.names = AssetNames()
        self.sums = Sums()
        self.types: Counter[str] = Counter()
        self._address = address
        self._without_effect: Counter[str] = Counter()
        self._newest: dict[str, deque[Transaction]] = {}

    def take(self, row: Transaction) -> None:
        # A node must not decide how many lines there are.
        self.types[row.type if row.type in _TYPES else _UNKNOWN] += 1
        self.names.meet(row)
        kind = KIND_OF.get(row.type, OTHERS)
        self._newest.setdefault(kind, deque(maxlen=_ITEMS)).append(row)
        if not has_effect(row):
            self._without_effect[kind] += 1
        if self._address is None:
            self.sums.add("", [], fee_of(row))
        else:
            self.sums.add(self._address, *own_moves(self._address, row))

    def kinds(self, room: int) -> list[Kind]:
        """With as many examples as fit so many bytes."""
        for items in range(_ITEMS, -1, -1):
            kinds = [self._kind(name, items) for name in (*KINDS, OTHERS) if name in self._newest]
            if len(_encode(kinds)) <= room:
                break
        return kinds

    def _kind(self, name: str, items: int) -> Kind:
        types = {
            kind: count for kind, count in sorted(self.types.items()) if KIND_OF.get(kind, OTHERS) == name
        }
        count, newest = sum(types.values()), list(self._newest[name])[::-1][:items]
        return Kind(
            name,
            count,
            types,
            [item(row) for row in newest],
            self._without_effect[name] or UNSET,
        )
