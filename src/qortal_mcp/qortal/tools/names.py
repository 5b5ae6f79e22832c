"""Registered names: who owns them, and which are for sale."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...server.tool_errors import invalid_argument
from ...text import original, printable, shortened
from ..endpoints.names import NAMES, NAMES_FOR_SALE, NAMES_OF, NAMES_SEARCH
from ..limits import PAGE_ROWS, TEXT_CHARS
from ..node.failures import NodeFailure
from ..node.node import Node, Reading
from ..replies.names import ListedName, RegisteredName
from ..words.arguments import Address, AskedName, Limit, NamePart, Offset, Reverse
from ..words.base58 import is_address
from ..words.times import IsoTime, Milliseconds, iso
from .answers import Amount, Answer, ListAnswer, fitting, follows, one_more, page_of
from .read_only import tool
from .registered import find_name


class OneName(Struct, frozen=True, forbid_unknown_fields=True):
    name: AskedName


class NameAnswer(Answer):
    name: Annotated[str, Meta(description="As registered.")]
    isExactMatch: Annotated[bool, Meta(description="False if a look-alike was found instead.")]
    owner: str
    data: Annotated[str | None, Meta(description="The owner's free text.")]
    registered: Milliseconds
    registeredTime: IsoTime
    updated: Milliseconds | None
    updatedTime: IsoTime | None
    isForSale: bool
    salePrice: Annotated[Amount | None, Meta(description="Null unless it is for sale.")]
    unit: Annotated[str | UnsetType, Meta(description="Of salePrice.")] = UNSET


@tool("Registered name")
async def get_name(args: OneName, node: Node) -> NameAnswer:
    """Who owns a registered name, its data, and its price if it is for sale. Matches look-alike spellings and
    says so."""
    asked = original(args.name)
    if is_address(asked):
        # The chain does not register names that look like an address.
        raise NodeFailure(
            "NOT_FOUND",
            "Name not found.",
            "This is an address: use search_names with owner to list its names.",
        )
    reading = node.reading()
    row = await find_name(reading, asked)
    is_exact = row.name == printable(asked)
    price = _price(row)
    notes = [] if is_exact else [f'"{_shown(asked)}" was asked for; the registered name is "{row.name}".']
    return NameAnswer(
        row.name,
        is_exact,
        row.owner,
        row.data,
        row.registered,
        iso(row.registered),
        row.updated,
        None if row.updated is None else iso(row.updated),
        row.isForSale,
        price,
        UNSET if price is None else "QORT",
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _price(row: ListedName | RegisteredName) -> str | None:
    """Core keeps the price after a sale."""
    return row.salePrice if row.isForSale else None


def _shown(text: str) -> str:
    return printable(shortened(text, TEXT_CHARS))


class NameSearch(Struct, frozen=True, forbid_unknown_fields=True):
    query: NamePart | UnsetType = UNSET
    prefix: Annotated[bool, Meta(description="Names that begin with query.")] = False
    owner: Address | UnsetType = UNSET
    for_sale: Annotated[bool, Meta(description="Only names for sale.")] = False
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = False
    after: Annotated[Milliseconds | UnsetType, Meta(extra={"unlisted": True})] = UNSET


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
    """Registered names: all, or those that contain query, that one address owns, or that are for sale."""
    _refuse_mixtures(args)
    reading = node.reading()
    rows = await _rows(reading, args)
    names = fitting(rows[: args.limit])
    notes = []
    if args.query is not UNSET and any(wildcard in args.query for wildcard in "%_"):
        notes.append("In query, % matches any text and _ any character.")
    return Names(
        names,
        page=page_of(args, args.offset, len(names), follows(rows, names)),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _refuse_mixtures(args: NameSearch) -> None:
    kinds = [args.query is not UNSET, args.owner is not UNSET, args.for_sale, args.after is not UNSET]
    if sum(kinds) > 1:
        raise invalid_argument("Invalid arguments.", "Give at most one of query, owner and for_sale.")
    if args.prefix and args.query is UNSET:
        raise invalid_argument("Invalid prefix.", "It needs query.")


async def _rows(reading: Reading, args: NameSearch) -> list[FoundName]:
    page = {"limit": one_more(args.limit), "offset": args.offset, "reverse": args.reverse}
    if args.owner is not UNSET:
        rows = await reading.get(NAMES_OF, address=args.owner, **page)
        return [FoundName(row.name, args.owner) for row in rows if row.name is not None]
    if args.query is not UNSET:
        found = await reading.get(NAMES_SEARCH, query=original(args.query), prefix=args.prefix, **page)
    elif args.for_sale:
        found = await reading.get(NAMES_FOR_SALE, **page)
    else:
        found = await reading.get(NAMES, after=args.after, **page)
    return [_found(row) for row in found]


def _found(row: ListedName) -> FoundName:
    price = _price(row)
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
