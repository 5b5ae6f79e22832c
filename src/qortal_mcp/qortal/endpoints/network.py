"""Supply, peers and developer endpoints."""

from typing import Any

from ..replies.network import LayoutPart, Peers
from .parameters import CoreType
from .record import HOURS, LIVE, UNTIL_NEXT_BLOCK, Endpoint, amount, json_of, number

SUPPLY = Endpoint(
    "/stats/supply/circulating",
    amount,
    UNTIL_NEXT_BLOCK,
    returns="QORT paid out as block rewards so far, as plain text.",
    since="4.1.0",
)
PEERS = Endpoint(
    "/peers/summary", json_of(Peers), LIVE, returns="How many peers are connected, by direction."
)
CLOCK = Endpoint("/utils/timestamp", number, LIVE, returns="The node's clock in milliseconds, as plain text.")
LAYOUT = Endpoint(
    "/utils/layout/{txtype}",
    json_of(list[LayoutPart]),
    HOURS,
    path={"txtype": CoreType},
    returns="The byte layout of a type of transaction.",
    noun="Layout",
)

FAMILY: tuple[Endpoint[Any], ...] = (SUPPLY, PEERS, CLOCK, LAYOUT)
