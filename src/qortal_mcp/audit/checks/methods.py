"""How a server takes what it does not know, and the small duties: ping, unknown methods, tools, cursors, rubbish."""

from collections.abc import Iterator
from typing import Any

from ..evidence import Step
from ..judging.check import ADVICE, IN_LEGACY, IN_MODERN, MUST, SHOULD, Check, Defect, check
from ..subjects import MISSING, Asked, Listing, Reply, Session, Whole

_ERRORS = "JSON-RPC 2.0 §5.1"
_TOOL_ERRORS = "server/tools: error handling"


def _data(asked: Asked) -> bytes:
    return asked.reply.data if asked.reply is not None else b""


def _is_refused(asked: Asked) -> bool:
    """Refused by HTTP, without the id of the request: before anybody looked for its method."""
    http = asked.step.http
    is_nameless = asked.reply is not None and asked.reply.match == "none"
    return http is not None and (http.status or 0) >= 400 and is_nameless


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
    if asked.reply is not None and asked.result is MISSING and not _is_refused(asked):
        yield Defect(evidence=_data(asked))


@check(
    "ping-result-not-empty",
    SHOULD,
    Asked,
    only="ping",
    revisions=IN_LEGACY,
    clause="basic/utilities/ping",
    expected="The result of ping is {}.",
    fix='Answer ping with "result": {} and nothing in it.',
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


# Errors in their results have codes of their own.
_OF_TOOLS = ("tools/call", "unknown-tool", "call-without-name")


@check(
    "method-error-in-result",
    MUST,
    Asked,
    clause=_ERRORS,
    expected="An unknown method is answered with the error -32601, not with a result.",
    fix='Send {"error": {"code": -32601, "message": "Method not found"}} beside the id, without a result.',
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
    fix="Use -32601; clients tell by it what a server can do.",
)
def unknown_method_code(asked: Asked) -> Iterator[Defect]:
    """A method that does not exist is answered with another error."""
    if asked.code is not None and asked.code != -32601 and not _is_refused(asked):
        yield Defect(path="error.code", evidence=_data(asked))


@check(
    "exit-on-unknown-method",
    SHOULD,
    Asked,
    only=("server/discover", "unknown-method"),
    clause="2026-07-28 basic/versioning: compatibility",
    expected="A method that does not exist is answered with -32601, and the server goes on.",
    fix="Answer unknown requests with -32601, also before initialize: clients probe with server/discover.",
)
def exit_on_unknown_method(asked: Asked) -> Iterator[Defect]:
    """The server ends when it hears a method it does not know."""
    if asked.reply is None and asked.step.end == "closed":
        yield Defect(evidence=asked.step.sent, note=asked.step.remark)


@check(
    "unknown-tool-accepted",
    SHOULD,
    Asked,
    only="unknown-tool",
    clause=_TOOL_ERRORS,
    expected="A call of a tool that does not exist is answered with the error -32602.",
    fix="Look the name up first and answer -32602 where it is not listed.",
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
    expected="A call of a tool that does not exist is answered with the error -32602.",
    fix="Answer -32602. As a result with isError it works, but clients cannot tell it from a tool that failed.",
)
def unknown_tool_in_result(asked: Asked) -> Iterator[Defect]:
    """A tool that does not exist is reported as one that failed."""
    if isinstance(asked.result, dict) and (asked.result.get("isError") is True or "error" in asked.result):
        yield Defect(path="result.isError", evidence=_data(asked))


@check(
    "malformed-call-accepted",
    SHOULD,
    Asked,
    only="call-without-name",
    clause=_TOOL_ERRORS,
    expected="tools/call without a name is answered with the error -32602.",
    fix="Check params before you look for the tool.",
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
    fix="Refuse cursors you cannot read; answering the first page again makes clients loop.",
)
def cursor_not_checked(whole: Whole) -> Iterator[Defect]:
    """A made-up cursor is taken for a real one."""
    paged = any(len(listing.pages) > 1 for listing in whole.all(Listing) if listing.only == "tools/list")
    for asked in whole.all(Asked) if paged else ():
        if asked.step.name == "bad-cursor" and isinstance(asked.result, dict):
            yield Defect(path="params.cursor", evidence=_data(asked), at=(asked.visit, asked.step))
            return


# No revision says what a server does with a line that is no message, and no client is known to send one.
@check(
    "garbage-fatal",
    ADVICE,
    Whole,
    clause="JSON-RPC 2.0 §5.1: parse error",
    expected="A line that is no JSON is answered with -32700 or ignored, and the server goes on.",
    fix="Catch the error of the parser, answer -32700 with id null, and read on.",
)
def garbage_fatal(whole: Whole) -> Iterator[Defect]:
    """The server does not survive a line that is no JSON."""
    for visit in whole.evidence.visits:
        steps = list(visit.named("raw garbage", "after-garbage"))
        lost = next((step for step in steps if step.end in ("closed", "silent") and _matters(step)), None)
        if lost is not None:
            why = lost.remark or "nothing was answered afterwards"
            yield Defect(evidence=steps[0].sent, note=why, at=(visit, steps[0]))
            return


def _matters(step: Step) -> bool:
    """Silence about garbage is allowed; the end of the connection, or silence afterwards, is not."""
    return step.end == "closed" or step.name == "after-garbage"


# A MUST of 2025-03-26 that the next revision withdrew; no client is known that ever sent one.
@check(
    "batch-refused",
    SHOULD,
    Whole,
    clause="2025-03-26 basic: batching",
    expected="2025-03-26 servers take a batch and answer each of its requests.",
    fix="Answer an array with an array, or do not agree to 2025-03-26.",
)
def batch_refused(whole: Whole) -> Iterator[Defect]:
    """A batch is not answered although 2025-03-26 was agreed on."""
    for visit in whole.evidence.visits:
        for step in visit.named("raw batch"):
            answer = b"".join(heard.data for heard in step.heard)
            late = any(reply.step is step and reply.result is not MISSING for reply in whole.all(Reply))
            if b'"result"' not in answer and not late:
                lost = any(one.end != "answered" for one in visit.named("after-batch"))
                note = step.remark or ("nothing was answered afterwards" if lost else "")
                yield Defect(evidence=answer or step.sent, note=note, at=(visit, step))


@check(
    "exit-after-input",
    SHOULD,
    Whole,
    clause="basic/lifecycle: shutdown",
    expected="A server on stdio ends when its standard input ends.",
    fix="Leave the read loop at end of input and stop what you started: threads, timers, children.",
)
def exit_after_input(whole: Whole) -> Iterator[Defect]:
    """The server goes on after its standard input has ended."""
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
    expected="list_changed is sent only where listChanged was declared.",
    fix='Declare "listChanged": true, or do not send the notification.',
)
def list_changed_unasked(session: Session) -> Iterator[Defect]:
    """list_changed is sent without being declared."""
    declared = session.capabilities if isinstance(session.capabilities, dict) else {}
    for said in session.said:
        parts = said.method.split("/")
        if len(parts) != 3 or parts[2] != "list_changed":
            continue
        if said.params is not MISSING and not isinstance(said.params, dict):
            continue  # said by the check of params
        holder = declared.get(parts[1])
        if isinstance(holder, dict) and holder.get("listChanged") is not True and not said.is_request:
            yield Defect(evidence=said.data)


# What each probe of a modern server must be answered with.
_MODERN_ERRORS: dict[str, tuple[int, int, str]] = {
    "modern-no-meta": (-32602, 400, "a request without the _meta of 2026-07-28"),
    "modern-old-version": (-32022, 400, "a version that does not exist"),
    "modern-header-mismatch": (-32020, 400, "a Mcp-Method header that differs from the body"),
    "modern-removed-method": (-32601, 404, "a method that 2026-07-28 removed"),
    "modern-unknown-method": (-32601, 404, "a method that does not exist"),
}


@check(
    "modern-error-code",
    MUST,
    Asked,
    only=_MODERN_ERRORS,
    revisions=IN_MODERN,
    clause="2026-07-28 basic: error codes",
    expected="Missing _meta: -32602; unknown version: -32022; header and body differ: -32020; unknown method: -32601.",
    fix="Check in this order: _meta, headers, version, method.",
)
def modern_error_code(asked: Asked) -> Iterator[Defect]:
    """A bad request of 2026-07-28 gets the wrong error, or none."""
    code, _, what = _MODERN_ERRORS[asked.step.name]
    if asked.reply is not None and asked.code != code:
        yield Defect(path="error.code", evidence=_data(asked), note=f"{what}: expected {code}")


@check(
    "modern-error-status",
    MUST,
    Asked,
    only=_MODERN_ERRORS,
    revisions=IN_MODERN,
    clause="2026-07-28 basic/transports: HTTP status codes",
    expected="Unknown methods travel with HTTP 404; missing _meta, unknown versions and header mismatches with 400.",
    fix="Set the status from the error code before the reply is sent.",
)
def modern_error_status(asked: Asked) -> Iterator[Defect]:
    """An error of 2026-07-28 travels with the wrong HTTP status."""
    code, status, _ = _MODERN_ERRORS[asked.step.name]
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
    malformed_call_accepted,
    cursor_not_checked,
    garbage_fatal,
    batch_refused,
    exit_after_input,
    list_changed_unasked,
    modern_error_code,
    modern_error_status,
)
