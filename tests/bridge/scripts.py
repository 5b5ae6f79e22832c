"""What servers say to each message, as pure functions. Every stand-in can follow them, on any wire."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class Binary(Struct, frozen=True):
    """A binary frame; elsewhere a message like any other."""

    data: bytes


class Close(Struct, frozen=True):
    """The connection ends: with this code on a WebSocket, in the middle of it elsewhere."""

    code: int = 1011


class Http(Struct, frozen=True):
    """A whole HTTP reply. Only a Streamable HTTP server can say it."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


Said = bytes | Binary | Close | Http
Saying = Sequence[Said]
# From a message, or from text that is not one, to what is said in reply.
Script = Callable[[Any], Saying]

HANDSHAKE: Json = {
    "capabilities": {"tools": {"listChanged": True}},
    "protocolVersion": "$VERSION",
    "serverInfo": {"name": "stand-in", "version": "1"},
}


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def result(value: Any) -> bytes:
    """A result for the request; `$ID` is its id, in the type in which it came."""
    return f'{{"id":$ID,"jsonrpc":"2.0","result":{compact(value)}}}'.encode()


def error(code: int, words: str, id_: str = "$ID") -> bytes:
    return f'{{"error":{compact({"code": code, "message": words})},"id":{id_},"jsonrpc":"2.0"}}'.encode()


def text(words: str, *, is_error: bool = False) -> bytes:
    return result({"content": [{"type": "text", "text": words}], "isError": is_error})


def tool(name: str, **members: Any) -> Json:
    return {"name": name, "description": "A tool.", "inputSchema": {"type": "object"}, **members}


def serving(
    calls: Mapping[str, Saying] | None = None,
    *,
    entries: Sequence[Json] | None = None,
    handshake: Json | None = None,
    **methods: Saying,
) -> Script:
    """A server with a tool for each saying. `methods`, with `/` written as `__`, beat what it says otherwise."""
    calls = calls or {}
    listed = [tool(name) for name in calls] if entries is None else list(entries)
    known: dict[str, Saying] = {
        "initialize": [result(HANDSHAKE if handshake is None else handshake)],
        "tools/list": [result({"tools": listed})],
        **{name.replace("__", "/"): said for name, said in methods.items()},
    }

    def answer(message: Any) -> Saying:
        method = message.get("method") if isinstance(message, dict) else None
        params = (message.get("params") or {}) if method is not None else {}
        if method in known:
            said = known[method]
        elif method == "tools/call":
            said = calls.get(str(params.get("name")), [error(-32602, f"Unknown tool: {params.get('name')}")])
        elif method is None or "id" not in message:
            return ()
        else:
            said = [error(-32601, "Method not found: $METHOD")]
        return tuple(filled(one, message) for one in said)

    return answer


def filled(said: Said, message: Any) -> Said:
    """What is said, with what it repeats of the message."""
    if isinstance(said, Binary):
        return Binary(_filled(said.data, message))
    if isinstance(said, Http):
        return Http(said.status, _filled(said.body, message), said.headers)
    return _filled(said, message) if isinstance(said, bytes) else said


def _filled(data: bytes, message: Any) -> bytes:
    params = message.get("params") or {}
    for name, value in (
        ("$ID", compact(message.get("id"))),
        ("$VERSION", str(params.get("protocolVersion"))),
        ("$METHOD", str(message.get("method"))),
        ("$TOKEN", compact((params.get("_meta") or {}).get("progressToken"))),
    ):
        data = data.replace(name.encode(), value.encode())
    return data
