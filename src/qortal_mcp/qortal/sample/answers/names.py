"""Registered names of the sample chain."""

import functools
import re
import unicodedata
from typing import Any

from ...node.source import RawReply
from ..chain import Chain
from ..core.checks import valid_address
from ..core.parameters import Paging, Parameters
from ..core.replies import Routes, as_json, core_error

# The part of Core's table of look-alikes that this chain's names need.
_LOOK_ALIKES = str.maketrans("ol", "01")


def names(chain: Chain, parameters: Parameters) -> RawReply:
    after, paging = parameters.long("after"), Paging(parameters)
    rows = chain["names"]
    if after is not None:
        rows = [row for row in rows if row["registered"] > after or row.get("updated", 0) > after]
    return as_json(paging.of(rows))


def name(chain: Chain, parameters: Parameters, name: str) -> RawReply:
    wanted = _reduced(name)
    for row in chain["names"]:
        if _reduced(row["name"]) == wanted:
            return as_json(row)
    raise core_error(401)


def search(chain: Chain, parameters: Parameters) -> RawReply:
    query, prefix = parameters.text("query"), parameters.flag("prefix")
    paging = Paging(parameters)
    if query is None:
        raise core_error(125, "Missing query")
    like = _like(f"{query.lower()}%" if prefix else f"%{query.lower()}%")
    return as_json(paging.of([row for row in chain["names"] if like.fullmatch(row["name"].lower())]))


def for_sale(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(Paging(parameters).of(chain["namesForSale"]))


def names_of(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    paging = Paging(parameters)
    return as_json(paging.of(chain["namesByAddress"].get(valid_address(address), [])))


def primary_name(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    return as_json(chain["primaryNames"].get(valid_address(address), {"owner": address}))


@functools.lru_cache(maxsize=1024)
def _reduced(name: str) -> str:
    """The form in which no two names are alike: no marks, nothing hidden, no case, no look-alikes."""
    spaced = " ".join(unicodedata.normalize("NFKD", name).split())
    kept = (letter for letter in spaced if unicodedata.category(letter)[0] not in "MC")
    return "".join(kept).lower().translate(_LOOK_ALIKES)


def _like(pattern: str) -> re.Pattern[str]:
    """A pattern as SQL reads it: % is any text and _ any character, even if the caller typed them."""
    wild: dict[str, Any] = {"%": ".*", "_": "."}
    return re.compile("".join(wild.get(letter) or re.escape(letter) for letter in pattern), re.DOTALL)


ROUTES: Routes = {
    "/names": names,
    "/names/{name}": name,
    "/names/search": search,
    "/names/forsale": for_sale,
    "/names/address/{address}": names_of,
    "/names/primary/{address}": primary_name,
}
