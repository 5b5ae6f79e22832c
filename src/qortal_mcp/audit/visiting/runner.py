"""Visit a server in every revision and collect the evidence."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from ...client.errors import ClientError
from ...client.wires.http_sse import HttpSseWire
from ...client.wires.routes import DIRECT, Route
from ...client.wires.stdio import StdioWire
from ...client.wires.websocket import WebSocketWire
from ...protocol.versions import LEGACY, MODERN, REVISIONS
from ..evidence import Evidence, Gap, Headers, Http, Step, Transport, Visit
from ..limits import DEFAULT, AuditLimits
from ..secrets import safe_url, taken_out, values_in, without, without_secrets
from ..steps import visit_words
from . import visits
from .budget import Budget, Flooded, Stopped, client_limits
from .calls import Permission, ReadOnlyClaims
from .http_visitor import HttpVisitor
from .line_visitor import LineVisitor
from .orphans import Orphans
from .probes import OTHER_ORIGIN
from .visitor import Visitor
from .visits import Plan

# `http(s)://…`, `ws(s)://…`, or a command with its arguments.
Target: TypeAlias = "str | Sequence[str]"


class Order(Struct, frozen=True, kw_only=True):
    """What is to be audited, and how."""

    target: Target
    # Empty: all that the server speaks.
    revisions: tuple[str, ...] = ()
    permission: Permission = Permission()
    headers: Headers = ()
    env: Mapping[str, str] | None = None
    limits: AuditLimits = DEFAULT
    route: Route = DIRECT
    # Gets a line about each thing that is being done.
    say: Callable[[str], None] = lambda text: None
    # Gets what was seen so far after each visit.
    visited: Callable[[Evidence], None] = lambda evidence: None
    # Gets what was seen so far if the audit is cancelled.
    interrupted: Callable[[Evidence], None] = lambda evidence: None
    # Whether this process has no children of its own, so that all it is given are left behind by the program under audit.
    ends_orphans: bool = False


class Unreachable(Exception):
    """There is no server to audit; the text says why."""


async def collect(order: Order) -> Evidence:
    """Visit the server and write down what it does.

    Raises: Unreachable where no connection could be made.
    """
    secrets = values_in(order.target, order.headers)
    run = _Run(order, secrets)
    try:
        async with asyncio.timeout(order.limits.total_seconds):
            await run.all_visits()
    except TimeoutError:
        run.stopped(f"{order.limits.total_seconds:g} s are over")
    except Stopped as exc:
        run.stopped(str(exc))
    except asyncio.CancelledError:
        run.stopped("it was interrupted")
        order.interrupted(run.all_evidence())
        raise
    except Unreachable as exc:
        raise Unreachable(without(str(exc), secrets)) from exc
    finally:
        await run.end_orphans()
    return run.all_evidence()


class _Run:
    def __init__(self, order: Order, secrets: frozenset[str]) -> None:
        self._order = order
        self._secrets = secrets
        self._budget = Budget(order.limits)
        self._visits: list[Visit] = []
        self._plan = Plan(
            permission=order.permission,
            limits=order.limits,
            gaps=[],
            hanging=set(),
            claims=ReadOnlyClaims(),
            say=order.say,
        )
        self._transport: Transport = _transport_of(order.target)
        self._wanted = order.revisions or REVISIONS
        self._orphans = Orphans() if order.ends_orphans and not isinstance(order.target, str) else None

    async def end_orphans(self) -> None:
        """End what a program left behind, also if the audit is interrupted."""
        if self._orphans is not None:
            await self._orphans.end(self._order.limits.exit_seconds)

    def stopped(self, why: str) -> None:
        self._plan.gap(Gap("audit", f"stopped: {why}", weighs=True))

    def all_evidence(self) -> Evidence:
        """What was seen, once nothing more will be: a revision that was not spoken by now is missing."""
        spoken = {visit.revision for visit in self._visits}
        for revision in self._order.revisions:
            if revision not in spoken:
                self._plan.gap(Gap(f"revision {revision}", "the server does not speak it", weighs=True))
        return self._evidence()

    def _evidence(self) -> Evidence:
        target = self._order.target
        argv = () if isinstance(target, str) else without_secrets(target)
        seen = Evidence(
            target=safe_url(target) if isinstance(target, str) else " ".join(argv),
            argv=argv,
            transport=self._transport,
            has_secret_headers=bool(self._order.headers),
            revisions_asked=self._order.revisions,
            visits=tuple(self._visits),
            gaps=tuple(self._plan.gaps),
        )
        return taken_out(seen, self._secrets)

    async def all_visits(self) -> None:
        # The probe shows the era of a server, so it is made even where no modern revision was asked for:
        # many clients today make it as well.
        await self._visit("probe", self._probe)
        await self._legacy_visits()
        if self._transport == "http" and not self._has_agreed() and await self._speaks_old_http():
            self._transport = "sse"
            await self._legacy_visits()
        if any(visit.revision in LEGACY for visit in self._visits) and not set(self._wanted) <= set(MODERN):
            await self._visit("manners", functools.partial(visits.manners_visit, plan=self._plan))
        await self._foreign_page()

    async def _legacy_visits(self) -> None:
        for revision in reversed(LEGACY):
            if revision not in self._wanted:
                continue
            await self._visit(revision, functools.partial(self._legacy, revision))
            if any(step.end == "silent" for step in self._visits[-1].named("initialize")):
                # Each silence costs its full time, and a server that did not answer once will not the next time.
                self._plan.gap(
                    Gap("other revisions", "not tried, as initialize was not answered", weighs=True)
                )
                return

    def _has_agreed(self) -> bool:
        return any(visit.revision for visit in self._visits)

    async def _speaks_old_http(self) -> bool:
        """Whether the address is that of the stream of 2024-11-05, whose POSTs go elsewhere."""
        refused = [step.http for visit in self._visits for step in visit.named("initialize") if step.http]
        if not any(http.status in _NOT_HERE for http in refused):
            return False
        try:
            await (await self._open("sse")).close()
        except ClientError:
            return False
        return True

    async def _probe(self, visitor: Visitor) -> None:
        if await visits.discover(visitor, self._plan) and set(self._wanted) & set(MODERN):
            await visits.modern_visit(visitor, self._plan)

    async def _legacy(self, revision: str, visitor: Visitor) -> None:
        if not await visits.shake_hands(visitor, revision, self._plan):
            if not self._has_agreed() and all(visit.name == "probe" for visit in self._visits):
                await visits.without_handshake(visitor, self._plan)
            return
        if any(visit.revision == visitor.revision and len(visit.steps) > _OPENING for visit in self._visits):
            # It answered with a revision that was looked at already.
            visitor.revision = ""
            return
        await visits.legacy_visit(visitor, self._plan)

    async def _visit(self, name: str, work: Callable[[Visitor], Awaitable[None]]) -> None:
        what = visit_words(name)
        self._order.say(f"opening {what}")
        try:
            visitor = await self._open()
        except ClientError as exc:
            if not self._visits:
                raise Unreachable(str(exc)) from exc
            self._plan.gap(Gap(what, str(exc), weighs=True))
            return
        try:
            await work(visitor)
        except Flooded as exc:
            self._plan.gap(Gap(what, f"given up: {exc}", weighs=True))
        finally:
            self._visits.append(visitor.visit(name))
            try:
                await visitor.close()
            finally:
                await self.end_orphans()
        self._check_there(visitor)
        self._order.visited(self._evidence())

    def _check_there(self, visitor: Visitor) -> None:
        """A missing server is not a finding: it is a mistake in the address or the command.

        Raises: Unreachable.
        """
        steps = [step for visit in self._visits for step in visit.steps]
        if any(step.heard or step.end != "closed" or (step.http and step.http.status) for step in steps):
            return
        # A program may end at the probe and live with a handshake; an address is there or it is not.
        if visitor.transport == "http" or len(self._visits) > 1:
            raise Unreachable(steps[-1].remark)

    async def _open(self, transport: Transport | None = None) -> Visitor:
        """Raises: ClientError."""
        transport = transport or self._transport
        target, limits = self._order.target, client_limits(self._order.limits)
        if transport == "http" and isinstance(target, str):
            return HttpVisitor(target, self._order.headers, self._budget, self._order.route)
        visitor = LineVisitor(transport, self._budget)
        if not isinstance(target, str):
            visitor.attach(
                await StdioWire.open(target, env=self._order.env, observer=visitor.observe, limits=limits)
            )
        elif transport == "sse":
            visitor.attach(
                await HttpSseWire.open(
                    target,
                    headers=self._order.headers,
                    observer=visitor.observe,
                    limits=limits,
                    route=self._order.route,
                )
            )
        else:
            visitor.attach(
                await WebSocketWire.open(
                    target,
                    headers=self._order.headers,
                    observer=visitor.observe,
                    limits=limits,
                    route=self._order.route,
                )
            )
        return visitor

    async def _foreign_page(self) -> None:
        """Whether a WebSocket opens for a web page of another origin: browsers do not ask permission there."""
        target = self._order.target
        if self._transport != "websocket" or not isinstance(target, str):
            return
        sent = ("origin", OTHER_ORIGIN)
        try:
            wire = await WebSocketWire.open(
                target,
                headers=(*self._order.headers, sent),
                limits=client_limits(self._order.limits),
                route=self._order.route,
            )
        except ClientError as exc:
            status, remark = 403, str(exc)
        else:
            await wire.close()
            status, remark = 101, ""
        http = Http(method="GET", sent=(sent,), status=status)
        step = Step(name="foreign-origin", http=http, remark=remark)
        self._visits.append(Visit(name="foreign page", transport="websocket", steps=(step,)))


# How a server without Streamable HTTP refuses a POST (2025-11-25: backwards compatibility).
_NOT_HERE = (400, 404, 405)
# A handshake and its notification: a visit with no more steps has learnt nothing.
_OPENING = 2


def _transport_of(target: Target) -> Transport:
    if not isinstance(target, str):
        return "stdio"
    return "websocket" if target.lower().startswith(("ws:", "wss:")) else "http"
