"""QDN: published data."""

from typing import Any

from ..replies.arbitrary import Publication
from ..types import Address, ConfirmationStatus, FromHeight, GroupId, Heights, Name, Offset, SmallLimit
from .record import SECONDS, Endpoint, json_of
from .words import CoreService

PUBLICATIONS = Endpoint(
    "/arbitrary/search",
    json_of(list[Publication]),
    SECONDS,
    query={
        "startBlock": FromHeight,
        "blockLimit": Heights,
        "txGroupId": GroupId,
        "service": CoreService,
        "name": Name,
        "address": Address,
        "confirmationStatus": ConfirmationStatus,
        "limit": SmallLimit,
        "offset": Offset,
        "reverse": bool,
    },
    returns="Transactions that published something on QDN.",
)

FAMILY: tuple[Endpoint[Any], ...] = (PUBLICATIONS,)
