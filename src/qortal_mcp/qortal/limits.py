"""How much is requested from a node, for how long, and how much of it is kept."""

from msgspec import Struct
from msgspec.structs import replace

from ..limits import Positive, Seconds, share_of


class NodeLimits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever a node sends, however slowly."""

    # 2,000 block summaries or the offers of a busy chain are about 1 MB; an asset's data up to 400 kB.
    reply_bytes: Positive = 4 * 1024 * 1024
    # The slowest read measured took 3 s. Models wait longer than this for a tool.
    reply_seconds: Seconds = 15.0
    connect_seconds: Seconds = 3.0
    # Answers carry the node's height; a node too slow to report it must not hold them back.
    tip_seconds: Seconds = 5.0
    # How old the height in an answer may be.
    tip_age_seconds: Seconds = 2.0
    # A node whose newest block is older than this is behind, whatever it says itself. Blocks come about once a
    # minute. `--max-tip-age` changes it.
    max_tip_age_seconds: Seconds = 900.0
    # Clocks differ a little; a newest block further in the future than this means that one of them is wrong.
    max_tip_lead_seconds: Seconds = 120.0

    # Core works best with about as many requests at once as it has free threads.
    requests: Positive = 16
    # The rest wait. With more than this many, the last would wait longer than any caller does. As many again may wait that are the
    # only one of their caller.
    waiting_requests: Positive = 256
    # With `--confirm`: how long an answer waits for other nodes once it is there, and for all to stand at one block. A new
    # block reaches most nodes within this.
    confirm_seconds: Seconds = 5.0
    # The same of all parts of an answer together: a sum over time has a hundred of them, and callers wait for a minute.
    confirm_answer_seconds: Seconds = 15.0
    # A node that failed is left alone for this long, then probed once to see whether it is back.
    rest_seconds: Seconds = 10.0

    # Requests that one call may make, cached answers included, whatever the node says about how much there is. A market of a few
    # thousand offers or trades takes up to 200 requests.
    call_requests: Positive = 400
    # The same in bytes: four of the largest replies.
    call_bytes: Positive = 16 * 1024 * 1024
    # The same in rows: each is looked at, and nobody reads that many page by page.
    call_rows: Positive = 20_000

    # Counted in bytes as received; the Python objects take about five times as much.
    cache_bytes: Positive = 8 * 1024 * 1024
    # One huge reply must not push out everything else.
    cached_reply_bytes: Positive = 512 * 1024


DEFAULT = NodeLimits()


def share_of_node(limits: NodeLimits, number: int, of: int) -> NodeLimits:
    """The limits of one process, the `number`th `of` several: together they ask a node for no more, and keep no more."""
    share = share_of(limits, ("requests", "waiting_requests", "cache_bytes"), number, of)
    return replace(share, cached_reply_bytes=min(share.cached_reply_bytes, share.cache_bytes))


# Lists, objects and what they hold in one reply, counted before it is decoded. The offers of a busy chain have about 50,000.
REPLY_VALUES = 100_000
# How much of a tool's 64 kB a list may fill; asOf, page and notes need the rest.
ROWS_BYTES = 56 * 1024
# The most rows requested at once.
LIMIT = 100
# Names and the like have at most 64 bytes on the chain; longer text can only come from a broken node.
TEXT_CHARS = 400
# Text that is the point of an answer, such as what the owner of an asset wrote about it.
CONTENT_CHARS = 4000
# Names in an account overview.
NAMES = 100
# Assets in an account overview, QORT among them.
ASSETS = 20
# Reward shares in a minting profile.
SHARES = 20
# Payouts of a minter in one answer: about four weeks.
PAYOUTS = 40
# Pages of recorded ranges of blocks read; Core keeps 1,000 ranges unless it is told to keep more.
RANGE_PAGES = 20
# Ranges whose payouts are read concurrently: the last of them must fit the requests of one call, with thousands of accounts each.
PAYOUTS_AT_ONCE = 4
# Requests that one scan may make; what else a call needs comes on top and stays below 200. At 100 rows each they hold as many
# rows as one call may read.
SCAN_REQUESTS = 180
# Payments within the transactions of a scan: one transaction may hold hundreds, and each is added up.
SCAN_PAYMENTS = 40_000
# Pages of a scan requested concurrently.
SCAN_AT_ONCE = 8
# Scans begin and end at multiples of this many blocks, about a day, so that the next call finds their pages in memory.
SCAN_STEP = 1440
# Names, accounts or groups of a page looked up concurrently.
LOOKUPS_AT_ONCE = 16
# Groups of one admin that are looked through: two requests each at most.
ADMINISTERED_GROUPS = 90
# Single trades requested concurrently; the rest of the node's queue is for others.
TRADES_AT_ONCE = 16
# Publications can have any size; a text that someone reads is smaller.
QDN_TEXT_BYTES = 1024 * 1024
# How much of such a text is shown at once: by default, and at most. All of it may need escaping.
QDN_PAGE_CHARS = 6000
QDN_MOST_CHARS = 40_000
# Requests after which a search for each resource once stops at the end of its window, which takes up to 56 more; ratings and
# versions take up to 32.
QDN_ONCE_REQUESTS = 108
# Windows of twenty publications before a page that are read again where only they can tell whether a resource was shown already.
QDN_PAGES_BACK = 15
# Windows of a hundred resources that are looked through for all words of a topic.
QDN_TOPIC_WINDOWS = 10
# Windows of twenty publications that are looked through to count the versions of a resource, and how many at once.
QDN_VERSION_WINDOWS = 100
QDN_VERSIONS_AT_ONCE = 8
# Such windows for all rows of a search together.
QDN_LISTED_VERSION_WINDOWS = 12
# Trades hold about 600 bytes; a contract with more is shown in part.
CONTRACT_DATA_BYTES = 4096
# The same text in a list: enough to see what it is about, and twenty of them fit a page.
LISTED_TEXT_CHARS = 120
# A chat message; nearly all are shorter.
LISTED_CHAT_CHARS = 1000
# Windows of a hundred messages that a digest of chats reads, and how many at once: a full one has up to 560 kB.
CHAT_DIGEST_REQUESTS = 130
CHAT_DIGEST_AT_ONCE = 4
# Options of rated apps read at once, and how many such windows: 10,000 options are about 2,000 apps.
RATED_OPTIONS = 500
RATING_WINDOWS = 20
# Options of a poll in a list of polls.
LISTED_OPTIONS = 10
# Admins of a group read at once, and how many such windows; no group has nearly as many.
ADMINS_AT_ONCE = 100
ADMIN_WINDOWS = 10
# Texts within an answer passed on as Core sent it: a message of 4,000 bytes has 5,500 characters in Base58.
RAW_TEXT_CHARS = 8000
# Base64 longer than this is shown as its kind and size; a model would pay for data that it cannot read.
BLOB_CHARS = 1024
# A plain text that is the whole answer.
RAW_WHOLE_CHARS = 48_000
# Blocks requested from Core at once; each costs it several queries of its own.
BLOCKS_AT_ONCE = 50
# A signer's blocks in the database are separated from archived ones up to this many windows.
SIGNER_WINDOWS = 20
# A young chain without an archive is searched block by block for what an account signed.
YOUNG_CHAIN_BLOCKS = 2000
# The most that Core returns at once for a search without a type or an address.
OPEN_SEARCH_ROWS = 20
# Where Core cannot filter, one call looks through this many of its rows.
FILTERED_ROWS = 500
# More than all unconfirmed or pending transactions there may be.
WAITING_ROWS = 2000
# Base58 bytes mean nothing to people; in a list the first few are enough to tell them apart.
LISTED_BYTES_CHARS = 16
# The rows of a page if the caller gives no limit. They stay within 8 kB; asOf, notes and page need the rest.
PAGE_ROWS = 20
PAGE_ROWS_BYTES = 7400
