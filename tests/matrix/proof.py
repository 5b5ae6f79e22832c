"""Proves a server's messages by the official definitions: the SDK's wire models and the JSON Schemas."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import mcp_types.methods as official
from pydantic import ValidationError

SCHEMAS = Path(__file__).resolve().parents[3] / "shared" / "mcp" / "schema"

# Method -> name of its result in the schemas.
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
# Members that a message may have at its top.
ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})

# Where our messages differ from the definitions on purpose.
EXCEPTIONS = {
    "id-null": "An error for what was no message at all has `id: null`: base JSON-RPC demands the member, the "
    "revisions up to 2025-06-18 require an id that nobody knows, and known clients read null.",
}


class Disproved(AssertionError):
    """A message that the official definitions refuse."""


def have_schemas() -> bool:
    return SCHEMAS.is_dir()


@cache
def _definitions(revision: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{revision}.json").read_text())
    return found


def _where(revision: str) -> str:
    return "$defs" if "$defs" in _definitions(revision) else "definitions"


@cache
def _validator(revision: str, name: str) -> Any:
    place = _where(revision)
    schema = {**_definitions(revision), "$ref": f"#/{place}/{name}"}
    # Up to 2025-06-18 the dialect is draft 7, where members beside "$ref" do not count but are kept.
    kind = jsonschema_rs.Draft202012Validator if place == "$defs" else jsonschema_rs.Draft7Validator
    return kind(schema)


def _knows(revision: str, name: str) -> bool:
    return name in _definitions(revision)[_where(revision)]


def fits(revision: str, name: str, value: object) -> None:
    """Raises: Disproved where a value is not what the schema of this revision calls by this name."""
    if not have_schemas():
        return
    if not _knows(revision, name):
        raise Disproved(f"{revision} knows no {name}: {value}")
    for error in _validator(revision, name).iter_errors(value):
        raise Disproved(f"{revision} {name}: {error.message} at {list(error.instance_path)} of {value}")


def prove(revision: str, message: Any, method: str | None) -> None:
    """Raises: Disproved unless a server of this revision may send this message.

    `method` is what the client asked for under the message's id.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or set(message) - ENVELOPE:
        raise Disproved(f"no envelope: {message}")
    if "method" in message:
        _prove_own(revision, message)
    elif "error" in message:
        _prove_error(revision, message)
    elif method is None:
        raise Disproved(f"nobody asked for {message}")
    else:
        _prove_result(revision, message, method)


def _prove_own(revision: str, message: dict[str, Any]) -> None:
    """A request or notification that the server begins."""
    method, params = message["method"], message.get("params")
    is_request = "id" in message
    parse = official.parse_server_request if is_request else official.parse_server_notification
    try:
        parse(method, revision, params)
    except (KeyError, ValidationError) as exc:
        raise Disproved(f"{revision} {method}: {exc!r}") from None
    fits(revision, "JSONRPCRequest" if is_request else "JSONRPCNotification", message)
    fits(revision, (REQUESTS if is_request else NOTIFICATIONS)[method], message)


def _prove_error(revision: str, message: dict[str, Any]) -> None:
    code = message["error"].get("code")
    if message["id"] is None:
        if code not in (-32700, -32600, -32800):
            raise Disproved(f"only what is no message is answered without its id: {message}")
        message = {**message, "id": 0}  # EXCEPTIONS["id-null"]
    if have_schemas():
        old = "JSONRPCError" if _knows(revision, "JSONRPCError") else "JSONRPCErrorResponse"
        fits(revision, old, message)
        if code in ERRORS and _knows(revision, ERRORS[code]):
            fits(revision, ERRORS[code], message)
    # 2026-07-28 reserves -32020 to -32099 for itself and gave up two codes of its predecessors.
    if revision == "2026-07-28" and (code in (-32002, -32042) or (-32099 <= code <= -32023)):
        raise Disproved(f"{revision} has no such code: {message}")


def _prove_result(revision: str, message: dict[str, Any], method: str) -> None:
    result = message["result"]
    try:
        official.parse_server_result(method, revision, result)
    except (KeyError, ValidationError) as exc:
        raise Disproved(f"{revision} {method}: {exc!r} in {result}") from None
    name = RESULTS[method]
    if isinstance(result, dict) and result.get("resultType") == "input_required":
        name = "InputRequiredResult"
    if name == "EmptyResult" and result != {}:
        raise Disproved(f"{method} answers exactly {{}}: {result}")
    if have_schemas():
        old = "JSONRPCResultResponse" if _knows(revision, "JSONRPCResultResponse") else "JSONRPCResponse"
        fits(revision, old, message)
        fits(revision, name, result)
        if _knows(revision, f"{name}Response"):
            fits(revision, f"{name}Response", message)
