"""Words that only Core uses, in parameters; how people write them is the tools' business."""

from typing import Annotated, Literal

from msgspec import Meta

from ..chains import CHAINS
from ..services import SERVICES

CoreChain = Annotated[str, Meta(extra={"check": {chain.name for chain in CHAINS}.__contains__})]
CoreService = Annotated[str, Meta(extra={"check": {service.name for service in SERVICES}.__contains__})]
Ordering = Literal["ASSET_BALANCE_ACCOUNT", "ACCOUNT_ASSET", "ASSET_ACCOUNT"]
