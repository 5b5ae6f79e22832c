"""What arguments can be: each kind described, bounded and checked once.

`extra` is read by `server.arguments`: how to name the thing, what to check beyond the schema.
"""

from typing import Annotated, Literal

from msgspec import Meta

from .base58 import is_address
from .chains import CHAINS, find_chain
from .services import find_service

Address = Annotated[
    str,
    Meta(
        pattern="^[QA][1-9A-HJ-NP-Za-km-z]{33}$",
        min_length=34,
        max_length=34,
        description="Qortal address.",
        extra={"noun": "Qortal address", "check": is_address},
    ),
]
AnyText = Annotated[str, Meta(max_length=100, description="Text to check.", extra={"noun": "Qortal address"})]
AssetId = Annotated[int, Meta(ge=0, le=2**31 - 1, description="Asset id, 0 = QORT.")]
AssetIds = Annotated[
    list[Annotated[int, Meta(ge=0, le=2**31 - 1)]],
    Meta(min_length=1, max_length=20, description="Only these assets."),
]
# Names and text filters: Core allows 40 bytes for a name.
Name = Annotated[str, Meta(min_length=1, max_length=40, description="Registered name, exact.")]
ChainName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=20,
        description="Only this chain, by name or ticker: "
        + ", ".join(f"{chain.name} ({chain.ticker})" for chain in CHAINS)
        + ".",
        extra={
            "noun": "chain",
            "hint": f"Chains: {', '.join(chain.name for chain in CHAINS)}.",
            "check": lambda text: find_chain(text) is not None,
        },
    ),
]
ServiceName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,
        description="QDN service by name or code, such as WEBSITE, BLOG_POST or 1110.",
        extra={
            "noun": "service",
            "hint": "No QDN service has this name or code.",
            "number": True,
            "check": lambda text: find_service(text) is not None,
        },
    ),
]
Height = Annotated[int, Meta(ge=1, le=2**31 - 1, description="Block height.")]
FromHeight = Annotated[int, Meta(ge=1, le=2**31 - 1, description="First block to look in.")]
Heights = Annotated[
    int,
    Meta(
        ge=1,
        le=2**31 - 1,
        description="How many blocks to look in, from from_height on; without it the newest ones.",
    ),
]
ConfirmationStatus = Literal["CONFIRMED", "UNCONFIRMED", "BOTH"]
Limit = Annotated[int, Meta(ge=1, le=100, description="Rows per page.", extra={"clamp": True})]
SmallLimit = Annotated[int, Meta(ge=1, le=20, description="Rows per page.", extra={"clamp": True})]
Offset = Annotated[int, Meta(ge=0, le=2**31 - 1, description="Rows to skip.")]

# Accepted from earlier clients, and not shown.
Reverse = Annotated[bool, Meta(description="Newest first.", extra={"unlisted": True})]
GroupId = Annotated[int, Meta(ge=0, le=2**31 - 1, description="Group.", extra={"unlisted": True})]
