"""A right MCP server of all five revisions as a pure function, and the places where a case can bend it.

Only the standard library: a child process starts with this in some 40 ms.
"""

import base64
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
_META = "io.modelcontextprotocol/"
INFO = {"name": "stub", "version": "1"}


class _Absent:
    """In place of a member's value: the member is left out."""


ABSENT = _Absent()


@dataclass(frozen=True)
class Sleep:
    """Among replies: wait before the next."""

    seconds: float


# Among replies: say nothing more, ever; end without a word.
HANG: Literal["hang"] = "hang"
EXIT: Literal["exit"] = "exit"


@dataclass(frozen=True)
class Ask:
    """A message and the revision it is asked in. `headers` is None where there are none."""

    message: Json
    revision: str
    headers: dict[str, str] | None = None

    @property
    def method(self) -> str:
        return str(self.message.get("method"))

    @property
    def params(self) -> Json:
        params = self.message.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def is_modern(self) -> bool:
        return self.revision == MODERN

    @property
    def is_call(self) -> bool:
        """Whether it calls the tool that a case bends."""
        return self.method == "tools/call" and self.params.get("name") not in (None, "ok", NOT_THERE)


# The tool that an audit asks for to see what happens.
NOT_THERE = "qortal_mcp_audit_no_such_tool"

# Replies are JSON values, bytes that go out as they are, or one of Sleep, HANG and EXIT.
Replies = list[Any]
Bend = Callable[[Ask, Replies], Replies]


@dataclass(frozen=True)
class HttpReply:
    """`then`: what happens after the body. None as status: no head at all."""

    status: int | None = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    then: Literal["go on", "hold", "close"] = "go on"
    wait: float = 0.0


@dataclass(frozen=True)
class HttpAsk:
    """A request as it came. `asked` are the messages in it: none for GET, DELETE and rubbish."""

    verb: str
    path: str
    headers: dict[str, str]
    body: bytes
    asked: tuple[Ask, ...] = ()

    @property
    def method(self) -> str:
        return self.asked[0].method if self.asked else ""

    @property
    def is_notice(self) -> bool:
        return bool(self.asked) and "id" not in self.asked[0].message


HttpBend = Callable[[HttpAsk, HttpReply], HttpReply]


@dataclass(frozen=True)
class Server:
    """What a stub does; the defaults are right."""

    # Members of the tool `t` that differ.
    tool: Json = field(default_factory=dict)
    # What a call of `t` results in; None: the right thing.
    result: Any = None
    # Members of the result of `initialize` and `server/discover` that differ.
    opening: Json = field(default_factory=dict)
    # The last word on the replies to a message, on an HTTP reply, on the bytes of one reply on a pipe.
    bend: Bend = lambda ask, replies: replies
    http: HttpBend = lambda ask, reply: reply
    frame: Callable[[bytes], bytes] = lambda data: data + b"\n"
    # HTTP: answers as streams; sessions.
    streams: bool = False
    sessions: bool = False
    session_id: str = "session-#-5f0c2d7ab3e94816"
    # A WebSocket's frames.
    binary: bool = False
    # A program: what it says before anything was asked, there and on standard error; what it answers rubbish
    # with; how long it goes on after its input has ended.
    banner: bytes = b""
    stderr: bytes = b""
    garbage: tuple[Any, ...] = (
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}},
    )
    lingers: float = 0.0


RIGHT = Server()
CAPABILITIES: Json = {"tools": {}, "prompts": {}, "resources": {}, "logging": {}, "completions": {}}


def changed(base: Json, members: Json) -> Json:
    """An object with some members replaced, or left out where they are ABSENT."""
    return {key: value for key, value in {**base, **members}.items() if value is not ABSENT}


_NO_ARGUMENTS = {"type": "object", "properties": {}}
_OK_VALUE = {"word": "healthy"}


def tools_of(server: Server, revision: str) -> list[Any]:
    bent: Json = {"name": "t", "description": "The tool in question.", "inputSchema": _NO_ARGUMENTS}
    good: Json = {"name": "ok", "description": "A healthy tool.", "inputSchema": _NO_ARGUMENTS}
    if revision >= "2025-03-26":
        bent["annotations"] = good["annotations"] = {"readOnlyHint": True}
    if revision >= "2025-06-18":
        word = {"type": "string"}
        good["title"] = "Healthy"
        good["outputSchema"] = {"type": "object", "properties": {"word": word}, "required": ["word"]}
    return [changed(bent, server.tool), good]


def text(words: str) -> Json:
    return {"content": [{"type": "text", "text": words}]}


def result(ask: Ask, value: Any) -> Json:
    """A reply. In 2026-07-28 results say that they are complete, and who gives them."""
    if ask.is_modern and isinstance(value, dict):
        value = {"resultType": "complete", "_meta": {f"{_META}serverInfo": INFO}, **value}
    return {"jsonrpc": "2.0", "id": ask.message.get("id"), "result": value}


def error(ask: Ask, code: int, words: str = "no", data: Any = ABSENT) -> Json:
    told = changed({"code": code, "message": words}, {"data": data})
    return {"jsonrpc": "2.0", "id": ask.message.get("id"), "error": told}


def _listed(ask: Ask, value: Json) -> Json:
    kept = {"ttlMs": 0, "cacheScope": "private"} if ask.is_modern else {}
    return result(ask, {**value, **kept})


def _opening(server: Server) -> Json:
    return changed({"capabilities": CAPABILITIES}, server.opening)


_LISTS: Json = {
    "prompts/list": {
        "prompts": [
            {"name": "p", "description": "A prompt.", "arguments": [{"name": "x"}]},
            {"name": "q", "description": "Needs a word.", "arguments": [{"name": "x", "required": True}]},
        ]
    },
    "resources/list": {"resources": [{"uri": "stub://a", "name": "a"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "stub://{x}", "name": "x"}]},
}


def right(ask: Ask, server: Server = RIGHT) -> Replies:
    """The replies of a server that is right but for its tool."""
    if "id" not in ask.message:
        return []
    if ask.is_modern and (wrong := _modern_refusal(ask)):
        return [wrong]
    method = ask.method
    if method == "server/discover" and ask.is_modern:
        return [_listed(ask, {"supportedVersions": [MODERN], **_opening(server)})]
    if method == "initialize" and not ask.is_modern:
        asked = ask.params.get("protocolVersion")
        version = asked if asked in LEGACY else LEGACY[-1]
        value = {"protocolVersion": version, "serverInfo": INFO, **_opening(server)}
        return [result(ask, changed(value, server.opening))]
    if method == "ping" and not ask.is_modern:
        return [result(ask, {})]
    if method == "tools/list" or method in _LISTS:
        if "cursor" in ask.params:
            return [error(ask, -32602, "unknown cursor")]
        page = {"tools": tools_of(server, ask.revision)} if method == "tools/list" else _LISTS[method]
        return [_listed(ask, page)]
    if method == "tools/call":
        return [_called(ask, server)]
    if method in ("prompts/get", "resources/read", "completion/complete"):
        return [_read(ask)]
    if method == "logging/setLevel" and not ask.is_modern:
        is_level = ask.params.get("level") in ("debug", "info", "error")
        return [result(ask, {}) if is_level else error(ask, -32602, "unknown level")]
    return [error(ask, -32601, "Method not found")]


def _read(ask: Ask) -> Json:
    """A prompt, a resource, a completion."""
    if ask.method == "completion/complete":
        if ask.params["ref"]["name"] not in ("p", "q"):
            return error(ask, -32602, "unknown reference")
        return result(ask, {"completion": {"values": ["one", "two"]}})
    if ask.method == "prompts/get":
        if ask.params.get("name") != "p":
            return error(ask, -32602, "unknown prompt")
        return result(ask, {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]})
    uri = ask.params.get("uri")
    if uri != "stub://a":
        return error(ask, -32602 if ask.is_modern else -32002, "Resource not found", {"uri": uri})
    return _listed(ask, {"contents": [{"uri": uri, "text": "words"}]})


def _called(ask: Ask, server: Server) -> Json:
    name = ask.params.get("name")
    names = [tool.get("name") for tool in tools_of(server, ask.revision) if isinstance(tool, dict)]
    if not isinstance(name, str) or name not in names:
        return error(ask, -32602, "unknown tool")
    if name == "ok":
        value: Json = text(json.dumps(_OK_VALUE))
        return result(ask, value | ({"structuredContent": _OK_VALUE} if ask.revision >= "2025-06-18" else {}))
    return result(ask, text("fine") if server.result is None else server.result)


def _modern_refusal(ask: Ask) -> Json | None:
    """In this order: `_meta`, headers, version."""
    meta = ask.params.get("_meta")
    version = meta.get(f"{_META}protocolVersion") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or version is None or f"{_META}clientCapabilities" not in meta:
        return error(ask, -32602, "params._meta is missing")
    if ask.headers is not None:
        name = ask.params.get("name")
        wanted = {"mcp-protocol-version": version, "mcp-method": ask.method}
        if (
            ask.method == "tools/call"
            and isinstance(name, str)
            and name.isascii()
            and " " not in name
            and name
        ):
            wanted["mcp-name"] = name
        if any(_decoded(ask.headers.get(key, "")) != value for key, value in wanted.items()):
            return error(ask, -32020, "header mismatch")
    if version != MODERN:
        return error(ask, -32022, "unsupported version", {"supported": [MODERN], "requested": version})
    return None


def _decoded(value: str) -> str:
    if value.startswith("=?base64?") and value.endswith("?="):
        return base64.b64decode(value[9:-2]).decode()
    return value


def revision_of(message: Any, agreed: str, headers: dict[str, str] | None = None) -> str:
    """Which revision a message is asked in: what it says itself, or what the handshake agreed on."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(meta, dict) and f"{_META}protocolVersion" in meta:
        return MODERN
    given = (headers or {}).get("mcp-protocol-version")
    if given == MODERN:
        return MODERN
    return agreed or (given if given in LEGACY else "2025-03-26" if headers is not None else LEGACY[-1])


def replies_to(server: Server, ask: Ask) -> Replies:
    return server.bend(ask, right(ask, server))


class Connection:
    """A pipe or a WebSocket: what its handshake agreed on holds until its end."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._agreed = ""

    def receive(self, data: bytes) -> Replies:
        try:
            value = json.loads(data)
        except ValueError:
            return list(self._server.garbage)
        if isinstance(value, list):
            answers = [reply for part in value for reply in self._one(part)]
            return [answers] if answers else []
        return self._one(value)

    def _one(self, message: Json) -> Replies:
        ask = Ask(message, revision_of(message, self._agreed))
        if ask.method == "initialize":
            asked = ask.params.get("protocolVersion")
            self._agreed = asked if asked in LEGACY else LEGACY[-1]
            ask = Ask(message, self._agreed)
        return replies_to(self._server, ask)


def encoded(reply: Any) -> bytes:
    return reply if isinstance(reply, bytes) else json.dumps(reply).encode()


_STATUS = {-32700: 400, -32600: 400, -32601: 404, -32602: 400, -32020: 400, -32022: 400}
JSON_TYPE = ("content-type", "application/json")
EVENTS_TYPE = ("content-type", "text/event-stream")
UNBUFFERED = ("x-accel-buffering", "no")


def event(data: bytes) -> bytes:
    return b"event: message\ndata: " + data + b"\n\n"


def refusal(status: int, code: int = -32600, words: str = "no") -> HttpReply:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}}
    return HttpReply(status, (JSON_TYPE,), encoded(body))


class HttpDoor:
    """Streamable HTTP. Remembers its sessions and nothing else."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._sessions: dict[str, str] = {}
        self._opened = itertools.count()

    def reply(self, verb: str, path: str, headers: dict[str, str], body: bytes) -> HttpReply:
        asked = tuple(self._asked(headers, body)) if verb == "POST" else ()
        ask = HttpAsk(verb, path, headers, body, asked)
        return self.server.http(ask, self._right(ask))

    def _asked(self, headers: dict[str, str], body: bytes) -> list[Ask]:
        try:
            value = json.loads(body)
        except ValueError:
            return []
        agreed = self._sessions.get(headers.get("mcp-session-id", ""), "")
        parts = value if isinstance(value, list) else [value]
        return [Ask(part, revision_of(part, agreed, headers), headers) for part in parts]

    def _right(self, ask: HttpAsk) -> HttpReply:
        if ask.headers.get("origin", "http://127.0.0.1") != "http://127.0.0.1":
            return HttpReply(403)
        if ask.verb == "GET":
            return HttpReply(405)
        session = ask.headers.get("mcp-session-id")
        is_modern = bool(ask.asked) and ask.asked[0].is_modern
        if session is not None and self.server.sessions and session not in self._sessions and not is_modern:
            return refusal(404, words="unknown session")
        if ask.verb == "DELETE":
            return HttpReply(200 if self._sessions.pop(session or "", None) else 405)
        if not ask.asked:
            return refusal(400, -32700, "no JSON")
        given = ask.headers.get("mcp-protocol-version")
        if given is not None and given not in LEGACY and not ask.asked[0].is_modern:
            return refusal(400, words="unknown version")
        return self._posted(ask)

    def _posted(self, ask: HttpAsk) -> HttpReply:
        first = ask.asked[0]
        more: tuple[tuple[str, str], ...] = ()
        if first.method == "initialize" and self.server.sessions and not first.is_modern:
            new = self.server.session_id.replace("#", str(next(self._opened)))
            asked = first.params.get("protocolVersion")
            self._sessions[new] = asked if asked in LEGACY else LEGACY[-1]
            more = (("mcp-session-id", new),)
        elif self.server.sessions and not first.is_modern and "mcp-session-id" not in ask.headers:
            return refusal(400, words="a session id is needed")
        replies = [reply for one in ask.asked for reply in replies_to(self.server, one)]
        if isinstance(json.loads(ask.body), list):
            replies = [replies]
        return written(self.server, ask, replies, more)


def written(
    server: Server, ask: HttpAsk, replies: Replies, more: tuple[tuple[str, str], ...] = ()
) -> HttpReply:
    """Replies as HTTP: JSON for one, a stream for several."""
    if HANG in replies:
        return HttpReply(None, then="hold")
    if EXIT in replies:
        return HttpReply(None, then="close")
    wait = sum(one.seconds for one in replies if isinstance(one, Sleep))
    messages = [one for one in replies if not isinstance(one, Sleep)]
    if not messages:
        return HttpReply(202, more)
    reply = messages[0]
    told = reply.get("error") if isinstance(reply, dict) else None
    code = told.get("code") if isinstance(told, dict) else None
    status = _STATUS.get(code, 200) if ask.asked[0].is_modern and isinstance(code, int) else 200
    if (server.streams and status == 200) or len(messages) > 1:
        body = b"".join(event(encoded(one)) for one in messages)
        return HttpReply(200, (EVENTS_TYPE, UNBUFFERED, *more), body, wait=wait)
    return HttpReply(status, (JSON_TYPE, *more), encoded(reply), wait=wait)
