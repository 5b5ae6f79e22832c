"""One connection to the server behind: opened when it is needed, opened again when it is lost.

Every request gets one answer or one ClientError. What may have run is never asked twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from msgspec import Raw
from msgspec.structs import replace

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
)
from ..client.options import Options
from ..client.pending import Reply
from ..protocol import errors
from ..protocol.jsonrpc import UNREADABLE, Notification
from ..protocol.versions import LEGACY
from ..repairs import values
from ..repairs.chosen import Outcome, Page
from ..repairs.subjects import Asked
from .failures import Lost, RequestTooLong, SessionLost, Unreachable
from .journal import Journal
from .known_tools import Cursor, KnownTools
from .open_call import OpenCall
from .stderr import Tail
from .way import Way
from .words import refused

log = logging.getLogger(__name__)

# What a server is asked for when no client has named a revision that has a handshake.
USUAL_REVISION = "2025-06-18"
State = Literal["idle", "starting", "ready", "down"]
# Names of methods in an older dialect.
_OLD_NAMES = {"tools/list": "list_tools", "tools/call": "call_tool"}


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
        self.tools = KnownTools(way.read_only, way.hidden, misfits)
        self.handshake: dict[str, Any] = {}
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
        self._names: Mapping[str, str] = {}
        self._tail = Tail(way.limits, way.mask)
        self._client: Client | None = None
        self._waiting: set[asyncio.Future[Client]] = set()
        self._wanted = asyncio.Event()
        self._gone = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._farewells: set[asyncio.Task[None]] = set()
        self._closed = False
        self._attempts = 0
        self._reported = ""
        self._answer: Reply | ServerError | None = None
        repairs = way.repairs
        own = way.client
        handler = {
            method: self._asker(ask_client, method)
            for method in ("sampling/createMessage", "elicitation/create", "roots/list")
        }
        self._options: Options = replace(
            own,
            info=opening.info or own.info,
            capabilities=opening.capabilities,
            handlers=handler,
            on_notification=self._notified,
            on_stderr=self._tail.take,
            on_lost=self._lost,
            on_dropped=journal.repaired,
            on_forgiven=lambda code, detail: journal.count(code, detail=detail),
            reading=repairs.messages if repairs.on else None,
            forgives=repairs.codes,
            handshake=self._shaken,
            is_full=is_crowded,
            room=room,
            splitter=repairs.lines if repairs.on else None,
            renews_sessions=False,
        )

    @staticmethod
    def _asker(ask_client: Callable[[str, Raw], Any], method: str) -> Callable[[Raw], Any]:
        return lambda params: ask_client(method, params)

    async def ready(self) -> Client:
        """The connection; waits for it within limits.

        Raises: Unreachable, or what else makes waiting senseless.
        """
        self.last_used = asyncio.get_running_loop().time()
        if self._client is not None:
            return self._client
        if self._closed:
            raise Unreachable(self.way.name, "this bridge is closing")
        if self._keeper is None:
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
        waiter: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        self._wanted.set()
        limits = self.way.limits
        seconds = (
            min(limits.reconnect_seconds, self.way.start_timeout) if self.was_up else self.way.start_timeout
        )
        try:
            async with asyncio.timeout(seconds):
                return await waiter
        except TimeoutError:
            raise self._unreachable(self.error) from None
        finally:
            self._waiting.discard(waiter)

    def _unreachable(self, error: ClientError | None) -> Unreachable:
        words = ""
        if isinstance(error, HttpRefused):
            words = f"cannot reach {self.way.name}: {refused(error)}"
        elif isinstance(error, NotSupported | MalformedReply | ServerError | CannotRun):
            words = f"cannot use {self.way.name}: {error}"
        elif self.way.is_command and error is not None:
            words = f"cannot reach {self.way.name}: {error}"
        tail = self._tail.text
        if tail:
            words = f"{words or f'cannot reach {self.way.name}'}\n{tail}"
        return Unreachable(self.way.name, "" if error is None else str(error), words)

    async def _keep(self) -> None:
        """Open the connection, and again when it is lost, with growing pauses, until it is closed."""
        limits = self.way.limits
        pause = limits.first_pause_seconds
        while True:
            self.state = "starting"
            try:
                client = await self._open()
            except ClientError as exc:
                self.state, self.error = "down", exc
                self._attempts += 1
                self._report(exc)
                if self._is_hopeless(exc):
                    self._fail_waiters()
                longest = limits.waited_pause_seconds if self._waiting else limits.idle_pause_seconds
                await self._pause(min(pause, longest))
                pause = min(2 * pause, limits.idle_pause_seconds)
                continue
            pause = limits.first_pause_seconds
            self._attempts = 0
            self._reported = ""
            self._up(client)
            await self._gone.wait()
            self._retire(client)

    def _report(self, error: ClientError) -> None:
        """Log why the server cannot be reached, once for each reason."""
        reason = str(error)
        if reason != self._reported:
            self._reported = reason
            log.warning(
                "cannot reach the server",
                extra={"qortal_mcp.server": self.way.name, "qortal_mcp.reason": reason},
            )

    def _up(self, client: Client) -> None:
        self._gone.clear()
        self._client, self.state, self.error = client, "ready", None
        again, self.was_up = self.was_up, True
        self.opened += 1
        for waiter in list(self._waiting):
            if not waiter.done():
                waiter.set_result(client)
        log.info(
            "connected again" if again else "connected",
            extra={"qortal_mcp.server": self.way.name, "qortal_mcp.tools": len(self.tools)},
        )

    def _is_hopeless(self, error: ClientError) -> bool:
        """Whether trying again soon makes no sense."""
        if isinstance(error, HttpRefused):
            return 400 <= error.status < 500 and error.status not in (404, 408, 425, 429)
        if isinstance(error, NotSupported | CannotRun | MalformedReply | ServerError):
            return True
        return self.way.is_command and self._attempts >= self.way.limits.start_attempts

    def _fail_waiters(self) -> None:
        error = self._unreachable(self.error)
        for waiter in list(self._waiting):
            if not waiter.done():
                waiter.set_exception(error)

    async def _pause(self, seconds: float) -> None:
        least = min(seconds, self.way.limits.first_pause_seconds)
        await asyncio.sleep(least)
        if self._waiting and seconds > self.way.limits.waited_pause_seconds:
            return
        self._wanted.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds - least):
                await self._wanted.wait()

    async def _open(self) -> Client:
        """Raises: ClientError."""
        self._tail.clear()
        client = Client(self.way.target, self._options)
        try:
            async with asyncio.timeout(self.way.start_timeout):
                await client.open("legacy", self.opening.revision)
            await self._read_tools(client)
            await self._settle_handshake(client)
        except TimeoutError:
            await client.close()
            raise RequestTimeout("initialize", self.way.start_timeout) from None
        except BaseException:
            await client.close()
            raise
        return client

    def _shaken(self, answer: Reply | ServerError) -> Reply:
        """The answer to `initialize` as it should have been."""
        outcome = self._repaired(answer)
        if outcome.result is None:
            assert isinstance(answer, ServerError), "a result stays one"
            raise answer
        self._answer = answer
        return Reply(outcome.result, answer.raw if isinstance(answer, Reply) else b"")

    def _repaired(self, answer: Reply | ServerError, serves: Mapping[str, bool] | None = None) -> Outcome:
        asked = Asked(revision=self.opening.revision, method="initialize")
        result, error = (answer.result, None) if isinstance(answer, Reply) else (None, answer.raw)
        return self.way.repairs.handshake(result, error, asked, self.way.name, answer.changes, serves)

    async def _settle_handshake(self, client: Client) -> None:
        """Read the handshake again, now that it is known which lists are answered."""
        assert self._answer is not None, "there was a handshake"
        codes = self.way.repairs.codes
        declared = client.terms.capabilities
        serves: dict[str, bool] = {}
        # Other lists that are not declared are asked for only if that of the tools was forgotten as well.
        is_silent = (
            "capability-not-declared" in codes and self.tools.are_known and not _declares_tools(self._answer)
        )
        if is_silent:
            serves = {"tools": True}
        if is_silent or "capability-not-served" in codes:
            asked = [kind for kind in ("resources", "prompts") if is_silent or kind in declared]
            found = await asyncio.gather(*(self._is_served(client, kind) for kind in asked))
            serves |= {
                kind: is_served for kind, is_served in zip(asked, found, strict=True) if is_served is not None
            }
        outcome = self._repaired(self._answer, serves)
        self._journal.repaired(outcome.changes)
        tree = values.read(outcome.result or b"{}")
        self.handshake = tree if isinstance(tree, dict) else {}

    async def _is_served(self, client: Client, kind: str) -> bool | None:
        """Whether a list is answered; None if that cannot be determined."""
        try:
            reply = await client.request(f"{kind}/list", {}, timeout=self.way.start_timeout)
        except ServerError as exc:
            return False if exc.code == errors.METHOD_NOT_FOUND else None
        except ClientError:
            return None
        asked = Asked(revision=self.opening.revision, method=f"{kind}/list")
        outcome = self.way.repairs.other(reply.result, None, asked)
        return outcome.error is None

    async def _read_tools(self, client: Client) -> None:
        """Read the whole list. A server without tools, or without an answer, has none that are known."""
        self._names = {}
        pages: dict[Cursor, Page] = {}
        taken: set[str] = set()
        cursor: Cursor = None
        limits = self._options.limits
        try:
            for _ in range(limits.list_pages):
                page = await self._read_page(client, cursor, taken)
                pages[cursor] = page
                following = page.value.get("nextCursor") if isinstance(page.value, dict) else None
                if not isinstance(following, str) or not following or following in pages:
                    break
                cursor = following
        except (ServerError, MalformedReply, RequestTimeout, HttpRefused) as exc:
            log.info("the tools cannot be listed", extra={"qortal_mcp.reason": str(exc)})
            if not pages:
                return
        if self.tools.replace(pages, asyncio.get_running_loop().time()) and self.was_up:
            self._on_list_changed()

    async def _read_page(self, client: Client, cursor: Cursor, taken: set[str]) -> Page:
        params = {} if cursor is None else {"cursor": cursor}
        seconds = self.way.start_timeout
        try:
            reply = await client.request(self.method("tools/list"), params, timeout=seconds)
            return self.page_of(reply, taken)
        except ServerError as exc:
            if not self._tries_old_names(exc):
                raise
        reply = await client.request(_OLD_NAMES["tools/list"], params, timeout=seconds)
        page = self.page_of(reply, taken)
        self._names = _OLD_NAMES
        self._journal.count("method-old-name")
        return page

    def _tries_old_names(self, error: ServerError) -> bool:
        return (
            error.code == errors.METHOD_NOT_FOUND
            and not self._names
            and "method-old-name" in self.way.repairs.codes
        )

    def method(self, name: str) -> str:
        """How the server calls a method."""
        return self._names.get(name, name)

    def page_of(self, reply: Reply, taken: set[str] | None = None, revision: str = "") -> Page:
        """A page of tools after its repairs.

        Raises: ServerError if it is an error in the dress of a result; MalformedReply.
        """
        asked = Asked(revision=revision or self.opening.revision, method="tools/list")
        outcome = self.way.repairs.other(reply.result, None, asked, reply.changes)
        if outcome.result is None:
            self._journal.repaired(outcome.changes)
            raise _as_error(outcome, reply)
        try:
            page = self.way.repairs.page(outcome.result, "tools", asked, taken, outcome.changes)
        except UNREADABLE:
            raise MalformedReply("the list of tools is nested too deeply") from None
        self._journal.repaired(page.changes)
        return page

    def list_age(self) -> float | None:
        """How old the list is, in seconds; None if it is not known, or known to be out of date."""
        read_at = self.tools.read_at
        return None if read_at is None else asyncio.get_running_loop().time() - read_at

    async def read_tools(self) -> None:
        """Read the whole list again.

        Raises: ClientError.
        """
        await self._read_tools(await self.ready())

    def _notified(self, notification: Notification) -> None:
        if notification.method == "notifications/tools/list_changed":
            self.tools.read_at = None
            self._refresh()
        self._hear(notification)

    def _refresh(self) -> None:
        """Read the list again in the background, once for all notices that come meanwhile."""
        if self._client is None or (self._refreshing is not None and not self._refreshing.done()):
            return
        self._refreshing = asyncio.get_running_loop().create_task(self._read_again(self._client))

    async def _read_again(self, client: Client) -> None:
        with contextlib.suppress(ClientError):
            while self.tools.read_at is None and self._client is client:
                await self._read_tools(client)
                if not self.tools.are_known:
                    return

    async def ask(
        self, method: str, params: Params, *, call: OpenCall | None = None, may_repeat: bool = False
    ) -> Reply:
        """Ask the server and wait for its result.

        Raises: ClientError.
        """
        self.in_flight += 1
        try:
            reply = await self._ask_once(method, params, call, again=may_repeat)
            return reply if reply is not None else await self._ask_for_sure(method, params, call)
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
        except SessionGone as exc:
            self._session_lost(client, exc)
            if again:
                return None
            raise SessionLost(str(exc), exc.evidence) from exc
        except HttpRefused as exc:
            if exc.status == 429 and again:
                await asyncio.sleep(min(exc.retry_after or 1.0, self.way.limits.retry_seconds))
                return None
            raise
        except ConnectionLost as exc:
            self._lost_by(client, exc)
            if again:
                return None
            raise Lost(str(exc), exc.evidence, self._tail.text) from exc

    async def _request(self, client: Client, method: str, params: Params, call: OpenCall | None) -> Reply:
        limits = self._options.limits
        seconds = self.way.timeout
        try:
            async with asyncio.timeout(seconds) as deadline:
                if call is not None:
                    call.deadline, call.seconds = deadline, seconds
                return await client.request(self.method(method), params, timeout=limits.longest_seconds)
        except TimeoutError:
            raise RequestTimeout(method, seconds) from None
        finally:
            if call is not None:
                call.deadline = None

    async def notify(self, method: str, params: Params) -> None:
        """Tell the server something, if there is a connection. What it makes of it is its own business."""
        client = self._client
        if client is not None:
            with contextlib.suppress(ClientError):
                await client.notify(method, params)

    def check_size(self, size: int) -> None:
        """Raises: RequestTooLong."""
        most = self.way.request_bytes
        if most is not None and size > most:
            raise RequestTooLong(size, most)

    def _session_lost(self, client: Client, error: SessionGone) -> None:
        log.info("the server lost the session", extra={"qortal_mcp.server": self.way.name})
        self._lost_by(client, error)

    def _lost(self, error: ClientError) -> None:
        """The wire says that it is gone."""
        if self._client is not None:
            self._lost_by(self._client, error)

    def _lost_by(self, client: Client, error: ClientError) -> None:
        if client is not self._client:
            return  # another request has noticed it before
        self._client, self.state, self.error = None, "down", error
        log.warning(
            "connection to the server lost",
            extra={"qortal_mcp.server": self.way.name, "qortal_mcp.reason": str(error)},
        )
        self._gone.set()

    def _retire(self, client: Client) -> None:
        """Close a connection that is not used any more, after the requests that still wait on it."""
        task = asyncio.get_running_loop().create_task(self._close_when_idle(client))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    async def _close_when_idle(self, client: Client) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.way.timeout):
                await client.settled()
        await client.close()

    async def close(self) -> None:
        """End the connection, and the program if it is one, for good."""
        self._closed = True
        self.error = self.error or Unreachable(self.way.name, "this bridge is closing")
        self._fail_waiters()
        await self.rest()

    async def rest(self) -> None:
        """End the connection; it is opened again when somebody needs it."""
        tasks = [task for task in (self._keeper, self._refreshing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._keeper = None
        client, self._client = self._client, None
        self.state = "idle"
        for task in self._farewells:
            task.cancel()
        await asyncio.gather(
            *([client.close()] if client is not None else []), *self._farewells, return_exceptions=True
        )

    def facts(self) -> dict[str, Any]:
        """What operators are told."""
        told: dict[str, Any] = {"state": self.state, "tools": len(self.tools), "connected": self.opened}
        if self.error is not None:
            told["error"] = str(self.error)
        if self.state != "ready" and self._tail.text:
            told["stderr"] = self._tail.text
        return told


def _declares_tools(answer: Reply | ServerError) -> bool:
    """Whether the server itself says that it has tools."""
    try:
        told: Any = values.read(answer.result) if isinstance(answer, Reply) else None
    except UNREADABLE:
        return False
    capabilities = told.get("capabilities") if isinstance(told, dict) else None
    return isinstance(capabilities, dict) and "tools" in capabilities


def _as_error(outcome: Outcome, reply: Reply) -> ServerError:
    found = values.read(outcome.error or b"{}")
    error = errors.ErrorObject(found.get("code", errors.INTERNAL_ERROR), str(found.get("message", "")))
    return ServerError(error, (reply.raw,), reply.status, outcome.error, outcome.changes)
