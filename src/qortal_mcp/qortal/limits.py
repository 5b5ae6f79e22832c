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

    # What one call may ask, answers from memory included, whatever the node says of how much there is. A market of some
    # thousand offers or trades takes up to 200 questions.
    call_requests: Positive = 400
    # The same in bytes: four of the largest replies.
    call_bytes: Positive = 16 * 1024 * 1024
    # The same in rows: each of them is looked at, and nobody reads so many page by page.
    call_rows: Positive = 20_000

    # Counted in bytes as received; what Python makes of them takes some five times as much.
    cache_bytes: Positive = 8 * 1024 * 1024
    # One huge reply must not push out everything else.
    cached_reply_bytes: Positive = 512 * 1024


DEFAULT = NodeLimits()

# Of the 64 kB that a tool may answer, what a list may fill; asOf, page and notes need the rest.
ROWS_BYTES = 56 * 1024
# The most rows that a list is asked for at once.
LIMIT = 100
# Names and such have at most 64 bytes on the chain; longer text can only come from a broken node.
TEXT_CHARS = 400
# Text that is the point of an answer, such as what the owner of an asset wrote about it.
CONTENT_CHARS = 4000
# Names in an account overview.
NAMES = 100
# Assets in an account overview, QORT among them.
ASSETS = 20
# Reward shares in a minting profile.
SHARES = 20
# Single trades that are asked for side by side; the rest of the node's queue is for others.
TRADES_AT_ONCE = 16
# What is published can be of any size; a text that someone reads is smaller.
QDN_TEXT_BYTES = 1024 * 1024
# Of such a text, what is shown at once: by itself, and at most. All of it may have to be escaped.
QDN_PAGE_CHARS = 6000
QDN_MOST_CHARS = 40_000
# Trades hold some 600 bytes; a contract with more is shown in part.
CONTRACT_DATA_BYTES = 4096
# The same text where many are listed: enough to see what it is about, and twenty of them fit a page.
LISTED_TEXT_CHARS = 120
# What someone said in a chat; nearly everything is shorter.
LISTED_CHAT_CHARS = 1000
# Options of a poll in a list of polls.
LISTED_OPTIONS = 10
# Admins of a group that are read at once, and how many such windows; no group has nearly as many.
ADMINS_AT_ONCE = 100
ADMIN_WINDOWS = 10
# Texts within an answer that is given as Core has it: a message of 4,000 bytes has 5,500 characters in Base58.
RAW_TEXT_CHARS = 8000
# A plain text that is the whole answer.
RAW_WHOLE_CHARS = 48_000
# Blocks that Core is asked for at once; each costs it several questions of its own.
BLOCKS_AT_ONCE = 50
# Blocks of a signer that the database holds are told from archived ones up to this many windows.
SIGNER_WINDOWS = 20
# A young chain without an archive is looked through block by block to find what somebody signed.
YOUNG_CHAIN_BLOCKS = 2000
# What Core gives at once to a search that names neither a type nor an address.
OPEN_SEARCH_ROWS = 20
# Where Core cannot filter, so many of its rows are looked through in one call.
FILTERED_ROWS = 500
# All unconfirmed or pending transactions there may be.
WAITING_ROWS = 2000
# Bytes in Base58 say nothing to people; in a list a few show which they are.
LISTED_BYTES_CHARS = 16
# A page of the usual number of rows stays within 8 kB; asOf, notes and page need the rest.
USUAL_ROWS = 20
USUAL_ROWS_BYTES = 7400
