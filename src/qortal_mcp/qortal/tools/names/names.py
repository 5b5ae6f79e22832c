"""One registered name: who owns it, and what it costs."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....text import original, printable, shortened
from ...limits import TEXT_CHARS
from ...node.failures import NodeFailure
from ...node.node import Node
from ...replies.names import RegisteredName
from ...words.arguments import AskedName
from ...words.base58 import is_address
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Amount, Answer
from ..read_only import tool
from ..registered import find_name


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
    price = price_of(row)
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


def price_of(row: RegisteredName) -> str | None:
    """Core keeps the price after a sale."""
    return row.salePrice if row.isForSale else None


def _shown(text: str) -> str:
    return printable(shortened(text, TEXT_CHARS))
