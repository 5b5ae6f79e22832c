"""Servers that are wrong in one way each, and what an audit says of them.

The measured ones keep the names they have in `clients.json`; what is right although it looks odd stands among
them with the code None. Only the standard library, like `stub`.
"""

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tests.audit.stub import (
    ABSENT,
    CAPABILITIES,
    EVENTS_TYPE,
    EXIT,
    HANG,
    JSON_TYPE,
    LEGACY,
    MODERN,
    NOT_THERE,
    UNBUFFERED,
    Ask,
    Bend,
    HttpAsk,
    HttpBend,
    HttpReply,
    Json,
    Replies,
    Server,
    Sleep,
    changed,
    encoded,
    error,
    event,
    result,
    right,
    text,
    tools_of,
    written,
)

NEWEST = ("2025-11-25",)
STRUCTURED = ("2025-06-18", "2025-11-25")
ERAS = ("2025-11-25", MODERN)
MODERN_ONLY = (MODERN,)
EVERY: tuple[str, ...] = ()

Verdict = Literal["MUST", "SHOULD", "legal"]
MUST: Verdict = "MUST"
SHOULD: Verdict = "SHOULD"
LEGAL: Verdict = "legal"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A server, how it is visited, and the one code it is found by; None: it is in order."""

    name: str
    code: str | None
    # What the specification says: a severity, or "legal" for what is at most portability or advice.
    verdict: Verdict
    server: Server
    revisions: tuple[str, ...] = NEWEST
    over: Literal["http", "stdio", "websocket", "old sse"] = "http"
    # Limits of the audit that differ from those of all cases.
    limits: tuple[tuple[str, Any], ...] = ()
    any_origin: bool = False


def on(method: str, change: Callable[[Ask, Json], Any], *, modern: bool | None = None) -> Bend:
    """Changes the replies to one method. What `change` gives may be a list of replies."""

    def bend(ask: Ask, replies: Replies) -> Replies:
        if ask.method != method or not replies or (modern is not None and ask.is_modern is not modern):
            return replies
        bent = change(ask, replies[0])
        return bent if isinstance(bent, list) else [bent]

    return bend


def on_call(change: Callable[[Ask, Json], Any]) -> Bend:
    """Changes the replies to calls of the tool in question."""
    return lambda ask, replies: (
        on("tools/call", change)(ask, replies) if ask.is_call and ask.params.get("name") else replies
    )


def members(**more: Any) -> Callable[[Ask, Json], Json]:
    """Members of a reply that differ."""
    return lambda ask, reply: changed(reply, more)


def in_result(**more: Any) -> Callable[[Ask, Json], Json]:
    return lambda ask, reply: {**reply, "result": changed(reply.get("result", {}), more)}


def before(*messages: Json) -> Callable[[Ask, Json], Any]:
    """Messages that nobody asked for, before the reply."""
    return lambda ask, reply: [*messages, reply]


def notice(method: str, **params: Any) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    return {**message, "params": params} if params else message


def asks(method: str) -> Json:
    return {"jsonrpc": "2.0", "id": "srv-1", "method": method}


def answers_notices(reply: Any) -> Bend:
    return lambda ask, replies: [reply] if ask.method == "notifications/initialized" else replies


def unknown_methods(change: Callable[[Ask, Json], Any]) -> Bend:
    """Changes every answer that says that a method does not exist."""

    def bend(ask: Ask, replies: Replies) -> Replies:
        told = replies[0].get("error") if replies and isinstance(replies[0], dict) else None
        is_unknown = isinstance(told, dict) and told.get("code") == -32601 and not ask.is_modern
        return [change(ask, replies[0])] if is_unknown else replies

    return bend


def legacy_only(ask: Ask, replies: Replies) -> Replies:
    """A server that has never heard of 2026-07-28."""
    if ask.method == "server/discover":
        return [{"jsonrpc": "2.0", "id": ask.message.get("id"), "error": {"code": -32601, "message": "no"}}]
    return replies


def both(*bends: Bend) -> Bend:
    def bend(ask: Ask, replies: Replies) -> Replies:
        for one in bends:
            replies = one(ask, replies)
        return replies

    return bend


def to_notices(reply: HttpReply) -> HttpBend:
    return lambda ask, good: reply if ask.is_notice else good


def to_get(reply: HttpReply) -> HttpBend:
    return lambda ask, good: reply if ask.verb == "GET" else good


def to_calls(reply: HttpReply) -> HttpBend:
    return lambda ask, good: reply if ask.asked and ask.asked[0].is_call else good


def to_discover(reply: HttpReply) -> HttpBend:
    return lambda ask, good: reply if ask.method == "server/discover" else good


def streamed(change: Callable[[bytes], bytes]) -> Server:
    """Changes the bytes of every stream."""
    return Server(
        streams=True,
        http=lambda ask, reply: (
            replace(reply, body=change(reply.body)) if EVENTS_TYPE in reply.headers else reply
        ),
    )


def http_error(status: int) -> Server:
    """A tool that fails with an error of the protocol and of HTTP."""

    def bend(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        if not (ask.asked and ask.asked[0].is_call and ask.asked[0].params.get("name") == "t"):
            return reply
        return HttpReply(status, (JSON_TYPE,), encoded(error(ask.asked[0], -32000, "down")))

    return Server(http=bend)


def with_headers(*headers: tuple[str, str]) -> HttpBend:
    return lambda ask, reply: replace(reply, headers=headers) if reply.status == 200 else reply


_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
_A = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_WORDS = [{"type": "text", "text": "words"}]


def blocks(*content: Any, **more: Any) -> Json:
    return {"content": list(content), **more}


def said(value: Any, **more: Any) -> Json:
    """A text block and more."""
    return blocks({"type": "text", "text": value}, **more)


Row = tuple[str, str | None, Verdict, Any]


def _results(rows: Iterable[Row], revisions: tuple[str, ...]) -> list[Case]:
    """Rows whose last column is what the tool results in."""
    return [
        Case(name=name, code=code, verdict=verdict, server=Server(result=value), revisions=revisions)
        for name, code, verdict, value in rows
    ]


# Wrong or odd in every revision.
_RESULTS: list[Row] = [
    ("ok", None, LEGAL, said("words")),
    ("block-object", "content-type-unknown", MUST, blocks({"type": "object", "object": {"m": 1}})),
    ("block-json", "content-type-unknown", MUST, blocks({"type": "json", "json": {"m": 1}})),
    ("block-unknown", "content-type-unknown", MUST, blocks({"type": "hologram", "x": "m"})),
    ("block-unknown-mixed", "content-type-unknown", MUST, blocks(*_WORDS, {"type": "hologram", "x": 1})),
    ("block-no-type", "content-type-missing", MUST, blocks({"text": "words"})),
    ("block-string", "content-block-not-object", MUST, blocks("words")),
    ("bare-payload", "result-bare-payload", MUST, {"logs": ["x"], "count": 50}),
    ("empty-result", "content-missing", MUST, {}),
    ("toolresult-nested", "result-nested-toolresult", MUST, {"toolResult": said("words")}),
    ("result-string", "result-not-object", MUST, "words"),
    ("result-array", "result-not-object", MUST, _WORDS),
    ("content-string", "content-not-array", MUST, {"content": "words"}),
    ("content-object", "content-not-array", MUST, {"content": _WORDS[0]}),
    ("text-number", "text-not-string", MUST, said(4242)),
    ("text-object", "text-not-string", MUST, said({"m": 1})),
    ("text-null", "text-not-string", MUST, said(None)),
    ("err-text", None, LEGAL, said("node unreachable", isError=True)),
    ("err-empty", "error-without-message", SHOULD, blocks(isError=True)),
    ("iserror-null", "iserror-not-boolean", MUST, said("words", isError=None)),
    ("iserror-string", "iserror-not-boolean", MUST, said("words", isError="false")),
    ("err-as-success", "error-not-flagged", SHOULD, said('{"error":"node unreachable"}')),
    ("ann-priority", "annotations-present", LEGAL, blocks({**_WORDS[0], "annotations": {"priority": 0.6}})),
    ("ann-priority-range", "annotations-invalid", MUST, blocks({**_WORDS[0], "annotations": {"priority": 5}})),
    ("ann-audience", "annotations-invalid", MUST, blocks({**_WORDS[0], "annotations": {"audience": ["system"]}})),
    ("ann-null", "optional-null", MUST, blocks({**_WORDS[0], "annotations": None})),
    ("block-meta-null", "optional-null", MUST, blocks({**_WORDS[0], "_meta": None})),
    ("embedded", None, LEGAL, blocks({"type": "resource", "resource": {"uri": "file:///x", "text": "words"}})),
    ("embedded-blob", "binary-result", LEGAL, blocks({"type": "resource", "resource": {"uri": "file:///x", "blob": _WAV}})),
    ("embedded-reluri", "uri-not-absolute", MUST, blocks({"type": "resource", "resource": {"uri": "a/b.txt", "text": "x"}})),
    ("embedded-nouri", "uri-missing", MUST, blocks({"type": "resource", "resource": {"text": "words"}})),
    ("embedded-empty", "embedded-resource-empty", MUST, blocks({"type": "resource", "resource": {"uri": "file:///x"}})),
    ("image", None, LEGAL, blocks({"type": "image", "data": _PNG, "mimeType": "image/png"})),
    ("image-dataurl", "image-data-not-base64", MUST, blocks({"type": "image", "data": f"data:image/png;base64,{_PNG}", "mimeType": "image/png"})),
    ("image-nomime", "image-mimetype-missing", MUST, blocks({"type": "image", "data": _PNG})),
    ("several-text", None, LEGAL, blocks(*_WORDS, *_WORDS, *_WORDS)),
    ("empty-content", "content-empty", LEGAL, blocks()),
    ("empty-text", "content-empty", LEGAL, said("")),
    ("long-100k", "result-too-large", LEGAL, said("x" * 100_000)),
    ("long-1m", "result-too-large", LEGAL, said("x" * 1_000_000)),
    ("invisible", "invisible-characters", LEGAL, said("a\u200b\u202e\U000e0041\U000e0042end")),
    ("ansi", "ansi-escape", LEGAL, said("\x1b[31mred\x1b[0m")),
    ("surrogate", "lone-surrogate", SHOULD, said("a \ud800 x")),
    ("result-plus-content", "result-extra-member", LEGAL, said("words", logs=["x"], count=50)),
    ("text-json-double", "json-double-encoded", SHOULD, said(json.dumps('{"m":"x"}'))),
    ("text-json-object", None, LEGAL, said('{"m":"x"}')),
    ("text-json-array", "text-json-not-object", LEGAL, said('["x"]')),
    ("text-json-number", "text-json-not-object", LEGAL, said("4242")),
    ("text-json-bool", "text-json-not-object", LEGAL, said("true")),
    ("text-json-null", "text-json-not-object", LEGAL, said("null")),
    ("text-json-several", "text-json-not-object", LEGAL, blocks({"type": "text", "text": '["x"]'}, {"type": "text", "text": '["b"]'})),
    ("err-text-json-array", "text-json-not-object", LEGAL, said('["x"]', isError=True)),
]  # fmt: skip

# About structuredContent and links, which began in 2025-06-18.
_STRUCTURED_RESULTS: list[Row] = [
    ("content-missing-sc", "content-missing", MUST, {"structuredContent": {"m": "x"}}),
    ("content-null-sc", "content-missing", MUST, {"content": None, "structuredContent": {"m": "x"}}),
    ("text-json-sc-differs", "structured-text-differ", SHOULD, said('{"m":"one"}', structuredContent={"m": "two"})),
    ("sc-object", None, LEGAL, said("words", structuredContent={"m": "x"})),
    ("sc-array", "structured-content-not-object", MUST, said("words", structuredContent=["x"])),
    ("sc-string", "structured-content-not-object", MUST, said("words", structuredContent="x")),
    ("sc-number", "structured-content-not-object", MUST, said("words", structuredContent=4242)),
    ("err-sc", "error-with-structured-content", LEGAL, said("down", structuredContent={"error": "x"}, isError=True)),
    ("link", "resource-link", LEGAL, blocks({"type": "resource_link", "uri": "file:///x", "name": "n"})),
    ("link-mixed", "resource-link", LEGAL, blocks(*_WORDS, {"type": "resource_link", "uri": "file:///x", "name": "n"})),
    ("link-noname", "resource-link-name-missing", MUST, blocks({"type": "resource_link", "uri": "file:///x"})),
    ("audio", "audio-result", LEGAL, blocks({"type": "audio", "data": _WAV, "mimeType": "audio/wav"})),
    ("several-text-sc", "structured-text-differ", LEGAL, blocks(*_WORDS, *_WORDS, *_WORDS, structuredContent={"m": "x"})),
    ("empty-content-sc", "content-empty", SHOULD, blocks(structuredContent={"m": "x"})),
    ("bigint", "integer-unsafe", LEGAL, said("words", structuredContent={"v": 9007199254740993})),
    ("text-json-array-sc", None, LEGAL, said('["x"]', structuredContent={"result": ["x"]})),
]  # fmt: skip

# The same is legal or wrong by the revision.
_MODERN_RESULTS: list[Row] = [
    ("modern-sc-array", None, LEGAL, said("words", structuredContent=["x"])),
    ("modern-sc-string", None, LEGAL, said("words", structuredContent="x")),
    ("modern-sc-number", None, LEGAL, said("words", structuredContent=4242)),
    ("modern-sc-null", None, LEGAL, said("words", structuredContent=None)),
    ("modern-bare-payload", "result-bare-payload", MUST, {"logs": ["x"], "count": 50}),
    ("modern-content-missing-sc", "content-missing", MUST, {"structuredContent": {"m": "x"}}),
    ("modern-block-object", "content-type-unknown", MUST, blocks({"type": "object", "object": {"m": 1}})),
    ("modern-text-json-array", "text-json-not-object", LEGAL, said('["x"]')),
]

ToolRow = tuple[str, str | None, Verdict, Json]

_TOOLS: list[ToolRow] = [
    ("tool-title-null", "optional-null", MUST, {"title": None}),
    ("tool-annotations-null", "optional-null", MUST, {"annotations": None}),
    ("tool-description-null", "optional-null", MUST, {"description": None}),
    ("tool-meta-null", "optional-null", MUST, {"_meta": None}),
    ("tool-no-description", "tool-description-missing", LEGAL, {"description": ABSENT}),
    ("tool-extra", None, LEGAL, {"category": "x", "returns": {"type": "object"}}),
    ("list-desc-array", "tool-description-not-string", MUST, {"description": ["a", "b"]}),
    ("list-annotations-extra", "tool-annotation-not-boolean", MUST, {"annotations": {"readOnlyHint": "true"}}),
    ("tool-annotations-list", "tool-malformed", MUST, {"annotations": []}),
    ("tool-hidden", "tool-hidden-text", LEGAL, {"description": "Reads\u200b\U000e0041 a file."}),
    ("in-missing", "input-schema-missing", MUST, {"inputSchema": ABSENT}),
    ("in-null", "input-schema-missing", MUST, {"inputSchema": None}),
    ("in-snake", "input-schema-missing", MUST, {"inputSchema": ABSENT, "input_schema": {"type": "object"}}),
    ("in-parameters", "input-schema-missing", MUST, {"inputSchema": ABSENT, "parameters": {"type": "object"}}),
    ("in-empty", "input-schema-type-missing", MUST, {"inputSchema": {}}),
    ("in-notype", "input-schema-type-missing", MUST, {"inputSchema": {"properties": {"x": {"type": "string"}}}}),
    ("in-array", "input-schema-root-not-object", MUST, {"inputSchema": {"type": "array", "items": {"type": "string"}}}),
    ("in-ref", "schema-has-refs", LEGAL, {"inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"type": "string"}}}}),
    ("in-badref", "schema-ref-unresolvable", MUST, {"inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Nope"}}}}),
    ("in-anyof", "schema-top-level-union", LEGAL, {"inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}, "anyOf": [{"required": ["x"]}, {"type": "object"}]}}),
    ("in-anyof-notype", "input-schema-type-missing", MUST, {"inputSchema": {"anyOf": [{"type": "object"}, {"type": "object"}]}}),
    ("in-noitems", "schema-array-without-items", LEGAL, {"inputSchema": {"type": "object", "properties": {"x": {"type": "array"}}}}),
    ("in-typelist", "schema-type-union", LEGAL, {"inputSchema": {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}}),
    ("in-draft07", "schema-dialect", LEGAL, {"inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}}),
    ("in-required-null", "schema-malformed", MUST, {"inputSchema": {"type": "object", "properties": {}, "required": None}}),
    ("in-props-array", "schema-malformed", MUST, {"inputSchema": {"type": "object", "properties": []}}),
    ("in-no-type-of-json", "schema-malformed", MUST, {"inputSchema": {"type": "object", "properties": {"x": {"type": "text"}}}}),
    ("in-propkey", "schema-property-name", LEGAL, {"inputSchema": {"type": "object", "properties": {"my prop.x": {"type": "string"}}}}),
    ("name-space", "tool-name-charset", SHOULD, {"name": "t two"}),
    ("name-dot", "tool-name-charset", LEGAL, {"name": "t.two"}),
    ("name-slash", "tool-name-charset", SHOULD, {"name": "t/two"}),
    ("name-65", "tool-name-length", LEGAL, {"name": "t" + "a" * 64}),
    ("name-130", "tool-name-length", SHOULD, {"name": "t" + "a" * 129}),
    ("name-unicode", "tool-name-charset", SHOULD, {"name": "t\u00e9st"}),
    ("name-empty", "tool-name-empty", SHOULD, {"name": ""}),
]  # fmt: skip

_DRAFT7 = {**_A, "$schema": "http://json-schema.org/draft-07/schema#"}
_REF = {"type": "object", "properties": {"a": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"type": "string"}}}
_BAD_REF = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Nope"}}}
_FITS = said("words", structuredContent={"a": "x"})
_MISFIT = said("words", structuredContent={"a": 5})
_ALONE = said('{"a":"x"}')
_FAILED = said("down", structuredContent={"error": "x"}, isError=True)

OutputRow = tuple[str, str | None, Verdict, Any, Any]

# An outputSchema and a result.
_OUTPUTS: list[OutputRow] = [
    ("os-ok", None, LEGAL, _A, _FITS),
    ("os-mismatch", "structured-content-schema-mismatch", MUST, _A, _MISFIT),
    ("os-sc-missing", "structured-content-missing", MUST, _A, _ALONE),
    ("err-os-nosc", None, LEGAL, _A, said("down", isError=True)),
    ("err-os-badsc", "error-with-structured-content", MUST, _A, _FAILED),
    ("sc-array-os", "output-schema-root-not-object", MUST, {"type": "array", "items": {"type": "string"}}, said("words", structuredContent=["x"])),
    ("sc-string-os", "output-schema-root-not-object", MUST, {"type": "string"}, said("words", structuredContent="x")),
    ("sc-number-os", "output-schema-root-not-object", MUST, {"type": "number"}, said("words", structuredContent=4242)),
    ("os-array", "output-schema-root-not-object", MUST, {"type": "array", "items": {}}, _FITS),
    ("os-notype", "output-schema-root-not-object", MUST, {"properties": {"a": {"type": "string"}}}, _FITS),
    ("os-draft07", "schema-dialect", LEGAL, _DRAFT7, _FITS),
    ("os-2020", None, LEGAL, {**_A, "$schema": "https://json-schema.org/draft/2020-12/schema"}, _FITS),
    ("os-ref", "schema-has-refs", LEGAL, _REF, _FITS),
    ("os-badref", "schema-ref-unresolvable", MUST, _BAD_REF, _FITS),
    ("tool-outputschema-null", "optional-null", MUST, None, said("words")),
    ("text-json-array-os", None, LEGAL, {"type": "object", "properties": {"result": {"type": "array"}}, "required": ["result"]}, said('["x"]', structuredContent={"result": ["x"]})),
]  # fmt: skip
_MODERN_OUTPUTS: list[OutputRow] = [
    ("modern-sc-array-os", None, LEGAL, {"type": "array", "items": {"type": "string"}}, said("words", structuredContent=["x"])),
    ("modern-sc-string-os", None, LEGAL, {"type": "string"}, said("words", structuredContent="x")),
    ("modern-sc-number-os", None, LEGAL, {"type": "number"}, said("words", structuredContent=4242)),
    ("modern-sc-null-os", None, LEGAL, {"type": "null"}, said("words", structuredContent=None)),
    ("modern-os-mismatch", "structured-content-schema-mismatch", MUST, _A, _MISFIT),
    ("modern-os-sc-missing", "structured-content-missing", MUST, _A, _ALONE),
    ("modern-os-draft07", "schema-dialect", LEGAL, _DRAFT7, _FITS),
    ("modern-err-os-badsc", "error-with-structured-content", MUST, _A, _FAILED),
]  # fmt: skip


def _outputs(rows: Iterable[OutputRow], revisions: tuple[str, ...]) -> list[Case]:
    return [
        Case(
            name=name,
            code=code,
            verdict=verdict,
            server=Server(tool={"outputSchema": schema}, result=value),
            revisions=revisions,
        )
        for name, code, verdict, schema, value in rows
    ]


def _tools(rows: Iterable[ToolRow], revisions: tuple[str, ...]) -> list[Case]:
    return [
        Case(name=name, code=code, verdict=verdict, server=Server(tool=tool), revisions=revisions)
        for name, code, verdict, tool in rows
    ]


_NULL_CONTENT: Json = {"type": "null"}


def _null(value: Json) -> Bend:
    """What `Server.result` cannot say: a result with null, or null itself."""
    return on_call(lambda ask, reply: result(ask, value))


BendRow = tuple[str, str | None, Verdict, Bend]


def _dropped(capability: str) -> Bend:
    """Leaves out a capability that is marked as absent, and all methods that belong to it."""

    def bend(ask: Ask, replies: Replies) -> Replies:
        if ask.method == "initialize" and replies:
            declared = replies[0]["result"]["capabilities"]
            return [in_result(capabilities=changed(declared, {}))(ask, replies[0])]
        return [error(ask, -32601)] if ask.method.startswith(f"{capability}/") and replies else replies

    return bend


def _refuses_strings(ask: Ask, replies: Replies) -> Replies:
    is_string = isinstance(ask.message.get("id"), str)
    return [error(ask, -32600, "the id is not a number")] if is_string else replies


def _two_scopes(ask: Ask, replies: Replies) -> Replies:
    """Two pages of resources, each with its own cacheScope."""
    if (
        ask.method != "resources/list"
        or not replies
        or ("error" in replies[0] and "cursor" not in ask.params)
    ):
        return replies
    items = {"resources": [{"uri": "stub://a", "name": "a"}], "ttlMs": 0}
    first = {**items, "cacheScope": "public", "nextCursor": "2"}
    return [result(ask, {"cacheScope": "private", **items} if "cursor" in ask.params else first)]


def _shuffled() -> Bend:
    """Every other list is in the other order."""
    asked = itertools.count()

    def bend(ask: Ask, replies: Replies) -> Replies:
        if ask.method != "tools/list" or not replies or "result" not in replies[0] or next(asked) % 2 == 0:
            return replies
        return [in_result(tools=replies[0]["result"]["tools"][::-1])(ask, replies[0])]

    return bend


def _shrinking() -> Bend:
    """Every other list lacks a tool."""
    asked = itertools.count()

    def bend(ask: Ask, replies: Replies) -> Replies:
        if ask.method != "tools/list" or not replies or "result" not in replies[0] or next(asked) % 2 == 0:
            return replies
        return [in_result(tools=replies[0]["result"]["tools"][:1])(ask, replies[0])]

    return bend


def _listening(id_: int | str, *, early: bool = False) -> Bend:
    """Promises changes of its tools, and acknowledges a subscription under an id; `early`: a change comes first."""
    meta = {"_meta": {"io.modelcontextprotocol/subscriptionId": id_}}
    first = notice(
        "notifications/subscriptions/acknowledged", notifications={"toolsListChanged": True}, **meta
    )
    change = notice("notifications/tools/list_changed", **meta)

    def bend(ask: Ask, replies: Replies) -> Replies:
        if ask.method == "server/discover":
            return [in_result(capabilities={**CAPABILITIES, "tools": {"listChanged": True}})(ask, replies[0])]
        if ask.method == "subscriptions/listen":
            return [*([change] if early else []), first, *([] if early else [change])]
        return replies

    return bend


def _without_data(ask: Ask, replies: Replies) -> Replies:
    is_refused = bool(replies) and replies[0].get("error", {}).get("code") == -32022
    return [error(ask, -32022, "unsupported version")] if is_refused else replies


_ENVELOPES: list[BendRow] = [
    ("result-null", "result-not-object", MUST, on_call(members(result=None))),
    ("rpc-error", "tool-failure-as-protocol-error", SHOULD, on_call(lambda ask, _: error(ask, -32000, "down", {"detail": "x"}))),
    ("rpc-error-32602", "tool-failure-as-protocol-error", LEGAL, on_call(lambda ask, _: error(ask, -32602, "bad address"))),
    ("rpc-error-nomessage", "rpc-error-malformed", MUST, on_call(members(result=ABSENT, error={"code": -32000}))),
    ("rpc-error-string", "rpc-error-malformed", MUST, on_call(members(result=ABSENT, error="down"))),
    ("rpc-error-code-string", "rpc-error-malformed", MUST, on_call(members(result=ABSENT, error={"code": "DOWN", "message": "x"}))),
    ("error-null", "rpc-result-and-error", MUST, on_call(members(error=None))),
    ("result-null-error", "rpc-result-and-error", MUST, on_call(members(result=None, error={"code": -32000, "message": "x"}))),
    ("extra-member", "rpc-extra-member", LEGAL, on_call(members(requestId="abc"))),
    ("id-type", "rpc-id-type-changed", MUST, on_call(lambda ask, reply: {**reply, "id": str(reply["id"])})),
    ("id-missing", "rpc-id-missing", MUST, on_call(members(id=ABSENT))),
    ("id-null", "rpc-id-missing", MUST, on_call(members(id=None))),
    ("id-wrong", "rpc-id-wrong", MUST, on_call(members(id=987654))),
    ("jsonrpc-missing", "rpc-version-missing", MUST, on_call(members(jsonrpc=ABSENT))),
    ("jsonrpc-1", "rpc-version-missing", MUST, on_call(members(jsonrpc="1.0"))),
    ("batch-reply", "rpc-batch-reply", MUST, on_call(lambda ask, reply: [[reply]])),
    ("dup-reply", "rpc-duplicate-reply", MUST, on_call(lambda ask, reply: [reply, reply])),
    ("unknown-notif", None, LEGAL, on_call(before(notice("notifications/acme", x=1)))),
    ("progress-unasked", "progress-token-unknown", MUST, on_call(before(notice("notifications/progress", progressToken="nope", progress=1)))),
    ("log-badlevel", "log-level-invalid", MUST, on_call(before(notice("notifications/message", level="warn", data="x")))),
    ("notif-params-null", "params-null", MUST, on_call(before({**notice("notifications/tools/list_changed"), "params": None}))),
    ("sampling-unasked", "request-without-capability", MUST, on_call(before(asks("sampling/createMessage")))),
    ("list-changed", "list-changed-unasked", LEGAL, on_call(before(notice("notifications/tools/list_changed")))),
    ("nan", "json-nan", MUST, on_call(lambda ask, reply: encoded({**reply, "result": said("x", structuredContent={"v": "#"})}).replace(b'"#"', b"NaN"))),
    ("bad-utf8", "invalid-utf8", MUST, on_call(lambda ask, reply: encoded(reply).replace(b"fine", b"\xff"))),
    ("member-twice", "json-duplicate-member", SHOULD, on_call(lambda ask, reply: encoded(reply).replace(b'"type": "text"', b'"type": "text", "type": "text"'))),
    ("init-id-type", "rpc-id-type-changed", MUST, on("initialize", lambda ask, reply: {**reply, "id": str(reply["id"])})),
    ("init-jsonrpc-missing", "rpc-version-missing", MUST, on("initialize", members(jsonrpc=ABSENT))),
    ("init-version-future", "protocol-version-unknown", MUST, on("initialize", in_result(protocolVersion="2099-01-01"))),
    ("init-version-junk", "protocol-version-unknown", MUST, on("initialize", in_result(protocolVersion="1.0"))),
    ("init-version-modern", "protocol-version-unknown", MUST, on("initialize", in_result(protocolVersion=MODERN))),
    ("init-no-version", "initialize-member-missing", MUST, on("initialize", in_result(protocolVersion=ABSENT))),
    ("init-no-serverinfo", "initialize-member-missing", MUST, on("initialize", in_result(serverInfo=ABSENT))),
    ("init-serverinfo-noversion", "initialize-member-missing", MUST, on("initialize", in_result(serverInfo={"name": "s"}))),
    ("init-no-caps", "initialize-member-missing", MUST, on("initialize", in_result(capabilities=ABSENT))),
    ("init-caps-no-tools", "capability-not-declared", MUST, on("initialize", in_result(capabilities={}))),
    ("init-caps-tools-null", "capability-malformed", MUST, on("initialize", in_result(capabilities={**CAPABILITIES, "tools": None}))),
    ("init-caps-tools-true", "capability-malformed", MUST, on("initialize", in_result(capabilities={**CAPABILITIES, "tools": True}))),
    ("init-caps-switch", "capability-malformed", MUST, on("initialize", in_result(capabilities={**CAPABILITIES, "tools": {"listChanged": "yes"}}))),
    ("init-caps-extra", "capability-not-served", MUST, lambda ask, replies: [error(ask, -32601)] if ask.method.startswith(("prompts/", "resources/")) and replies else replies),
    ("init-unknown", "initialize-refused", MUST, both(legacy_only, on("initialize", lambda ask, _: error(ask, -32601)))),
    ("init-instructions-null", "optional-null", MUST, on("initialize", in_result(instructions=None))),
    ("init-version-echo", "protocol-version-echoed", MUST, on("initialize", lambda ask, reply: in_result(protocolVersion=ask.params["protocolVersion"])(ask, reply))),
    ("init-slow-1s", "slow-start", LEGAL, lambda ask, replies: [Sleep(1.05), *replies] if ask.params.get("protocolVersion") in LEGACY else replies),
    ("init-slow-2s", "slow-start", LEGAL, lambda ask, replies: [Sleep(1.9), *replies] if ask.params.get("protocolVersion") in LEGACY else replies),
    ("init-slow-5s", "slow-start", LEGAL, lambda ask, replies: [Sleep(3), *replies] if ask.params.get("protocolVersion") in LEGACY else replies),
    ("notif-before-init", "notification-before-handshake", SHOULD, both(on("initialize", in_result(capabilities={**CAPABILITIES, "tools": {"listChanged": True}})), on("initialize", before(notice("notifications/message", level="info", data="x"), notice("notifications/tools/list_changed"))))),
    ("request-before-init", "request-before-handshake", SHOULD, on("initialize", before(asks("roots/list")))),
    ("list-bare-array", "tools-list-not-wrapped", MUST, on("tools/list", lambda ask, reply: {**reply, "result": reply["result"]["tools"]} if "result" in reply else reply)),
    ("list-cursor-null", "optional-null", MUST, on("tools/list", lambda ask, reply: in_result(nextCursor=None)(ask, reply) if "result" in reply else reply)),
    ("list-cursor-empty", "cursor-empty-string", SHOULD, on("tools/list", lambda ask, reply: in_result(nextCursor="")(ask, reply) if "result" in reply else reply)),
    ("list-one-bad", "tool-malformed", MUST, on("tools/list", lambda ask, reply: in_result(tools=[None, *reply["result"]["tools"]])(ask, reply) if "result" in reply else reply)),
    ("list-dup", "tool-name-duplicate", SHOULD, on("tools/list", lambda ask, reply: in_result(tools=[reply["result"]["tools"][0], *reply["result"]["tools"]])(ask, reply) if "result" in reply else reply)),
    ("list-heavy", "tools-list-heavy", LEGAL, on("tools/list", lambda ask, reply: in_result(tools=[{**tool, "description": "word " * 10_000} for tool in reply["result"]["tools"]])(ask, reply) if "result" in reply else reply)),
    ("prompt-nameless", "list-item-malformed", MUST, on("prompts/list", in_result(prompts=[{"description": "no name"}]))),
    ("resource-nameless", "list-item-malformed", MUST, on("resources/list", in_result(resources=[{"uri": "stub://a"}]))),
    ("template-without-address", "list-item-malformed", MUST, on("resources/templates/list", in_result(resourceTemplates=[{"name": "x"}]))),
    ("ping-refused", "ping-not-answered", MUST, on("ping", lambda ask, _: error(ask, -32601))),
    ("ping-full", "ping-result-not-empty", SHOULD, on("ping", in_result(status="ok"))),
    ("unknown-empty", "unknown-method-accepted", MUST, lambda ask, replies: [result(ask, {})] if "no-such-method" in ask.method else replies),
    ("unknown-32603", "unknown-method-code", SHOULD, lambda ask, replies: [error(ask, -32603)] if "no-such-method" in ask.method else replies),
    ("unknown-in-result", "method-error-in-result", MUST, both(legacy_only, unknown_methods(lambda ask, reply: result(ask, {"error": f"Unknown method: {ask.method}"})))),
    ("unknown-tool-works", "unknown-tool-accepted", SHOULD, on("tools/call", lambda ask, reply: result(ask, text("done")) if ask.params.get("name") == NOT_THERE else reply)),
    ("unknown-tool-iserror", "unknown-tool-in-result", LEGAL, on("tools/call", lambda ask, reply: result(ask, said("no such tool", isError=True)) if ask.params.get("name") == NOT_THERE else reply)),
    ("unknown-tool-32603", "unknown-tool-code", SHOULD, on("tools/call", lambda ask, reply: error(ask, -32603) if ask.params.get("name") == NOT_THERE else reply)),
    ("unknown-tool-32601", "unknown-tool-code", SHOULD, on("tools/call", lambda ask, reply: error(ask, -32601) if ask.params.get("name") == NOT_THERE else reply)),
    ("string-id", "string-id-refused", MUST, _refuses_strings),
    ("strict-params", "unknown-member-refused", MUST, on("tools/list", lambda ask, reply: error(ask, -32602) if "qortalMcpAudit" in ask.params else reply)),
    ("log-undeclared", "log-without-capability", MUST, both(on("initialize", in_result(capabilities={**CAPABILITIES, "logging": ABSENT})), _dropped("logging"), on_call(before(notice("notifications/message", level="info", data="x"))))),
    ("log-declared", None, LEGAL, on_call(before(notice("notifications/message", level="info", data="x")))),
    ("log-any-level", "log-level-not-checked", SHOULD, on("logging/setLevel", lambda ask, reply: result(ask, {}))),
    ("log-not-served", "capability-not-served", MUST, on("logging/setLevel", lambda ask, reply: error(ask, -32601))),
    ("notice-without-version", "message-version-missing", MUST, on_call(before({"method": "notifications/acme"}))),
    ("null-id-request", "request-id-invalid", MUST, on_call(before({"jsonrpc": "2.0", "id": None, "method": "ping"}))),
    ("number-id-request", None, LEGAL, on_call(before({"jsonrpc": "2.0", "id": 5, "method": "ping"}))),
    ("init-version-oldest", "protocol-version-not-newest", SHOULD, on("initialize", lambda ask, reply: reply if ask.params.get("protocolVersion") in LEGACY else in_result(protocolVersion="2024-11-05")(ask, reply))),
    ("prompt-bare", "prompt-result-malformed", MUST, on("prompts/get", lambda ask, reply: result(ask, {"prompt": "hello"}) if "result" in reply else reply)),
    ("prompt-of-system", "prompt-result-malformed", MUST, on("prompts/get", lambda ask, reply: result(ask, {"messages": [{"role": "system", "content": _WORDS[0]}]}) if "result" in reply else reply)),
    ("prompt-of-blocks", "prompt-result-malformed", MUST, on("prompts/get", lambda ask, reply: result(ask, {"messages": [{"role": "user", "content": _WORDS}]}) if "result" in reply else reply)),
    ("prompt-unknown-works", "unknown-prompt-code", SHOULD, on("prompts/get", lambda ask, reply: reply if ask.params.get("name") == "q" else result(ask, {"messages": []}))),
    ("prompt-unknown-0", "unknown-prompt-code", SHOULD, on("prompts/get", lambda ask, reply: error(ask, 0) if "error" in reply and ask.params.get("name") != "q" else reply)),
    ("resource-bare", "resource-contents-malformed", MUST, on("resources/read", lambda ask, reply: result(ask, {"text": "words"}) if "result" in reply else reply)),
    ("resource-without-uri", "resource-contents-malformed", MUST, on("resources/read", lambda ask, reply: result(ask, {"contents": [{"text": "words"}]}) if "result" in reply else reply)),
    ("resource-of-object", "resource-contents-malformed", MUST, on("resources/read", lambda ask, reply: result(ask, {"contents": [{"uri": "stub://a", "text": {"a": 1}}]}) if "result" in reply else reply)),
    ("resource-unknown-empty", "unknown-resource-code", SHOULD, on("resources/read", lambda ask, reply: result(ask, {"contents": []}) if "error" in reply else reply)),
    ("resource-unknown-0", "unknown-resource-code", SHOULD, on("resources/read", lambda ask, reply: error(ask, 0) if "error" in reply else reply)),
    ("resource-unknown-32602", None, LEGAL, on("resources/read", lambda ask, reply: error(ask, -32602) if "error" in reply else reply)),
    ("completion-bare", "completion-malformed", MUST, on("completion/complete", lambda ask, reply: result(ask, {"values": ["a"]}) if "result" in reply else reply)),
    ("completion-of-anything", "completion-reference-code", SHOULD, on("completion/complete", lambda ask, reply: result(ask, {"completion": {"values": []}}))),
    ("prompt-of-nothing", "prompt-argument-not-checked", SHOULD, on("prompts/get", lambda ask, reply: result(ask, {"messages": []}) if ask.params.get("name") == "q" else reply)),
    ("completion-of-101", "completion-malformed", MUST, on("completion/complete", lambda ask, reply: result(ask, {"completion": {"values": ["a"] * 101}}) if "result" in reply else reply)),
    ("completion-of-100", None, LEGAL, on("completion/complete", lambda ask, reply: result(ask, {"completion": {"values": ["a"] * 100}}) if "result" in reply else reply)),
    ("embedded-undeclared", "embedded-without-resources", SHOULD, both(on("initialize", in_result(capabilities={**CAPABILITIES, "resources": ABSENT})), _dropped("resources"), on_call(lambda ask, reply: result(ask, blocks({"type": "resource", "resource": {"uri": "file:///x", "text": "words"}}))))),
    ("call-without-name-works", "malformed-call-accepted", SHOULD, on("tools/call", lambda ask, reply: reply if "name" in ask.params else result(ask, text("done")))),
    ("call-without-name-iserror", None, LEGAL, on("tools/call", lambda ask, reply: reply if "name" in ask.params else result(ask, said("no name", isError=True)))),
    ("discover-32601", None, LEGAL, legacy_only),
    ("discover-32600", None, LEGAL, on("server/discover", lambda ask, _: error(ask, -32600))),
    ("discover-32602", None, LEGAL, on("server/discover", lambda ask, _: error(ask, -32602))),
    ("discover-empty", "discover-malformed", MUST, on("server/discover", members(result={}))),
    ("discover-errinresult", "method-error-in-result", MUST, on("server/discover", members(result={"error": "Unknown method"}))),
    ("modern-discover-legacy-versions", None, LEGAL, on("server/discover", in_result(supportedVersions=["2025-11-25"]))),
    ("modern-32022", None, LEGAL, on("server/discover", lambda ask, _: error(ask, -32022, "no", {"supported": ["2025-11-25"]}))),
    ("modern-result-on-legacy", "modern-member-on-legacy", LEGAL, on_call(in_result(resultType="complete", ttlMs=0))),
    ("input-required-on-legacy", "modern-member-on-legacy", MUST, on_call(lambda ask, reply: {**reply, "result": {"resultType": "input_required", "inputRequests": {}}})),
    ("notif-reply-null", "notification-answered", MUST, answers_notices({"jsonrpc": "2.0", "id": None, "result": {}})),
    ("notif-reply-error", "notification-answered", MUST, answers_notices({"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no"}})),
    ("notif-reply-noid", "notification-answered", MUST, answers_notices({"jsonrpc": "2.0", "result": {}})),
]  # fmt: skip


def _bends(
    rows: Iterable[BendRow],
    revisions: tuple[str, ...] = NEWEST,
    over: Literal["http", "stdio", "websocket"] = "http",
) -> list[Case]:
    return [
        Case(name=name, code=code, verdict=verdict, server=Server(bend=bend), revisions=revisions, over=over)
        for name, code, verdict, bend in rows
    ]


# The notification of a handshake is answered on a pipe: over HTTP it has cases of its own.
_ON_PIPE = {"notif-reply-null", "notif-reply-error", "notif-reply-noid"}


def _pages(ask: Ask, replies: Replies) -> Replies:
    """Two pages, the tool in question on the second."""
    if ask.method != "tools/list" or ask.params.get("cursor", "p2") != "p2":
        return replies
    if "error" in replies[0] and "cursor" not in ask.params:
        return replies  # refused for another reason
    bent, good = tools_of(Server(), ask.revision)
    page = {"tools": [bent]} if "cursor" in ask.params else {"tools": [good], "nextCursor": "p2"}
    kept = {"ttlMs": 0, "cacheScope": "private"} if ask.is_modern else {}
    return [result(ask, {**page, **kept})]


def _empty_last_page(ask: Ask, replies: Replies) -> Replies:
    """Two pages, nothing on the second, and any cursor is good for it."""
    if ask.method != "tools/list":
        return replies
    page = (
        {"tools": []}
        if "cursor" in ask.params
        else {"tools": tools_of(Server(), ask.revision), "nextCursor": "p2"}
    )
    return [result(ask, page)]


def _same_page(ask: Ask, replies: Replies) -> Replies:
    if ask.method != "tools/list" or ask.params.get("cursor", "p2") != "p2":
        return replies
    tools = [] if "cursor" in ask.params else tools_of(Server(), ask.revision)
    return [result(ask, {"tools": tools, "nextCursor": "p2"})]


def _modern_only(ask: Ask, replies: Replies) -> Replies:
    return replies if ask.is_modern or not replies else [error(ask, -32601, f"only {MODERN} is spoken")]


def _version(version: str) -> Bend:
    return on("initialize", in_result(protocolVersion=version))


_LEGACY_NEWEST_TWO = ("2025-06-18", "2025-11-25")
_MODERN_BENDS: list[BendRow] = [
    ("modern-ok", None, LEGAL, lambda ask, replies: replies),
    ("modern-no-resulttype", "modern-resulttype-missing", MUST, lambda ask, replies: [in_result(resultType=ABSENT)(ask, one) if "result" in one else one for one in replies]),
    ("modern-list-no-resulttype", "modern-resulttype-missing", MUST, on("tools/list", lambda ask, reply: in_result(resultType=ABSENT)(ask, reply) if "result" in reply else reply)),
    ("modern-call-no-resulttype", "modern-resulttype-missing", MUST, on_call(in_result(resultType=ABSENT))),
    ("modern-no-ttl", "modern-cache-hints-missing", MUST, lambda ask, replies: [in_result(ttlMs=ABSENT, cacheScope=ABSENT)(ask, one) if "result" in one else one for one in replies]),
    ("modern-list-no-ttl", "modern-cache-hints-missing", MUST, on("tools/list", lambda ask, reply: in_result(ttlMs=ABSENT)(ask, reply) if "result" in reply else reply)),
    ("modern-list-bad-scope", "modern-cache-hints-missing", MUST, on("tools/list", lambda ask, reply: in_result(cacheScope="all")(ask, reply) if "result" in reply else reply)),
    ("modern-rpc-error", "tool-failure-as-protocol-error", SHOULD, on_call(lambda ask, _: error(ask, -32000, "down"))),
    ("modern-extra-member", "rpc-extra-member", LEGAL, on_call(members(requestId="abc"))),
    ("modern-list-paged", "tools-list-paginated", LEGAL, _pages),
    ("modern-log", "modern-log-unasked", MUST, on_call(before(notice("notifications/message", level="info", data="x")))),
    ("modern-notice", None, LEGAL, on_call(before(notice("notifications/acme", x=1)))),
    ("modern-no-server-info", "modern-server-info-missing", SHOULD, on("tools/list", lambda ask, reply: in_result(_meta=ABSENT)(ask, reply) if "result" in reply else reply)),
    ("modern-scopes", "cache-scope-differs", MUST, _two_scopes),
    ("modern-list-shuffled", "list-order-changed", SHOULD, _shuffled()),
    ("modern-list-shrinks", "list-order-changed", MUST, _shrinking()),
    ("modern-list-asks", "input-required-malformed", MUST, on("completion/complete", lambda ask, reply: result(ask, {"resultType": "input_required", "requestState": "s"}) if "result" in reply else reply)),
    ("modern-asks-for-nothing", "input-required-malformed", MUST, on_call(lambda ask, reply: result(ask, {"resultType": "input_required"}))),
    ("modern-asks-undeclared", "input-request-undeclared", MUST, on_call(lambda ask, reply: result(ask, {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list", "params": {}}}}))),
    ("modern-version-without-data", "unsupported-version-data", MUST, _without_data),
    ("modern-reserved-code", "modern-error-reserved", MUST, on("tools/list", lambda ask, reply: error(ask, -32050, "no such cursor") if "cursor" in ask.params else reply)),
    ("modern-own-code", None, LEGAL, on("tools/list", lambda ask, reply: error(ask, -31000, "no such cursor") if "cursor" in ask.params else reply)),
    ("modern-resource-empty", "unknown-resource-code", MUST, on("resources/read", lambda ask, reply: result(ask, {"contents": [], "ttlMs": 0, "cacheScope": "private"}) if "error" in reply else reply)),
    ("modern-resource-32002", "unknown-resource-code", MUST, on("resources/read", lambda ask, reply: error(ask, -32002) if "error" in reply else reply)),
    ("modern-string-id", "string-id-refused", MUST, _refuses_strings),
    ("modern-asks", "request-on-modern-wire", MUST, on_call(before(asks("sampling/createMessage")))),
    ("modern-wrong-code", "modern-error-code", MUST, lambda ask, replies: [error(ask, -32603)] if "no-such-method" in ask.method else replies),
    ("modern-ping", "modern-error-code", MUST, on("ping", lambda ask, _: result(ask, {}))),
    ("modern-input-required", None, LEGAL, on_call(lambda ask, reply: result(ask, {"resultType": "input_required", "requestState": "s"}))),
]  # fmt: skip


def case(name: str, code: str | None, verdict: Verdict, server: Server, **more: Any) -> Case:
    return Case(name=name, code=code, verdict=verdict, server=server, **more)


_ERAS_AND_LISTS = [
    case("list-paged", "tools-list-paginated", LEGAL, Server(bend=_pages)),
    case("list-any-cursor", "cursor-not-checked", SHOULD, Server(bend=_empty_last_page)),
    case("list-endless", "pagination-endless", MUST, Server(bend=_same_page)),
    case("modern-only", "legacy-not-served", LEGAL, Server(bend=_modern_only), revisions=EVERY),
    case("modern-only-unnamed", "legacy-not-served", SHOULD, Server(bend=lambda ask, replies: replies if ask.is_modern or not replies else [error(ask, -32601)]), revisions=EVERY),
    case("init-version-2024", None, LEGAL, Server(bend=_version("2024-11-05")), revisions=EVERY),
    case("init-version-2025-03-26", None, LEGAL, Server(bend=_version("2025-03-26")), revisions=EVERY),
    case("init-version-2025-06-18", None, LEGAL, Server(bend=_version("2025-06-18")), revisions=EVERY),
    case("init-version-2025-11-25", "protocol-version-forced", LEGAL, Server(bend=_version("2025-11-25")), revisions=_LEGACY_NEWEST_TWO),
    case("batch-error", "batch-refused", SHOULD, Server(http=lambda ask, reply: HttpReply(400) if ask.body.startswith(b"[") else reply), revisions=("2025-03-26",)),
    case("modern-200-for-unknown", "modern-error-status", MUST, Server(http=lambda ask, reply: replace(reply, status=200) if "no-such-method" in ask.method else reply), revisions=MODERN_ONLY),
    case("sc-null", "structured-content-not-object", MUST, Server(bend=_null(said("words", structuredContent=None))), revisions=STRUCTURED),
    case("sc-null-os", "output-schema-root-not-object", MUST, Server(tool={"outputSchema": _NULL_CONTENT}, bend=_null(said("words", structuredContent=None))), revisions=STRUCTURED),
]  # fmt: skip


_HTML = ("content-type", "text/html")
_PLAIN = ("content-type", "text/plain")


def _stale(status: int) -> Server:
    """A session that is gone at the first call in each audit; a new one works."""

    def bend(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        is_first = ask.headers.get("mcp-session-id", "").startswith("session-0-")
        if ask.method == "tools/call" and ask.asked[0].is_call and is_first:
            return HttpReply(status, (_PLAIN,), b"session not found")
        return reply

    return Server(sessions=True, http=bend)


def _once(status: int, *headers: tuple[str, str]) -> Server:
    """The first call after a handshake is refused, the same one works when it is asked again."""
    refused: list[bytes] = []

    def bend(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        if ask.method == "initialize":
            refused.clear()
        if ask.asked and ask.asked[0].is_call and not refused:
            refused.append(ask.body)
            return HttpReply(status, headers)
        return reply

    return Server(http=bend)


def _unauthorized(**challenge: str) -> HttpBend:
    def bend(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        if ask.path.startswith("/.well-known/"):
            return HttpReply(404, (_HTML,), b"<html>not found</html>")
        told = {name: value.replace("HOST", ask.headers["host"]) for name, value in challenge.items()}
        return HttpReply(401, tuple((name.replace("_", "-"), value) for name, value in told.items()))

    return bend


def _redirected(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    return HttpReply(307, (("location", "/mcp/"),)) if ask.path == "/mcp" else reply


def _header_refused(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    return HttpReply(400, (_PLAIN,), b"bad header") if "mcp-protocol-version" in ask.headers else reply


def _header_demanded(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    is_bare = "mcp-protocol-version" not in ask.headers and ask.verb == "POST" and ask.method != "initialize"
    return HttpReply(400, (_PLAIN,), b"header missing") if is_bare and ask.asked else reply


def _no_session_given(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    is_opening = ask.method in ("initialize", "server/discover")
    if is_opening or ask.verb != "POST" or "mcp-session-id" in ask.headers:
        return reply
    return HttpReply(400, (_PLAIN,), b"Mcp-Session-Id header is required")


def _any_session(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if reply.status != 404 or not ask.asked or ask.asked[0].is_modern:
        return reply
    return HttpReply(200, (JSON_TYPE,), encoded(result(ask.asked[0], {})))


def _own_id(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if ask.headers.get("mcp-protocol-version") != "1999-01-01":
        return reply
    refusal = {
        "jsonrpc": "2.0",
        "id": "server-error",
        "error": {"code": -32600, "message": "unknown version"},
    }
    return HttpReply(400, (JSON_TYPE,), encoded(refusal))


def _any_version(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if ask.headers.get("mcp-protocol-version") != "1999-01-01" or ask.asked[0].is_modern:
        return reply
    return HttpReply(
        200, (JSON_TYPE,), encoded(result(ask.asked[0], {"tools": tools_of(Server(), "2025-11-25")}))
    )


def _session_optional(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if b"a session id is needed" not in reply.body:
        return reply
    return written(Server(), ask, [one for asked in ask.asked for one in right(asked)])


def _numbered(unique: bool) -> HttpBend:
    """Events with ids that are unique in the session, or only in their stream."""
    count = itertools.count(1)

    def bend(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        if EVENTS_TYPE not in reply.headers or ask.asked[0].is_modern:
            return reply
        return replace(reply, body=b"id: %d\n" % (next(count) if unique else 1) + reply.body)

    return bend


def _no_base64(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if not ask.headers.get("mcp-name", "").startswith("=?base64?"):
        return reply
    return HttpReply(400, (JSON_TYPE,), encoded(error(ask.asked[0], -32020, "header mismatch")))


def _any_name(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if ask.headers.get("mcp-name") != f"{NOT_THERE}_other":
        return reply
    return HttpReply(400, (JSON_TYPE,), encoded(error(ask.asked[0], -32602, "unknown tool")))


def _any_origin(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    if "origin" not in ask.headers:
        return reply
    return HttpReply(200, (JSON_TYPE,), encoded(result(ask.asked[0], {})))


def _after_end(status: int) -> HttpBend:
    return lambda ask, reply: replace(reply, status=status) if reply.status == 404 else reply


def _primed(ask: HttpAsk, reply: HttpReply) -> HttpReply:
    """Streams of 2025-11-25 begin with an event that has an id and no data."""
    if EVENTS_TYPE not in reply.headers or ask.asked[0].is_modern:
        return reply
    return replace(reply, body=b"id: 1\ndata:\n\nid: 2\n" + reply.body)


_NULL_RESULT = encoded({"jsonrpc": "2.0", "id": None, "result": {}})
_NULL_ERROR = encoded(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}}
)
_NO_METADATA = 'Bearer resource_metadata="http://HOST/.well-known/oauth-protected-resource/mcp"'
_OLDER_SDK = encoded(
    {"jsonrpc": "2.0", "error": {"code": -32000, "message": "Server not initialized"}, "id": None}
)
_PING = event(b"ping").replace(b"event: message\n", b"")

_HTTP = [
    case("http-json", None, LEGAL, Server(bend=legacy_only)),
    case("http-sse", None, LEGAL, Server(streams=True, bend=legacy_only)),
    case("http-session", None, LEGAL, Server(sessions=True, bend=legacy_only), revisions=EVERY),
    case("http-modern", None, LEGAL, Server(), revisions=MODERN_ONLY),
    case("http-notif-200-empty", "notification-status", MUST, Server(http=to_notices(HttpReply(200)))),
    case("http-notif-200-json", "notification-status", MUST, Server(http=to_notices(HttpReply(200, (JSON_TYPE,), b"{}")))),
    case("http-notif-200-rpc", "notification-answered", MUST, Server(http=to_notices(HttpReply(200, (JSON_TYPE,), _NULL_RESULT)))),
    case("http-notif-204", "notification-status", MUST, Server(http=to_notices(HttpReply(204)))),
    case("http-notif-404", "notification-refused", MUST, Server(http=to_notices(HttpReply(404, (JSON_TYPE,), b'{"detail":"Not Found"}')))),
    case("http-notif-400-rpc", "notification-refused", MUST, Server(http=to_notices(HttpReply(400, (JSON_TYPE,), _NULL_ERROR)))),
    case("http-notif-500", "notification-refused", MUST, Server(http=to_notices(HttpReply(500, (_PLAIN,), b"oops")))),
    case("http-get-404", "get-status", MUST, Server(http=to_get(HttpReply(404)))),
    case("http-get-200-html", "get-status", MUST, Server(http=to_get(HttpReply(200, (_HTML,), b"<html>")))),
    case("http-get-200-json", "get-status", MUST, Server(http=to_get(HttpReply(200, (JSON_TYPE,), b'{"status":"ok"}')))),
    case("http-get-500", "get-status", MUST, Server(http=to_get(HttpReply(500)))),
    case("http-get-401", "get-status", MUST, Server(http=to_get(HttpReply(401)))),
    case("http-get-hang", "get-hangs", MUST, Server(http=to_get(HttpReply(None, then="hold"))), limits=(("get_seconds", 0.3),)),
    case("http-get-stream", None, LEGAL, Server(http=to_get(HttpReply(200, (EVENTS_TYPE,), b": hello\n\n", then="hold")))),
    case("http-ct-missing", "content-type-header", MUST, Server(http=with_headers())),
    case("http-ct-text", "content-type-header", MUST, Server(http=with_headers(_PLAIN))),
    case("http-ct-charset", None, LEGAL, Server(http=with_headers(("content-type", "application/json; charset=utf-8")))),
    case("http-sse-noevent", None, LEGAL, streamed(lambda body: body.replace(b"event: message\n", b""))),
    case("http-sse-crlf", None, LEGAL, streamed(lambda body: body.replace(b"\n", b"\r\n"))),
    case("http-sse-multidata", None, LEGAL, streamed(lambda body: body.replace(b', "', b',\ndata: "'))),
    case("http-sse-comment", None, LEGAL, streamed(lambda body: b": ping\n\n" + body)),
    case("http-sse-notif", None, LEGAL, Server(streams=True, bend=on_call(before(notice("notifications/message", level="info", data="x"))))),
    case("http-sse-noend", "sse-not-closed", SHOULD, Server(http=lambda ask, reply: HttpReply(200, (EVENTS_TYPE,), event(reply.body), then="hold") if ask.asked and ask.asked[0].is_call and reply.status == 200 else reply)),
    case("http-sse-empty", "sse-no-reply", MUST, Server(http=to_calls(HttpReply(200, (EVENTS_TYPE,), b": bye\n\n")))),
    case("http-sse-eventname", "sse-event-name", SHOULD, streamed(lambda body: body.replace(b"event: message", b"event: result"))),
    case("http-sse-priming", "sse-empty-data-event", LEGAL, streamed(lambda body: b"id: 1\ndata:\n\nid: 2\n" + body), revisions=("2025-06-18",)),
    case("http-sse-primed-in-2025-11-25", None, LEGAL, Server(streams=True, http=_primed)),
    case("http-sse-not-json", "sse-data-not-json", MUST, streamed(lambda body: _PING + body)),
    case("http-refusal-own-id", "refusal-id-invented", SHOULD, Server(http=_own_id)),
    case("http-err-400", "rpc-error-status", SHOULD, http_error(400)),
    case("http-err-404", "rpc-error-status", SHOULD, http_error(404)),
    case("http-err-500", "rpc-error-status", SHOULD, http_error(500)),
    case("http-err-500-html", "rpc-error-status", MUST, Server(http=to_calls(HttpReply(500, (_HTML,), b"<html>Internal Server Error</html>")))),
    case("http-call-202", "no-reply", MUST, Server(http=to_calls(HttpReply(202)))),
    case("http-call-200-empty", "no-reply", MUST, Server(http=to_calls(HttpReply(200, (JSON_TYPE,))))),
    case("http-stale-404", "session-lost", LEGAL, _stale(404)),
    case("http-stale-400", "stale-session-status", MUST, _stale(400)),
    case("http-after-end-400", "stale-session-status", MUST, Server(sessions=True, http=_after_end(400))),
    case("http-session-goes-on", "session-not-checked", MUST, Server(sessions=True, http=_any_session)),
    case("http-session-noid-400-rpc", "session-id-not-issued", MUST, Server(sessions=True, http=lambda ask, reply: replace(reply, headers=reply.headers[:1]))),
    case("http-session-noid-400", "session-id-not-issued", MUST, Server(http=_no_session_given)),
    case("http-401", "auth-challenge-missing", MUST, Server(http=_unauthorized())),
    case("http-401-www", "auth-metadata-missing", MUST, Server(http=_unauthorized(www_authenticate=_NO_METADATA))),
    case("http-401-call", None, LEGAL, Server(http=to_calls(HttpReply(401)))),
    case("http-403-call", None, LEGAL, Server(http=to_calls(HttpReply(403, (JSON_TYPE,), b'{"error":"forbidden"}')))),
    case("http-429-call", "rate-limit-status", LEGAL, _once(429, ("retry-after", "1"))),
    case("http-307", "redirect", LEGAL, Server(http=_redirected)),
    case("http-404-all", None, LEGAL, Server(http=lambda ask, reply: HttpReply(404, (_HTML,), b"<html>not found</html>"))),
    case("http-discover-404", None, LEGAL, Server(http=to_discover(HttpReply(404, (_HTML,), b"<html>not found</html>")))),
    case("http-discover-400", None, LEGAL, Server(http=to_discover(HttpReply(400, (_PLAIN,), b"Bad Request: no session")))),
    case("http-discover-400-rpc", None, LEGAL, Server(http=to_discover(HttpReply(400, (JSON_TYPE,), _OLDER_SDK)))),
    case("http-discover-401", None, LEGAL, Server(http=to_discover(HttpReply(401, (_PLAIN,))))),
    case("http-discover-500", "discover-5xx", SHOULD, Server(http=to_discover(HttpReply(500, (_PLAIN,), b"oops")))),
    case("http-discover-hang", "discover-unanswered", SHOULD, Server(http=to_discover(HttpReply(None, then="hold"))), limits=(("probe_seconds", 0.5),)),
    case("http-discover-200-empty", "discover-malformed", MUST, Server(bend=on("server/discover", members(result={})))),
    case("http-header-strict", "protocol-header-refused", MUST, Server(http=_header_refused)),
    case("http-header-required", "protocol-header-demanded", SHOULD, Server(http=_header_demanded)),
    case("http-any-version", "version-header-not-checked", MUST, Server(http=_any_version)),
    case("http-any-origin", "origin-not-checked", MUST, Server(http=_any_origin)),
    case("http-session-spaces", "session-id-characters", MUST, Server(sessions=True, session_id="session # with spaces")),
    case("http-session-short", "session-id-guessable", SHOULD, Server(sessions=True, session_id="session-#")),
    case("http-session-needed-403", "missing-session-status", SHOULD, Server(sessions=True, http=lambda ask, reply: replace(reply, status=422) if b"a session id is needed" in reply.body else reply)),
    case("http-session-optional", None, LEGAL, Server(sessions=True, http=_session_optional)),
    case("http-event-ids-again", "event-id-repeated", MUST, Server(sessions=True, streams=True, http=_numbered(False))),
    case("http-event-ids", None, LEGAL, Server(sessions=True, streams=True, http=_numbered(True))),
    case("http-modern-get-200", "modern-get-status", SHOULD, Server(http=lambda ask, reply: HttpReply(200, (_HTML,), b"<html>") if ask.verb == "GET" else reply), revisions=MODERN_ONLY),
    case("http-modern-buffered", "sse-buffered", SHOULD, Server(streams=True, http=lambda ask, reply: replace(reply, headers=tuple(one for one in reply.headers if one != UNBUFFERED))), revisions=MODERN_ONLY),
    case("http-modern-encoded-name", "encoded-name-refused", MUST, Server(http=_no_base64), revisions=MODERN_ONLY),
    case("http-modern-strict-headers", "unknown-header-refused", MUST, Server(http=lambda ask, reply: HttpReply(404, (JSON_TYPE,), encoded(error(ask.asked[0], -32600, "unknown session"))) if "mcp-session-id" in ask.headers and ask.asked else reply), revisions=MODERN_ONLY),
    case("http-modern-any-name", "modern-error-code", MUST, Server(http=_any_name), revisions=MODERN_ONLY),
    case("in-header-object", "header-annotation-invalid", MUST, Server(tool={"inputSchema": {"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}}), revisions=MODERN_ONLY),
    case("in-header-string", None, LEGAL, Server(tool={"inputSchema": {"type": "object", "properties": {"x": {"type": "string", "x-mcp-header": "X"}}}}), revisions=MODERN_ONLY),
    case("http-legacy-sse", "legacy-sse-transport", LEGAL, Server(bend=_version("2024-11-05")), over="old sse", revisions=EVERY),
]  # fmt: skip


def _pretty(ask: Ask, reply: Json) -> bytes:
    return json.dumps(reply, indent=2).encode()


def _content_length(data: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


_STDIO = [
    case("banner", "stdout-pollution", MUST, Server(banner=b"Starting MCP server v1.0 ...\n")),
    case("banner-json", "stdout-pollution", MUST, Server(banner=b'{"level":"info","msg":"server started"}\n')),
    case("banner-call", "stdout-pollution", MUST, Server(bend=on_call(lambda ask, reply: [b"[INFO] calling tool t", reply]))),
    case("crlf", "line-ending-crlf", SHOULD, Server(frame=lambda data: data + b"\r\n")),
    case("bom", "bom", MUST, Server(banner=b"\xef\xbb\xbf")),
    case("blank-line", "blank-line", SHOULD, Server(frame=lambda data: b"\n" + data + b"\n")),
    case("pretty-init", "message-multi-line", MUST, Server(bend=on("initialize", _pretty))),
    case("pretty-call", "message-multi-line", MUST, Server(bend=on_call(_pretty))),
    case("content-length", "lsp-framing", MUST, Server(frame=_content_length)),
    case("two-in-line", "message-joined", MUST, Server(bend=on_call(lambda ask, reply: encoded(notice("notifications/message", level="info", data="x")) + encoded(reply)))),
    case("call-exit", "server-exit", MUST, Server(bend=on_call(lambda ask, reply: EXIT))),
    case("call-hang", "no-reply", MUST, Server(bend=on_call(lambda ask, reply: HANG)), limits=(("request_seconds", 1.0),)),
    case("call-slow-3s", None, LEGAL, Server(bend=on_call(lambda ask, reply: [Sleep(0.4), reply]))),
    case("discover-silent", "discover-unanswered", LEGAL, Server(bend=on("server/discover", lambda ask, reply: HANG)), limits=(("probe_seconds", 0.5),)),
    case("discover-exit", "exit-on-unknown-method", SHOULD, Server(bend=on("server/discover", lambda ask, reply: EXIT))),
    case("modern-listen", None, LEGAL, Server(bend=_listening(9003)), revisions=MODERN_ONLY),
    case("modern-listen-string", "subscription-not-acknowledged", MUST, Server(bend=_listening("9003")), revisions=MODERN_ONLY),
    case("modern-listen-early", "subscription-not-acknowledged", MUST, Server(bend=_listening(9003, early=True)), revisions=MODERN_ONLY),
    case("garbage-kills", "garbage-fatal", LEGAL, Server(garbage=(EXIT,))),
    case("goes-on-after-input", "exit-after-input", SHOULD, Server(lingers=30.0), limits=(("exit_seconds", 0.3),)),
    case("stderr-noise", None, LEGAL, Server(stderr=b"much text\n" * 3000)),
    case("large-message", "message-too-large", LEGAL, Server(result=said("x" * 30_000)), limits=(("message_bytes", 20_000), ("request_seconds", 1.0))),
]  # fmt: skip

_SOCKETS = [
    case("ws-binary", "websocket-binary-frame", LEGAL, Server(binary=True)),
    case("ws-any-origin", "origin-not-checked", MUST, Server(), any_origin=True),
]

CASES: tuple[Case, ...] = (
    *_results(_RESULTS, ERAS),
    *_results(_STRUCTURED_RESULTS, STRUCTURED),
    *_results(_MODERN_RESULTS, MODERN_ONLY),
    *_tools(_TOOLS, ERAS),
    case("in-boolprop", "schema-boolean-property", MUST, Server(tool={"inputSchema": {"type": "object", "properties": {"x": True}}})),
    *_tools(
        [
            ("modern-tool-title-null", "optional-null", MUST, {"title": None}),
            ("modern-in-notype", "input-schema-type-missing", MUST, {"inputSchema": {"properties": {"x": {"type": "string"}}}}),
            ("modern-in-boolprop", None, LEGAL, {"inputSchema": {"type": "object", "properties": {"x": True}}}),
        ],
        MODERN_ONLY,
    ),
    *_outputs(_OUTPUTS, STRUCTURED),
    *_outputs(_MODERN_OUTPUTS, MODERN_ONLY),
    *(replace(one, over="stdio" if one.name in _ON_PIPE else "http") for one in _bends(_ENVELOPES)),
    *_bends(_MODERN_BENDS, MODERN_ONLY),
    *_ERAS_AND_LISTS,
    *_HTTP,
    *(replace(one, over="stdio") for one in _STDIO),
    *(replace(one, over="websocket") for one in _SOCKETS),
)  # fmt: skip
BY_NAME: dict[str, Case] = {one.name: one for one in CASES}
# Numbers that lose something if they are read as those of a machine.
DIGITS = (
    b'{"a":1.10,"b":1e400,"c":123456789012345678901234567890,"d":-0,"e":0.1000000000000000055511151231257827}'
)
_NUMBERS = Server(
    bend=on_call(
        lambda ask, reply: encoded({**reply, "result": said("numbers", structuredContent="#")}).replace(
            b'"#"', DIGITS
        )
    )
)
SERVERS: dict[str, Server] = {
    "right": Server(),
    "digits": _NUMBERS,
    **{name: one.server for name, one in BY_NAME.items()},
}
