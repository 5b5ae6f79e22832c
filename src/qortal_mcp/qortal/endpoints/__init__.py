"""Everything that can be requested from Core: the allow-list. Nothing else has a path."""

from typing import Any

from . import (
    addresses,
    admin,
    arbitrary,
    assets,
    blocks,
    chat,
    contracts,
    crosschain,
    groups,
    names,
    network,
    polls,
    transactions,
)
from .record import Endpoint

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    *admin.FAMILY,
    *addresses.FAMILY,
    *names.FAMILY,
    *blocks.FAMILY,
    *transactions.FAMILY,
    *assets.FAMILY,
    *groups.FAMILY,
    *polls.FAMILY,
    *chat.FAMILY,
    *crosschain.FAMILY,
    *arbitrary.FAMILY,
    *contracts.FAMILY,
    *network.FAMILY,
)
