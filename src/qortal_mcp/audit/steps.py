"""The steps of a visit: the names under which captures and baselines keep them, and what reports call them."""

from typing import Literal

# A step that sends an MCP method in the ordinary way has its name, which every reader knows.
MethodStep = Literal[
    "initialize",
    "notifications/initialized",
    "ping",
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "tools/call",
    "prompts/get",
    "resources/read",
    "completion/complete",
    "logging/setLevel",
    "notifications/cancelled",
]
# Stable: captures and baselines of others hold these names. Reports show the words below instead.
ProbeStep = Literal[
    "unknown-method",
    "unknown-notification",
    "unknown-tool",
    "call-without-name",
    "bad-cursor",
    "string-id",
    "extra-member",
    "unknown-prompt",
    "prompt-without-argument",
    "unknown-reference",
    "unknown-resource",
    "bad-log-level",
    "raw batch",
    "after-batch",
    "raw garbage",
    "after-garbage",
    "end-of-input",
    "no-version-header",
    "bad-version-header",
    "get-stream",
    "foreign-origin",
    "no-session",
    "unknown-session",
    "delete-session",
    "after-delete",
    "auth-metadata",
    "modern-unknown-method",
    "modern-removed-method",
    "modern-old-version",
    "modern-header-mismatch",
    "modern-no-meta",
    "modern-no-method-header",
    "modern-name-mismatch",
    "modern-encoded-name",
    "modern-list-again",
    "modern-get",
    "modern-foreign-headers",
    "modern-listen",
]
StepName = MethodStep | ProbeStep

WORDS: dict[ProbeStep, str] = {
    "unknown-method": "a request for a method that does not exist",
    "unknown-notification": "a notification that does not exist",
    "unknown-tool": "a call to a tool that does not exist",
    "call-without-name": "tools/call without the name of a tool",
    "bad-cursor": "tools/list with a cursor that the server never gave out",
    "string-id": "a request whose id is a string",
    "extra-member": "tools/list with a parameter that no revision has",
    "unknown-prompt": "prompts/get for a prompt that does not exist",
    "prompt-without-argument": "prompts/get without a required argument",
    "unknown-reference": "completion/complete for a prompt that does not exist",
    "unknown-resource": "resources/read for a resource that does not exist",
    "bad-log-level": "logging/setLevel with a level that does not exist",
    "raw batch": "a batch with one request",
    "after-batch": "ping after the batch",
    "raw garbage": "a message that is not JSON",
    "after-garbage": "ping after the message that is not JSON",
    "end-of-input": "the end of standard input",
    "no-version-header": "a request without MCP-Protocol-Version",
    "bad-version-header": "a request with an MCP-Protocol-Version that does not exist",
    "get-stream": "GET for a stream",
    "foreign-origin": "a request from a web page of another origin",
    "no-session": "a request without the session id",
    "unknown-session": "a request with a session id that the server never gave out",
    "delete-session": "DELETE of the session",
    "after-delete": "a request after the session was deleted",
    "auth-metadata": "GET for the authorization metadata",
    "modern-unknown-method": "a 2026-07-28 request for a method that does not exist",
    "modern-removed-method": "a 2026-07-28 request for a method that this revision removed",
    "modern-old-version": "a request with a protocol version that does not exist",
    "modern-header-mismatch": "a request whose Mcp-Method header differs from its body",
    "modern-no-meta": "a 2026-07-28 request without its _meta",
    "modern-no-method-header": "a 2026-07-28 request without its Mcp-Method header",
    "modern-name-mismatch": "a call whose Mcp-Name header differs from its body",
    "modern-encoded-name": "a call whose Mcp-Name header is in Base64",
    "modern-list-again": "tools/list a second time",
    "modern-get": "GET with the version header of 2026-07-28",
    "modern-foreign-headers": "a 2026-07-28 request with headers that it does not know",
    "modern-listen": "a subscription to changes",
}
_WORDS = dict[str, str](WORDS.items())
_VISITS = {
    "probe": "the connection that asks for 2026-07-28",
    "manners": "the connection with wrong input",
    "foreign page": "the connection from a web page of another origin",
}


def words_of(step: str) -> str:
    """What a report calls a step. Methods stand for themselves, as does what only a capture of others knows."""
    return _WORDS.get(step, step)


def visit_words(visit: str) -> str:
    """What a report calls a visit: its purpose, or the revision it is about."""
    return _VISITS.get(visit, f"the connection for {visit}")
