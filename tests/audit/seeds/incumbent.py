"""The Qortal server before this one, over HTTP: as it began, as it is, and as its audits meant it to be.

Only the wire: what each line says was documented when that server was run; nothing of its code is here.
"""

import json
from typing import Any

from .dialogue import NOTHING, Calls, Reply, System

TARGET = "http://127.0.0.1:8000/mcp"
INFO = '{"name":"qortal-mcp-server","version":"0.1.0"}'
ADDRESS = {"type": "string", "minLength": 34, "maxLength": 34, "pattern": "^Q[1-9A-HJ-NP-Za-km-z]{33}$"}
CALLS: Calls = (
    ("validate_address", {"address": "bad"}),
    ("get_balance", {"address": "12345"}),
    ("list_trade_offers", {"limit": 1}),
    ("get_node_status", {}),  # the sixth call within a second
)
OFFER = {"tradeAddress": "Aa", "creator": "Qb", "offeringQort": "1.00000000", "mode": "OFFERING"}


def _tool(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {
        "name": name,
        "description": f"About {name}.",
        "params": dict.fromkeys(properties, "free text"),
        "inputSchema": {**schema, **more},
    }


LIMIT = {"type": "integer", "minimum": 0, "maximum": 100}
TOOLS = [
    _tool("validate_address", {"address": ADDRESS}, required=["address"]),
    _tool("get_balance", {"address": ADDRESS}, required=["address"]),
    _tool("list_trade_offers", {"limit": LIMIT}),
    _tool("get_node_status", {}),
    _tool("search_transactions", {"tx_types": {"type": "array"}}),
    _tool(
        "search_qdn",
        {"address": ADDRESS, "service": {"type": "integer"}},
        anyOf=[{"required": ["address"]}, {"required": ["service"]}],
    ),
]


def result(value: str) -> Reply:
    return Reply(f'{{"jsonrpc":"2.0","id":$ID,"result":{value}}}')


def error(code: int, words: str, status: int = 200, id_: str = "$ID") -> Reply:
    told = f'{{"code":{code},"message":"{words}"}}'
    return Reply(f'{{"jsonrpc":"2.0","id":{id_},"error":{told}}}', status)


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


NOW = System(
    name="incumbent-now",
    target=TARGET,
    transport="http",
    calls=CALLS,
    says={
        "initialize": result(
            '{"protocolVersion":"$VERSION","capabilities":{"tools":{"listChanged":false}},"serverInfo":'
            f"{INFO}}}"
        ),
        "notifications/initialized": Reply(status=204),
        "unknown-method": error(-32601, "Method not found"),
        "unknown-notification": error(-32601, "Method not found", id_="null"),
        "notifications/cancelled": error(-32601, "Method not found", id_="null"),
        "tools/list": result(compact({"tools": TOOLS})),
        "bad-version-header": result(compact({"tools": TOOLS})),
        "unknown-tool": result(
            '{"content":[{"type":"text","text":"Unknown tool: x"}],"isError":true,'
            '"structuredContent":{"error":"Unknown tool: x"}}'
        ),
        "call-without-name": error(-32602, "Tool name is required"),
        "tools/call validate_address": result(
            r'{"content":[{"type":"text","text":"{\"isValid\": false}"}],"structuredContent":{"isValid":false}}'
        ),
        "tools/call get_balance": result(
            '{"content":[{"type":"text","text":"Invalid Qortal address."}],"isError":true,'
            '"structuredContent":{"error":"Invalid Qortal address."}}'
        ),
        "tools/call list_trade_offers": result(
            compact(
                {"content": [{"type": "text", "text": json.dumps([OFFER])}], "structuredContent": [OFFER]}
            )
        ),
        "tools/call get_node_status": Reply(
            '{"jsonrpc":"2.0","error":{"code":429,"message":"Rate limit exceeded"}}', 429
        ),
        "raw batch": error(-32600, "Invalid request", 400, "null"),
        "raw garbage": error(-32700, "Parse error", 400, "null"),
        "get-stream": Reply('{"detail":"Method Not Allowed"}', 405),
    },
)


def _with_request_id(reply: Reply) -> Reply:
    """Every reply named its request a second time, beside its id."""
    is_message = reply.body.startswith('{"jsonrpc"') and reply.status == 200
    return Reply(f'{reply.body[:-1]},"requestId":"7c9e6679"}}', reply.status) if is_message else reply


def _object(value: str) -> Reply:
    return result(f'{{"content":[{{"type":"object","object":{value}}}]}}')


BEFORE = System(
    name="incumbent-before",
    target=TARGET,
    transport="http",
    calls=CALLS,
    says={
        name: _with_request_id(reply)
        for name, reply in {
            **NOW.says,
            "unknown-tool": _object('{"error":"Unknown tool: x"}'),
            "tools/call validate_address": _object('{"isValid":false}'),
            "tools/call get_balance": _object('{"error":"Invalid Qortal address."}'),
            "tools/call list_trade_offers": _object(compact({"offers": [OFFER]})),
        }.items()
    },
)


_SCHEMAS: dict[str, dict[str, Any]] = {
    "validate_address": {"isValid": {"type": "boolean"}},
    "get_balance": {"balance": {"type": "string"}},
    "list_trade_offers": {"offers": {"type": "array", "items": {"type": "object"}}},
    "get_node_status": {"height": {"type": "integer"}},
    "search_transactions": {"transactions": {"type": "array", "items": {"type": "object"}}},
    "search_qdn": {"resources": {"type": "array", "items": {"type": "object"}}},
}


def _mended(tool: dict[str, Any]) -> dict[str, Any]:
    schema = dict(tool["inputSchema"])
    schema.pop("anyOf", None)
    if "tx_types" in schema["properties"]:
        schema["properties"] = {"tx_types": {"type": "array", "items": {"type": "string"}}}
    output = _SCHEMAS[tool["name"]]
    return {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": schema,
        "outputSchema": {"type": "object", "properties": output, "required": list(output)},
        "annotations": {"readOnlyHint": True},
    }


MENDED_TOOLS = [_mended(tool) for tool in TOOLS]


def success(value: object) -> Reply:
    """The same value twice: as text, and as an object."""
    block = {"type": "text", "text": compact(value)}
    return result(compact({"content": [block], "structuredContent": value, "isError": False}))


def failure(words: str) -> Reply:
    return result(compact({"content": [{"type": "text", "text": words}], "isError": True}))


AFTER = System(
    name="incumbent-after",
    target=TARGET,
    transport="http",
    calls=CALLS,
    says={
        **NOW.says,
        "initialize 1999-01-01": Reply(NOW.says["initialize"].body.replace("$VERSION", "2025-11-25")),
        "notifications/initialized": NOTHING,
        "unknown-notification": NOTHING,
        "notifications/cancelled": NOTHING,
        "ping": result("{}"),
        "after-garbage": result("{}"),
        "tools/list": result(compact({"tools": MENDED_TOOLS})),
        "bad-version-header": error(-32600, "Unsupported protocol version", 400),
        "foreign-origin": Reply(status=403),
        "unknown-tool": error(-32602, "Unknown tool: x"),
        "tools/call validate_address": success({"isValid": False}),
        "tools/call get_balance": failure("Invalid Qortal address."),
        "tools/call list_trade_offers": success({"offers": [OFFER]}),
        "tools/call get_node_status": failure("Too many calls. Try again in 1 s."),
        "raw batch": Reply('[{"jsonrpc":"2.0","id":9001,"result":{}}]'),
    },
)

SYSTEMS = (BEFORE, NOW, AFTER)
