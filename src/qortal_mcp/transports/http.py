"""Streamable HTTP for both eras on one path, as a plain ASGI function, with WebSocket next to it.

A request is answered with JSON; the first message that must come before the answer turns the reply into a
stream of events. Sessions are an option (`sessions.py`); without them every request stands alone.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct

from ..logs import id_prefix, request_id
from ..metrics import names
from ..protocol import errors, framing, headers, jsonrpc, versions
from ..server.alarms import Alarms
from ..server.batch import Batch
from ..server.life import LifespanFailed
from ..server.peer import Peer
from ..server.receiver import Receiver
from ..server.reply import Reply, refusal
from ..server.work import Work
from .callers import Callers
from .guard import Guard, Refusal
from .head import Head
from .sessions import Session, Sessions
from .streams import PATIENCE_SECONDS, EventSender, Watch
from .websocket import WebSockets

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Key in the scope: a shortcut to a plain JSON reply, if the ASGI server offers one (see bounds/http.py).
AT_ONCE = "qortal_mcp.reply_at_once"
# Another one: what was read of the head of a good request. If one with the same head follows, it may be given with that.
HEAD = "qortal_mcp.head"

# Where balancers ask whether to send requests here.
_READY = "/readyz"
_JSON = (b"content-type", b"application/json")
# How many times the largest body is read and dropped before a client is cut off.
_DROPPED_BODIES = 32
# How long such a client may pause before its body is given up: an honest one sends without a pause.
_SILENCE_SECONDS = 0.5
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_ALLOWED_REQUEST_HEADERS = b"content-type, accept, authorization, mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name"


class Page(Struct, frozen=True):
    """The answer of an operator route."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


Route = Callable[[], Awaitable[Page] | Page]
Handler = Callable[["Exchange"], Awaitable[None]]


class Site(Struct, frozen=True, kw_only=True):
    """What else is served next to MCP, by handlers that get the whole request.

    A path that ends with a slash stands for everything below it, unless a longer one fits; `/` is only itself.
    """

    handlers: Mapping[str, Handler] = {}
    # Those of the handlers that need no token.
    open_paths: frozenset[str] = frozenset()
    # Ends what would otherwise go on while the process wants to stop.
    end: Callable[[], None] = lambda: None

    def path_of(self, path: str) -> str | None:
        """Under which path a request is handled."""
        if path in self.handlers:
            return path
        folder = path.rpartition("/")[0]
        while folder:
            if f"{folder}/" in self.handlers:
                return f"{folder}/"
            folder = folder.rpartition("/")[0]
        return None


class HttpApp:
    """The ASGI application around a server.

    `routes` are further paths, served to GET; `open_routes` are those that need no token. `site` is the rest.
    """

    def __init__(
        self,
        server: Receiver,
        *,
        guard: Guard | None = None,
        callers: Callers | None = None,
        sessions: bool = False,
        path: str = "/mcp",
        websocket_path: str | None = "/ws",
        routes: Mapping[str, Route] | None = None,
        open_routes: Iterable[str] = (),
        site: Site | None = None,
        lifespan: Callable[[AsyncExitStack], Awaitable[None]] | None = None,
    ) -> None:
        self.server = server
        self._guard = guard or Guard()
        self.callers = callers or Callers(has_token=self._guard.has_token)
        self._sessions = Sessions(server) if sessions else None
        self._paths = (path, f"{path}/")
        self._websocket_path = websocket_path
        self._routes = dict(routes or {})
        self._open = frozenset(open_routes)
        self._site = site or Site()
        self._lifespan = lifespan
        self._websockets = WebSockets(server, self.callers)
        # Why it could not start, if so.
        self.failed_start: Exception | None = None
        self._patience = Alarms(PATIENCE_SECONDS)
        self._ids = itertools.count(1)
        self._id_prefix = id_prefix()

    def renew_token(self, token: str) -> None:
        """From the next request on, this token counts; connections that are open stay."""
        self._guard.renew_token(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._http(Exchange(self, scope, receive, send))
        elif kind == "websocket":
            await self._websocket(scope, receive, send)
        elif kind == "lifespan":
            await self._live(receive, send)

    def begin(self, scope: Scope, receive: Receive, send: Send, body: bytes) -> Awaitable[None] | None:
        """The same for an HTTP request that has come whole; returns what is left to wait for, if anything is.

        For web servers that can call it (see bounds/http.py). Most requests are answered here: a task for each of them
        would cost as much as all that is done with it.
        """
        exchange = Exchange(self, scope, receive, send, body)
        if not self._is_good_post(exchange, body):
            return self._http(exchange)
        scope[HEAD] = exchange.head
        token = request_id.set(exchange.id)
        try:
            return self._take(exchange, body)
        finally:
            request_id.reset(token)  # the next request may be served in the same context

    def _is_good_post(self, exchange: "Exchange", body: bytes) -> bool:
        """Whether there is nothing to say about a request before its message is read."""
        scope, life = exchange.scope, self.server.life
        return (
            scope["method"] == "POST"
            and scope["path"] in self._paths
            and self._guard.refuse(exchange.head, scope.get("server")) is None
            and exchange.wrong_types() is None
            and len(body) <= self.server.limits.message_bytes
            and (life is None or life.is_begun)
        )

    async def _begin_life(self) -> None:
        """For an ASGI server without a lifespan, and a larger application that keeps it to itself."""
        if self.server.life is not None and not self.server.life.is_begun:
            await self.server.life.hold()

    def new_id(self) -> str:
        return f"{self._id_prefix}-{next(self._ids):x}"

    def count_refused(self, status: int) -> None:
        """A request was refused before a message was read."""
        self.server.metrics.count(names.HTTP_REFUSED, str(status))
        if self.server.call_log is not None:
            self.server.call_log.refused(status)

    async def _http(self, exchange: "Exchange") -> None:
        request_id.set(exchange.id)
        await self._begin_life()
        path, method = exchange.scope["path"], exchange.scope["method"]
        handled = None if path in self._paths or path in self._routes else self._site.path_of(path)
        is_open = path in self._open or handled in self._site.open_paths
        needs_token = method != "OPTIONS" and not is_open
        refused = self._guard.refuse(exchange.head, exchange.scope.get("server"), needs_token=needs_token)
        if refused is not None:
            await exchange.refuse(refused)
        elif path in self._paths and method == "POST":
            await self._post(exchange)
        elif path in self._paths:
            await self._mcp(exchange, method)
        elif path in self._routes:
            await self._operator(exchange, method, self._routes[path])
        elif handled is not None and method == "OPTIONS":
            await exchange.preflight()
        elif handled is not None:
            await self._site.handlers[handled](exchange)
        else:
            await exchange.text(404, "Not found.")

    async def _mcp(self, exchange: "Exchange", method: str) -> None:
        if method == "OPTIONS":
            await exchange.preflight()
        elif self._sessions is not None and method in ("GET", "DELETE") and exchange.is_legacy:
            await self._sessions.serve(exchange, method)
        else:
            allow = b"POST, OPTIONS" if self._sessions is None else b"POST, GET, DELETE, OPTIONS"
            await exchange.text(405, "Only POST is served here.", ((b"allow", allow),))

    async def _operator(self, exchange: "Exchange", method: str, route: Route) -> None:
        if method == "OPTIONS":
            await exchange.preflight()
        elif method not in ("GET", "HEAD"):
            await exchange.text(405, "Only GET is served here.", ((b"allow", b"GET, HEAD, OPTIONS"),))
        else:
            page = route()
            if not isinstance(page, Page):
                page = await page
            await exchange.reply(page.status, page.body, (b"content-type", page.content_type.encode()))

    async def _post(self, exchange: "Exchange") -> None:
        wrong = exchange.wrong_types()
        if wrong is not None:
            await exchange.error(*wrong)
            return
        body = await exchange.read_body(self.server.limits.message_bytes)
        if body is not None and (rest := self._take(exchange, body)) is not None:
            await rest

    def _take(self, exchange: "Exchange", body: bytes) -> Awaitable[None] | None:
        """Take a message, and answer it if nothing has to be waited for; otherwise returns what is left to do."""
        mirrored = exchange.head.mirrored
        session = None
        if self._sessions is None or mirrored.version in versions.MODERN:
            peer = Peer(lasting=False, caller=exchange.caller, limits=self.server.limits, transport="tcp")
        elif (session := self._sessions.find(mirrored.values.get(headers.SESSION_ID))) is not None:
            peer = session.peer
        elif headers.SESSION_ID in mirrored.values:
            return exchange.error(404, errors.INVALID_REQUEST, "Session not found")
        else:
            peer = self._sessions.candidate(exchange.caller)
        if self.server.asked_rate is not None:
            return self._ask_and_receive(exchange, body, peer, session)
        return self._receive(exchange, body, peer, session)

    async def _ask_and_receive(
        self, exchange: "Exchange", body: bytes, peer: Peer, session: Session | None
    ) -> None:
        request_id.set(exchange.id)
        await self.server.ask_rate(body, peer)
        if (rest := self._receive(exchange, body, peer, session)) is not None:
            await rest

    def _receive(
        self, exchange: "Exchange", body: bytes, peer: Peer, session: Session | None
    ) -> Awaitable[None] | None:
        mirrored = exchange.head.mirrored
        answer = self.server.receive(body, peer, mirrored)
        if answer is None:
            return exchange.accepted(mirrored.version)
        opens = self._sessions is not None and session is None and peer.revision is not None
        if type(answer) is Reply and not opens and exchange.answer_at_once(answer):
            return None
        return self._answer(exchange, answer, peer, session)

    async def _answer(
        self, exchange: "Exchange", answer: Reply | Work | Batch, peer: Peer, session: Session | None
    ) -> None:
        request_id.set(exchange.id)
        if isinstance(answer, Reply):
            reply: Reply | None = answer
        elif session is not None and answer.legacy:
            await session.run(exchange, answer)
            return
        else:
            reply = await self._work(exchange, answer)
        if self._sessions is not None and session is None and peer.revision is not None:
            await self._open_session(exchange, reply, peer, self._sessions)
        elif reply is not None:
            await exchange.answer(reply)

    async def _open_session(
        self, exchange: "Exchange", reply: Reply | None, peer: Peer, sessions: Sessions
    ) -> None:
        """Answer a handshake with a session, if the client is still there and there is room for one."""
        id_ = None if reply is None else sessions.open(peer)
        if reply is not None and id_ is not None:
            await exchange.answer(reply, ((headers.SESSION_ID.encode(), id_.encode()),))
            return
        self.server.leave(peer)
        if reply is not None:
            await exchange.error(503, errors.INTERNAL_ERROR, "Too many sessions")

    async def _work(self, exchange: "Exchange", work: Work | Batch) -> Reply | None:
        """The reply of what takes time; None if it is sent already, or nobody waits for it any longer."""
        if isinstance(work, Work) and work.streams and not exchange.accepts.events:
            work.discard()
            reason = "This method needs Accept: text/event-stream"
            return refusal(errors.INVALID_REQUEST, reason, work.call.request.id, 406)
        with Watch(exchange, None if work.streams else self._patience) as watch:
            if not work.may_send:
                reply = await work.run(_send_nothing) or work.cancelled_reply()
            else:
                sender = EventSender(exchange, self.server.limits, watch)
                try:
                    reply = await work.run(sender.send) or work.cancelled_reply()
                    if sender.started:
                        await sender.finish(reply.body)
                        return None
                finally:
                    sender.stop()
        return None if watch.is_gone else reply

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id.set(self.new_id())
        await self._begin_life()
        refused = self._guard.refuse(Head(scope["headers"]), scope.get("server"))
        if refused is None and scope["path"] != self._websocket_path:
            refused = Refusal(404, "Not found.")
        await self._websockets.serve(scope, receive, send, refused)

    async def _live(self, receive: Receive, send: Send) -> None:
        """The ASGI lifespan: what the server needs is opened at start and closed at the end."""
        async with AsyncExitStack() as stack:
            await receive()
            try:
                await stack.enter_async_context(self.server.living())
                if self._lifespan is not None:
                    await self._lifespan(stack)
                if self._sessions is not None:
                    stack.push_async_callback(self._sessions.close)
            except asyncio.CancelledError:
                return  # asked to stop before it began
            except Exception as exc:
                self.failed_start = exc
                # What the server's own lifespan failed of is in the log already.
                message = "" if isinstance(exc, LifespanFailed) else str(exc)
                await send({"type": "lifespan.startup.failed", "message": message})
                raise
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self.drain()
        await send({"type": "lifespan.shutdown.complete"})

    def leave(self) -> None:
        """Tell those who ask whether it is ready that it will stop soon. Everybody is still served."""
        if _READY in self._routes:
            self._routes[_READY] = lambda: Page(b'{"status":"stopping"}', status=503)

    async def drain(self) -> None:
        """Stop what would otherwise never end, and finish the answers that clients are waiting for."""
        self.server.close()
        self._site.end()
        if self._sessions is not None:
            self._sessions.end_streams()
        await asyncio.gather(
            self._websockets.drain(), self.server.settle(self.server.limits.shutdown_seconds)
        )


async def _send_nothing(message: bytes) -> None:
    raise AssertionError("only work that may send is given a way to send")


class Exchange:
    """One HTTP request and its reply: reads the body, writes heads. Every reply carries its request id."""

    __slots__ = ("_app", "_body", "_receive", "accepts", "caller", "head", "id", "scope", "send")

    def __init__(
        self, app: HttpApp, scope: Scope, receive: Receive, send: Send, body: bytes | None = None
    ) -> None:
        self._app = app
        self.scope = scope
        self._receive = receive
        self.send = send
        # All of it, if it came before anybody asked for it.
        self._body = body
        self.id = app.new_id()
        self.head: Head = scope.get(HEAD) or Head(scope["headers"])
        self.caller = app.callers.of(scope)
        self.accepts = self.head.accepts

    def header(self, name: bytes) -> bytes | None:
        return self.head.get(name)

    @property
    def is_legacy(self) -> bool:
        version = self.header(b"mcp-protocol-version")
        return version is None or version.decode("latin-1").strip() in versions.LEGACY

    def wrong_types(self) -> tuple[int, int, str] | None:
        """Why the media types of a POST are not acceptable, as status, code and reason."""
        return self.head.wrong_types

    async def read_body(
        self, limit: int, refuse: Callable[[str], Awaitable[None]] | None = None
    ) -> bytes | None:
        """The whole body; None when it was too large (answered, by `refuse` or as JSON-RPC) or the client left."""
        body = self._body
        if body is None:
            length = self.head.get(b"content-length")
            if length is not None and (not length.isdigit() or len(length) > 15 or int(length) > limit):
                await self._too_large(limit, refuse)
                return None
            body = await self._arriving_body(limit)
        if body is not None and len(body) > limit:
            await self._too_large(limit, refuse)
            return None
        return body

    async def _arriving_body(self, limit: int) -> bytes | None:
        """The body, or more of it than the limit; None when the client left."""
        message = await self._receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body"):
            pieces = bytearray(body)
            while message.get("more_body") and message["type"] == "http.request" and len(pieces) <= limit:
                message = await self._receive()
                pieces += message.get("body", b"")
            body = bytes(pieces)
        return None if message["type"] == "http.disconnect" else body

    async def receive(self) -> Message:
        return await self._receive()

    async def _drop_body(self, at_most: int) -> None:
        """Read and discard the rest of the body, if the connection closes after the answer.

        Closing it with unread bytes would cost a client that is still sending its answer. A connection
        that stays open does not need this: what comes after the answer is dropped there.
        """
        if self._body is not None or b"close" not in self.head.get(b"connection", b"").lower():
            return
        dropped = 0
        with contextlib.suppress(TimeoutError):
            while dropped <= at_most:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    message = await self._receive()
                dropped += len(message.get("body", b""))
                if not message.get("more_body"):
                    return

    async def _too_large(self, limit: int, refuse: Callable[[str], Awaitable[None]] | None) -> None:
        await self._drop_body(_DROPPED_BODIES * limit)
        reason = f"longer than {limit} bytes"
        if refuse is not None:
            await refuse(f"The request is {reason}.")
        else:
            self._app.count_refused(413)
            await self.answer(refusal(errors.INVALID_REQUEST, f"Invalid request: {reason}", None, 413))

    def _heads(self, *more: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        origin = self.head.get(b"origin")
        if origin is None:
            return [self._own_head(), *more]
        cors = (
            (b"access-control-allow-origin", origin),
            (
                b"access-control-expose-headers",
                b"mcp-session-id, www-authenticate, x-request-id, retry-after",
            ),
            (b"vary", b"origin"),
        )
        return [self._own_head(), *cors, *more]

    def _own_head(self) -> tuple[bytes, bytes]:
        return b"x-request-id", self.id.encode()

    async def reply(self, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
        if status not in (204, 304):  # which have no body by definition, and need not say how long it is
            more = ((b"content-length", b"%d" % len(body)), *more)
        await self.send({"type": "http.response.start", "status": status, "headers": self._heads(*more)})
        await self.send({"type": "http.response.body", "body": body})

    async def answer(self, reply: Reply, extra: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Send a JSON-RPC reply in the form that the client accepts."""
        if not extra and self.answer_at_once(reply):
            return
        if reply.retry_after is not None:
            extra = (*extra, (b"retry-after", b"%d" % max(1, round(reply.retry_after + 0.5))))
        if self.accepts.json or reply.status != 200:
            await self.reply(reply.status, reply.body, _JSON, *extra)
        else:
            await self.start_events(*extra)
            await self.send({"type": "http.response.body", "body": framing.sse_event(reply.body)})

    def answer_at_once(self, reply: Reply) -> bool:
        """Send a reply that needs no headers of its own, if the ASGI server has a shortcut; False if it was not sent."""
        at_once = self.scope.get(AT_ONCE)
        return (
            at_once is not None
            and reply.status == 200
            and reply.retry_after is None
            and self.accepts.json
            and b"origin" not in self.head
            and at_once(self.scope, self.id, reply.body)
        )

    async def start_events(self, *extra: tuple[bytes, bytes]) -> None:
        heads = self._heads(
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-cache, no-transform"),
            (b"x-accel-buffering", b"no"),
            *extra,
        )
        await self.send({"type": "http.response.start", "status": 200, "headers": heads})

    async def accepted(self, version: str | None) -> None:
        """Confirm a notification or response; it has no answer."""
        if version is not None and version not in versions.REVISIONS:
            await self.error(400, errors.INVALID_REQUEST, "Unsupported MCP-Protocol-Version")
            return
        await self.send({"type": "http.response.start", "status": 202, "headers": self._heads()})
        await self.send({"type": "http.response.body", "body": b""})

    async def error(self, status: int, code: int, message: str) -> None:
        self._app.count_refused(status)
        body = jsonrpc.error_reply(None, errors.ErrorObject(code, message))
        await self.reply(status, body, _JSON)

    async def refuse(self, refusal: Refusal) -> None:
        # CORS headers only for an origin that is allowed: a page that may not ask may not read the answer either.
        self._app.count_refused(refusal.status)
        body = f"{refusal.message}\n".encode()
        more = (*refusal.headers, _TEXT, (b"content-length", b"%d" % len(body)))
        heads = self._heads(*more) if refusal.is_readable else [self._own_head(), *more]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": heads})
        await self.send({"type": "http.response.body", "body": body})

    async def text(self, status: int, message: str, extra: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        await self.reply(status, f"{message}\n".encode(), _TEXT, *extra)

    async def preflight(self) -> None:
        """Answer a browser that asks whether a page of an allowed origin may send its request."""
        asked = self.header(b"access-control-request-headers") or b""
        params = [
            name.strip() for name in asked.lower().split(b",") if name.strip().startswith(b"mcp-param-")
        ]
        allowed = b", ".join([_ALLOWED_REQUEST_HEADERS, *params[:32]])
        await self.reply(
            204,
            b"",
            (b"access-control-allow-methods", b"GET, POST, DELETE, OPTIONS"),
            (b"access-control-allow-headers", allowed),
            (b"access-control-max-age", b"600"),
        )
