"""Times: Core counts milliseconds since 1970; people read ISO 8601."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

# Up to the end of the year 9999, which is what a date can hold.
Milliseconds = Annotated[
    int, Meta(ge=0, le=253_402_300_799_999, description="Milliseconds since 1970-01-01 UTC.")
]
IsoTime = Annotated[str, Meta(description="ISO 8601, UTC.")]


def iso(timestamp_ms: int) -> str:
    seconds, ms = divmod(timestamp_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"
