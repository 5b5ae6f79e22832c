"""The connection to the server behind: opened when it is needed, and again when it is lost; kept until it is not needed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from msgspec.structs import replace

from ...client.client import Client
from ...client.envelope import Params
from ...client.errors import (
    CannotRun,
    ClientError,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    NotSupported,
    RequestTimeout,
    ServerError,
    SessionGone,
)
from ...client.options import Options
from ...client.pending import Reply
from ...protocol.versions import MODERN_ERA
from ..failures import Unreachable
from ..way import Way
from ..words import refused
from .opening import Eras, Opening
from .stderr import Tail
from .survey import Survey

log = logging.getLogger(__name__)

State = Literal["idle", "starting", "ready", "down"]
_SUBSCRIBING = ("resources/subscribe", "resources/unsubscribe")
_CLOSING = "the bridge is stopping"


class KeptConnection:
    """At most one connection at a time. Every new one begins with a handshake and a survey of the server."""

    def __init__(
        self,
        way: Way,
        options: Options,
        survey: Survey,
        opening: Opening,
        eras: Eras,
        *,
        on_up: Callable[[], None],
        on_list_changed: Callable[[], None],
    ) -> None:
        """`on_list_changed`: a new connection has found other tools."""
        self.state: State = "idle"
        # Why there is no connection, as far as known.
        self.error: ClientError | None = None
        self.was_up = False
        self.opened = 0
        self.last_used = 0.0
        self._way = way
        self._survey = survey
        self._opening = opening
        self._eras = eras
        # What the newest connection speaks.
        self.revision: str | None = None
        self._on_up = on_up
        self._on_list_changed = on_list_changed
        self._tail = Tail(way.limits, way.mask)
        self._options: Options = replace(options, on_stderr=self._tail.take, on_lost=self._lost)
        self._client: Client | None = None
        # Every client that was opened and is not closed yet.
        self._held: set[Client] = set()
        self._waiting: set[asyncio.Future[Client]] = set()
        self._wanted = asyncio.Event()
        self._gone = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._companions: set[asyncio.Task[None]] = set()
        self._farewells: set[asyncio.Task[None]] = set()
        self._closed = False
        self._attempts = 0
        self._reported = ""
        # When the connection was lost, in the loop's time.
        self._down_since: float | None = None
        # What a new connection has to be told again: by method and object.
        self._told: dict[tuple[str, bytes], Params] = {}

    @property
    def client(self) -> Client | None:
        """The connection, if there is one now."""
        return self._client

    @property
    def is_modern(self) -> bool:
        return self.revision is not None and self.revision >= MODERN_ERA

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, or one is being opened, or will be. False after `rest`, until it is needed."""
        return self._keeper is not None or not (self.was_up or self._closed)

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for it."""
        return bool(self._waiting)

    @property
    def last_words(self) -> str:
        """What the program wrote last on its standard error."""
        return self._tail.text

    async def ready(self) -> Client:
        """The connection; waits for it within limits.

        Raises: Unreachable, or what else makes waiting senseless.
        """
        self.last_used = asyncio.get_running_loop().time()
        if self._client is not None:
            return self._client
        if self._closed:
            raise Unreachable(self._way.name, _CLOSING)
        if self._keeper is None:
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
        waiter: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        self._wanted.set()
        seconds = self._patience()
        try:
            async with asyncio.timeout(seconds):
                return await waiter
        except TimeoutError:
            raise self._unreachable(self.error or self._silence(seconds)) from None
        finally:
            self._waiting.discard(waiter)

    def _silence(self, seconds: float) -> ClientError:
        """A server that is there and says nothing leaves no other reason behind."""
        option = " (--start-timeout)" if seconds == self._way.start_timeout else ""
        return ConnectionLost(f"no answer within {seconds:g} s{option}")

    def _patience(self) -> float:
        """How long a request may wait: until the server has had its time to start, or to come back."""
        limits = self._way.limits
        if not self.was_up:
            return self._way.start_timeout
        if self._down_since is None:
            return min(limits.reconnect_seconds, self._way.start_timeout)
        down = asyncio.get_running_loop().time() - self._down_since
        return min(max(limits.reconnect_seconds - down, limits.waited_pause_seconds), self._way.start_timeout)

    def _unreachable(self, error: ClientError | None) -> Unreachable:
        words = ""
        if isinstance(error, HttpRefused):
            said = refused(error)
            words = f"cannot use {self._way.name}: {said[:1].lower()}{said[1:]}"
        elif isinstance(error, CannotRun):
            words = str(error)
        elif isinstance(error, NotSupported | MalformedReply | ServerError):
            words = f"cannot use {self._way.name}: {error}"
        elif self._way.is_command and error is not None:
            words = f"cannot reach {self._way.name}: {error}"
        words = self._way.mask(words)
        tail = self._shown_tail()
        if tail:
            words = f"{words or f'cannot reach {self._way.name}'}\n{tail}"
        # A refusal is explained in full already.
        reason = "" if error is None or isinstance(error, HttpRefused) else self._way.mask(str(error))
        return Unreachable(self._way.name, reason, words)

    def _shown_tail(self) -> str:
        """What the program wrote last; until a new one writes something, what the one before it wrote."""
        return self._tail.text or (self._tail.former if self._client is None else "")

    async def _keep(self) -> None:
        """Open the connection, and again when it is lost, with growing pauses, until it is closed."""
        limits = self._way.limits
        loop = asyncio.get_running_loop()
        pause = limits.first_pause_seconds
        while True:
            self.state = "starting"
            try:
                client = await self._open()
            except ClientError as exc:
                self._failed_to_open(exc)
            except Exception:
                log.exception("internal error", extra={"qortal_mcp.server": self._way.name})
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
        reason = self._way.mask(str(error))
        if reason != self._reported:
            self._reported = reason
            log.warning(
                "cannot reach the server",
                extra={"qortal_mcp.server": self._way.name, "qortal_mcp.reason": reason},
            )

    def _up(self, client: Client) -> None:
        self._gone.clear()
        self._attempts, self._reported, self._down_since = 0, "", None
        self._client, self.state, self.error = client, "ready", None
        self.revision = client.terms.revision
        self._held.add(client)
        again, self.was_up = self.was_up, True
        self.opened += 1
        for waiter in list(self._waiting):
            if not waiter.done():
                waiter.set_result(client)
        self._on_up()
        log.info(
            "connected again" if again else "connected",
            extra={"qortal_mcp.server": self._way.name, "qortal_mcp.tools": len(self._survey.tools)},
        )

    def _is_hopeless(self, error: ClientError) -> bool:
        """Whether trying again soon makes no sense."""
        if isinstance(error, SessionGone):
            return self._attempts >= self._way.limits.start_attempts
        if isinstance(error, HttpRefused):
            return 400 <= error.status < 500 and error.status not in (404, 408, 425, 429)
        if isinstance(error, NotSupported | CannotRun | MalformedReply | ServerError):
            return True
        return self._way.is_command and self._attempts >= self._way.limits.start_attempts

    def _fail_waiters(self, error: Unreachable) -> None:
        for waiter in list(self._waiting):
            if not waiter.done():
                waiter.set_exception(error)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; what is longer than anybody should wait ends when somebody comes."""
        least = min(seconds, self._way.limits.waited_pause_seconds)
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
        seconds = self._way.start_timeout
        watch = self._way.watch
        options = self._options if watch is None else replace(self._options, observer=watch())
        client = Client(self._way.target, options)

        async def request(method: str, params: Params) -> Reply:
            return await client.request(method, params, timeout=min(seconds, self._way.limits.survey_seconds))

        try:
            async with asyncio.timeout(seconds):
                await self._agree(client)
            is_changed = await self._survey.take(request, client.terms)
            for (method, _), params in list(self._told.items()) if not client.terms.is_modern else ():
                with contextlib.suppress(ServerError, MalformedReply):
                    await request(method, params)
        except TimeoutError:
            await client.close()
            raise RequestTimeout("initialize", seconds) from None
        except BaseException:
            await client.close()
            self._eras.forget()
            raise
        if client.is_lost:
            await client.close()
            raise ConnectionLost("the connection was lost at once")
        if is_changed and self.was_up:
            self._on_list_changed()
        return client

    async def _agree(self, client: Client) -> None:
        """Raises: ClientError."""
        try:
            await client.open(*self._eras.first(self._opening))
        except NotSupported:
            if not self._eras.forget():
                raise
            await client.open(*self._eras.first(self._opening))
        self._eras.learn(self._opening, client.terms)

    def remember(self, method: str, params: Params) -> None:
        """What was agreed on in a connection is agreed on again in the next."""
        key = (method, b"")
        if method == "logging/setLevel":
            self._told[key] = params
        elif method in _SUBSCRIBING:
            key = ("resources/subscribe", bytes(params.get("uri", b"")))
            if method != key[0]:
                self._told.pop(key, None)
            elif len(self._told) < self._way.limits.kept_subscriptions:
                self._told[key] = params

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work in the background that ends with the connection."""
        task = asyncio.get_running_loop().create_task(work)
        self._companions.add(task)
        task.add_done_callback(self._companions.discard)
        return task

    def _lost(self, error: ClientError) -> None:
        """The wire says that it is gone."""
        if self._client is not None:
            self.lose(self._client, error)

    def lose(self, client: Client, error: ClientError) -> None:
        """A request has found out that the connection cannot be used any more."""
        if client is not self._client:
            return  # another request has noticed it before
        self._client, self.state, self.error = None, "down", error
        self._down_since = asyncio.get_running_loop().time()
        log.warning(
            "connection to the server lost",
            extra={"qortal_mcp.server": self._way.name, "qortal_mcp.reason": self._way.mask(str(error))},
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
                async with asyncio.timeout(self._way.timeout):
                    await client.settled()
        finally:
            await client.close()
            self._held.discard(client)

    async def close(self) -> None:
        """End the connection, and the program if it is one, for good."""
        self._closed = True
        self.error = self.error or Unreachable(self._way.name, _CLOSING)
        self._fail_waiters(self._unreachable(self.error))
        await self.rest()

    def stop_waiting(self) -> None:
        """Nobody waits for the connection any more; who has it keeps it until `close`."""
        self._closed = True
        self._fail_waiters(Unreachable(self._way.name, _CLOSING))

    async def rest(self) -> None:
        """End the connection; it is opened again when somebody needs it."""
        # At once: a request that comes while this one ends gets a connection of its own.
        tasks = [*([self._keeper] if self._keeper is not None else []), *self._companions]
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
        told: dict[str, Any] = {
            "state": self.state,
            "tools": len(self._survey.tools),
            "connected": self.opened,
        }
        if self.revision is not None:
            told["revision"] = self.revision
        if self.error is not None:
            told["error"] = self._way.mask(str(self.error))
        if self.state != "ready" and (tail := self._shown_tail()):
            told["stderr"] = tail
        return told
