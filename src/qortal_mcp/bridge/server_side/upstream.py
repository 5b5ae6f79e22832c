"""Asking the server behind: every request gets one answer or one ClientError. What may have run is never asked twice."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from ...client import lost_sessions
from ...client.answering import ELICIT, ROOTS, SAMPLING, Handler, Handlers
from ...client.client import Client
from ...client.envelope import Params
from ...client.errors import (
    ClientError,
    ConnectionLost,
    HttpRefused,
    RequestTimeout,
    ServerError,
    SessionGone,
    StreamEnded,
)
from ...client.pending import Reply
from ...protocol.jsonrpc import Notification
from ...protocol.messages import LOG_LEVELS, LogLevel
from ...repairs.chosen import Page
from ..client_side.open_call import OpenCall
from ..eras import request_for
from ..failures import Lost, RequestTooLong, SessionLost
from ..journal import Journal
from ..way import Way
from .kept_connection import KeptConnection
from .known_tools import KnownTools
from .listening import Listening
from .opening import Eras, Opening
from .survey import Survey

log = logging.getLogger(__name__)

# A question of the server, and the call it belongs to, if that is known.
AskClient = Callable[[str, Raw, OpenCall | None], Awaitable[bytes]]

_encode = msgspec.json.Encoder().encode
_NO_CAPABILITIES = Raw(b"{}")
# What old servers usually say to a client that has set no level; modern ones say nothing then.
_USUAL_LEVEL: LogLevel = "info"
_ERROR_STATUS = "rpc-error-status"
# After the list was read again, no reading follows for this many times as long.
_CALM = 20


class Upstream:
    """One server, asked for one client or for all that share its connection."""

    def __init__(
        self,
        way: Way,
        journal: Journal,
        opening: Opening,
        *,
        hear: Callable[[Notification, OpenCall | None], None],
        ask_client: AskClient,
        eras: Eras,
        on_list_changed: Callable[[], None],
        is_crowded: Callable[[], bool],
        room: Callable[[], Awaitable[None]],
        misfits: set[str],
    ) -> None:
        self.way = way
        self.in_flight = 0
        self._journal = journal
        self._hear = hear
        self._ask_client = ask_client
        self._survey = Survey(way, journal, opening, misfits)
        # What the wire overlooked before the connection was ready: code and detail.
        self._overlooked: dict[str, str] = {}
        # The most detailed log that an old server was asked for.
        self._log_level: LogLevel | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._notices = 0
        repairs = way.repairs
        own = way.client
        options = replace(
            own,
            limits=replace(own.limits, probe_seconds=min(own.limits.probe_seconds, way.limits.probe_seconds)),
            info=opening.info or own.info,
            capabilities=opening.capabilities or _NO_CAPABILITIES,
            handlers=self._handlers(None),
            on_notification=lambda notification: self._notified(notification),
            on_dropped=journal.repaired,
            on_forgiven=self._forgave,
            reading=repairs.messages,
            forgives=repairs.codes,
            handshake=self._survey.shaken,
            is_full=is_crowded,
            room=room,
            splitter=repairs.lines if repairs.on else None,
            renews_sessions=False,
        )
        self.connection = KeptConnection(
            way,
            options,
            self._survey,
            opening,
            eras,
            on_up=self._connected,
            on_list_changed=on_list_changed,
        )

        self._listening = Listening(self.connection, way.limits, way.timeout, self._notified, self._outdated)

    def _handlers(self, call: OpenCall | None) -> Handlers:
        """Who answers what the server asks: the client of this call, or whoever can be asked."""

        def asker(method: str) -> Handler:
            return lambda params: self._ask_client(method, params, call)

        return {method: asker(method) for method in (SAMPLING, ELICIT, ROOTS)}

    @property
    def is_modern(self) -> bool:
        """Whether the server is spoken to in the modern era, as far as known."""
        return self.connection.is_modern

    @property
    def tools(self) -> KnownTools:
        return self._survey.tools

    @property
    def handshake(self) -> dict[str, Any]:
        """What the server said about itself, put right."""
        return self._survey.handshake

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

    def _notified(self, notification: Notification, call: OpenCall | None = None) -> None:
        if notification.method == "notifications/tools/list_changed":
            self.tools.outdate()
            self._refresh()
        self._hear(notification, call)

    def _outdated(self) -> None:
        """For a while nobody could hear that the list of tools has changed."""
        self.tools.outdate()
        self._refresh()

    def _forgave(self, code: str, detail: str) -> None:
        """The wire has overlooked a mistake. Until the era is known, it may be none."""
        if self.connection.client is None:
            self._overlooked[code] = detail
        else:
            self._journal.count(code, detail=detail)

    def _connected(self) -> None:
        overlooked, self._overlooked = self._overlooked, {}
        for code, detail in overlooked.items():
            # A modern server refuses `initialize` with an error status, as it should.
            if code != _ERROR_STATUS or not self.is_modern:
                self._journal.count(code, detail=detail)
        if self.is_modern:
            self._listening.begin()
        if self.tools.are_known and self.tools.read_at is None:
            self._refresh()  # it changed while it was read

    def _refresh(self) -> None:
        """Read the list again in the background, once for all notices that come meanwhile."""
        client = self.connection.client
        if client is None or (self._refreshing is not None and not self._refreshing.done()):
            return
        self._refreshing = self.connection.start(self._read_again(client))

    async def _read_again(self, client: Client) -> None:
        async def request(method: str, params: Params) -> Reply:
            return await client.request(method, params, timeout=self.way.start_timeout)

        with contextlib.suppress(ClientError):
            loop = asyncio.get_running_loop()
            while self.tools.read_at is None and self.connection.client is client:
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
            self.connection.remember(method, params)
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
        client = await self.connection.ready()
        try:
            return await self._request(client, method, params, call)
        except (SessionGone, ServerError) as exc:
            if not self._says_session_lost(exc):
                raise
            log.info("the server lost the session", extra={"qortal_mcp.server": self.way.name})
            self.connection.lose(client, exc)
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
            self.connection.lose(client, exc)
            if again:
                return None
            raise Lost(str(exc), exc.evidence, self.connection.last_words) from exc

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

    async def _request(self, client: Client, method: str, params: Params, call: OpenCall | None) -> Reply:
        limits = self.way.client.limits
        seconds = self.way.timeout
        is_modern = client.terms.is_modern
        if call is not None:
            log_level = _USUAL_LEVEL if call.log_level is None else call.log_level
            params = request_for(params, from_modern=call.is_modern, to_modern=is_modern, log_level=log_level)
        try:
            async with asyncio.timeout(seconds) as deadline:
                if call is not None:
                    call.deadline, call.seconds = deadline, seconds
                return await client.request(
                    self._survey.method(method),
                    params,
                    timeout=limits.longest_seconds,
                    hears=lambda notification: self._notified(notification, call),
                    handlers=self._handlers(call),
                    # Both sides know how such questions are asked: they are none of our business.
                    leaves_questions=call is not None and call.is_modern,
                )
        except TimeoutError:
            raise RequestTimeout(method, seconds) from None
        finally:
            if call is not None:
                call.deadline = None

    async def watch(self, uri: str) -> bool:
        """Hear of changes of a resource. False: the server does not accept that. Raises: ClientError."""
        await self.connection.ready()
        if self.is_modern:
            return await self._listening.watch(uri)
        try:
            await self.ask("resources/subscribe", {"uri": Raw(_encode(uri))})
        except ServerError:
            return False
        return True

    async def unwatch(self, uri: str) -> None:
        """Nobody wants to hear of a resource any more. Raises: ClientError."""
        await self.connection.ready()
        if self.is_modern:
            await self._listening.unwatch(uri)
        else:
            await self.ask("resources/unsubscribe", {"uri": Raw(_encode(uri))})

    def _declares(self, capability: str) -> bool:
        declared = self.handshake.get("capabilities")
        return isinstance(declared, dict) and capability in declared

    async def want_log(self, level: LogLevel) -> None:
        """See to it that an old server says enough for a modern client that wants this level. Raises: ClientError."""
        await self.connection.ready()
        if self.is_modern or not self._declares("logging"):
            return
        if self._log_level is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(self._log_level):
            return
        self._log_level = level
        with contextlib.suppress(ServerError):
            await self.ask("logging/setLevel", {"level": Raw(_encode(level))})

    async def notify(self, method: str, params: Params) -> None:
        """Tell the server something, if there is a connection. What it makes of it is its own business."""
        client = self.connection.client
        if client is None or client.terms.is_modern or self._notices >= self.way.limits.unsent_notices:
            return  # 2026-07-28 has no notices from clients but those about a request
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
