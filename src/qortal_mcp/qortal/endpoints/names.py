"""Registered names."""

from typing import Any

from ..limits import PAGE_ROWS
from ..replies.names import ListedName, NameSummary, RegisteredName
from ..words.arguments import Address, AskedName, Limit, NamePart, Offset
from ..words.times import Milliseconds
from .record import UNTIL_NEXT_BLOCK, Endpoint, json_of

_PAGE = {"limit": Limit, "offset": Offset, "reverse": bool}
_FIRST_PAGE = {"limit": PAGE_ROWS}

NAMES = Endpoint(
    "/names",
    json_of(list[ListedName]),
    UNTIL_NEXT_BLOCK,
    query={"after": Milliseconds, **_PAGE},
    defaults=_FIRST_PAGE,
    returns="All registered names, by name; with `after`, those registered or changed since.",
)
NAME = Endpoint(
    "/names/{name}",
    json_of(RegisteredName),
    UNTIL_NEXT_BLOCK,
    path={"name": AskedName},
    returns="One name. Case and look-alike letters are ignored, so the name returned may be spelt differently.",
    noun="Name",
)
NAMES_SEARCH = Endpoint(
    "/names/search",
    json_of(list[ListedName]),
    UNTIL_NEXT_BLOCK,
    query={"query": NamePart, "prefix": bool, **_PAGE},
    defaults=_FIRST_PAGE,
    returns="Names that contain a text or begin with it; `%` matches any text and `_` any character.",
    since="4.0.2",
)
NAMES_FOR_SALE = Endpoint(
    "/names/forsale",
    json_of(list[ListedName]),
    UNTIL_NEXT_BLOCK,
    query=_PAGE,
    defaults=_FIRST_PAGE,
    returns="Names for sale, by name.",
)
NAMES_OF = Endpoint(
    "/names/address/{address}",
    json_of(list[NameSummary]),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query=_PAGE,
    defaults=_FIRST_PAGE,
    returns="The names an account owns, oldest first.",
)
PRIMARY_NAME = Endpoint(
    "/names/primary/{address}",
    json_of(NameSummary),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    returns="The primary name of an account; empty if it has none.",
    since="5.0.0",
)

FAMILY: tuple[Endpoint[Any], ...] = (
    NAMES,
    NAME,
    NAMES_SEARCH,
    NAMES_FOR_SALE,
    NAMES_OF,
    PRIMARY_NAME,
)
