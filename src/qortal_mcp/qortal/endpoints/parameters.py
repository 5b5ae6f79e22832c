"""Kinds of parameter that only Core uses; how people write them is up to the tools."""

from typing import Annotated, Literal

from msgspec import Meta

from ..limits import RATED_OPTIONS
from ..words.chains import CHAINS
from ..words.services import SERVICES
from ..words.transaction_types import TRANSACTION_TYPES

CoreChain = Annotated[str, Meta(extra={"check": {chain.name for chain in CHAINS}.__contains__})]
CoreService = Annotated[str, Meta(extra={"check": {service.name for service in SERVICES}.__contains__})]
Ordering = Literal["ASSET_BALANCE_ACCOUNT", "ACCOUNT_ASSET", "ASSET_ACCOUNT"]
# Core itself decides whether it is an address.
AnyAddress = Annotated[str, Meta(min_length=1, max_length=64)]
# Each row costs Core a query of its own.
HeavyLimit = Annotated[int, Meta(ge=1, le=50, extra={"clamp": True})]
# The other answer would change something on the node.
OnlyFalse = Annotated[bool, Meta(extra={"check": lambda flag: flag is False})]
# Options of polls, of which an app's rating has five or six.
OptionRows = Annotated[int, Meta(ge=1, le=RATED_OPTIONS, extra={"clamp": True})]
# Shorter than Base58, and quicker for Core.
Encoding = Literal["BASE64"]
CoreType = Annotated[str, Meta(extra={"check": TRANSACTION_TYPES.__contains__})]
CoreTypes = Annotated[
    list[CoreType],
    Meta(min_length=1, max_length=len(TRANSACTION_TYPES), extra={"check": TRANSACTION_TYPES.__contains__}),
]
