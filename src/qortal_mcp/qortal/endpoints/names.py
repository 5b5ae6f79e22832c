"""Registered names."""

from typing import Any

from ..replies.names import NameSummary
from ..types import Address, Limit, Offset
from .record import UNTIL_NEXT_BLOCK, Endpoint, json_of

NAMES_OF = Endpoint(
    "/names/address/{address}",
    json_of(list[NameSummary]),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"limit": Limit, "offset": Offset},
    returns="The names an account owns, oldest first.",
)
PRIMARY_NAME = Endpoint(
    "/names/primary/{address}",
    json_of(NameSummary),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    returns="The name an account goes by; no name where it has none.",
    since="5.0.0",
)

FAMILY: tuple[Endpoint[Any], ...] = (NAMES_OF, PRIMARY_NAME)
