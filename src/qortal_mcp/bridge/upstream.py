"""One connection to the server behind: opened when it is needed, opened again when it is lost.

Every request gets one answer or one ClientError. What may have run is never asked twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Raw
from msgspec.structs import replace

from ..client import lost_sessions
from ..client.client import Client
from ..client.envelope import Params
from ..client.errors import (
    CannotRun,
    ClientError,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    NotSupported,
    RequestTimeout,
    ServerError,
    SessionGone,
    StreamEnded,
)
from ..client.options import Options
from ..client.pending import Reply
from ..protocol.jsonrpc import Notification
from ..protocol.versions import LEGACY
from ..repairs.chosen import Page
from .failures import Lost, RequestTooLong, SessionLost, Unreachable
from .journal import Journal
from .known_tools import KnownTools
from .open_call import OpenCall
from .stderr import Tail
from .survey import Survey
from .way import Way
from .words import refused

log = logging.getLogger(__name__)

# What a server is asked for when no client has named a revision that has a handshake.
USUAL_REVISION = "2025-06-18"
State = Literal["idle", "starting", "ready", "down"]
_SUBSCRIBING = ("resources/subscribe", "resources/unsubscribe")
_CLOSING = "the bridge is stopping"
_NO_CAPABILITIES = Raw(b"{}")
# After the list was read again, no reading follows for this many times as long.
_CALM = 20


class Opening:
    """What the client in front said about itself, which the server is told in its place."""

    def __init__(self, revision: str = "", info: Raw | None = None, capabilities: Raw | None = None) -> None:
        self.revision = revision if revision in LEGACY else USUAL_REVISION
        self.info = info
        self.capabilities = capabilities


class Upstream:
    """The way to one server for one client, or for all that share it."""

    def __init__(
        self,
        way: Way,
        journal: Journal,
        opening: Opening,
        *,
        hear: Callable[[Notification], None],
        ask_client: Callable[[str, Raw], Any],
        on_list_changed: Callable[[], None],
        is_crowded: Callable[[], bool],
        room: Callable[[], Awaitable[None]],
        misfits: set[str],
    ) -> None:
        self.way = way
        self.opening = opening
        self.state: State = "idle"
        # Why there is no connection, as far as known.
        self.error: ClientError | None = None
        self.was_up = False
        self.opened = 0
        self.last_used = 0.0
        self.in_flight = 0
        self._journal = journal
        self._on_list_changed = on_list_changed
        self._hear = hear
        self._survey = Survey(way, journal, opening.revision, misfits)
        self._tail = Tail(way.limits, way.mask)
        self._client: Client | None = None
        self._waiting: set[asyncio.Future[Client]] = set()
        self._wanted = asyncio.Event()
        self._gone = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._farewells: set[asyncio.Task[None]] = set()
        # Every connection that was opened and is not closed yet.
        self._held: set[Client] = set()
        self._closed = False
        self._attempts = 0
        self._reported = ""
        # When the connection was lost, in the loop's time.
        self._down_since: float | None = None
        self._notices = 0
        # What a new connection has to be told again: by method and object.
        self._told: dict[tuple[str, bytes], Params] = {}
        repairs = way.repairs
        own = way.client
        handler = {
            method: self._asker(ask_client, method)
            for method in ("sampling/createMessage", "elicitation/create", "roots/list")
        }
        self._options: Options = replace(
            own,
            info=opening.info or own.info,
            capabilities=opening.capabilities or _NO_CAPABILITIES,
            handlers=handler,
            on_notification=self._notified,
            on_stderr=self._tail.take,
            on_lost=self._lost,
            on_dropped=journal.repaired,
            on_forgiven=lambda code, detail: journal.count(code, detail=detail),
            reading=repairs.messages,
            forgives=repairs.codes,
            handshake=self._survey.shaken,
            is_full=is_crowded,
            room=room,
            splitter=repairs.lines if repairs.on else None,
            renews_sessions=False,
        )

    @staticmethod
    def _asker(ask_client: Callable[[str, Raw], Any], method: str) -> Callable[[Raw], Any]:
        return lambda params: ask_client(method, params)

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, or one is being opened, or will be. False after `rest`, until it is needed."""
        return self._keeper is not None or not (self.was_up or self._closed)

    @property
    def tools(self) -> KnownTools:
        return self._survey.tools

    @property
    def handshake(self) -> dict[str, Any]:
        """What the server said about itself, put right."""
        return self._survey.handshake

    async def ready(self) -> Client:
        """The connection; waits for it within limits.

        Raises: Unreachable, or what else makes waiting senseless.
        """
        self.last_used = asyncio.get_running_loop().time()
        if self._client is not None:
            return self._client
        if self._closed:
            raise Unreachable(self.way.name, _CLOSING)
        if self._keeper is None:
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
        waiter: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        self._wanted.set()
        try:
            async with asyncio.timeout(self._patience()):
                return await waiter
        except TimeoutError:
            raise self._unreachable(self.error) from None
        finally:
            self._waiting.discard(waiter)

    def _patience(self) -> float:
        """How long a request may wait: until the server has had its time to start, or to come back."""
        limits = self.way.limits
        if not self.was_up:
            return self.way.start_timeout
        if self._down_since is None:
            return min(limits.reconnect_seconds, self.way.start_timeout)
        down = asyncio.get_running_loop().time() - self._down_since
        return min(max(limits.reconnect_seconds - down, limits.waited_pause_seconds), self.way.start_timeout)

    def _unreachable(self, error: ClientError | None) -> Unreachable:
        words = ""
        if isinstance(error, HttpRefused):
            said = refused(error)
            words = f"cannot use {self.way.name}: {said[:1].lower()}{said[1:]}"
        elif isinstance(error, CannotRun):
            words = str(error)
        elif isinstance(error, NotSupported | MalformedReply | ServerError):
            words = f"cannot use {self.way.name}: {error}"
        elif self.way.is_command and error is not None:
            words = f"cannot reach {self.way.name}: {error}"
        words = self.way.mask(words)
        tail = self._shown_tail()
        if tail:
            words = f"{words or f'cannot reach {self.way.name}'}\n{tail}"
        # A refusal is explained in full already.
        reason = "" if error is None or isinstance(error, HttpRefused) else self.way.mask(str(error))
        return Unreachable(self.way.name, reason, words)

    def _shown_tail(self) -> str:
        """What the program wrote last; until a new one writes something, what the one before it wrote."""
        return self._tail.text or (self._tail.former if self._client is None else "")

    async def _keep(self) -> None:
        """Open the connection, and again when it is lost, with growing pauses, until it is closed."""
        limits = self.way.limits
        loop = asyncio.get_running_loop()
        pause = limits.first_pause_seconds
        while True:
            self.state = "starting"
            try:
                client = await self._open()
            except ClientError as exc:
                self._failed_to_open(exc)
            except Exception:
                log.exception("internal error", extra={"qortal_mcp.server": self.way.name})
                self._failed_to_open(MalformedReply("its answers cannot be processed"))
            else:
                since = loop.time()
                self._up(client)
                await self._gone.wait()
                # A server that knows one session only has to hear that the old one is over first.
                await asyncio.wait({self._retire(client)}, timeout=limits.farewell_seconds)
                if loop.time() - since > limits.steady_seconds:
                    pause = limits.first_pause_seconds
            longest = limits.waited_pause_seconds if self._waiting else limits.idle_pause_seconds
            await self._pause(min(pause, longest))
            pause = min(2 * pause, limits.idle_pause_seconds)

    def _failed_to_open(self, error: ClientError) -> None:
        self.state, self.error = "down", error
        self._attempts += 1
        self._report(error)
        if self._is_hopeless(error):
            self._fail_waiters(self._unreachable(error))

    def _report(self, error: ClientError) -> None:
        """Log why the server cannot be reached, once for each reason."""
        reason = self.way.mask(str(error))
        if reason != self._reported:
            self._reported = reason
            log.warning(
                "cannot reach the server",
                extra={"qortal_mcp.server": self.way.name, "qortal_mcp.reason": reason},
            )

    def _up(self, client: Client) -> None:
        self._gone.clear()
        self._attempts, self._reported, self._down_since = 0, "", None
        self._client, self.state, self.error = client, "ready", None
        self._held.add(client)
        again, self.was_up = self.was_up, True
        self.opened += 1
        for waiter in list(self._waiting):
            if not waiter.done():
                waiter.set_result(client)
        if self.tools.are_known and self.tools.read_at is None:
            self._refresh()  # it changed while it was read
        log.info(
            "connected again" if again else "connected",
            extra={"qortal_mcp.server": self.way.name, "qortal_mcp.tools": len(self.tools)},
        )

    def _is_hopeless(self, error: ClientError) -> bool:
        """Whether trying again soon makes no sense."""
        if isinstance(error, SessionGone):
            return self._attempts >= self.way.limits.start_attempts
        if isinstance(error, HttpRefused):
            return 400 <= error.status < 500 and error.status not in (404, 408, 425, 429)
        if isinstance(error, NotSupported | CannotRun | MalformedReply | ServerError):
            return True
        return self.way.is_command and self._attempts >= self.way.limits.start_attempts

    def _fail_waiters(self, error: Unreachable) -> None:
        for waiter in list(self._waiting):
            if not waiter.done():
                waiter.set_exception(error)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; what is longer than anybody should wait ends when somebody comes."""
        least = min(seconds, self.way.limits.waited_pause_seconds)
        await asyncio.sleep(least)
        if self._waiting:
            return
        self._wanted.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds - least):
                await self._wanted.wait()

    async def _open(self) -> Client:
        """Raises: ClientError."""
        self._tail.begin()
        seconds = self.way.start_timeout
        watch = self.way.watch
        options = self._options if watch is None else replace(self._options, observer=watch())
        client = Client(self.way.target, options)

        async def request(method: str, params: Params) -> Reply:
            return await client.request(method, params, timeout=min(seconds, self.way.limits.survey_seconds))

        try:
            async with asyncio.timeout(seconds):
                await client.open("legacy", self.opening.revision)
            is_changed = await self._survey.take(request, client.terms.capabilities)
            for (method, _), params in list(self._told.items()):
                with contextlib.suppress(ServerError, MalformedReply):
                    await request(method, params)
        except TimeoutError:
            await client.close()
            raise RequestTimeout("initialize", seconds) from None
        except BaseException:
            await client.close()
            raise
        if client.is_lost:
            await client.close()
            raise ConnectionLost("the connection was lost at once")
        if is_changed and self.was_up:
            self._on_list_changed()
        return client

    def page_of(self, reply: Reply, revision: str = "") -> Page:
        """A page of tools after its repairs. Raises: ServerError, MalformedReply."""
        return self._survey.page_of(reply, revision=revision)

    def list_age(self) -> float | None:
        """How old the list is, in seconds; None if it is not known, or known to be out of date."""
        read_at = self.tools.read_at
        return None if read_at is None else asyncio.get_running_loop().time() - read_at

    async def read_tools(self) -> None:
        """Read the whole list again.

        Raises: ClientError.
        """
        await self._survey.read_tools(lambda method, params: self.ask(method, params, may_repeat=True))

    def _notified(self, notification: Notification) -> None:
        if notification.method == "notifications/tools/list_changed":
            self.tools.outdate()
            self._refresh()
        self._hear(notification)

    def _refresh(self) -> None:
        """Read the list again in the background, once for all notices that come meanwhile."""
        if self._client is None or (self._refreshing is not None and not self._refreshing.done()):
            return
        self._refreshing = asyncio.get_running_loop().create_task(self._read_again(self._client))

    async def _read_again(self, client: Client) -> None:
        async def request(method: str, params: Params) -> Reply:
            return await client.request(method, params, timeout=self.way.start_timeout)

        with contextlib.suppress(ClientError):
            loop = asyncio.get_running_loop()
            while self.tools.read_at is None and self._client is client:
                began, notices = loop.time(), self.tools.notices
                await self._survey.read_tools(request)
                if self.tools.read_at is None and self.tools.notices == notices:
                    return  # it cannot be read now; whoever asks for it tries again
                # A server may speak of a change after every reading: most of the time belongs to its clients.
                await asyncio.sleep(_CALM * (loop.time() - began))

    async def ask(
        self, method: str, params: Params, *, call: OpenCall | None = None, may_repeat: bool = False
    ) -> Reply:
        """Ask the server and wait for its result.

        Raises: ClientError.
        """
        self.in_flight += 1
        try:
            reply = await self._ask_once(method, params, call, again=may_repeat)
            if reply is None:
                reply = await self._ask_for_sure(method, params, call)
            self._remember(method, params)
            return reply
        finally:
            self.in_flight -= 1

    async def _ask_for_sure(self, method: str, params: Params, call: OpenCall | None) -> Reply:
        reply = await self._ask_once(method, params, call, again=False)
        assert reply is not None, "it is not asked a third time"
        return reply

    async def _ask_once(
        self, method: str, params: Params, call: OpenCall | None, *, again: bool
    ) -> Reply | None:
        """None: it failed, but may be asked again.

        Raises: ClientError.
        """
        client = await self.ready()
        try:
            return await self._request(client, method, params, call)
        except (SessionGone, ServerError) as exc:
            if not self._says_session_lost(exc):
                raise
            log.info("the server lost the session", extra={"qortal_mcp.server": self.way.name})
            self._lost_by(client, exc)
            if again:
                return None
            raise SessionLost(str(exc), exc.evidence) from exc
        except HttpRefused as exc:
            pause = 1.0 if exc.retry_after is None else exc.retry_after
            if exc.status == 429 and again and pause <= self.way.limits.retry_seconds:
                await asyncio.sleep(pause)
                return None
            raise
        except (ConnectionLost, StreamEnded) as exc:
            self._lost_by(client, exc)
            if again:
                return None
            raise Lost(str(exc), exc.evidence, self._tail.text) from exc

    def _says_session_lost(self, error: SessionGone | ServerError) -> bool:
        """Whether an error means that the server does not know us any more. HTTP wires have looked at theirs."""
        if isinstance(error, SessionGone):
            return True
        if error.status is not None or "stale-session-status" not in self.way.repairs.codes:
            return False
        # A program has no session that it could lose without ending; what its tools call a session is theirs.
        said = lost_sessions.Refused(code=error.code, text=error.message, had_session=not self.way.is_command)
        form = lost_sessions.form_of(said)
        if form is not None:
            self._journal.count("stale-session-status", detail=form)
        return form is not None

    def _remember(self, method: str, params: Params) -> None:
        """What was agreed on in a connection is agreed on again in the next."""
        key = (method, b"")
        if method == "logging/setLevel":
            self._told[key] = params
        elif method in _SUBSCRIBING:
            key = ("resources/subscribe", bytes(params.get("uri", b"")))
            if method != key[0]:
                self._told.pop(key, None)
            elif len(self._told) < self.way.limits.kept_subscriptions:
                self._told[key] = params

    async def _request(self, client: Client, method: str, params: Params, call: OpenCall | None) -> Reply:
        limits = self._options.limits
        seconds = self.way.timeout
        try:
            async with asyncio.timeout(seconds) as deadline:
                if call is not None:
                    call.deadline, call.seconds = deadline, seconds
                return await client.request(
                    self._survey.method(method), params, timeout=limits.longest_seconds
                )
        except TimeoutError:
            raise RequestTimeout(method, seconds) from None
        finally:
            if call is not None:
                call.deadline = None

    async def notify(self, method: str, params: Params) -> None:
        """Tell the server something, if there is a connection. What it makes of it is its own business."""
        client = self._client
        if client is None or self._notices >= self.way.limits.unsent_notices:
            return
        self._notices += 1
        try:
            with contextlib.suppress(ClientError):
                await client.notify(method, params)
        finally:
            self._notices -= 1

    def check_size(self, size: int) -> None:
        """Raises: RequestTooLong."""
        most = self.way.request_bytes
        if most is not None and size > most:
            raise RequestTooLong(size, most)

    def _lost(self, error: ClientError) -> None:
        """The wire says that it is gone."""
        if self._client is not None:
            self._lost_by(self._client, error)

    def _lost_by(self, client: Client, error: ClientError) -> None:
        if client is not self._client:
            return  # another request has noticed it before
        self._client, self.state, self.error = None, "down", error
        self._down_since = asyncio.get_running_loop().time()
        log.warning(
            "connection to the server lost",
            extra={"qortal_mcp.server": self.way.name, "qortal_mcp.reason": self.way.mask(str(error))},
        )
        self._gone.set()

    def _retire(self, client: Client) -> asyncio.Task[None]:
        """Close a connection that is not used any more, after the requests that still wait on it."""
        task = asyncio.get_running_loop().create_task(self._close_when_idle(client))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)
        return task

    async def _close_when_idle(self, client: Client) -> None:
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.way.timeout):
                    await client.settled()
        finally:
            await client.close()
            self._held.discard(client)

    async def close(self) -> None:
        """End the connection, and the program if it is one, for good."""
        self._closed = True
        self.error = self.error or Unreachable(self.way.name, _CLOSING)
        self._fail_waiters(self._unreachable(self.error))
        await self.rest()

    def stop_waiting(self) -> None:
        """Nobody waits for the connection any more; who has it keeps it until `close`."""
        self._closed = True
        self._fail_waiters(Unreachable(self.way.name, _CLOSING))

    async def rest(self) -> None:
        """End the connection; it is opened again when somebody needs it."""
        # At once: a request that comes while this one ends gets a connection of its own.
        tasks = [task for task in (self._keeper, self._refreshing) if task is not None]
        held, self._held = self._held, set()
        self._client = self._keeper = None
        self.state, self._down_since = "idle", None
        for task in tasks:
            task.cancel()
        # Farewells end with their connections. One that is cancelled before it begins would not close anything.
        await asyncio.gather(
            *(client.close() for client in held), *tasks, *self._farewells, return_exceptions=True
        )

    def facts(self) -> dict[str, Any]:
        """What operators are told."""
        told: dict[str, Any] = {"state": self.state, "tools": len(self.tools), "connected": self.opened}
        if self.error is not None:
            told["error"] = self.way.mask(str(self.error))
        if self.state != "ready" and (tail := self._shown_tail()):
            told["stderr"] = tail
        return told
