"""Wrong answers to a call, and what a client gets instead. Each is a tool of one server."""

import json
from typing import Any

from msgspec import Struct
from tests.bridge.scripts import Binary, Close, Json, Saying, compact, error, result, text


class Case(Struct, frozen=True, kw_only=True):
    """What the server says, and what the client gets, at each level, without the marks of repairs."""

    says: Saying
    safe: Json
    # The same as `safe` where it is not given.
    all: Json | None = None
    # The codes that the client finds in `_meta` at `safe`.
    codes: tuple[str, ...] = ()

    def gets(self, level: str) -> Json:
        return self.all if level == "all" and self.all is not None else self.safe


def _block(words: str) -> Json:
    return {"type": "text", "text": words}


def good(words: str, structured: Any = None) -> Json:
    more = {} if structured is None else {"structuredContent": structured}
    return {"result": {"content": [_block(words)], **more, "isError": False}}


def failed(words: str) -> Json:
    return {"result": {"content": [_block(words)], "isError": True}}


PATCHES = {"count": 0, "patches": []}
_PATCHES = compact(PATCHES)
_FIXED = {"content": [{"text": _PATCHES, "type": "text"}], "isError": False}
_WHOLE = good(_PATCHES, structured=PATCHES)
_NOTHING = "The tool returned nothing."
_LOST = "Connection to the server was lost before it answered."


def _fixed(**members: Any) -> bytes:
    whole = {"id": "$ID", "jsonrpc": "2.0", "result": _FIXED, **members}
    return compact(whole).encode().replace(b'"$ID"', b"$ID")


def _pretty(value: Json) -> bytes:
    whole = {"id": "$ID", "jsonrpc": "2.0", "result": value}
    return json.dumps(whole, indent=2).replace('"$ID"', "$ID").encode()


CASES = {
    "bare-result": Case(
        says=[result({"count": 1, "logs": ["a"]})],
        safe=good('{"count":1,"logs":["a"]}', structured={"count": 1, "logs": ["a"]}),
        codes=("result-bare-payload",),
    ),
    "right-result": Case(says=[result(_FIXED)], safe={"result": _FIXED}, all=_WHOLE),
    "error-in-bare-result": Case(
        says=[result({"error": {"code": -32602, "message": "Patch not found: x"}})],
        safe=failed("Patch not found: x"),
        codes=("result-bare-payload",),
    ),
    "failure-as-protocol-error": Case(
        says=[error(-32602, "Patch not found: x")],
        safe=failed("Patch not found: x"),
        codes=("tool-failure-as-protocol-error",),
    ),
    "timeout-as-protocol-error": Case(
        says=[error(-32603, "Timeout reading objects")],
        safe=failed("Timeout reading objects"),
        codes=("tool-failure-as-protocol-error",),
    ),
    "unknown-tool-by-the-server": Case(
        says=[error(-32602, "Unknown tool: nope")],
        safe={"error": {"code": -32602, "message": "Unknown tool: nope"}},
    ),
    "doubly-wrapped": Case(
        says=[result({"result": {"status": "success", "varname": "b"}})],
        safe=good(
            '{"result":{"status":"success","varname":"b"}}',
            structured={"result": {"status": "success", "varname": "b"}},
        ),
        all=good('{"status":"success","varname":"b"}', structured={"status": "success", "varname": "b"}),
        codes=("result-bare-payload",),
    ),
    "pretty-printed": Case(
        says=[_pretty(_FIXED)],
        safe={"result": _FIXED},
        all=_WHOLE,
    ),
    "garbage": Case(says=[b"", b"oops", _fixed()], safe={"result": _FIXED}, all=_WHOLE),
    "binary": Case(says=[Binary(_fixed())], safe={"result": _FIXED}, all=_WHOLE),
    "null-id-parse-error": Case(
        says=[error(-32700, "Parse error: x", "null")],
        safe=failed("The server could not read the request: Parse error: x"),
    ),
    "close-while-waiting": Case(says=[Close(1011)], safe=failed(_LOST)),
    "content-type-object": Case(
        says=[result({"content": [{"type": "object", "object": {"isValid": False}}]})],
        safe=good('{"isValid":false}', structured={"isValid": False}),
    ),
    "content-type-object-error": Case(
        says=[result({"content": [{"type": "object", "object": {"error": "Invalid Qortal address."}}]})],
        safe=failed("Invalid Qortal address."),
    ),
    "list-as-structured-content": Case(
        says=[result({"content": [{"type": "text", "text": "[1,2]"}], "structuredContent": [1, 2]})],
        safe=good("[1,2]"),
        all=good("[1,2]", structured={"result": [1, 2]}),
    ),
    "structured-content-on-error": Case(
        says=[
            result(
                {
                    "content": [{"type": "text", "text": "Node unreachable"}],
                    "isError": True,
                    "structuredContent": {"error": "Node unreachable"},
                }
            )
        ],
        safe=failed("Node unreachable"),
        codes=("error-with-structured-content",),
    ),
    "error-null-beside-result": Case(
        says=[b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"isError":false},"error":null}'],
        safe={"result": {"content": [], "isError": False}},
        all=good(_NOTHING),
    ),
    "result-null-beside-error": Case(
        says=[
            b'{"jsonrpc":"2.0","id":$ID,"result":null,"error":{"code":-32602,"message":"Unknown tool: nope"}}'
        ],
        safe={"error": {"code": -32602, "message": "Unknown tool: nope"}},
    ),
    "foreign-members": Case(says=[_fixed(requestId="u")], safe={"result": _FIXED}, all=_WHOLE),
    "content-missing": Case(
        says=[result({"structuredContent": {"a": 1}})],
        safe={"result": {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}},
        codes=("content-missing",),
    ),
    "result-empty": Case(
        says=[result({})],
        safe={"result": {"content": []}},
        all={"result": {"content": [_block(_NOTHING)]}},
        codes=("content-missing",),
    ),
    "result-null": Case(
        says=[result(None)],
        safe={"result": {"content": []}},
        all={"result": {"content": [_block(_NOTHING)]}},
    ),
    "result-string": Case(says=[result("hi")], safe={"result": {"content": [_block("hi")]}}),
    "result-list": Case(
        says=[result([1])],
        safe={"result": {"content": [_block("[1]")]}},
        all={"result": {"content": [_block("[1]")], "structuredContent": {"result": [1]}}},
    ),
    "line-breaks-in-text": Case(
        says=[text("one\ntwo\u2028three")],
        safe=good("one\ntwo\u2028three"),
        all=good("one\ntwo\\u{2028}three"),
    ),
    "error-as-text": Case(says=[result({"error": "It broke."})], safe=failed("It broke.")),
    "error-null-is-success": Case(
        says=[result({"error": None, "logs": ["a"]})],
        safe=good('{"error":null,"logs":["a"]}', structured={"error": None, "logs": ["a"]}),
    ),
}
# What is tried over every pair of transports.
REPRESENTATIVES = (
    "bare-result",
    "error-in-bare-result",
    "failure-as-protocol-error",
    "null-id-parse-error",
    "pretty-printed",
    "garbage",
    "content-type-object",
    "list-as-structured-content",
    "content-missing",
    "close-while-waiting",
)
CALLS = {name: case.says for name, case in CASES.items()}
