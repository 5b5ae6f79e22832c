"""Lists of registered names: by text, by owner, by time, and for sale."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import ToolError, invalid_argument
from ....text import original
from ...endpoints.names import NAMES, NAMES_FOR_SALE, NAMES_OF, NAMES_SEARCH
from ...limits import LOOKUPS_AT_ONCE, PAGE_ROWS
from ...node.node import ABSENT, Node, Reading
from ...node.side_by_side import a_few_at_once
from ...replies.names import ListedName, RegisteredName
from ...words.amounts import units
from ...words.arguments import Account, LaterThan, Limit, NamePart, Offset, Reverse
from ...words.times import IsoTime, Milliseconds, iso, milliseconds
from ..answers import Amount, ListAnswer, fitting, follows, one_more, page_of
from ..read_only import tool
from ..registered import find_name
from ..whole_list import note_on_part, whole_list
from .names import price_of

# The newest names are looked for among those of the last month, then of the last year, then among all.
_DAY_MS = 24 * 3_600_000
_RECENT_MS = (30 * _DAY_MS, 365 * _DAY_MS)
# A name of a list that cannot be looked up is listed without what is unknown.
_UNKNOWN = ABSENT | {"INVALID_ARGUMENT"}


class NameSearch(Struct, frozen=True, forbid_unknown_fields=True):
    query: NamePart | UnsetType = UNSET
    prefix: Annotated[bool, Meta(description="Names that begin with query.")] = False
    owner: Account | UnsetType = UNSET
    for_sale: Annotated[bool, Meta(description="Only names for sale.")] = False
    since: Annotated[LaterThan, Meta(description="Registered after (ISO, ms, 7d).")] | UnsetType = UNSET
    sort: (
        Annotated[
            Literal["newest", "price"],
            Meta(description="price: for sale, cheapest first. Else by name; with since newest."),
        ]
        | UnsetType
    ) = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = False
    after: Annotated[Milliseconds | UnsetType, Meta(extra={"unlisted": True})] = UNSET

    @property
    def is_one_list(self) -> bool:
        """Whether Core has this very list, with pages. It lists the names of an owner by time, all others by name."""
        filters = (self.query is not UNSET, self.owner is not UNSET, self.for_sale, self.after is not UNSET)
        is_in_order = self.sort is UNSET or (self.sort == "newest" and self.owner is not UNSET)
        return sum(filters) <= 1 and self.since is UNSET and is_in_order


class FoundName(Struct, omit_defaults=True):
    name: str
    owner: str
    registered: Milliseconds | UnsetType = UNSET
    registeredTime: IsoTime | UnsetType = UNSET
    updated: Milliseconds | UnsetType = UNSET
    updatedTime: IsoTime | UnsetType = UNSET
    data: Annotated[str | UnsetType, Meta(description="Its beginning.")] = UNSET
    isForSale: bool | UnsetType = UNSET
    salePrice: Amount | UnsetType = UNSET
    unit: str | UnsetType = UNSET


class Names(ListAnswer):
    names: list[FoundName]


@tool("Search names")
async def search_names(args: NameSearch, node: Node) -> Names:
    """Registered names with owner and price: all, or those that contain query, of one owner, for sale, or new.
    Filters combine."""
    _refuse_mixtures(args)
    reading = node.reading()
    notes = []
    if args.is_one_list:
        rows, has_more = await _page_of_core(reading, args)
        names = fitting(rows)
        has_more = has_more or len(names) < len(rows)
    else:
        newest_ms = (await node.tip()).timestamp
        found, is_whole = await _candidates(reading, args, newest_ms)
        notes = note_on_part("names", found, is_whole)
        wanted = _in_order(_matching(found, args), args)
        names = fitting([_found(row) for row in wanted[args.offset : args.offset + args.limit]])
        has_more = args.offset + len(names) < len(wanted)
    if args.query is not UNSET and any(wildcard in args.query for wildcard in "%_"):
        notes.append("In query, % matches any text and _ any character.")
    return Names(
        names,
        page=page_of(args, args.offset, len(names), has_more),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _refuse_mixtures(args: NameSearch) -> None:
    if args.after is not UNSET and not args.is_one_list:
        raise invalid_argument("Invalid after.", "It cannot be combined with others; since can.")
    if args.prefix and args.query is UNSET:
        raise invalid_argument("Invalid prefix.", "It needs query.")


async def _page_of_core(reading: Reading, args: NameSearch) -> tuple[list[FoundName], bool]:
    """One page of a list that Core has, and whether rows follow. Raises: ToolError."""
    reverse = args.reverse != (args.sort == "newest")
    page = {"limit": one_more(args.limit), "offset": args.offset, "reverse": reverse}
    if args.owner is not UNSET:
        owned = await reading.get(NAMES_OF, address=args.owner, **page)
        names = [row.name for row in owned if row.name is not None]
        looked_up = (_owned(reading, name, args.owner) for name in names[: args.limit])
        shown = await a_few_at_once(looked_up, LOOKUPS_AT_ONCE)
        return shown, follows(names, shown)
    if args.query is not UNSET:
        rows = await reading.get(NAMES_SEARCH, query=original(args.query), prefix=args.prefix, **page)
    elif args.for_sale:
        rows = await reading.get(NAMES_FOR_SALE, **page)
    else:
        rows = await reading.get(NAMES, after=args.after, **page)
    shown = [_found(row) for row in rows[: args.limit]]
    return shown, follows(rows, shown)


async def _owned(reading: Reading, name: str, owner: str) -> FoundName:
    """A name of an account with its sale state, which Core's list of its names lacks."""
    try:
        row = await find_name(reading, original(name), pages=1)
    except ToolError as exc:
        if exc.code not in _UNKNOWN:
            raise
        return FoundName(name, owner)
    if (row.name, row.owner) != (name, owner):
        return FoundName(name, owner)  # sold or renamed just now
    found = _found(row)
    found.data = UNSET
    return found


async def _candidates(reading: Reading, args: NameSearch, newest_ms: int) -> tuple[list[ListedName], bool]:
    """Names among which are all that are wanted, from the shortest list that Core has, and whether all were read.

    Raises: ToolError.
    """
    if args.query is not UNSET:
        # Only Core knows what % and _ match.
        return await whole_list(reading, NAMES_SEARCH, _key, query=original(args.query), prefix=args.prefix)
    if args.for_sale or args.sort == "price":
        return await whole_list(reading, NAMES_FOR_SALE, _key)
    if args.since is not UNSET:
        return await whole_list(reading, NAMES, _key, after=milliseconds(args.since))
    if not args.reverse:
        for recent_ms in _RECENT_MS:
            after = max(0, newest_ms - recent_ms)
            rows, is_whole = await whole_list(reading, NAMES, _key, after=after)
            # Core also lists older ones that were changed since.
            rows = [row for row in rows if row.registered > after]
            if len(rows) > args.offset + args.limit:
                return rows, is_whole
    return await whole_list(reading, NAMES, _key)


def _key(row: ListedName) -> str:
    return row.name


def _matching(rows: list[ListedName], args: NameSearch) -> list[ListedName]:
    only_for_sale = args.for_sale or args.sort == "price"
    since_ms = -1 if args.since is UNSET else milliseconds(args.since)
    return [
        row
        for row in rows
        if args.owner in (UNSET, row.owner)
        and (row.isForSale or not only_for_sale)
        and row.registered > since_ms
    ]


def _in_order(rows: list[ListedName], args: NameSearch) -> list[ListedName]:
    """By price or by time as asked for, with `since` by time, otherwise by name, which is Core's order."""
    match "newest" if args.sort is UNSET and args.since is not UNSET else args.sort:
        case "price":
            rows = sorted(rows, key=_by_price)
        case "newest":
            rows = sorted(rows, key=lambda row: (-row.registered, row.name))
    return rows[::-1] if args.reverse else rows


def _by_price(row: ListedName) -> tuple[bool, int, str]:
    price = price_of(row)
    return price is None, units(price or "0"), row.name


def _found(row: RegisteredName) -> FoundName:
    price = price_of(row)
    return FoundName(
        row.name,
        row.owner,
        row.registered,
        iso(row.registered),
        UNSET if row.updated is None else row.updated,
        UNSET if row.updated is None else iso(row.updated),
        row.data or UNSET,
        row.isForSale,
        UNSET if price is None else price,
        UNSET if price is None else "QORT",
    )
