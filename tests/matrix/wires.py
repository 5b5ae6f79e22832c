"""The test's side of a connection: says any bytes, hears everything, and proves what it hears.

A wire is the same for every transport: `post` puts a message on it, whatever comes back lands in one inbox in
the order of arrival. What only HTTP has (status, headers, a connection of its own) is on the `Post`.
"""

import asyncio
import itertools
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import websockets.asyncio.client
from tests.matrix import rawhttp
from tests.matrix.processes import Child, Zygote
from tests.matrix.proof import prove
from websockets.exceptions import ConnectionClosed

from qortal_mcp.protocol.framing import LineSplitter
from qortal_mcp.server import Server
from qortal_mcp.transports.memory import MemoryConnection

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
REVISIONS = (*LEGACY, MODERN)
TRANSPORTS = ("memory", "stdio", "http", "sessions", "websocket")

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = {"name": "matrix", "version": "1"}
EVERYTHING: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {}}
BOTH_TYPES = "application/json, text/event-stream"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

Json = dict[str, Any]


def unique(name: str) -> str:
    """A mark that no other test of a shared server uses."""
    return f"{name} {secrets.token_hex(4)}"


def strictly(text: bytes) -> Any:
    """JSON as RFC 8259 has it: UTF-8, no NaN, no member twice."""

    def refuse(what: str) -> Any:
        raise AssertionError(f"{what} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> Json:
        assert len({name for name, _ in pairs}) == len(pairs), f"a member twice: {pairs}"
        return dict(pairs)

    return json.loads(text.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)


class Post:
    """A message on its way. On HTTP it has a connection, a status and headers of its own."""

    def __init__(self) -> None:
        self.head: asyncio.Future[rawhttp.Reply] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None
        self.text = b""
        self.event_ids: list[str] = []

    async def status(self) -> int | None:
        """The HTTP status; None on a wire that has none."""
        if self.task is None:
            return None
        async with asyncio.timeout(30):
            return (await self.head).status

    async def done(self) -> None:
        if self.task is not None:
            async with asyncio.timeout(30):
                await self.task

    async def drop(self) -> None:
        """Close the connection without waiting for the rest."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)


class Answer:
    """What a request got: its reply, what came before it, and its HTTP status."""

    def __init__(self, reply: Json, before: list[Json], status: int | None, post: Post) -> None:
        self.reply = reply
        self.before = before
        self.status = status
        self.post = post

    @property
    def result(self) -> Json:
        assert "result" in self.reply, self.reply
        found: Json = self.reply["result"]
        return found

    @property
    def error(self) -> Json:
        assert "error" in self.reply, self.reply
        found: Json = self.reply["error"]
        return found

    @property
    def code(self) -> int:
        found: int = self.error["code"]
        return found

    @property
    def text(self) -> str:
        """The text of a tool's answer."""
        (block,) = self.result["content"]
        found: str = block["text"]
        return found


class Wire:
    """One client's connection, or on HTTP its series of requests."""

    transport = ""
    # A connection that lasts needs a handshake for the legacy era and has no statuses.
    lasting = True

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.modern = revision == MODERN
        self.capabilities: Json = EVERYTHING
        self.inbox: asyncio.Queue[Json | list[Json] | Exception] = asyncio.Queue()
        self.answers: dict[str, Callable[[Json], Json]] = {}
        self.initialized: Json = {}
        self.child: Child | None = None
        self._asked: dict[tuple[type, Any], str] = {}
        self._ids = itertools.count(1)

    async def raw(self, data: bytes, headers: rawhttp.Headers = ()) -> Post:
        """Put bytes on the wire as they are, as one message."""
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    def new_id(self) -> int:
        return next(self._ids)

    def message(self, method: str, params: Json | None = None, *, id: Any = ..., meta: Any = None) -> Json:
        """A request as a client of this revision writes it."""
        params = dict(params or {})
        if self.modern:
            params["_meta"] = {VERSION: self.revision, CAPABILITIES: self.capabilities, **(meta or {})}
        elif meta is not None:
            params["_meta"] = meta
        message = {"jsonrpc": "2.0", "id": self.new_id() if id is ... else id, "method": method}
        return {**message, "params": params} if params else message

    def remember(self, message: Any) -> None:
        """Note what was asked under which id, so that the answer can be proved by its kind."""
        for each in message if isinstance(message, list) else [message]:
            if isinstance(each, dict) and isinstance(each.get("method"), str):
                id_ = each.get("id")
                if isinstance(id_, int | str):
                    self._asked[type(id_), id_] = each["method"]

    def headers_of(self, message: Any) -> list[tuple[str, str]]:
        return []

    async def post(self, message: Any, headers: rawhttp.Headers = ()) -> Post:
        self.remember(message)
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        return await self.raw(data, [*self.headers_of(message), *headers])

    async def receive(self) -> Json:
        """The next message of any kind."""
        found = await self.receive_any()
        assert isinstance(found, dict), found
        return found

    async def receive_any(self) -> Json | list[Json]:
        async with asyncio.timeout(30):
            found = await self.inbox.get()
        if isinstance(found, Exception):
            raise found
        return found

    async def reply_to(self, id_: Any, before: list[Json] | None = None) -> Json:
        """The answer to one request; what else comes goes to `before`, questions are answered."""
        while True:
            message = await self.receive()
            if "method" not in message and message["id"] == id_ and type(message["id"]) is type(id_):
                return message
            if before is not None:
                before.append(message)
            if "method" in message and "id" in message and message["method"] in self.answers:
                answer = self.answers[message["method"]](message.get("params", {}))
                await self.post({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def request(
        self,
        method: str,
        params: Json | None = None,
        *,
        id: Any = ...,
        meta: Any = None,
        headers: rawhttp.Headers = (),
    ) -> Answer:
        message = self.message(method, params, id=id, meta=meta)
        return await self.answer(message, headers)

    async def answer(self, message: Json, headers: rawhttp.Headers = ()) -> Answer:
        post = await self.post(message, headers)
        before: list[Json] = []
        reply = await self.reply_to(message["id"], before)
        status = await post.status()
        await post.done()
        return Answer(reply, before, status, post)

    async def call(self, tool: str, arguments: Json | None = None, **more: Any) -> Answer:
        params: Json = {"name": tool}
        if arguments is not None:
            params["arguments"] = arguments
        return await self.request("tools/call", params, **more)

    async def notify(self, method: str, params: Json | None = None) -> Post:
        message: Json = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        return await self.post(message)

    async def said_nothing(self, post: Post) -> None:
        """Nothing answers what was posted: 202 without a body, or silence up to the next answer."""
        if await post.status() is not None:
            await post.done()
            assert (await post.status(), post.text) == (202, b"")
        answer = await self.fence()
        assert answer.before == [], answer.before
        assert self.inbox.empty()

    async def fence(self) -> Answer:
        """A request that is always answered: what came before it is there when it is."""
        if self.modern:
            return await self.request("server/discover")
        return await self.request("ping")

    async def heard(self, post: Post) -> list[Any]:
        """Everything that answers a post of any bytes."""
        if await post.status() is not None:
            await post.done()
        fence = self.message("server/discover" if self.modern else "ping", id=f"fence {self.new_id()}")
        await self.post(fence)
        found: list[Any] = []
        while True:
            message = await self.receive_any()
            if isinstance(message, dict) and message.get("id") == fence["id"]:
                return found
            found.append(message)

    async def heard_soon(self, post: Post) -> list[Any]:
        """What answers a post that takes its time: one thing, and nothing after it."""
        found = await self.receive_any()
        await post.done()
        return [found, *await self.heard(post)]

    async def shake_hands(self) -> Answer:
        """The handshake of the legacy era."""
        params = {
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": CLIENT_INFO,
        }
        answer = await self.request("initialize", params)
        self.initialized = answer.result
        self.note_session(answer)
        await (await self.notify("notifications/initialized")).done()
        return answer

    def note_session(self, answer: Answer) -> None:
        """Keep what later requests must repeat."""

    def take(self, data: bytes) -> None:
        """Something arrived: judge it and put it into the inbox."""
        try:
            assert b"\n" not in data, "a message stands on one line"
            message = strictly(data)
            for each in message if isinstance(message, list) else [message]:
                id_ = each.get("id") if isinstance(each, dict) else None
                prove(self.revision, each, self._asked.get((type(id_), id_)))
            self.inbox.put_nowait(message)
        except Exception as exc:
            self.inbox.put_nowait(exc)


class MemoryWire(Wire):
    transport = "memory"

    def __init__(self, revision: str, server: Server) -> None:
        super().__init__(revision)
        self._connection = MemoryConnection(server)
        self._reader = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        while True:
            self.take(await self._connection.receive())

    async def raw(self, data: bytes, headers: rawhttp.Headers = ()) -> Post:
        await self._connection.send(data)
        return Post()

    async def close(self) -> None:
        await self._connection.close()
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)


class StdioWire(Wire):
    transport = "stdio"

    def __init__(self, revision: str, child: Child, out_fd: int, in_fd: int) -> None:
        super().__init__(revision)
        self.child = child
        self._out, self._in = out_fd, in_fd
        self._lines = LineSplitter(1 << 26, exact=True)
        self.ended = asyncio.Event()
        os.set_blocking(in_fd, False)
        asyncio.get_running_loop().add_reader(in_fd, self._read)

    def _read(self) -> None:
        data = os.read(self._in, 1 << 20)
        if not data:
            asyncio.get_running_loop().remove_reader(self._in)
            self.ended.set()
        for line in self._lines.feed(data) if data else self._lines.close():
            assert isinstance(line, bytes)
            assert line.endswith(b"\n"), line
            self.take(line[:-1])

    async def write(self, data: bytes) -> None:
        """Any bytes, without a line ending of ours."""
        await asyncio.to_thread(_write_all, self._out, data)

    async def raw(self, data: bytes, headers: rawhttp.Headers = ()) -> Post:
        await self.write(data + b"\n")
        return Post()

    def close_stdin(self) -> None:
        if self._out >= 0:
            os.close(self._out)
            self._out = -1

    async def close(self) -> None:
        assert self.child is not None
        self.close_stdin()
        self.child.close()
        asyncio.get_running_loop().remove_reader(self._in)
        os.close(self._in)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class WebSocketWire(Wire):
    transport = "websocket"

    def __init__(self, revision: str, socket: websockets.asyncio.client.ClientConnection) -> None:
        super().__init__(revision)
        self.socket = socket
        self.ended = asyncio.Event()
        self._reader = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        try:
            async for frame in self.socket:
                assert isinstance(frame, str), "one message per text frame"
                self.take(frame.encode())
        except ConnectionClosed:
            pass
        self.ended.set()

    async def raw(self, data: bytes, headers: rawhttp.Headers = ()) -> Post:
        # A text frame whatever the bytes are: the other end decides whether they are text.
        await self.socket.send(data, text=True)
        return Post()

    async def close(self) -> None:
        await self.socket.close()
        await self._reader


class HttpWire(Wire):
    transport = "http"
    lasting = False

    def __init__(self, revision: str, child: Child) -> None:
        super().__init__(revision)
        self.child = child
        self.port = child.port
        self.session_id: str | None = None
        self.accept = BOTH_TYPES
        self._posts: set[asyncio.Task[None]] = set()

    def headers_of(self, message: Any) -> list[tuple[str, str]]:
        """As a client of this revision writes them; without a session every one says its version."""
        found: list[tuple[str, str]] = []
        if self.session_id is not None:
            found.append(("Mcp-Session-Id", self.session_id))
        method = message.get("method") if isinstance(message, dict) else None
        if (self.modern or method != "initialize") and (
            self.session_id is None or self.revision >= "2025-06-18"
        ):
            found.append(("MCP-Protocol-Version", self.revision))
        if self.modern and isinstance(message, dict) and "id" in message and isinstance(method, str):
            found.append(("Mcp-Method", method))
            named = message["params"].get(NAMED_BY.get(method, ""))
            if isinstance(named, str):
                found.append(("Mcp-Name", named))
        return found

    async def raw(self, data: bytes, headers: rawhttp.Headers = ()) -> Post:
        names = {name.lower() for name, _ in headers}
        common = [("Content-Type", "application/json"), ("Accept", self.accept)]
        heads = [pair for pair in common if pair[0].lower() not in names]
        return self.open("POST", [*heads, *headers], data)

    def open(self, method: str, headers: rawhttp.Headers, body: bytes = b"", path: str = "/mcp") -> Post:
        """Begin a request on a connection of its own."""
        post = Post()
        request = rawhttp.request_bytes(method, path, [*headers, ("Connection", "close")], body)
        post.task = asyncio.get_running_loop().create_task(self._exchange(post, request))
        self._posts.add(post.task)
        post.task.add_done_callback(self._posts.discard)
        return post

    async def _exchange(self, post: Post, request: bytes) -> None:
        try:
            async with await rawhttp.Client.open(self.port) as client:
                await client.send(request)
                reply = await client.reply()
                post.head.set_result(reply)
                if reply.media_type == "text/event-stream":
                    async for event in reply.events():
                        if "id" in event:
                            post.event_ids.append(event["id"])
                        if event.get("data"):
                            self.take(event["data"].encode())
                else:
                    post.text = await reply.body()
                    if reply.media_type == "application/json" and post.text:
                        self.take(post.text)
        except Exception as exc:
            if not post.head.done():
                post.head.set_exception(exc)
            self.inbox.put_nowait(exc)

    async def ask(
        self, method: str, headers: rawhttp.Headers = (), body: bytes = b"", path: str = "/mcp"
    ) -> tuple[rawhttp.Reply, bytes]:
        return await rawhttp.ask(self.port, method, path, headers, body)

    async def close(self) -> None:
        for task in list(self._posts):
            task.cancel()
        await asyncio.gather(*self._posts, return_exceptions=True)


class SessionWire(HttpWire):
    transport = "sessions"

    def note_session(self, answer: Answer) -> None:
        head = answer.post.head.result()
        self.session_id = head.headers["mcp-session-id"]

    def listen(self, last_event_id: str | None = None) -> Post:
        """Open the stream of what belongs to no request, or resume one."""
        headers = [("Accept", "text/event-stream"), *self.headers_of({})]
        if last_event_id is not None:
            headers.append(("Last-Event-ID", last_event_id))
        return self.open("GET", headers)

    async def close(self) -> None:
        if self.session_id is not None:
            await self.ask("DELETE", self.headers_of({}))
        await super().close()


@asynccontextmanager
async def open_wire(
    transport: str,
    revision: str,
    zygote: Zygote,
    *,
    server: Callable[[], Server],
    limits: Mapping[str, Any],
    child: Child | None = None,
) -> AsyncIterator[Wire]:
    """A wire to a server with these limits; no handshake yet."""
    wire: Wire
    if transport == "memory":
        wire = MemoryWire(revision, server())
    elif transport == "stdio":
        wire = StdioWire(revision, *zygote.stdio(limits))
    else:
        child = child or zygote.shared_http(limits, sessions=transport == "sessions")
        if transport == "websocket":
            uri = f"ws://127.0.0.1:{child.port}/ws"
            socket = await websockets.asyncio.client.connect(
                uri, subprotocols=[websockets.Subprotocol("mcp")], compression=None, max_size=None, proxy=None
            )
            wire = WebSocketWire(revision, socket)
            wire.child = child
        elif transport == "sessions":
            wire = SessionWire(revision, child)
        else:
            wire = HttpWire(revision, child)
    try:
        yield wire
    finally:
        await wire.close()
