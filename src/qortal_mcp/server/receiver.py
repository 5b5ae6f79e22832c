"""Where every message comes in, whoever answers it: a server, or a bridge to one.

Checks a message, finds its handler, and catches all failures in one place.

The outcome is None (nothing to answer), a `Reply` (answered already), or `Work` or a `Batch` (to be run). The caller,
a transport, moves bytes and knows no method.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..limits import Limits
from ..metrics import Metrics, names
from ..metrics.counting import OTHER, tool_label
from ..metrics.process import show_process
from ..protocol import errors, headers, jsonrpc, messages, results, versions
from ..protocol.decoding import decoder
from ..protocol.inbound import Arrival, Rejection, Route, judge
from ..protocol.jsonrpc import UNREADABLE
from . import tool_errors
from .alarms import Alarms
from .asking import InputRequired, Seal
from .batch import Batch, Batched
from .caller import rated
from .methods.call import Call, Running, repeated
from .options import ServerOptions
from .outcomes import Crowded, as_failure
from .peer import Peer
from .rates.rate import AskedRate, Rate, RateLimit
from .reply import Failure, Reply, refusal
from .subscriptions import Hub
from .watching.call_log import CallLog
from .watching.labels import TOOL_ERROR, error_and_code
from .watching.spans import Spans
from .work import Work

if TYPE_CHECKING:
    from .life import Life
    from .threads import Threads

log = logging.getLogger(__name__)

Handler = Callable[[Call[Any]], bytes | Running]
_decode_cancelled = decoder(messages.CancelledParams)
# A few short words: no key and no seed phrase is written so.
_HARMLESS = re.compile(r"(?=.{1,40}\Z)[A-Za-z$]{1,24}(?:[/._-][A-Za-z$]{1,24}){0,3}")


class Receiver(ABC):
    """Receives messages and answers them. What transports know of a server is here; subclasses say what each method does."""

    def __init__(self, info: messages.Implementation, options: ServerOptions) -> None:
        self.info = info
        self.options = options
        self.limits = limits = options.limits
        self.metrics = options.metrics or Metrics()
        self.limit_rate(options.rate or (RateLimit(options.rate_limit) if options.rate_limit else None))
        self.hub = Hub(limits)
        self.seal = Seal(limits, options.state_key)
        self.shapes = {
            revision: results.Shape(revision, versions.is_modern(revision), self.info)
            for revision in versions.REVISIONS
        }
        # What must be entered before requests are worked on; most servers have nothing of the kind.
        self.life: Life | None = None
        # What the lifespan brought.
        self.lifespan: Any = None
        self._running: set[Work] = set()
        self._busy = 0
        self.batched = Batched()
        self.deadlines = Alarms(limits.call_seconds)
        watched = options.watched
        is_logged = watched.access_log or watched.slow_seconds is not None
        self.call_log = (
            CallLog(every=watched.access_log, slow_seconds=watched.slow_seconds) if is_logged else None
        )
        self._spans = watched.spans
        # Chosen once: requests that are not traced must not pay for those that are.
        self._answer = self._serve if watched.spans is None else partial(self._traced, watched.spans)
        self._show_numbers()

    def _show_numbers(self) -> None:
        metrics = self.metrics
        metrics.show(names.IN_FLIGHT, lambda: self.busy)
        metrics.show(names.SUBSCRIPTIONS, lambda: len(self.hub))
        metrics.show_each(
            names.LIMIT_USAGE,
            lambda: (
                (("server_requests",), self.busy / self.limits.server_requests),
                (("server_subscriptions",), len(self.hub) / self.limits.server_subscriptions),
            ),
        )
        metrics.show_each(names.INFO, lambda: [((self.info.name, self.info.version), 1)])
        show_process(metrics)

    def join_others(self, limits: Limits, rate: Rate | None, state_key: bytes, caller_key: bytes) -> None:
        """Be one of several processes that serve the same clients, with the limits of one. To be called before it serves.

        A state that one of them has sealed is opened by any, and a caller has the same code in the logs of all.
        """
        self.limits = limits
        self.limit_rate(rate)
        self.hub = Hub(limits)
        self.seal = Seal(limits, self.options.state_key or state_key)
        if self.call_log is not None:
            self.call_log.name_callers_by(caller_key)

    @cached_property
    def threads(self) -> Threads:
        """Where functions run that may block; a server without any needs none."""
        from .threads import Threads

        return Threads(self.limits.threads, self.limits.thread_wait_seconds)

    @contextlib.asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """What a transport does around all its work: the lifespan is entered before, and left afterwards.

        Raises: LifespanFailed.
        """
        if self.life is None:
            yield
            return
        await self.life.hold()
        try:
            yield
        finally:
            await self.life.release()

    @abstractmethod
    def handler(self, method: str) -> Handler:
        """What answers a method that exists and is offered."""

    @abstractmethod
    def offers(self, route: Route, peer: Peer) -> bool:
        """Whether a method that needs a capability is served to this peer."""

    def reconsider(
        self, request: jsonrpc.Request, rejection: Rejection, arrival: Arrival
    ) -> tuple[jsonrpc.Request, Route | Rejection]:
        """A second look at a request that was refused: perhaps it is understood in another form."""
        return request, rejection

    def noticed(self, notification: jsonrpc.Notification, peer: Peer) -> None:
        """A notification that controls no request; most receivers have no use for it."""
        return None

    def answered(self, response: jsonrpc.Response, peer: Peer) -> None:
        """The answer of a client to a request of ours."""
        peer.answered(response)

    def join(self, peer: Peer) -> None:
        """A connection or session began: notices go to it from now on."""
        self.hub.join(peer)

    def leave(self, peer: Peer) -> None:
        """A connection or session is over. May be called twice."""
        self.hub.leave(peer)

    def limit_rate(self, rate: Rate | None) -> None:
        """From now on this says who may ask."""
        self.rate = rate
        # The same, if it has to be asked before a message is taken.
        self.asked_rate: AskedRate | None = rate if isinstance(rate, AskedRate) else None

    async def ask_rate(self, data: bytes, peer: Peer) -> None:
        """What a transport waits for right before it gives a message to `receive`, if there is an `asked_rate`."""
        assert self.asked_rate is not None, "there is something to wait for"
        requests = jsonrpc.requests_in(data, self.limits.batch_messages)
        if requests:
            await self.asked_rate.ask(rated(peer.caller), requests)

    def receive(
        self, data: bytes, peer: Peer, http: headers.Mirrored | None = None
    ) -> Reply | Work | Batch | None:
        """Take one message from a peer. On a lasting connection call it in the order of arrival."""
        message = jsonrpc.read(data)
        if type(message) is jsonrpc.Request:
            return self._take_request(message, peer, http)
        if type(message) is jsonrpc.Notification:
            self._take_notification(message, peer)
            return None
        if type(message) is jsonrpc.Response:
            if http is not None and http.version in versions.MODERN:
                return self._refused(peer, errors.INVALID_REQUEST, "2026-07-28 has no responses from clients")
            self.answered(message, peer)
            return None
        assert type(message) is jsonrpc.Invalid, "the four kinds of message"
        if jsonrpc.is_array(data):
            return self._take_batch(data, peer, http)
        return self._unreadable(message, peer)

    def _unreadable(self, message: jsonrpc.Invalid, peer: Peer) -> Reply:
        log.debug("message refused", extra={"qortal_mcp.reason": message.reason})
        if self.call_log is not None:
            self.call_log.answered("(unreadable)", "", str(message.code), 0.0, peer.caller)
        self._count_refused("", peer, str(message.code), 0.0)
        words = "Parse error" if message.code == errors.PARSE_ERROR else "Invalid request"
        return refusal(message.code, f"{words}: {message.reason}", message.id, 400)

    def too_long(self, peer: Peer) -> Reply:
        """The answer to a message that exceeded the limit before it could be read."""
        return self._unreadable(
            jsonrpc.Invalid(errors.INVALID_REQUEST, f"longer than {self.limits.message_bytes} bytes"), peer
        )

    def _take_request(
        self, request: jsonrpc.Request, peer: Peer, http: headers.Mirrored | None
    ) -> Reply | Work:
        started = time.perf_counter()
        arrival = peer.arrival if http is None else Arrival(handshake=peer.revision, http=http)
        route = judge(request, arrival)
        if type(route) is Rejection:
            request, route = self.reconsider(request, route, arrival)
        if self.rate is not None and (wait := self.rate.wait(rated(peer.caller))):
            return self._too_often(request, route, peer, wait, started)
        if type(route) is Route and route.method.capability is not None and not self.offers(route, peer):
            code = errors.METHOD_NOT_FOUND
            status = errors.http_status(code, modern=route.modern)
            route = Rejection(errors.ErrorObject(code, "Method not found"), route.modern, status)
        if type(route) is Rejection:
            self._note(request, peer, str(route.error.code), started)
            return Reply(jsonrpc.error_reply(request.id, route.error), route.status)
        assert type(route) is Route, "the ladder ends in one of two"
        if request.id in peer.working:
            self._note(request, peer, str(errors.INVALID_REQUEST), started)
            return refusal(errors.INVALID_REQUEST, "this id is still being worked on", request.id, 400)
        busy = self._busy + self.batched.replies
        crowded = busy >= self.limits.server_requests or peer.busy >= self.limits.peer_requests
        if crowded and route.method.name != "ping":
            self.metrics.count(names.LIMIT_REACHED, "requests")
            self._note(request, peer, str(errors.INTERNAL_ERROR), started)
            return _crowded(request)
        return self._answer(Call(self, peer, request, route, http), started)

    def _serve(self, call: Call[Any], started: float) -> Reply | Work:
        """Answer at once what needs no waiting; make `Work` of the rest."""
        name = call.route.method.name
        try:
            outcome = self.handler(name)(call)
        except (SystemExit, asyncio.CancelledError) as exc:  # a quick function ran already
            return self.failed(call, as_failure(exc), started)
        except Exception as exc:
            return self.finish(call, self._failed(call, exc), started)
        if isinstance(outcome, bytes):
            return self.finish(call, outcome, started)
        return Work(self, call, outcome, started)

    def _traced(self, spans: Spans, call: Call[Any], started: float) -> Reply | Work:
        """The same in a span, which ends with `finish`."""
        call.span = span = spans.begin(call)
        answer = self._serve(call, started)
        if isinstance(answer, Work):
            answer.put_inside(span)
        return answer

    def _too_often(
        self, request: jsonrpc.Request, route: Route | Rejection, peer: Peer, wait: float, started: float
    ) -> Reply:
        """The answer to a caller that asks too often. Nothing in its parameters has been looked at but `_meta`."""
        self.metrics.count(names.LIMIT_REACHED, "rate")
        if type(route) is Route and route.method.name == "tools/call":
            # A tool call fails as a tool does; every other request is refused.
            call = Call(self, peer, request, route, None)
            return self.finish(call, call.tool_failed(tool_errors.rate_limited(wait)), started)
        self._note(request, peer, "RATE_LIMITED", started)
        status = errors.http_status(errors.RATE_LIMITED, modern=route.modern)
        return refusal(errors.RATE_LIMITED, "Rate limit exceeded", request.id, status, wait)

    def finish(self, call: Call[Any], outcome: bytes | Failure, started: float) -> Reply:
        """The reply of a request that is done, counted and logged in one place."""
        seconds = time.perf_counter() - started
        kind = call.error_type
        error_type = code = ""
        if type(outcome) is Failure:
            kind = outcome.kind
            error_type, code = error_and_code(kind)
            reply = outcome.reply
        else:
            assert isinstance(outcome, bytes), "a result or a failure"
            if kind:
                error_type = TOOL_ERROR
                self.metrics.count(names.TOOL_FAILURES, tool_label(call.tool_name), kind)
            reply = Reply(jsonrpc.result_reply(call.request.id, outcome), 200, call.retry_after)
        method, revision = call.request.method, call.route.revision
        if method == "initialize":
            revision = call.peer.revision or ""  # the one that was agreed on
        elif method not in versions.METHODS:
            method = OTHER
        self.metrics.observe(
            (method, call.tool_name, error_type, code, call.peer.transport, revision), seconds
        )
        if self._spans is not None and (span := getattr(call, "span", None)) is not None:
            span.end(call, error_type, code)
        if self.call_log is not None:
            tool = call.tool_name and tool_label(call.tool_name)
            self.call_log.answered(_shown(call.request.method), tool, kind or "ok", seconds, call.peer.caller)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "request answered",
                extra={
                    "qortal_mcp.method": _shown(call.request.method),
                    "qortal_mcp.tool": call.tool_name,
                    "qortal_mcp.rpc_id": repeated(str(call.request.id), 40),
                    "qortal_mcp.outcome": kind or "ok",
                    "qortal_mcp.ms": round(seconds * 1000, 3),
                },
            )
        return reply

    def _note(self, request: jsonrpc.Request, peer: Peer, outcome: str, started: float) -> None:
        """Count and log a request that was refused before anybody served it."""
        seconds = time.perf_counter() - started
        self._count_refused(request.method, peer, outcome, seconds)
        if self._spans is not None:
            self._spans.refused(request, peer, *error_and_code(outcome), seconds)
        if self.call_log is not None:
            self.call_log.answered(_shown(request.method), "", outcome, seconds, peer.caller)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "request refused",
                extra={"qortal_mcp.method": _shown(request.method), "qortal_mcp.outcome": outcome},
            )

    def _count_refused(self, method: str, peer: Peer, outcome: str, seconds: float) -> None:
        error_type, code = error_and_code(outcome)
        known = method if method in versions.METHODS else OTHER
        self.metrics.observe((known, "", error_type, code, peer.transport, ""), seconds)

    def _refused(self, peer: Peer, code: int, message: str) -> Reply:
        """The answer to what is a message, but not one that can be taken here."""
        self._count_refused("", peer, str(code), 0.0)
        return refusal(code, message, None, 400)

    def _failed(self, call: Call[Any], exc: Exception) -> bytes | Failure:
        """The one catch-all: what each kind of exception becomes on the wire."""
        if isinstance(exc, Crowded):
            if not call.tool_name:
                return Failure("CROWDED", _crowded(call.request))
            exc = tool_errors.crowded()
        if isinstance(exc, tool_errors.ToolError):
            if call.tool_name:
                return call.tool_failed(exc)
            # Only tools have `isError`: everything else fails with a protocol error.
            exc = errors.ProtocolError(errors.INTERNAL_ERROR, str(exc))
        if isinstance(exc, InputRequired):
            return call.shape.input_required(exc.body)
        if isinstance(exc, errors.ProtocolError):
            status = errors.http_status(exc.error.code, modern=call.route.modern)
            return Failure(
                str(exc.error.code),
                Reply(jsonrpc.error_reply(call.request.id, exc.error), status, call.retry_after),
            )
        log.error(
            "internal error",
            exc_info=exc,
            extra={"qortal_mcp.method": _shown(call.request.method), "qortal_mcp.tool": call.tool_name},
        )
        if call.tool_name:
            return call.tool_failed(tool_errors.internal())
        error = errors.ErrorObject(errors.INTERNAL_ERROR, "Internal error")
        return Failure("INTERNAL", Reply(jsonrpc.error_reply(call.request.id, error)))

    def failed(self, call: Call[Any], exc: Exception, started: float) -> Reply:
        return self.finish(call, self._failed(call, exc), started)

    def _take_notification(self, notification: jsonrpc.Notification, peer: Peer) -> None:
        if log.isEnabledFor(logging.DEBUG):
            log.debug("notification", extra={"qortal_mcp.method": _shown(notification.method)})
        if notification.method != "notifications/cancelled" or notification.params is None:
            self.noticed(notification, peer)
            return
        try:
            params = _decode_cancelled(notification.params)
        except UNREADABLE:
            return
        work = peer.working.get(params.requestId)
        if work is not None and work.call.request.method != "initialize":
            work.cancel()

    def _take_batch(self, data: bytes, peer: Peer, http: headers.Mirrored | None) -> Reply | Batch | None:
        revision = peer.revision or (http and http.version) or (None if peer.lasting else versions.ASSUMED)
        if revision != versions.BATCHES:
            return self._refused(peer, errors.INVALID_REQUEST, "one message at a time, not an array")
        items = jsonrpc.read_batch(data, self.limits.batch_messages)
        if isinstance(items, jsonrpc.Invalid):
            return self._unreadable(items, peer)
        if any(isinstance(item, jsonrpc.Request) and item.method == "initialize" for item in items):
            return self._refused(peer, errors.INVALID_REQUEST, "initialize cannot be part of a batch")
        batch = Batch(self, peer)
        for item in items:
            if isinstance(item, jsonrpc.Request):
                answer = batch.no_room(item.id) if batch.is_full else self._take_request(item, peer, http)
                if isinstance(answer, Work) and not answer.legacy:
                    answer.discard()
                    answer = refusal(errors.INVALID_REQUEST, "2026-07-28 has no batches", item.id, 400)
                batch.add(answer)
            elif isinstance(item, jsonrpc.Notification):
                self._take_notification(item, peer)
            elif isinstance(item, jsonrpc.Response):
                self.answered(item, peer)
            else:
                batch.add(self._unreadable(item, peer))
        return batch.outcome()

    @property
    def busy(self) -> int:
        """How many requests are worked on; subscriptions have limits of their own."""
        return self._busy + self.batched.replies

    def busy_with(self, work: Work) -> None:
        self._busy += not work.streams

    def done_with(self, work: Work) -> None:
        self._busy -= not work.streams

    def begin(self, work: Work) -> None:
        self._running.add(work)

    def end(self, work: Work) -> None:
        self._running.discard(work)

    async def settle(self, seconds: float) -> None:
        """Let what is being worked on end within this time, then cancel it."""
        tasks = [work.task for work in self._running if work.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for work in list(self._running):
            work.stop()

    def close(self) -> None:
        """Accept no more subscriptions, and end the open ones properly."""
        self.hub.close()


def _crowded(request: jsonrpc.Request) -> Reply:
    return refusal(errors.INTERNAL_ERROR, "too many requests at once", request.id, 503, 1.0)


def _shown(method: str) -> str:
    """A method's name as the log shows it. Clients send what they like there, secrets included."""
    return method if method in versions.METHODS or _HARMLESS.fullmatch(method) else "(not shown)"
