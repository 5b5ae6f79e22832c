"""The client: connects to any server of any revision, and asks it things.

    async with connect("http://127.0.0.1:8000/mcp") as client:
        tools = await client.list_tools()
        result = await client.call_tool("get_block", {"height": 1})

One client serves both eras: the differences are handled below this file, except for the questions that a modern
server asks in a result.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple, TypeVar

from msgspec import Raw

from ..protocol import errors, messages
from ..protocol.decoding import decode
from ..protocol.headers import HeaderParam
from ..protocol.messages import ListenFilter
from . import envelope, listed
from .answering import Handlers
from .envelope import Params
from .eras import NO_HANDSHAKE, Era, Terms, agree, read_handshake
from .errors import (
    ClientError,
    HttpRefused,
    MalformedReply,
    NotSupported,
    RequestTimeout,
    ServerError,
    SessionGone,
)
from .link import Link
from .listed import Kind, ListedPrompt, ListedResource, ListedTemplate, ListedTool, Listing, OddItem
from .options import Options
from .pending import OnNotification, OnProgress, Reply
from .results import CallResult, call_result
from .rounds import answers_to, questions_in
from .subscription import Subscription
from .tasks import Tasks
from .wires.http import HttpWire
from .wires.targets import Target, open_old_wire, open_wire
from .wires.wire import RawWire

T = TypeVar("T")


class _About(NamedTuple):
    """What a caller wants of one request, in all its rounds."""

    seconds: float
    progress: OnProgress | None
    hears: OnNotification | None
    handlers: Handlers | None


@contextlib.asynccontextmanager
async def connect(
    target: Target,
    *,
    era: Era = "auto",
    revision: str | None = None,
    options: Options | None = None,
) -> AsyncIterator[Client]:
    """A connected client: to `http(s)://…`, `ws(s)://…`, a command with its arguments, or a server object.

    Raises: ClientError if there is no server, or no common revision.
    """
    client = Client(target, options)
    try:
        await client.open(era, revision)
        yield client
    finally:
        await client.close()


class Client:
    """One connection to one server. Use `connect`, or `open` and `close`."""

    def __init__(self, target: Target, options: Options | None = None) -> None:
        self._target = target
        self._options = options or Options()
        self._limits = self._options.limits
        self._link = Link(self._options)
        self._terms: Terms | None = None
        self._background = Tasks()
        self._renewing = asyncio.Lock()
        # Arguments that modern HTTP repeats in headers, by tool; None until the tools have been listed.
        self._header_params: dict[str, tuple[HeaderParam, ...]] | None = None

    @property
    def terms(self) -> Terms:
        """What was agreed on, and what the server said about itself."""
        if self._terms is None:
            raise NotSupported("not connected")
        return self._terms

    @property
    def wire(self) -> RawWire:
        """The wire itself, for sending deliberately malformed bytes."""
        return self._link.wire

    async def open(self, era: Era = "auto", revision: str | None = None) -> None:
        """Raises: ClientError."""
        await self.reopen()
        self._terms = await agree(self, era, revision)
        self._link.speak(self._terms.revision, modern=self._terms.is_modern)
        self._stand_by()

    async def close(self) -> None:
        """End the session and close the connection. Never raises because of what a server does."""
        try:
            await self._background.close()
            wire = self._link.wire
            if isinstance(wire, HttpWire) and self._terms is not None:
                await wire.end_session(self._terms.revision)
        except ClientError:
            pass
        finally:
            await self._link.close()

    def _stand_by(self) -> None:
        """Open the standing stream of a legacy HTTP server, if the options want it."""
        wire = self._link.wire
        if self._options.wants_stream and not self.terms.is_modern and isinstance(wire, HttpWire):
            self._background.start(wire.stand_by(self.terms.revision))

    async def reopen(self) -> None:
        await self._link.drop_wire()
        self._link.use(await open_wire(self._target, self._link, self._options))

    async def begin_again(self) -> None:
        if not self._link.wire.is_exchange:
            await self.reopen()

    async def reopen_old(self) -> None:
        wire = await open_old_wire(self._target, self._link, self._options)
        try:
            await self._link.drop_wire()
        finally:
            self._link.use(wire)  # `close` ends what is in use

    async def discover(self, revision: str, *, must_answer: bool = False) -> Reply:
        """Ask a server whether it is modern."""
        self._link.speak(revision, modern=True)
        limits = self._limits
        seconds = limits.handshake_seconds if must_answer else limits.probe_seconds
        return await self._link.ask("server/discover", {}, seconds=seconds)

    async def shake_hands(self, revision: str, *, must_know_it: bool = False) -> Terms:
        """The handshake of the legacy era."""
        self._link.speak(None)
        members = envelope.members(
            {
                "protocolVersion": revision,
                "capabilities": self._link.capabilities(revision),
                "clientInfo": self._options.info,
            }
        )
        terms = read_handshake(await self._initialize(members, must_know_it))
        self._link.speak(terms.revision)
        # Some servers answer this notification with an error status and still work.
        with contextlib.suppress(HttpRefused):
            await self._link.notify("notifications/initialized")
        return terms

    async def _initialize(self, members: Params, must_know_it: bool) -> Reply:
        """The answer to `initialize`. Raises: ClientError."""
        as_it_should_be = self._options.handshake
        try:
            reply = await self._link.ask("initialize", members, seconds=self._limits.handshake_seconds)
        except ServerError as exc:
            if as_it_should_be is None or (must_know_it and exc.code in NO_HANDSHAKE):
                raise
            return as_it_should_be(exc)
        return reply if as_it_should_be is None else as_it_should_be(reply)

    @property
    def is_lost(self) -> bool:
        """Whether a lasting connection has ended."""
        return self._link.is_lost

    async def settled(self) -> None:
        """Wait until no request is in flight."""
        await self._link.settled()

    async def request(
        self,
        method: str,
        params: object = None,
        *,
        timeout: float | None = None,
        progress: OnProgress | None = None,
        hears: OnNotification | None = None,
        handlers: Handlers | None = None,
        leaves_questions: bool = False,
    ) -> Reply:
        """Send a request and wait for its result; questions from a modern server are answered along the way.

        Progress restarts the clock. Cancelling the wait cancels the request. `hears` and `handlers` take the place of
        those in the options where it is known that the server speaks about this request. With `leaves_questions` those of a
        modern server are the result.

        Raises: ServerError, RequestTimeout, ConnectionLost, MalformedReply.
        """
        members = envelope.members(params)
        seconds = timeout or self._limits.request_seconds
        about = _About(seconds, progress, hears, handlers)
        reply = await self._ask(method, members, about)
        if leaves_questions:
            return reply
        answering = self._options.handlers if handlers is None else handlers
        for _ in range(self._limits.input_rounds):
            asked = questions_in(method, reply, self._limits) if self.terms.is_modern else None
            if asked is None:
                return reply
            answers = await answers_to(asked, answering, self._limits)
            reply = await self._ask(method, {**members, **answers}, about)
        if questions_in(method, reply, self._limits) is not None:
            raise MalformedReply(
                f"the server still asks for input after {self._limits.input_rounds} rounds", (reply.raw,)
            )
        return reply

    async def notify(self, method: str, params: object = None) -> None:
        """Send a notification.

        Raises: ClientError if it was not accepted.
        """
        await self._link.notify(method, envelope.members(params))

    async def _ask(self, method: str, members: Params, about: _About) -> Reply:
        """One round trip, with the headers it needs, and in a new session if the old one has expired."""
        if self._renewing.locked():
            async with self._renewing:
                pass  # there is no session until the renewal is done
        mirrors = method == "tools/call" and self.terms.is_modern and self._link.wire.is_exchange
        known = self._known_header_params(members) if mirrors else ()
        try:
            return await self._link.ask(
                method, members, **about._asdict(), header_params=known, may_renew=not self.terms.is_modern
            )
        except SessionGone as exc:
            if not self._options.renews_sessions:
                raise
            await self._renew(exc)
        except ServerError as exc:
            if not mirrors or exc.code != errors.HEADER_MISMATCH:
                raise
            # Only the list of tools says which arguments a server wants in headers, and it may have changed.
            await self.list_tools()
        known = self._known_header_params(members) if mirrors else ()
        return await self._link.ask(method, members, **about._asdict(), header_params=known)

    def _known_header_params(self, members: Params) -> tuple[HeaderParam, ...]:
        name = decode(members.get("name", b"null"))
        return (self._header_params or {}).get(name, ()) if isinstance(name, str) else ()

    async def _renew(self, gone: SessionGone) -> None:
        """Repeat the handshake: the server dropped our session. Once, however many requests notice."""
        wire = self._link.wire
        if not isinstance(wire, HttpWire):
            raise gone  # the session of HTTP+SSE is its stream
        async with self._renewing:
            if (wire.session_id or "") == gone.session_id:
                await wire.forget_session(self.terms.revision)
                self._terms = await self.shake_hands(self.terms.revision)
                self._stand_by()

    async def list_tools(self) -> Listing[ListedTool]:
        """All tools. Raises: ClientError."""
        if not (self.terms.is_modern and self._link.wire.is_exchange):
            return await self._list(listed.TOOLS)
        tools = await self._list(listed.TOOLS_WITH_HEADERS)
        self._header_params = {tool.name: params for tool in tools if (params := tool.header_params())}
        return tools

    async def list_resources(self) -> Listing[ListedResource]:
        """All resources. Raises: ClientError."""
        return await self._list(listed.RESOURCES)

    async def list_resource_templates(self) -> Listing[ListedTemplate]:
        """All resource templates. Raises: ClientError."""
        return await self._list(listed.TEMPLATES)

    async def list_prompts(self) -> Listing[ListedPrompt]:
        """All prompts. Raises: ClientError."""
        return await self._list(listed.PROMPTS)

    async def _list(self, kind: Kind[T]) -> Listing[T]:
        listing: Listing[T] = Listing([], [], [], [])
        seen: set[str] = set()
        size = 0
        params: dict[str, Any] = {}
        for _ in range(self._limits.list_pages):
            reply = await self.request(kind.method, params)
            page = kind.page(reply)
            listing.pages.append(reply)
            size += len(reply.raw)
            for raw in page.items:
                item = kind.item(raw)
                if isinstance(item, OddItem):
                    listing.odd.append(item)
                else:
                    listing.items.append(item)
                    listing.raw.append(raw)
            if (
                len(listing.items) + len(listing.odd) > self._limits.list_items
                or size > self._limits.list_bytes
            ):
                raise MalformedReply(
                    f"the list has more than {self._limits.list_items} items or {self._limits.list_bytes} bytes"
                )
            # 2026-07-28 counts "" as a cursor; in older revisions it means the end.
            if page.cursor is None or (page.cursor == "" and not self.terms.is_modern):
                return listing
            if page.cursor in seen:
                raise MalformedReply("the list never ends: the same cursor came twice", (reply.raw,))
            seen.add(page.cursor)
            params = {"cursor": page.cursor}
        raise MalformedReply(f"the list has more than {self._limits.list_pages} pages")

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | bytes | None = None,
        *,
        timeout: float | None = None,
        progress: OnProgress | None = None,
    ) -> CallResult:
        """Call a tool. A tool that failed is a result with `is_error`; everything else is raised.

        Raises: ClientError.
        """
        given = arguments if arguments is not None else {}
        params = {"name": name, "arguments": Raw(given) if isinstance(given, bytes) else given}
        return call_result(await self.request("tools/call", params, timeout=timeout, progress=progress))

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> messages.ReadResourceResult:
        """Raises: ClientError."""
        reply = await self.request("resources/read", {"uri": uri}, timeout=timeout)
        return reply.read(messages.ReadResourceResult)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> messages.GetPromptResult:
        """Raises: ClientError."""
        params = {"name": name, "arguments": arguments or {}}
        reply = await self.request("prompts/get", params, timeout=timeout)
        return reply.read(messages.GetPromptResult)

    async def complete(self, ref: messages.CompletionRef, name: str, value: str) -> messages.Completion:
        """Suggestions for an argument. Raises: ClientError."""
        params = {"ref": ref, "argument": {"name": name, "value": value}}
        reply = await self.request("completion/complete", params)
        return reply.read(messages.CompleteResult).completion

    async def ping(self, timeout: float | None = None) -> None:
        """Check that the server answers. Modern servers have no ping: `server/discover` is sent instead.

        Raises: ClientError.
        """
        await self.request("server/discover" if self.terms.is_modern else "ping", timeout=timeout)

    async def subscribe(self, uri: str) -> None:
        """Legacy era: get notified of changes to a resource through `on_notification`. Raises: ClientError."""
        await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        """Legacy era. Raises: ClientError."""
        await self.request("resources/unsubscribe", {"uri": uri})

    @contextlib.asynccontextmanager
    async def listen(self, wanted: ListenFilter) -> AsyncIterator[Subscription]:
        """Modern era: an acknowledged subscription. Leaving the block ends it.

        Raises: ClientError; NotSupported in the legacy era: use `subscribe` and `on_notification` there.
        """
        if not self.terms.is_modern:
            raise NotSupported("subscriptions/listen needs a server of the modern era")
        params = envelope.members(messages.ListenParams(notifications=wanted))
        _, subscription, stop = self._link.listen(params)
        try:
            seconds = self._limits.request_seconds
            try:
                async with asyncio.timeout(seconds):
                    await subscription.acknowledged()
            except TimeoutError:
                raise RequestTimeout("subscriptions/listen", seconds) from None
            yield subscription
        finally:
            stop()
