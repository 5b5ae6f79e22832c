"""Error codes of the protocol, and the HTTP status that each one is sent with.

ProtocolError: the peer broke the protocol. It becomes a JSON-RPC error.
Errors that a tool's caller can act on are separate: `server.tool_errors.ToolError`.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # legacy revisions only
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
# Not from the specification. The number lies outside the ranges that JSON-RPC and MCP reserve.
RATE_LIMITED = 429
# Not from the specification: the answer to an HTTP request that its own client cancelled.
REQUEST_CANCELLED = -32800

# 2026-07-28 requires these; any other error of that era is sent with 200.
_MODERN_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    METHOD_NOT_FOUND: 404,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    RATE_LIMITED: 429,
}
# A legacy client takes 404 for an expired session and loses the body of any other status, so errors
# of well-formed requests stay 200 there. Only what is not a message at all gets an HTTP error.
_LEGACY_STATUS = {PARSE_ERROR: 400, INVALID_REQUEST: 400}


class ErrorObject(Struct, frozen=True, omit_defaults=True):
    """The `error` member of a JSON-RPC reply."""

    code: int
    message: str
    data: Any | UnsetType = UNSET


class ProtocolError(Exception):
    """The peer broke the protocol, or asked for what this server does not have."""

    def __init__(self, code: int, message: str, data: Any | UnsetType = UNSET) -> None:
        super().__init__(message)
        self.error = ErrorObject(code, message, data)


def http_status(code: int, *, modern: bool) -> int:
    """The HTTP status that carries a JSON-RPC error."""
    return (_MODERN_STATUS if modern else _LEGACY_STATUS).get(code, 200)
