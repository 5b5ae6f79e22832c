"""An asset as people refer to it: by id, or by its exact name."""

from typing import Annotated

from msgspec import Meta

from ...endpoints.assets import ASSET
from ...node.node import Reading
from ...replies.assets import AssetDetail

AssetRef = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,
        description="Asset id or exact name.",
        # No name contains it; without this, the other asset of a pair would be looked up first.
        extra={"number": True, "check": lambda text: "\0" not in text},
    ),
]

_MOST_DIGITS = 9
_SHORTEST_NAME = 3


async def named_asset(reading: Reading, text: str) -> AssetDetail:
    """Raises: ToolError."""
    text = text.strip() or text
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        return await reading.get(ASSET, assetName=text)
    if len(text) < _SHORTEST_NAME:
        return await reading.get(ASSET, assetId=int(text))
    # A name may consist of digits as well.
    found = await reading.optional(ASSET, assetId=int(text))
    return found if found is not None else await reading.get(ASSET, assetName=text)
