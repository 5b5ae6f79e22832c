"""JSON-RPC: ids, members, errors, and what a server may say unasked."""

from collections.abc import Iterator
from typing import Any

from ..judging.check import (
    IN_LEGACY,
    IN_MODERN,
    MUST,
    PORTABILITY,
    SHOULD,
    Check,
    Defect,
    check,
    count_note,
)
from ..matching import question_of
from ..subjects import MISSING, Asked, Reply, Said, Whole

_RESPONSES = "basic: responses"
_MEMBERS = {"jsonrpc", "id", "result", "error"}


def _is_refusal(reply: Reply) -> bool:
    """An error with an HTTP error status: the request itself was not handled."""
    http = reply.step.http
    return http is not None and (http.status or 0) >= 400 and isinstance(reply.error, dict)


@check(
    "rpc-version-missing",
    MUST,
    Reply,
    clause="JSON-RPC 2.0 §5",
    expected='Every message has "jsonrpc":"2.0".',
    fix='Add "jsonrpc":"2.0" to every message.',
)
def rpc_version_missing(reply: Reply) -> Iterator[Defect]:
    """A reply without "jsonrpc":"2.0"."""
    if reply.value.get("jsonrpc") != "2.0":
        init = reply.step.name == "initialize"
        yield Defect(
            path="jsonrpc", evidence=reply.data, case="init-jsonrpc-missing" if init else "jsonrpc-missing"
        )


@check(
    "rpc-id-missing",
    MUST,
    Reply,
    clause=_RESPONSES,
    expected="A reply repeats the id of its request.",
    fix="Copy the id of the request into the reply.",
)
def rpc_id_missing(reply: Reply) -> Iterator[Defect]:
    """A reply without the id of its request."""
    if reply.match == "none" and question_of(reply.step) is not None and not _is_refusal(reply):
        yield Defect(path="id", evidence=reply.data)


@check(
    "rpc-id-wrong",
    MUST,
    Reply,
    clause=_RESPONSES,
    expected="A reply repeats the id of its request.",
    fix="Copy the id of the request into the reply; do not generate ids of your own.",
)
def rpc_id_wrong(reply: Reply) -> Iterator[Defect]:
    """A reply with an id that no request had."""
    if reply.match == "wrong" and not _is_refusal(reply):
        yield Defect(path="id", evidence=reply.data)


@check(
    "refusal-id-invented",
    SHOULD,
    Whole,
    clause="JSON-RPC 2.0 §5",
    expected="A request refused with an HTTP error comes back with its own id, with null, or without an id.",
    fix="Send null if the id was not read; never an invented one.",
    departs="JSON-RPC demands it; no known client reads the id of a reply with status 400 or above, so it is a SHOULD.",
)
def refusal_id_invented(whole: Whole) -> Iterator[Defect]:
    """A refusal with an id that no request had."""
    wrong = [reply for reply in whole.all(Reply) if reply.match == "wrong" and _is_refusal(reply)]
    for reply in wrong[:1]:
        yield Defect(path="id", evidence=reply.data, note=count_note(wrong), at=(reply.visit, reply.step))


@check(
    "rpc-id-type-changed",
    MUST,
    Reply,
    clause=_RESPONSES,
    expected="An id keeps the type it was sent with.",
    fix='Keep ids as they came: 1 is not the string "1".',
)
def rpc_id_type_changed(reply: Reply) -> Iterator[Defect]:
    """An id that came back with a different type."""
    if reply.match == "type":
        yield Defect(path="id", evidence=reply.data)


@check(
    "rpc-duplicate-reply",
    MUST,
    Reply,
    clause="JSON-RPC 2.0 §5",
    expected="Exactly one reply to each request.",
    fix="Find the code that replies a second time, often an error path after the good one.",
)
def rpc_duplicate_reply(reply: Reply) -> Iterator[Defect]:
    """A request answered twice."""
    if reply.match == "again":
        yield Defect(evidence=reply.data)


@check(
    "notification-answered",
    MUST,
    Reply,
    clause="JSON-RPC 2.0 §4.1; basic: notifications",
    expected="A notification is never answered, not even an unknown one.",
    fix="Check whether a message has an id before you reply; without one, send nothing.",
)
def notification_answered(reply: Reply) -> Iterator[Defect]:
    """A reply to a notification."""
    if reply.match == "notice" and not _is_refusal(reply):
        http = reply.step.http is not None
        yield Defect(evidence=reply.data, case="http-notif-200-rpc" if http else "notif-reply-null")


@check(
    "rpc-result-and-error",
    MUST,
    Reply,
    clause="JSON-RPC 2.0 §5",
    expected="Exactly one of result and error; the other is absent, not null.",
    fix="Leave the unused member out when the reply is serialised.",
)
def rpc_result_and_error(reply: Reply) -> Iterator[Defect]:
    """Both result and error in one reply."""
    if "result" in reply.value and "error" in reply.value:
        case = "error-null" if reply.error is None else "result-null-error"
        yield Defect(path="error" if reply.error is None else "result", evidence=reply.data, case=case)


@check(
    "result-not-object",
    MUST,
    Reply,
    clause="basic: Result is an object",
    expected="A result is an object.",
    fix="Wrap the value: a tool's value goes into content.",
)
def result_not_object(reply: Reply) -> Iterator[Defect]:
    """A result that is not an object."""
    result = reply.result
    if result is MISSING or isinstance(result, dict) or isinstance(reply.error, dict):
        return
    if isinstance(result, list) and str((question_of(reply.step) or {}).get("method")).endswith("/list"):
        return  # said by the check of that list
    yield Defect(path="result", evidence=result)


@check(
    "rpc-error-malformed",
    MUST,
    Reply,
    clause="JSON-RPC 2.0 §5.1",
    expected="An error has an integer as code and a string as message.",
    fix='Send {"code": <integer>, "message": "<text>"}; anything else belongs in data.',
)
def rpc_error_malformed(reply: Reply) -> Iterator[Defect]:
    """An error without a code or message of the right type."""
    error = reply.error
    if error is MISSING or (error is None and reply.result is not MISSING):
        return
    if (
        not isinstance(error, dict)
        or not _is_integer(error.get("code"))
        or not isinstance(error.get("message"), str)
    ):
        yield Defect(path="error", evidence=error)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@check(
    "rpc-extra-member",
    PORTABILITY,
    Reply,
    clause="JSON-RPC 2.0 §5",
    expected="A reply has jsonrpc, id, and result or error, and nothing else.",
    fix="Put other data into _meta of the result, or into an HTTP header.",
)
def rpc_extra_member(reply: Reply) -> Iterator[Defect]:
    """Members other than jsonrpc, id, result and error."""
    if extra := sorted(reply.value.keys() - _MEMBERS):
        yield Defect(path=extra[0], evidence=reply.data)


@check(
    "rpc-batch-reply",
    MUST,
    Reply,
    clause="basic: batching was removed in 2025-06-18",
    expected="A single request gets a single reply, not an array.",
    fix="Send the reply itself.",
)
def rpc_batch_reply(reply: Reply) -> Iterator[Defect]:
    """A reply inside an array."""
    if reply.batched and question_of(reply.step) is not None:
        yield Defect(evidence=reply.data)


@check(
    "no-reply",
    MUST,
    Asked,
    clause=_RESPONSES,
    expected="Every request is answered.",
    fix="Answer in every branch, including errors; put a time limit on long work.",
)
def no_reply(asked: Asked) -> Iterator[Defect]:
    """A request that was never answered."""
    step = asked.step
    if asked.reply is not None or step.name in ("server/discover", "after-batch", "modern-listen"):
        return
    if any(heard.too_long for heard in step.heard):
        return  # something came, and more of it than is kept
    if step.end == "silent" and (step.http is None or not step.http.is_whole):
        yield Defect(note=f"nothing came within {step.seconds:.1f} s", case="call-hang")
    elif step.http is not None and step.http.status == 200 and step.heard:
        if step.http.media_type != "text/event-stream":
            body = b"".join(heard.data for heard in step.heard)
            yield Defect(evidence=body, note="HTTP 200 without a message", case="http-call-200-empty")
    elif step.http is not None and step.http.status in (200, 202, 204) and not step.heard:
        if step.http.media_type == "text/event-stream":
            return  # said by the check of streams
        case = "http-call-202" if step.http.status == 202 else "http-call-200-empty"
        yield Defect(evidence=f"HTTP {step.http.status}", note="without a body", case=case)


@check(
    "server-exit",
    MUST,
    Asked,
    clause=_RESPONSES,
    expected="A server keeps running, whatever it is asked.",
    fix="Catch exceptions of handlers and answer with an error.",
)
def server_exit(asked: Asked) -> Iterator[Defect]:
    """The server went away instead of answering."""
    if asked.reply is None and asked.step.end == "closed" and asked.step.name not in _REPORTED_ELSEWHERE:
        yield Defect(note=asked.step.remark)


# A server that ends at one of these is reported under another code.
_REPORTED_ELSEWHERE = ("server/discover", "unknown-method", "after-garbage", "after-batch")


@check(
    "params-null",
    MUST,
    Said,
    clause="basic: params is an object",
    expected="params is an object or absent.",
    fix="Leave params out.",
)
def params_null(said: Said) -> Iterator[Defect]:
    """A message whose params are not an object."""
    if said.params is not MISSING and not isinstance(said.params, dict):
        yield Defect(path="params", evidence=said.data)


@check(
    "progress-token-unknown",
    MUST,
    Said,
    clause="basic/utilities/progress",
    expected="Progress is sent only for a token of a running request.",
    fix="Send progress only if the request's _meta has a progressToken, and repeat that token.",
)
def progress_token_unknown(said: Said) -> Iterator[Defect]:
    """Progress for a token that no request gave."""
    if said.method == "notifications/progress" and b"progressToken" not in said.step.sent:
        yield Defect(path="params.progressToken", evidence=said.data)


@check(
    "message-version-missing",
    MUST,
    Said,
    clause="JSON-RPC 2.0 §4",
    expected='Every message has "jsonrpc":"2.0", notifications and requests of the server too.',
    fix='Add "jsonrpc":"2.0" to every message.',
)
def message_version_missing(said: Said) -> Iterator[Defect]:
    """A notification or request of the server without "jsonrpc":"2.0"."""
    if said.value.get("jsonrpc") != "2.0":
        yield Defect(path="jsonrpc", evidence=said.data)


@check(
    "request-id-invalid",
    MUST,
    Said,
    clause="basic: requests",
    expected="The id of a request is a string or a whole number, never null.",
    fix="Number your requests; leave the id out of notifications.",
)
def request_id_invalid(said: Said) -> Iterator[Defect]:
    """A request of the server whose id is neither a string nor a whole number."""
    id_ = said.value.get("id", MISSING)
    if id_ is not MISSING and not isinstance(id_, str) and not _is_integer(id_):
        yield Defect(path="id", evidence=said.data)


def _is_early(said: Said) -> bool:
    return said.step.name == "initialize" and said.is_early


@check(
    "notification-before-handshake",
    SHOULD,
    Said,
    revisions=IN_LEGACY,
    clause="basic/lifecycle: initialization",
    expected="Until the handshake is complete, a server sends only pings and log messages.",
    fix="Hold notifications back until notifications/initialized has come.",
)
def notification_before_handshake(said: Said) -> Iterator[Defect]:
    """A notification before the handshake was complete."""
    if _is_early(said) and not said.is_request and said.method != "notifications/message":
        yield Defect(evidence=said.data)


@check(
    "request-before-handshake",
    SHOULD,
    Said,
    revisions=IN_LEGACY,
    clause="basic/lifecycle: initialization",
    expected="Until the handshake is complete, a server asks only for ping.",
    fix="Wait for notifications/initialized before you ask the client.",
)
def request_before_handshake(said: Said) -> Iterator[Defect]:
    """A request to the client before the handshake was complete."""
    if _is_early(said) and said.is_request and said.method != "ping":
        yield Defect(evidence=said.data)


@check(
    "request-without-capability",
    MUST,
    Said,
    revisions=IN_LEGACY,
    clause="basic/lifecycle: capability negotiation",
    expected="A server asks a client only for what the client declared; this one declared nothing.",
    fix="Check the capabilities in initialize before you ask for roots, sampling or elicitation.",
)
def request_without_capability(said: Said) -> Iterator[Defect]:
    """A request for something the client did not declare."""
    if said.is_request and said.method != "ping" and not _is_early(said):
        yield Defect(evidence=said.data)


@check(
    "request-on-modern-wire",
    MUST,
    Said,
    revisions=IN_MODERN,
    clause="2026-07-28 basic: servers send no requests",
    expected="A server of 2026-07-28 sends no requests; it answers with input_required.",
    fix='Answer with "resultType":"input_required" and what you need in inputRequests.',
)
def request_on_modern_wire(said: Said) -> Iterator[Defect]:
    """A request from the server, which 2026-07-28 does not have."""
    if said.is_request:
        yield Defect(evidence=said.data)


CHECKS: tuple[Check[Any], ...] = (
    rpc_version_missing,
    rpc_id_missing,
    rpc_id_wrong,
    refusal_id_invented,
    rpc_id_type_changed,
    rpc_duplicate_reply,
    notification_answered,
    rpc_result_and_error,
    result_not_object,
    rpc_error_malformed,
    rpc_extra_member,
    rpc_batch_reply,
    no_reply,
    server_exit,
    params_null,
    progress_token_unknown,
    message_version_missing,
    request_id_invalid,
    notification_before_handshake,
    request_before_handshake,
    request_without_capability,
    request_on_modern_wire,
)
