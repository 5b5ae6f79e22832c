"""How long, how much, how many, as an audit sees it. The server under audit is not trusted."""

from msgspec import Struct

from ..limits import Positive, Seconds


class AuditLimits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever a server does."""

    # One question. Tools that search the web take this long; `--timeout` changes it.
    request_seconds: Seconds = 30.0
    # A server of the modern era answers the probe at once; a silent one is legacy.
    probe_seconds: Seconds = 5.0
    # The first answer of a program that may have to install itself first.
    start_seconds: Seconds = 60.0
    # How long something that is nearly the answer is given to be followed by the answer.
    grace_seconds: Seconds = 0.5
    # The end of a stream whose answer is there already.
    linger_seconds: Seconds = 0.2
    # A GET that says nothing at all.
    get_seconds: Seconds = 5.0
    # A program's time to end by itself after its input has ended.
    exit_seconds: Seconds = 2.0
    # The whole audit.
    total_seconds: Seconds = 600.0
    # Everything that is asked, over all visits. A large server of five revisions needs about 1,000.
    requests: Positive = 5_000
    # What is kept of what a server says in one visit.
    heard_pieces: Positive = 5_000
    heard_bytes: Positive = 64 * 1024 * 1024
    message_bytes: Positive = 16 * 1024 * 1024
    # Pages of one list.
    list_pages: Positive = 100
    # Tools called in one revision, each once.
    calls: Positive = 500
    # A wait that a server asked for with 429, and how often one request is tried.
    retry_seconds: Seconds = 10.0
    retries: Positive = 3
    # How often a broken stream is resumed.
    resumptions: Positive = 5
    # Items of one list that are judged in each visit. The largest real servers offer some hundred tools.
    list_items: Positive = 2_000
    # Judging, in a process of its own: in all, but no longer than what is left of the whole audit...
    judge_seconds: Seconds = 120.0
    # ...and even then this long: a server that used up the time must not hide what was seen.
    judge_least_seconds: Seconds = 10.0
    # One check of everything it looks at. The slowest takes less than a second on an honest server.
    check_seconds: Seconds = 20.0
    # Its memory, where the system can bound it. An honest server takes less than 200 MB.
    judge_bytes: Positive = 2 * 1024 * 1024 * 1024
    # Checks that may be left out, one after the other, so that the others can run.
    checks_left_out: Positive = 5


DEFAULT = AuditLimits()
