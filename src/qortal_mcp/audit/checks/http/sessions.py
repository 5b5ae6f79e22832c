"""Sessions of HTTP, and the header that names the revision."""

from collections.abc import Iterator
from typing import Any

from ....protocol.headers import SESSION_ID
from ...evidence import Step
from ...judging.check import IN_LEGACY, MUST, PORTABILITY, SHOULD, Check, Defect, check, since
from ...matching import is_notice
from ...subjects import Exchange, Session, Whole
from .exchanges import (
    NOT_ABOUT_THE_MESSAGE,
    ORDINARY,
    body_of,
    http_of,
    is_unanswered,
    seen_in,
    sent_header,
    status_of,
    takes_no_version_header,
    wants_session,
)

_SESSIONS = "basic/transports: session management"
_VERSION_HEADER = "basic/transports: protocol version header"


@check(
    "session-lost",
    PORTABILITY,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session lasts while it is used: most clients do not start a new one by themselves.",
    fix="Keep sessions for several minutes, and outside the process if it restarts often; or do not use sessions.",
)
def session_lost(exchange: Exchange) -> Iterator[Defect]:
    """A session that was just opened is gone."""
    http = http_of(exchange)
    held = sent_header(http, SESSION_ID) is not None
    if held and exchange.step.name in ORDINARY and http.status == 404 and is_unanswered(exchange):
        yield Defect(evidence=seen_in(exchange))


@check(
    "stale-session-status",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session that has ended gets 404: the signal to start a new one.",
    fix="Return 404 for every session id you do not know, or no longer know.",
)
def stale_session_status(exchange: Exchange) -> Iterator[Defect]:
    """A session that has ended gets a status other than 404."""
    http, name = http_of(exchange), exchange.step.name
    refused = 400 <= (http.status or 0) < 500 and http.status not in (404, *NOT_ABOUT_THE_MESSAGE)
    if not refused or not sent_header(http, SESSION_ID) or not is_unanswered(exchange):
        return
    if name == "after-delete" or (name in ORDINARY and http.status == 400):
        yield Defect(evidence=seen_in(exchange))
    elif name == "unknown-session":
        yield Defect(evidence=seen_in(exchange), severity=PORTABILITY)


@check(
    "session-not-checked",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session id that has ended gets 404.",
    fix="Look up the id, and forget it at DELETE.",
)
def session_not_checked(exchange: Exchange) -> Iterator[Defect]:
    """A session that has ended, or never existed, is accepted."""
    worked = status_of(exchange) == 200 and exchange.reply is not None and "result" in exchange.reply.value
    if exchange.step.name == "after-delete" and worked:
        yield Defect(evidence=seen_in(exchange))
    elif exchange.step.name == "unknown-session" and worked:
        yield Defect(evidence=seen_in(exchange), severity=SHOULD, note="an id that was never given out")


@check(
    "session-id-not-issued",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A server that requires a session id issues one with its answer to initialize.",
    fix="Send Mcp-Session-Id with the result of initialize, and make it readable for browsers.",
)
def session_id_not_issued(exchange: Exchange) -> Iterator[Defect]:
    """A session id is required that was never issued."""
    if exchange.step.name not in ORDINARY - {"initialize"} and not is_notice(exchange.step):
        return
    if wants_session(exchange):
        yield Defect(evidence=seen_in(exchange))


@check(
    "version-header-not-checked",
    MUST,
    Exchange,
    only="POST",
    revisions=since("2025-06-18") & IN_LEGACY,
    clause=_VERSION_HEADER,
    expected="An MCP-Protocol-Version that does not exist gets 400.",
    fix="Compare the header with the versions you support.",
)
def version_header_not_checked(exchange: Exchange) -> Iterator[Defect]:
    """A header with a version that does not exist is accepted."""
    worked = exchange.reply is not None and "result" in exchange.reply.value
    if exchange.step.name == "bad-version-header" and worked:
        yield Defect(evidence=seen_in(exchange))


@check(
    "protocol-header-refused",
    MUST,
    Whole,
    clause=_VERSION_HEADER,
    expected="MCP-Protocol-Version with the agreed version is accepted.",
    fix="Compare the header with all versions you support, not with a single one.",
)
def protocol_header_refused(whole: Whole) -> Iterator[Defect]:
    """Requests with MCP-Protocol-Version are refused."""
    for visit in whole.evidence.visits:
        refused = takes_no_version_header(visit)
        if refused is not None:
            yield Defect(evidence=body_of(refused), at=(visit, refused))
            return


@check(
    "protocol-header-demanded",
    SHOULD,
    Whole,
    clause=_VERSION_HEADER,
    expected="Without MCP-Protocol-Version a server uses the version of the session, or assumes 2025-03-26: Gemini CLI does not send the header.",
    fix="Accept requests without the header.",
)
def protocol_header_demanded(whole: Whole) -> Iterator[Defect]:
    """Requests without MCP-Protocol-Version are refused."""
    for visit in whole.evidence.visits:
        good = any(step.http and step.http.status == 200 for step in visit.named("tools/list"))
        for step in visit.named("no-version-header"):
            if (
                good
                and step.http
                and 400 <= (step.http.status or 0) < 500
                and step.http.status not in NOT_ABOUT_THE_MESSAGE
            ):
                yield Defect(evidence=body_of(step), at=(visit, step))
                return


_VISIBLE = range(0x21, 0x7F)
# Fewer characters can be tried one after the other.
_LEAST_CHARACTERS = 16


def _issued(exchange: Exchange) -> str | None:
    return http_of(exchange).header(SESSION_ID) if exchange.step.name == "initialize" else None


@check(
    "session-id-characters",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session id has only visible ASCII characters.",
    fix="Use the hexadecimal form of a random number, or a UUID.",
)
def session_id_characters(exchange: Exchange) -> Iterator[Defect]:
    """A session id with characters that a header cannot be trusted with."""
    issued = _issued(exchange)
    if issued is not None and (not issued or any(ord(one) not in _VISIBLE for one in issued)):
        yield Defect(evidence=f"{SESSION_ID}: {issued}")


@check(
    "session-id-guessable",
    SHOULD,
    Whole,
    clause=_SESSIONS,
    expected="A session id is long, random, and given out once.",
    fix="Use 128 random bits or a random UUID: whoever guesses an id takes over the session.",
)
def session_id_guessable(whole: Whole) -> Iterator[Defect]:
    """A session id that can be guessed."""
    seen: set[str] = set()
    for exchange in whole.all(Exchange):
        issued = _issued(exchange)
        if not issued or exchange.revision not in IN_LEGACY:
            continue
        if len(issued) < _LEAST_CHARACTERS or issued in seen:
            note = "given out twice" if issued in seen else f"{len(issued)} characters"
            yield Defect(
                path="initialize",
                evidence=f"{SESSION_ID}: {issued}",
                note=note,
                at=(exchange.visit, exchange.step),
            )
            return
        seen.add(issued)


@check(
    "missing-session-status",
    SHOULD,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A request without the session id gets 400, where a session is required.",
    fix="Return 400 for a missing id, and 404 for one you do not know.",
)
def missing_session_status(exchange: Exchange) -> Iterator[Defect]:
    """A request without the session id gets a status other than 400."""
    status = status_of(exchange)
    is_other = status >= 400 and status not in (400, *NOT_ABOUT_THE_MESSAGE)
    if exchange.step.name == "no-session" and is_other:
        yield Defect(evidence=seen_in(exchange))


@check(
    "event-id-repeated",
    MUST,
    Session,
    revisions=IN_LEGACY,
    clause="basic/transports: resumability",
    expected="The id of an event is unique among all streams of a session.",
    fix="Number the events of a session, not those of a stream: a client resumes by the id alone.",
)
def event_id_repeated(session: Session) -> Iterator[Defect]:
    """Two streams of a session use the same event id."""
    seen: dict[str, Step] = {}
    for step in session.visit.steps:
        if step.http is None or not sent_header(step.http, SESSION_ID):
            continue
        for heard in step.heard:
            if heard.event_id and seen.setdefault(heard.event_id, step) is not step:
                yield Defect(path="id", evidence=f"id: {heard.event_id}", at=(session.visit, step))
                return


CHECKS: tuple[Check[Any], ...] = (
    session_lost,
    stale_session_status,
    session_not_checked,
    session_id_not_issued,
    version_header_not_checked,
    protocol_header_refused,
    protocol_header_demanded,
    session_id_characters,
    session_id_guessable,
    missing_session_status,
    event_id_repeated,
)
