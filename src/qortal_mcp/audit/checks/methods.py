"""Small duties, and how a server handles what it does not know: ping, unknown methods, tools and cursors, invalid input."""

from collections.abc import Iterator
from typing import Any

from ..evidence import Step
from ..judging.check import ADVICE, IN_LEGACY, IN_MODERN, MUST, SHOULD, Check, Defect, check
from ..subjects import MISSING, Asked, Listing, Reply, Session, Whole

_ERRORS = "JSON-RPC 2.0 §5.1"
_TOOL_ERRORS = "server/tools: error handling"


def _data(asked: Asked) -> bytes:
    return asked.reply.data if asked.reply is not None else b""


@check(
    "ping-not-answered",
    MUST,
    Asked,
    only="ping",
    revisions=IN_LEGACY,
    clause="basic/utilities/ping",
    expected="ping is answered at once with an empty result.",
    fix='Answer ping with "result": {}.',
)
def ping_not_answered(asked: Asked) -> Iterator[Defect]:
    """ping is refused."""
    if asked.reply is not None and asked.result is MISSING and not asked.is_refused:
        yield Defect(evidence=_data(asked))


@check(
    "ping-result-not-empty",
    SHOULD,
    Asked,
    only="ping",
    revisions=IN_LEGACY,
    clause="basic/utilities/ping",
    expected="The result of ping is {}.",
    fix='Answer ping with an empty "result": {}.',
)
def ping_result_not_empty(asked: Asked) -> Iterator[Defect]:
    """The result of ping is not empty."""
    if isinstance(asked.result, dict) and asked.result.keys() - {
        "_meta",
        "resultType",
        "ttlMs",
        "cacheScope",
    }:
        yield Defect(path="result", evidence=_data(asked))


# Errors in their results are reported under other codes.
_OF_TOOLS = ("tools/call", "unknown-tool", "call-without-name")


@check(
    "method-error-in-result",
    MUST,
    Asked,
    clause=_ERRORS,
    expected="An unknown method is answered with the error -32601, not with a result.",
    fix='Send {"error": {"code": -32601, "message": "Method not found"}} with the id, and no result.',
)
def method_error_in_result(asked: Asked) -> Iterator[Defect]:
    """An error inside a result."""
    if asked.step.name in _OF_TOOLS or not isinstance(asked.result, dict):
        return
    if "error" in asked.result and asked.result.keys() <= {
        "error",
        "success",
        "ok",
        "status",
        "message",
        "code",
    }:
        case = "discover-errinresult" if asked.step.name == "server/discover" else "unknown-in-result"
        yield Defect(path="result.error", evidence=_data(asked), case=case)


@check(
    "unknown-method-accepted",
    MUST,
    Asked,
    only="unknown-method",
    clause=_ERRORS,
    expected="A method that does not exist is answered with the error -32601.",
    fix="End the dispatch with -32601 instead of an empty result.",
)
def unknown_method_accepted(asked: Asked) -> Iterator[Defect]:
    """A method that does not exist is answered with a result."""
    if asked.result is not MISSING and not (isinstance(asked.result, dict) and "error" in asked.result):
        yield Defect(path="result", evidence=_data(asked))


@check(
    "unknown-method-code",
    SHOULD,
    Asked,
    only="unknown-method",
    clause=_ERRORS,
    expected="A method that does not exist is answered with the error -32601.",
    fix="Use -32601; clients use it to detect what a server supports.",
)
def unknown_method_code(asked: Asked) -> Iterator[Defect]:
    """A method that does not exist is answered with a different error."""
    if asked.code is not None and asked.code != -32601 and not asked.is_refused:
        yield Defect(path="error.code", evidence=_data(asked))


@check(
    "exit-on-unknown-method",
    SHOULD,
    Asked,
    only=("server/discover", "unknown-method"),
    clause="2026-07-28 basic/versioning: compatibility",
    expected="A method that does not exist is answered with -32601, and the server keeps running.",
    fix="Answer unknown requests with -32601, even before initialize: clients probe with server/discover.",
)
def exit_on_unknown_method(asked: Asked) -> Iterator[Defect]:
    """The server exits when it gets a method it does not know."""
    if asked.reply is None and asked.step.end == "closed":
        yield Defect(note=asked.step.remark)


@check(
    "unknown-tool-accepted",
    SHOULD,
    Asked,
    only="unknown-tool",
    clause=_TOOL_ERRORS,
    expected="A call to a tool that does not exist is answered with the error -32602.",
    fix="Look up the name first, and answer -32602 if it is not listed.",
)
def unknown_tool_accepted(asked: Asked) -> Iterator[Defect]:
    """A tool that does not exist seems to work."""
    result = asked.result
    if isinstance(result, dict) and result.get("isError") is not True and "error" not in result:
        yield Defect(path="result", evidence=_data(asked))


@check(
    "unknown-tool-in-result",
    ADVICE,
    Asked,
    only="unknown-tool",
    clause=_TOOL_ERRORS,
    expected="A call to a tool that does not exist is answered with the error -32602.",
    fix="Answer -32602. A result with isError works, but clients cannot distinguish it from a tool that failed.",
    departs="Every revision shows -32602 for it; the official SDKs answer so, and models read the words either way, so it is advice.",
)
def unknown_tool_in_result(asked: Asked) -> Iterator[Defect]:
    """A tool that does not exist is reported as a tool that failed."""
    if isinstance(asked.result, dict) and (asked.result.get("isError") is True or "error" in asked.result):
        yield Defect(path="result.isError", evidence=_data(asked))


@check(
    "unknown-tool-code",
    SHOULD,
    Asked,
    only="unknown-tool",
    clause=_TOOL_ERRORS,
    expected="A call to a tool that does not exist is answered with the error -32602.",
    fix="Use -32602: -32601 says that tools/call does not exist, and -32603 that the server is broken.",
)
def unknown_tool_code(asked: Asked) -> Iterator[Defect]:
    """A tool that does not exist is answered with a different error."""
    if asked.code not in (None, -32602) and not asked.is_refused:
        yield Defect(path="error.code", evidence=_data(asked))


@check(
    "string-id-refused",
    MUST,
    Session,
    clause="basic: requests",
    expected="The id of a request may be a string as well as a number.",
    fix="Do not look into ids: keep the value as it came and send it back.",
)
def string_id_refused(session: Session) -> Iterator[Defect]:
    """A request whose id is a string is refused."""
    usual = session.answers("ping") + session.answers("server/discover")
    yield from _refused_alone(session.answers("string-id"), usual, "id")


@check(
    "unknown-member-refused",
    MUST,
    Session,
    clause="schema: parameters are open to members of later revisions",
    expected="A parameter that the server does not know is ignored.",
    fix="Do not forbid additional members in the parameters of a method; later revisions add some.",
)
def unknown_member_refused(session: Session) -> Iterator[Defect]:
    """A request with a parameter that no revision has is refused."""
    yield from _refused_alone(session.answers("extra-member"), session.answers("tools/list"), "params")


def _refused_alone(asked: list[Asked], usual: list[Asked], path: str) -> Iterator[Defect]:
    """What is refused although the same request works in its usual form."""
    works = any(one.result is not MISSING for one in usual)
    for one in asked:
        if works and one.code is not None and not one.is_refused:
            yield Defect(path=path, evidence=_data(one), at=(one.visit, one.step))
            return


@check(
    "malformed-call-accepted",
    SHOULD,
    Asked,
    only="call-without-name",
    clause=_TOOL_ERRORS,
    expected="tools/call without a name is answered with the error -32602.",
    fix="Check params before you look up the tool.",
)
def malformed_call_accepted(asked: Asked) -> Iterator[Defect]:
    """tools/call without a name is answered with a result."""
    result = asked.result
    if isinstance(result, dict) and result.get("isError") is not True:
        yield Defect(path="result", evidence=_data(asked))


@check(
    "cursor-not-checked",
    SHOULD,
    Whole,
    clause="server/utilities/pagination",
    expected="A cursor that the server did not give out is answered with the error -32602.",
    fix="Reject cursors you cannot read; sending the first page again makes clients loop.",
)
def cursor_not_checked(whole: Whole) -> Iterator[Defect]:
    """A made-up cursor is accepted."""
    paged = any(len(listing.pages) > 1 for listing in whole.all(Listing) if listing.only == "tools/list")
    for asked in whole.all(Asked) if paged else ():
        if asked.step.name == "bad-cursor" and isinstance(asked.result, dict):
            yield Defect(path="params.cursor", evidence=_data(asked), at=(asked.visit, asked.step))
            return


@check(
    "garbage-fatal",
    ADVICE,
    Whole,
    clause="JSON-RPC 2.0 §5.1: parse error",
    expected="A line that is not JSON is answered with -32700 or ignored, and the server keeps running.",
    fix="Catch the parse error, answer -32700 with id null, and keep reading.",
    departs="JSON-RPC has an error for it; no revision of MCP says what a server does then, and no known client sends such a line.",
)
def garbage_fatal(whole: Whole) -> Iterator[Defect]:
    """The server does not survive a line that is not JSON."""
    for visit in whole.evidence.visits:
        steps = list(visit.named("raw garbage", "after-garbage"))
        lost = next((step for step in steps if step.end in ("closed", "silent") and _matters(step)), None)
        if lost is not None:
            why = lost.remark or "nothing was answered afterwards"
            yield Defect(note=why, at=(visit, steps[0]))
            return


def _matters(step: Step) -> bool:
    """The line itself may stay unanswered; the end of the connection, or silence afterwards, matters."""
    return step.end == "closed" or step.name == "after-garbage"


@check(
    "batch-refused",
    SHOULD,
    Whole,
    clause="2025-03-26 basic: batching",
    expected="A server of 2025-03-26 accepts a batch and answers each of its requests.",
    fix="Answer an array with an array, or do not agree to 2025-03-26.",
    departs="A MUST of 2025-03-26 alone: the next revision withdrew batches, and no known client ever sent one, so it is a SHOULD.",
)
def batch_refused(whole: Whole) -> Iterator[Defect]:
    """A batch is not answered although 2025-03-26 was agreed on."""
    for visit in whole.evidence.visits:
        for step in visit.named("raw batch"):
            answer = b"".join(heard.data for heard in step.heard)
            late = any(reply.step is step and reply.result is not MISSING for reply in whole.all(Reply))
            if b'"result"' not in answer and not late:
                lost = any(one.end != "answered" for one in visit.named("after-batch"))
                silence = "nothing was answered afterwards" if lost else "" if answer else "no answer"
                yield Defect(evidence=answer, note=step.remark or silence, at=(visit, step))


@check(
    "exit-after-input",
    SHOULD,
    Whole,
    clause="basic/lifecycle: shutdown",
    expected="A server on stdio exits when its standard input ends.",
    fix="Leave the read loop at end of input and stop what you started: threads, timers, children.",
)
def exit_after_input(whole: Whole) -> Iterator[Defect]:
    """The server keeps running after its standard input has ended."""
    for visit in whole.evidence.visits:
        for step in visit.named("end-of-input"):
            if step.end == "silent":
                yield Defect(note=f"still running {step.seconds:.1f} s later", at=(visit, step))
                return


@check(
    "list-changed-unasked",
    ADVICE,
    Session,
    revisions=IN_LEGACY,
    clause="server/tools: capabilities",
    expected="list_changed is sent only if listChanged was declared.",
    fix='Declare "listChanged": true, or do not send the notification.',
    departs="The capability has to say so (MUST); every measured client ignores a notification it was not promised, so it is advice.",
)
def list_changed_unasked(session: Session) -> Iterator[Defect]:
    """list_changed is sent without being declared."""
    declared = session.capabilities if isinstance(session.capabilities, dict) else {}
    for said in session.said:
        parts = said.method.split("/")
        if len(parts) != 3 or parts[2] != "list_changed":
            continue
        if said.params is not MISSING and not isinstance(said.params, dict):
            continue  # reported by the check of params
        holder = declared.get(parts[1])
        if isinstance(holder, dict) and holder.get("listChanged") is not True and not said.is_request:
            yield Defect(evidence=said.data)


# The error code and HTTP status that each bad request must get.
_MODERN_ERRORS: dict[str, tuple[int, int]] = {
    "modern-no-meta": (-32602, 400),
    "modern-old-version": (-32022, 400),
    "modern-header-mismatch": (-32020, 400),
    "modern-no-method-header": (-32020, 400),
    "modern-name-mismatch": (-32020, 400),
    "modern-removed-method": (-32601, 404),
    "modern-unknown-method": (-32601, 404),
}


@check(
    "modern-error-code",
    MUST,
    Asked,
    only=_MODERN_ERRORS,
    revisions=IN_MODERN,
    clause="2026-07-28 basic: error codes",
    expected="Missing _meta: -32602; unknown version: -32022; header missing or not as the body: -32020; unknown method: -32601.",
    fix="Check in this order: _meta, headers, version, method.",
)
def modern_error_code(asked: Asked) -> Iterator[Defect]:
    """A bad request of 2026-07-28 gets the wrong error, or no error."""
    code, _ = _MODERN_ERRORS[asked.step.name]
    if asked.reply is not None and asked.code != code:
        yield Defect(path="error.code", evidence=_data(asked), note=f"expected {code}")


@check(
    "modern-error-status",
    MUST,
    Asked,
    only=_MODERN_ERRORS,
    revisions=IN_MODERN,
    clause="2026-07-28 basic/transports: HTTP status codes",
    expected="Unknown methods get HTTP 404; missing _meta, unknown versions and header mismatches get 400.",
    fix="Set the status from the error code before the reply is sent.",
)
def modern_error_status(asked: Asked) -> Iterator[Defect]:
    """An error of 2026-07-28 has the wrong HTTP status."""
    code, status = _MODERN_ERRORS[asked.step.name]
    http = asked.step.http
    if http is not None and asked.code == code and http.status != status:
        yield Defect(evidence=_data(asked), note=f"HTTP {http.status} instead of {status}")


CHECKS: tuple[Check[Any], ...] = (
    ping_not_answered,
    ping_result_not_empty,
    method_error_in_result,
    unknown_method_accepted,
    unknown_method_code,
    exit_on_unknown_method,
    unknown_tool_accepted,
    unknown_tool_in_result,
    unknown_tool_code,
    string_id_refused,
    unknown_member_refused,
    malformed_call_accepted,
    cursor_not_checked,
    garbage_fatal,
    batch_refused,
    exit_after_input,
    list_changed_unasked,
    modern_error_code,
    modern_error_status,
)
