"""The workshop's server, over HTTP: as it is, and as a server that real clients can use."""

import json

from .dialogue import NOTHING, Calls, Reply, System

CALLS: Calls = (
    ("get_weather_forecast", {"location": "Oslo"}),
    ("get_random_fact", {}),
)
_TOOLS = [
    {
        "name": "get_weather_forecast",
        "title": "Weather",
        "description": "The weather of a place.",
        "inputSchema": {
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"degrees": {"type": "number"}},
            "required": ["degrees"],
        },
    },
    {
        "name": "get_random_fact",
        "title": "Fact",
        "description": "Something to know.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]
_WEATHER = {"degrees": 7}


def _both(result: str, error: str) -> Reply:
    return Reply(f'{{"jsonrpc":"2.0","id":$ID,"result":{result},"error":{error}}}')


def _error(code: int, words: str) -> Reply:
    return _both("null", f'{{"code":{code},"message":"{words}"}}')


_DETAIL = Reply('{"detail":[{"type":"json_invalid","loc":["body"],"msg":"JSON decode error"}]}', 422)

NOW = System(
    name="workshop-now",
    target="http://127.0.0.1:8000/message",
    transport="http",
    calls=CALLS,
    # It agrees to none: its own client asks for tools without a handshake.
    revisions=("2025-06-18",),
    says={
        "unknown-method": _error(-32601, "Method not found"),
        "initialize": _error(-32601, "Method not found"),
        "tools/list": _both(json.dumps({"tools": _TOOLS}), "null"),
        "bad-version-header": _both(json.dumps({"tools": _TOOLS}), "null"),
        "tools/call get_weather_forecast": _both(
            json.dumps(
                {
                    "content": [{"type": "text", "text": json.dumps(_WEATHER, indent=2)}],
                    "structuredContent": _WEATHER,
                    "isError": False,
                }
            ),
            "null",
        ),
        "tools/call get_random_fact": _both(
            r'{"content":[{"type":"text","text":"{\"error\": \"OpenWeather API-nøkkel mangler\"}"}],"isError":true}',
            "null",
        ),
        "unknown-tool": _both(
            '{"content":[{"type":"text","text":"Ukjent tool: nope"}],"isError":true}', "null"
        ),
        "call-without-name": _error(-32602, "Invalid params"),
        "raw garbage": _DETAIL,
        "get-stream": Reply('{"detail":"Method Not Allowed"}', 405),
    },
)


def _result(value: object) -> Reply:
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Reply(f'{{"jsonrpc":"2.0","id":$ID,"result":{body}}}')


def _refusal(code: int, words: str, status: int = 200, id_: str = "$ID") -> Reply:
    return Reply(f'{{"jsonrpc":"2.0","id":{id_},"error":{{"code":{code},"message":"{words}"}}}}', status)


def _opening(version: str) -> Reply:
    info = {"name": "mcp-server", "version": "1.0.0"}
    return _result({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})


AFTER = System(
    name="workshop-after",
    target="http://127.0.0.1:8000/mcp",
    transport="http",
    calls=CALLS,
    says={
        "unknown-method": _refusal(-32601, "Method not found"),
        "initialize": _opening("$VERSION"),
        "initialize 1999-01-01": _opening("2025-11-25"),
        "notifications/initialized": NOTHING,
        "unknown-notification": NOTHING,
        "notifications/cancelled": NOTHING,
        "ping": _result({}),
        "after-garbage": _result({}),
        "foreign-origin": Reply(status=403),
        "tools/list": _result({"tools": _TOOLS}),
        "bad-version-header": _refusal(-32600, "Unsupported protocol version", 400),
        "tools/call get_weather_forecast": _result(
            {
                "content": [{"type": "text", "text": json.dumps(_WEATHER)}],
                "structuredContent": _WEATHER,
                "isError": False,
            }
        ),
        "tools/call get_random_fact": _result(
            {"content": [{"type": "text", "text": "OpenWeather API-nøkkel mangler"}], "isError": True}
        ),
        "unknown-tool": _refusal(-32602, "Ukjent tool: nope"),
        "call-without-name": _refusal(-32602, "Invalid params"),
        "raw batch": Reply('[{"jsonrpc":"2.0","id":9001,"result":{}}]'),
        "raw garbage": _refusal(-32700, "Parse error", 400, "null"),
        "get-stream": Reply('{"detail":"Method Not Allowed"}', 405),
    },
)

SYSTEMS = (NOW, AFTER)
