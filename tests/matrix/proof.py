"""Proves a server's messages: by our table of shapes and by the wire models of the official SDK."""

from typing import Any

import mcp_types.methods as official
from pydantic import ValidationError
from tests.matrix.shapes import Named, faults, shape_of

# Method -> name of its result.
RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
}
REQUESTS = {
    "sampling/createMessage": "CreateMessageRequest",
    "elicitation/create": "ElicitRequest",
    "roots/list": "ListRootsRequest",
    "ping": "PingRequest",
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/cancelled": "CancelledNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}
# Errors that 2026-07-28 gives a shape of their own.
ERRORS = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
}
# Requests that may be answered with questions.
MAY_ASK = ("tools/call", "prompts/get", "resources/read")
# Members that a message may have at its top, by the one that says what it is.
ENVELOPES = {
    "method": {"jsonrpc", "id", "method", "params"},
    "error": {"jsonrpc", "id", "error"},
    "result": {"jsonrpc", "id", "result"},
}

# Where our messages differ from the definitions on purpose.
EXCEPTIONS = {
    "id-null": "An error for what was no message at all has `id: null`: base JSON-RPC demands the member, the "
    "revisions up to 2025-06-18 require an id that nobody knows, and known clients read null.",
}


class Disproved(AssertionError):
    """A message that a server of its revision may not send."""


def fits(revision: str, name: str, value: object) -> None:
    """Raises: Disproved where a value is not what this revision calls by this name."""
    if shape_of(revision, name) is None:
        raise Disproved(f"{revision} has no {name}: {value}")
    for fault in faults(revision, Named(name), value):
        raise Disproved(f"{revision} {name}: {fault} in {value}")


def prove(revision: str, message: Any, method: str | None) -> None:
    """Raises: Disproved unless a server of this revision may send this message.

    `method` is what the client asked for under the message's id.
    """
    if not isinstance(message, dict):
        raise Disproved(f"not an object: {message}")
    kind = next((each for each in ENVELOPES if each in message), None)
    if kind is None or set(message) - ENVELOPES[kind]:
        raise Disproved(f"no envelope: {message}")
    if kind == "method":
        _prove_own(revision, message)
    elif kind == "error":
        _prove_error(revision, message)
    elif method is None:
        raise Disproved(f"nobody asked for {message}")
    else:
        _prove_result(revision, message, method)


def _prove_own(revision: str, message: dict[str, Any]) -> None:
    """A request or notification that the server begins."""
    method, params = message["method"], message.get("params")
    is_request = "id" in message
    if is_request and revision == "2026-07-28":
        raise Disproved(f"{revision} asks in results: {message}")
    fits(revision, "JSONRPCRequest" if is_request else "JSONRPCNotification", message)
    name = (REQUESTS if is_request else NOTIFICATIONS).get(method)
    if name is None:
        raise Disproved(f"no method of a server: {message}")
    fits(revision, name, message)
    parse = official.parse_server_request if is_request else official.parse_server_notification
    try:
        parse(method, revision, params)
    except (KeyError, ValidationError) as exc:
        raise Disproved(f"{revision} {method}: {exc!r}") from None


def _prove_error(revision: str, message: dict[str, Any]) -> None:
    if "id" not in message:
        raise Disproved(f"an error says what it answers: {message}")
    known = {**message, "id": 0} if message["id"] is None else message  # EXCEPTIONS["id-null"]
    fits(revision, "JSONRPCError" if revision < "2025-11-25" else "JSONRPCErrorResponse", known)
    code = message["error"]["code"]
    if message["id"] is None and code not in (-32700, -32600, -32800):
        raise Disproved(f"only what is not a message is answered without its id: {message}")
    if code in ERRORS and shape_of(revision, ERRORS[code]) is not None:
        fits(revision, ERRORS[code], known)
    # 2026-07-28 reserves -32020 to -32099 for itself and gave up two codes of its predecessors.
    if revision == "2026-07-28" and (code in (-32002, -32042) or (-32099 <= code <= -32023)):
        raise Disproved(f"{revision} has no such code: {message}")


def _prove_result(revision: str, message: dict[str, Any], method: str) -> None:
    result = message["result"]
    fits(revision, "JSONRPCResponse" if revision < "2025-11-25" else "JSONRPCResultResponse", message)
    name = RESULTS[method]
    if result.get("resultType") == "input_required":
        if method not in MAY_ASK:
            raise Disproved(f"{method} asks nothing: {result}")
        name = "InputRequiredResult"
    if name == "EmptyResult" and result != {}:
        raise Disproved(f"{method} answers exactly {{}}: {result}")
    fits(revision, name, result)
    try:
        official.parse_server_result(method, revision, result)
    except (KeyError, ValidationError) as exc:
        raise Disproved(f"{revision} {method}: {exc!r} in {result}") from None
