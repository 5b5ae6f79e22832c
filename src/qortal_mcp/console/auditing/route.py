"""`POST /console/audit`: an audit of the server at an address, as a stream of events or as one report; GET says what is allowed.

Off unless the operator allows it, and then bounded in where it may go, how many run at once and how long.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Raw, Struct

from ...client.wires.routes import Place
from ...limits import DEFAULT, Limits
from ...protocol.decoding import decoder
from ...server.caller import rated
from ...transports.http import Exchange
from ...transports.streams import EventSender, Watch
from ..replies import GUARDED, json_body, refuse, reply_json, wants_events
from .limits import DEFAULT as CAREFUL
from .limits import AuditingLimits
from .places import Busy, OwnPlaces, Places

if TYPE_CHECKING:
    from .run import AuditRun
    from .target import Request

_STARTING = b'{"type":"progress","text":"starting the audit"}'
_BUSY: dict[Busy, str] = {
    "yours": "An audit of yours is still running. Stop it, or wait for its end.",
    "full": "As many audits are running as this server allows. Try again in a moment.",
}
_SHUTTING_DOWN = "The audit was stopped, as this server is shutting down. Try again when it is back."


class _Event(Struct, frozen=True):
    """As much of an event as decides how to go on."""

    type: str
    error: str = ""
    report: Raw = Raw()


_read = decoder(_Event)


class Auditing:
    """All audits of this process. What they need is imported by the first: most pages never ask for one."""

    def __init__(
        self,
        targets: Literal["off", "loopback", "any"],
        never: frozenset[Place] = frozenset(),
        stream_limits: Limits = DEFAULT,
        limits: AuditingLimits = CAREFUL,
        places: Places | None = None,
    ) -> None:
        self._targets = targets
        self._never = never
        self._stream_limits = stream_limits
        self._limits = limits
        self._places = places or OwnPlaces(limits.audits)
        self._running: dict[Hashable, AuditRun] = {}
        self._is_closed = False

    async def handle(self, exchange: Exchange) -> None:
        method = exchange.scope["method"]
        if method in ("GET", "HEAD"):
            await reply_json(exchange, 200, msgspec.json.encode({"targets": self._targets}))
        elif method == "POST":
            await self._post(exchange)
        else:
            await exchange.text(
                405, "Only GET and POST are served here.", ((b"allow", b"GET, HEAD, POST, OPTIONS"),)
            )

    def close(self) -> None:
        """End what runs, and begin nothing more."""
        self._is_closed = True
        for run in self._running.values():
            run.stop(_SHUTTING_DOWN)

    async def _post(self, exchange: Exchange) -> None:
        from .target import Refusal, requested, switched_off

        if (off := switched_off(self._targets)) is not None:
            await refuse(exchange, off.status, off.reason)
            return
        body = await json_body(exchange, self._limits.body_bytes)
        if body is None:
            return
        request = requested(body, self._targets, self._never)
        if isinstance(request, Refusal):
            await refuse(exchange, request.status, request.reason)
        elif self._is_closed:
            await refuse(exchange, 503, _SHUTTING_DOWN)
        elif (busy := await self._places.take(rated(exchange.caller))) is not None:
            again = (b"retry-after", b"%d" % self._limits.retry_after_seconds)
            await refuse(exchange, 429, _BUSY[busy], again)
        else:
            await self._audit(exchange, request)

    async def _audit(self, exchange: Exchange, request: "Request") -> None:
        from .events import Task
        from .run import AuditRun

        run = self._running[rated(exchange.caller)] = AuditRun(
            Task(
                url=request.url,
                revisions=request.revisions,
                only_loopback=self._targets != "any",
                never=self._never,
                limits=self._limits,
            )
        )
        try:
            # The watch inside: it must not cut short the end of the process.
            async with run:
                with Watch(exchange, None) as watch:
                    if wants_events(exchange):
                        await self._stream(exchange, run, watch)
                    else:
                        await self._report(exchange, run)
        finally:
            self._free(run)

    def _free(self, run: "AuditRun") -> None:
        """Give back the place of an audit that is over: whoever has its report may start the next one."""
        for caller in [caller for caller, one in self._running.items() if one is run]:
            del self._running[caller]
            self._places.give_back(caller)

    async def _stream(self, exchange: Exchange, run: "AuditRun", watch: Watch) -> None:
        sender = EventSender(exchange, self._stream_limits, watch, GUARDED)
        try:
            event = _STARTING
            while not _is_last(_read(event)):
                await sender.send(event)
                event = await run.next_event()
            self._free(run)
            await sender.finish(event)
        finally:
            sender.stop()

    async def _report(self, exchange: Exchange, run: "AuditRun") -> None:
        event = _read(await run.next_event())
        while not _is_last(event):
            event = _read(await run.next_event())
        self._free(run)
        if event.type == "ended":
            await reply_json(exchange, 200, bytes(event.report))
        else:
            await refuse(exchange, 502, event.error)


def _is_last(event: _Event) -> bool:
    return event.type in ("ended", "failed")
