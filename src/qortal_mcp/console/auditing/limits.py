"""How many, how long, how much, for audits that are started from the page."""

from msgspec import Struct

from ...audit.limits import AuditLimits
from ...limits import Positive, Seconds

# A person waits for it, and the server under audit may be hostile: shorter than from a terminal, and smaller.
_AUDIT = AuditLimits(
    request_seconds=10.0,
    start_seconds=10.0,
    probe_seconds=3.0,
    get_seconds=3.0,
    retry_seconds=5.0,
    total_seconds=80.0,
    requests=3_000,
    heard_bytes=16 * 1024 * 1024,
    message_bytes=4 * 1024 * 1024,
    judge_seconds=30.0,
    check_seconds=10.0,
    judge_bytes=1024 * 1024 * 1024,
)


# At once, in all: each is a process or two, on a machine that answers other callers meanwhile.
AUDITS = 2


class AuditingLimits(Struct, frozen=True, kw_only=True):
    audits: Positive = AUDITS
    retry_after_seconds: Positive = 10
    # An address and a few revisions.
    body_bytes: Positive = 8 * 1024
    # Visits, then judging, then this much for what lies between.
    total_seconds: Seconds = 120.0
    # One event; the last one holds the report twice.
    event_bytes: Positive = 16 * 1024 * 1024
    # The process that asks and listens. It keeps what was heard in each of some seven visits.
    memory_bytes: Positive = 1024 * 1024 * 1024
    # What has been seen so far is judged while the visits go on: so long, and so many findings are shown early.
    early_seconds: Seconds = 10.0
    early_findings: Positive = 200
    audit: AuditLimits = _AUDIT


DEFAULT = AuditingLimits()
