"""The two servers of docs/bridge.md as stand-ins: a music tool in three generations, and a workshop's server. Loopback only."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import WSMsgType, web
from tests.cli.strangers import Answered, http_stranger

Json = dict[str, Any]
_LINES = {"type": "object", "properties": {"lines": {"type": "integer"}}}
_PATCH = {"type": "object", "properties": {"patch_id": {"type": "string"}}, "required": ["patch_id"]}
_MUSIC_TOOLS = [
    {"name": "get_console_log", "description": "The last lines of the console.", "inputSchema": _LINES},
    {"name": "get_patch_info", "description": "One patch.", "inputSchema": _PATCH},
]
_VERSIONS = {"G0": "0.2.0", "G1": "0.2.0", "G2": "1.1.0"}
# What it can take at once: longer messages arrive in pieces, and no piece is JSON.
_REQUEST_BYTES = 4096


def _music(generation: str, message: Json) -> Json | None:
    """What the music tool answers. Members come in alphabetical order."""
    method, params = message["method"], message.get("params") or {}
    if "id" not in message:
        if generation != "G2" or method == "notifications/initialized":
            return None
        return {"error": {"code": -32601, "message": f"Method not found: {method}"}, "id": None}
    reply: Json = {"id": message["id"]}
    if method == "initialize":
        info = {"name": "maxmcp", "version": _VERSIONS[generation]}
        version = params["protocolVersion"]
        return {
            **reply,
            "result": {
                "capabilities": {"tools": {"listChanged": True}},
                "protocolVersion": version,
                "serverInfo": info,
            },
        }
    if method == "tools/list":
        return {**reply, "result": {"tools": _MUSIC_TOOLS}}
    if method != "tools/call":
        return {**reply, "error": {"code": -32601, "message": f"Method not found: {method}"}}
    value: Json = {"count": 1, "logs": ["a"]}
    failed = params["name"] == "get_patch_info"
    if failed:
        value = {"error": {"code": -32602, "message": f"Patch not found: {params['arguments']['patch_id']}"}}
    if generation == "G0":
        return {**reply, "result": value}
    if generation == "G2" and failed:
        return {**reply, **value}
    text = json.dumps(value, separators=(",", ":"))
    return {**reply, "result": {"content": [{"text": text, "type": "text"}], "isError": failed}}


def _frame(reply: Json) -> str:
    return json.dumps({**reply, "jsonrpc": "2.0"}, separators=(",", ":"), sort_keys=True)


def answers_of_music_tool(generation: str, data: str) -> Iterator[str]:
    """What one frame is answered with."""
    raw = data.encode()
    for at in range(0, len(raw), _REQUEST_BYTES):
        try:
            message = json.loads(raw[at : at + _REQUEST_BYTES])
        except ValueError:
            yield _frame({"error": {"code": -32700, "message": "Parse error"}, "id": None})
            continue
        if (reply := _music(generation, message)) is not None:
            yield _frame(reply)


@contextlib.contextmanager
def music_tool(generation: str) -> Iterator[str]:
    """The address of one generation of the music tool."""

    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=("mcp",))
        await socket.prepare(request)
        async for frame in socket:
            if frame.type is WSMsgType.TEXT:
                for answer in answers_of_music_tool(generation, frame.data):
                    await socket.send_str(answer)
        return socket

    async def serve() -> None:
        app = web.Application()
        app.router.add_get("/", handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ports.append(runner.addresses[0][1])
        started.set()
        await over.wait()
        await runner.cleanup()

    ports: list[int] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(30)
        yield f"ws://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


_WORKSHOP_TOOL = {
    "name": "get_weather_forecast",
    "title": "Weather",
    "description": "The weather of a place.",
    "inputSchema": {
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
    },
    "outputSchema": {"type": "object", "properties": {"location": {"type": "string"}}},
}


def _workshop(verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
    if verb != "POST":
        return 405, {"content-type": "application/json"}, b'{"detail":"Method Not Allowed"}'
    return 200, {"content-type": "application/json"}, answer_of_workshop(body).encode()


def answer_of_workshop(body: bytes | str) -> str:
    """What one message is answered with."""
    message = json.loads(body)
    reply: Json = {"jsonrpc": "2.0", "id": message.get("id"), "result": None, "error": None}
    if message["method"] == "tools/list":
        reply["result"] = {"tools": [_WORKSHOP_TOOL]}
    elif message["method"] == "tools/call":
        value = {"location": message["params"]["arguments"]["location"], "celsius": -3}
        text = json.dumps(value, indent=2, ensure_ascii=False)
        reply["result"] = {
            "content": [{"type": "text", "text": text}],
            "structuredContent": value,
            "isError": False,
        }
    else:
        reply["error"] = {"code": -32601, "message": f"Method not found: {message['method']}"}
    return json.dumps(reply, separators=(",", ":"), ensure_ascii=False)


@contextlib.contextmanager
def workshop() -> Iterator[str]:
    """The address of the workshop's server."""
    with http_stranger(_workshop) as url:
        yield url.replace("/mcp", "/message")
