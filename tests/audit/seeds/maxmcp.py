"""MaxMCP, over a WebSocket: its first build, three generations of its replies, and what they should have become.

Compact JSON with members in the order of the alphabet, as its library writes them.
"""

from .dialogue import Calls, Reply, System

TARGET = "ws://127.0.0.1:7400/"
OPENED = 101
REFUSED = 403
NOTHING = Reply()
CALLS: Calls = (
    ("list_active_patches", {}),
    ("add_max_object", {"patch_id": "p"}),
    ("get_patch_info", {"patch_id": "x"}),
)


def result(value: str) -> Reply:
    return Reply(f'{{"id":$ID,"jsonrpc":"2.0","result":{value}}}')


def error(code: int, words: str, id_: str = "$ID") -> Reply:
    return Reply(f'{{"error":{{"code":{code},"message":"{words}"}},"id":{id_},"jsonrpc":"2.0"}}')


def _tools(properties: str, items: str) -> Reply:
    patch = '{"properties":{"patch_id":{"type":"string"}},"required":["patch_id"],"type":"object"}'
    position = f'{{"patch_id":{{"type":"string"}},"position":{{"items":{items},"type":"array"}}}}'
    return result(
        '{"tools":['
        f'{{"description":"Lists patches.","inputSchema":{{"properties":{properties},"type":"object"}},'
        '"name":"list_active_patches"},'
        '{"description":"Adds an object.","inputSchema":'
        f'{{"properties":{position},"required":["patch_id"],"type":"object"}},"name":"add_max_object"}},'
        f'{{"description":"Tells about a patch.","inputSchema":{patch},"name":"get_patch_info"}}'
        "]}"
    )


def _initialize(version: str, protocol: str = "$VERSION") -> Reply:
    return result(
        f'{{"capabilities":{{"tools":{{"listChanged":true}}}},"protocolVersion":"{protocol}",'
        f'"serverInfo":{{"name":"maxmcp","version":"{version}"}}}}'
    )


def _text(words: str, is_error: str = "false") -> Reply:
    return result(f'{{"content":[{{"text":"{words}","type":"text"}}],"isError":{is_error}}}')


_UNREADABLE = error(-32700, "Parse error: [json.exception.type_error.302]", "null")
_NOT_JSON = error(-32700, "Parse error", "null")

G0 = System(
    name="maxmcp-G0",
    target=TARGET,
    transport="websocket",
    calls=CALLS,
    says={
        "initialize": _initialize("0.2.0"),
        "notifications/initialized": NOTHING,
        "unknown-notification": NOTHING,
        "notifications/cancelled": NOTHING,
        "unknown-method": error(-32601, "Method not found"),
        "tools/list": _tools("{}", '{"type":"number"}'),
        "tools/call list_active_patches": result('{"count":1,"patches":["p"]}'),
        "tools/call add_max_object": result('{"result":{"status":"success","varname":"b"}}'),
        "tools/call get_patch_info": result('{"error":{"code":-32602,"message":"Patch not found: x"}}'),
        "unknown-tool": result('{"error":{"code":-32602,"message":"Unknown tool: x"}}'),
        "call-without-name": _UNREADABLE,
        "raw batch": _UNREADABLE,
        "raw garbage": _NOT_JSON,
        "foreign-page": Reply(status=OPENED),
    },
)

# Builds before that: always the oldest version, and schemas that are none.
EARLY = System(
    name="maxmcp-early",
    target=TARGET,
    transport="websocket",
    calls=CALLS,
    revisions=("2024-11-05",),
    says={
        **G0.says,
        "initialize": _initialize("0.2.0", "2024-11-05"),
        "tools/list": _tools("null", '["type","number"]'),
    },
)

G1 = System(
    name="maxmcp-G1",
    target=TARGET,
    transport="websocket",
    calls=CALLS,
    says={
        **G0.says,
        "tools/call list_active_patches": _text(r"{\"count\":1,\"patches\":[\"p\"]}"),
        "tools/call add_max_object": _text(r"{\"result\":{\"status\":\"success\",\"varname\":\"b\"}}"),
        "tools/call get_patch_info": _text(
            r"{\"error\":{\"code\":-32602,\"message\":\"Patch not found: x\"}}", "true"
        ),
        "unknown-tool": _text(r"{\"error\":{\"code\":-32602,\"message\":\"Unknown tool: x\"}}", "true"),
    },
)

G2 = System(
    name="maxmcp-G2",
    target=TARGET,
    transport="websocket",
    calls=CALLS,
    says={
        **G1.says,
        "initialize": _initialize("1.1.0"),
        "unknown-method": error(-32601, "Method not found: $METHOD"),
        "unknown-notification": error(-32601, "Method not found: $METHOD", "null"),
        "notifications/cancelled": error(-32601, "Method not found: $METHOD", "null"),
        "tools/call add_max_object": _text(r"{\"status\":\"success\",\"varname\":\"b\"}"),
        "tools/call get_patch_info": error(-32602, "Patch not found: x"),
        "unknown-tool": error(-32602, "Unknown tool: x"),
        "call-without-name": error(-32602, "Missing tool name"),
    },
)

AFTER = System(
    name="maxmcp-after",
    target=TARGET,
    transport="websocket",
    calls=CALLS,
    says={
        **G2.says,
        "initialize": _initialize("1.2.0"),
        "initialize 1999-01-01": _initialize("1.2.0", "2025-11-25"),
        "unknown-notification": NOTHING,
        "notifications/cancelled": NOTHING,
        "ping": result("{}"),
        "after-garbage": result("{}"),
        "tools/call get_patch_info": _text("Patch not found: x", "true"),
        "raw batch": Reply('[{"id":9001,"jsonrpc":"2.0","result":{}}]'),
        "foreign-page": Reply(status=REFUSED),
    },
)

SYSTEMS = (EARLY, G0, G1, G2, AFTER)
