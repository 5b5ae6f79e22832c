"""How much is asked of a node, for how long, and what is kept of it."""

from msgspec import Struct

from ..limits import Positive, Seconds


class NodeLimits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever a node sends and however slowly."""

    # 2,000 block summaries or the offers of a busy chain are about 1 MB; an asset's data up to 400 kB.
    reply_bytes: Positive = 4 * 1024 * 1024
    # The slowest read on record took 3 s. A model gives up on a tool later than this.
    reply_seconds: Seconds = 15.0
    connect_seconds: Seconds = 3.0
    # Answers carry the node's height; a node too slow to tell it must not hold them back.
    tip_seconds: Seconds = 5.0
    # How old the height in an answer may be.
    tip_age_seconds: Seconds = 2.0

    # Core answers best with about as many requests at once as it has threads to spare.
    requests: Positive = 16
    # The rest waits. More than this many would wait longer than anyone does.
    waiting_requests: Positive = 256
    # A node that failed is left alone for this long, then asked once whether it is back.
    rest_seconds: Seconds = 10.0

    # Counted in bytes as received; what Python makes of them takes some five times as much.
    cache_bytes: Positive = 8 * 1024 * 1024
    # One huge reply must not push out everything else.
    cached_reply_bytes: Positive = 512 * 1024


DEFAULT = NodeLimits()

# Of the 64 kB that a tool may answer, what a list may fill; asOf, page and notes need the rest.
ROWS_BYTES = 56 * 1024
# Names and such have at most 64 bytes on the chain; longer text can only come from a broken node.
TEXT_CHARS = 400
# Names in an account overview.
NAMES = 100
# Assets in an account overview, QORT among them.
ASSETS = 20
# Core refuses to give more offers at once.
OFFERS_AT_ONCE = 100
# Windows of offers to look through before giving up: 100,000 contracts of one kind.
OFFER_WINDOWS = 1000
