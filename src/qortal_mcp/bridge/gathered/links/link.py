"""What one client has with one server: a peer of its own, opened once and again, and asked for that client alone."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from ....protocol import headers, jsonrpc
from ....protocol.decoding import decode
from ....protocol.jsonrpc import UNREADABLE
from ....server.context import Send
from ....server.peer import Peer
from ....server.reply import Reply
from ....server.work import Work
from ..away import Away, Removed, reason_of
from ..member import Member, Unusable
from ..rewriting import CHANGED, LISTINGS, Listing, said
from .reading import Reading

if TYPE_CHECKING:
    from .client import Client

_encode = msgspec.json.Encoder().encode
# Requests of ours beside those of the client: no id of a client is like one of these.
_OURS = secrets.token_urlsafe(9)
_numbers = itertools.count(1)


class Link:
    """One client and one server. A legacy client shakes hands with it in the background, until that works."""

    def __init__(self, client: Client, member: Member, outer: Peer) -> None:
        self.client = client
        self.member = member
        self.outer = outer
        # What the server said that it has; None if it was not asked.
        self.capabilities: dict[str, Any] | None = None
        self.is_open = False
        self.is_closed = False
        self.error = ""
        receiver = member.receiver
        self.peer = Peer(
            lasting=outer.lasting,
            caller=outer.caller,
            post=self._post if outer.post is not None else None,
            limits=outer.limits if receiver is None else receiver.limits,
        )
        if outer.write is not None:
            self.peer.write = self._write
        self._keeper: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._attempt: asyncio.Future[None] | None = None
        self._discovery: asyncio.Task[None] | None = None
        self.lists = Reading(self)
        self._tasks: set[asyncio.Task[Any]] = set()
        if outer.lasting and receiver is not None:
            receiver.join(self.peer)

    def start(self, work: Any) -> asyncio.Task[Any]:
        """Work in the background that ends with the link."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def open(self, hello: bytes) -> asyncio.Task[None] | None:
        """Shake hands as the client did."""
        if self.member.receiver is None or self._keeper is not None:
            return self._keeper
        self._attempt = _future()
        self._keeper = self.start(self._keep_open(hello))
        return self._keeper

    @property
    def is_opening(self) -> bool:
        """Whether a handshake is under way, or will be tried again."""
        return self._attempt is not None and not self.is_open

    async def tried(self) -> None:
        """Wait for the first handshake, however it ends."""
        if self._attempt is not None and not self.is_open and not self.error:
            with contextlib.suppress(Away):
                await asyncio.shield(self._attempt)

    async def _keep_open(self, hello: bytes) -> None:
        limits = self.client.limits
        pause = limits.first_retry_seconds
        while True:
            self._wanted.clear()
            try:
                async with self.client.starts.turn():
                    reply = await self._ask(
                        "initialize", hello, _id(), self._passing(self.client.say), None, None
                    )
            except Removed:
                return
            response = jsonrpc.read(reply.body)
            assert self._attempt is not None, "set before this began"
            if isinstance(response, jsonrpc.Response) and response.result is not None:
                self._opened(response.result)
                self._attempt.set_result(None)
                return
            self.error = reason_of(response)
            self._attempt.set_exception(Away(self.error))
            self._attempt = _future()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wanted.wait()
            pause = min(2 * pause, limits.longest_retry_seconds)

    def _opened(self, result: Raw) -> None:
        self.is_open, self.error = True, ""
        receiver = self.member.receiver
        assert receiver is not None, "it has answered"
        receiver.join(self.peer)
        try:
            told = decode(result)
        except UNREADABLE:
            told = {}
        told = told if isinstance(told, dict) else {}
        declared = told.get("capabilities")
        self.capabilities = declared if isinstance(declared, dict) else {}
        self.introduced(told)
        if self.client.log_level is not None:
            self.start(self.set_level(self.client.log_level))
        if self.client.is_introduced:
            for listing in LISTINGS:
                if listing in self.capabilities:
                    self.client.changed(listing)

    def introduced(self, told: dict[str, Any]) -> None:
        """Keep what a server says about itself."""
        instructions = told.get("instructions")
        if isinstance(instructions, str):
            self.member.instructions = instructions[: self.client.limits.server_instructions_chars]

    async def ready(self) -> None:
        """Wait until the handshake is done: the one that is under way, or else the next.

        Raises: Away.
        """
        if self.member.is_gone:
            raise Removed(self.member)
        if isinstance(self.member.source, Unusable):
            raise Away(f"{self.member.name} cannot be used: {self.member.source.reason}")
        if self._attempt is None or self.is_open:
            return
        self._wanted.set()
        await asyncio.shield(self._attempt)

    async def ask(
        self,
        method: str,
        params: bytes,
        id_: jsonrpc.RequestId | None,
        send: Send,
        *,
        modern: bool,
        revision: str = "",
        close_stream: Callable[[], None] | None = None,
        seen: Callable[[Work], None] | None = None,
    ) -> jsonrpc.Response:
        """Ask the server; under an id of ours if none is given. `revision` is that of a legacy request without a handshake.

        Raises: Away.
        """
        if not modern or self.member.receiver is None or self.member.is_gone:
            await self.ready()
        http = None
        if revision and not modern and not self.peer.lasting and self.peer.revision is None:
            http = headers.Mirrored({headers.PROTOCOL_VERSION: revision})
        reply = await self._ask(
            method, params, _id() if id_ is None else id_, self._passing(send), http, close_stream, seen
        )
        response = jsonrpc.read(reply.body)
        if not isinstance(response, jsonrpc.Response):
            raise Away(f"{self.member.name} gave no readable answer.")
        return response

    async def _ask(
        self,
        method: str,
        params: bytes,
        id_: jsonrpc.RequestId,
        send: Send,
        http: headers.Mirrored | None,
        close_stream: Callable[[], None] | None,
        seen: Callable[[Work], None] | None = None,
    ) -> Reply:
        member = self.member
        if member.receiver is None or member.is_gone or self.is_closed:
            raise Removed(member)
        answer = member.receiver.receive(jsonrpc.request(id_, method, params), self.peer, http)
        if isinstance(answer, Reply):
            return answer
        assert isinstance(answer, Work), "one request gets a reply or work"
        member.running.add(answer)
        try:
            reply = await answer.run(send, close_stream)
        finally:
            member.running.discard(answer)
            answer.discard()
        if seen is not None:
            seen(answer)
        if reply is None:
            raise Removed(member)
        return reply

    def _passing(self, send: Send) -> Send:
        async def passing(message: bytes) -> None:
            passed = self._heard(message)
            if passed is not None:
                await send(passed)

        return passing

    def _heard(self, message: bytes) -> bytes | None:
        """What the client gets of a message of the server; None if it is told in another way."""
        if b"/list_changed" in message:
            notification = jsonrpc.read(message)
            if isinstance(notification, jsonrpc.Notification) and notification.method in CHANGED:
                self.list_changed(CHANGED[notification.method])
                return None
        return said(message, self.member.name, self.member.label)

    def list_changed(self, listing: Listing) -> None:
        self.lists.outdate(listing)
        self.client.changed(listing)

    def _post(self, message: bytes) -> bool:
        passed = self._heard(message)
        return passed is None or self.outer.notify(passed)

    async def _write(self, message: bytes) -> None:
        passed = self._heard(message)
        if passed is not None and self.outer.write is not None:
            await self.outer.write(passed)

    def notify(self, notification: jsonrpc.Notification) -> None:
        """Pass on a notification of the client."""
        receiver = self.member.receiver
        if receiver is not None and (self.is_open or self._attempt is None):
            params = None if notification.params is None else bytes(notification.params)
            receiver.receive(jsonrpc.notification(notification.method, params), self.peer)

    async def set_level(self, params: bytes) -> None:
        with contextlib.suppress(Away):
            await self.ask("logging/setLevel", params, None, self.client.say, modern=False)

    def discovering(self, params: bytes) -> asyncio.Task[None]:
        """Learn what the server says about itself (2026-07-28), once for all who want to know meanwhile."""
        if self._discovery is None or self._discovery.done():
            self._discovery = self.start(self._discover(params))
        return self._discovery

    async def _discover(self, params: bytes) -> None:
        with contextlib.suppress(Away):
            response = await self.ask("server/discover", params, None, self.client.say, modern=True)
            if response.result is not None:
                with contextlib.suppress(*UNREADABLE):
                    told = decode(response.result)
                    self.introduced(told if isinstance(told, dict) else {})

    def close(self) -> None:
        """The client or the server is gone."""
        self.is_closed = True
        if self._attempt is not None and not self._attempt.done():
            self._attempt.set_exception(Removed(self.member))
        for task in list(self._tasks):
            task.cancel()
        if self.member.receiver is not None:
            self.member.receiver.leave(self.peer)


def _id() -> str:
    return f"{_OURS}.{next(_numbers)}"


def _future() -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    # Perhaps nobody waits for it: that it failed is known otherwise.
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future
