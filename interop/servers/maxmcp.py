"""Stands in for MaxMCP, which needs Max to run: `g0`, `g1` or `g2`, three generations of its replies, over WebSocket."""

import asyncio
import json
import sys

from websockets.asyncio.server import serve

generation = sys.argv[1]
# A longer request is handed over in pieces, each read as a message of its own.
RECEIVE_BYTES = 4096

NAMES = [
    "list_active_patches",
    "get_patch_info",
    "get_frontmost_patch",
    "add_max_object",
    "remove_max_object",
    "get_objects_in_patch",
    "set_object_attribute",
    "get_object_attribute",
    "get_object_io_info",
    "get_object_hidden",
    "set_object_hidden",
    "redraw_object",
    "replace_object_text",
    "assign_varnames",
    "get_object_value",
    "connect_max_objects",
    "disconnect_max_objects",
    "get_patchlines",
    "set_patchline_midpoints",
    "get_patch_lock_state",
    "set_patch_lock_state",
    "get_patch_dirty",
    "get_parent_patcher",
    "get_subpatchers",
    "get_console_log",
    "get_avoid_rect_position",
    "validate_layout",
    "get_io_position",
    "suggest_alignment",
    "align_objects",
]
PATCH = {"patch_id": {"type": "string"}}


def schema_of(name):
    if name == "list_active_patches":
        # No arguments: the first generation had null for that.
        return {"properties": None if generation == "g0" else {}, "type": "object"}
    properties = dict(PATCH)
    if name == "add_max_object":
        items = ["type", "number"] if generation == "g0" else {"type": "number"}
        properties["position"] = {"items": items, "type": "array"}
    if name == "set_object_attribute":
        properties["value"] = {"oneOf": [{"type": "number"}, {"type": "string"}]}
    return {"properties": properties, "required": ["patch_id"], "type": "object"}


TOOLS = [
    {"description": f"Does {name.replace('_', ' ')}.", "inputSchema": schema_of(name), "name": name}
    for name in NAMES
]


def value_of(params):
    """What the tool itself gives."""
    name = params["name"]
    if name not in NAMES:
        return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    if name == "list_active_patches":
        return {"count": 2, "patches": ["drums", "synth"]}
    patch = params.get("arguments", {}).get("patch_id", "")
    if patch not in ("drums", "synth"):
        return {"error": {"code": -32602, "message": f"Patch not found: {patch}"}}
    return {"result": {"patch_id": patch, "status": "success"}}


def called(params):
    """The reply's `result` or `error`, as this generation writes it."""
    value = value_of(params)
    if generation == "g0":
        return {"result": value}
    if generation == "g2":
        if "error" in value:
            return value
        value = value.get("result", value)
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return {"result": {"content": [{"text": text, "type": "text"}], "isError": "error" in value}}


def reply_to(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        info = {"name": "maxmcp", "version": "1.1.0" if generation == "g2" else "0.2.0"}
        capabilities = {"tools": {"listChanged": True}}
        version = params["protocolVersion"]
        return {"result": {"capabilities": capabilities, "protocolVersion": version, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call":
        return called(params)
    words = f"Method not found: {method}" if generation == "g2" else "Method not found"
    return {"error": {"code": -32601, "message": words}}


def answers_notices(method):
    return generation == "g2" and method != "notifications/initialized"


def frames_for(data):
    for start in range(0, len(data), RECEIVE_BYTES):
        try:
            message = json.loads(data[start : start + RECEIVE_BYTES])
            if "id" in message or answers_notices(message["method"]):
                yield {**reply_to(message), "id": message.get("id"), "jsonrpc": "2.0"}
        except (ValueError, LookupError, TypeError, AttributeError) as exc:
            words = f"Parse error: {type(exc).__name__}"
            yield {"error": {"code": -32700, "message": words}, "id": None, "jsonrpc": "2.0"}


async def handle(socket):
    async for text in socket:
        for frame in frames_for(text.encode()):
            await socket.send(json.dumps(frame, separators=(",", ":"), sort_keys=True))


async def main():
    # As the real one: whoever offers another name than this is refused.
    async with serve(handle, "127.0.0.1", 0, subprotocols=["mcp"]) as server:
        port = server.sockets[0].getsockname()[1]
        print(f"Listening on ws://127.0.0.1:{port}/", file=sys.stderr, flush=True)
        await server.serve_forever()


asyncio.run(main())
