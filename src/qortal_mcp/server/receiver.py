"""Where every message comes in, whoever answers it: a server, or a bridge to one.

Checks a message, finds its handler, and catches all failures in one place.

The outcome is None (nothing to answer), a `Reply` (answered already), or `Work` or a `Batch` (to be run). The caller,
a transport, moves bytes and knows no method.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..metrics import Metrics
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
from .peer import Peer
from .rate import RateLimit
from .reply import Failure, Reply, refusal
from .subscriptions import Hub
from .work import Work

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
        self.rate = RateLimit(options.rate_limit) if options.rate_limit else None
        self.hub = Hub(limits)
        self.seal = Seal(limits, options.state_key)
        self.shapes = {
            revision: results.Shape(revision, versions.is_modern(revision), self.info)
            for revision in versions.REVISIONS
        }
        self._running: set[Work] = set()
        self._busy = 0
        self.batched = Batched()
        self.deadlines = Alarms(limits.call_seconds)
        self.metrics.gauge("mcp_server_requests_in_flight", "Requests being worked on.", lambda: self.busy)
        self.metrics.gauge("mcp_server_subscriptions", "Open subscriptions/listen streams.", self.hub.__len__)

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
                return refusal(errors.INVALID_REQUEST, "2026-07-28 has no responses from clients", None, 400)
            self.answered(message, peer)
            return None
        assert type(message) is jsonrpc.Invalid, "the four kinds of message"
        if jsonrpc.is_array(data):
            return self._take_batch(data, peer, http)
        return self._unreadable(message)

    def _unreadable(self, message: jsonrpc.Invalid) -> Reply:
        log.debug("message refused", extra={"qortal_mcp.reason": message.reason})
        self.metrics.observe("_unreadable", "", str(message.code), 0.0)
        words = "Parse error" if message.code == errors.PARSE_ERROR else "Invalid request"
        return refusal(message.code, f"{words}: {message.reason}", message.id, 400)

    def too_long(self) -> Reply:
        """The answer to a message that exceeded the limit before it could be read."""
        return self._unreadable(
            jsonrpc.Invalid(errors.INVALID_REQUEST, f"longer than {self.limits.message_bytes} bytes")
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
            self._note(request, str(route.error.code), started)
            return Reply(jsonrpc.error_reply(request.id, route.error), route.status)
        assert type(route) is Route, "the ladder ends in one of two"
        if request.id in peer.working:
            return refusal(errors.INVALID_REQUEST, "this id is still being worked on", request.id, 400)
        busy = self._busy + self.batched.replies
        crowded = busy >= self.limits.server_requests or peer.busy >= self.limits.peer_requests
        if crowded and route.method.name != "ping":
            return refusal(errors.INTERNAL_ERROR, "too many requests at once", request.id, 503, 1.0)
        return self._serve(Call(self, peer, request, route, http), started)

    def _serve(self, call: Call[Any], started: float) -> Reply | Work:
        """Answer at once what needs no waiting; make `Work` of the rest."""
        name = call.route.method.name
        try:
            outcome = self.handler(name)(call)
        except Exception as exc:
            return self.finish(call, self._failed(call, exc), started)
        if isinstance(outcome, bytes):
            return self.finish(call, outcome, started)
        return Work(self, call, outcome, started)

    def _too_often(
        self, request: jsonrpc.Request, route: Route | Rejection, peer: Peer, wait: float, started: float
    ) -> Reply:
        """The answer to a caller that asks too often. Nothing in its parameters has been looked at but `_meta`."""
        if type(route) is Route and route.method.name == "tools/call":
            # A tool call fails as a tool does; every other request is refused.
            call = Call(self, peer, request, route, None)
            return self.finish(call, call.tool_failed(tool_errors.rate_limited(wait)), started)
        self._note(request, "RATE_LIMITED", started)
        status = errors.http_status(errors.RATE_LIMITED, modern=route.modern)
        return refusal(errors.RATE_LIMITED, "Rate limit exceeded", request.id, status, wait)

    def finish(self, call: Call[Any], outcome: bytes | Failure, started: float) -> Reply:
        """The reply of a request that is done, counted and logged in one place."""
        seconds = time.perf_counter() - started
        error_type = call.error_type
        if type(outcome) is Failure:
            error_type = outcome.kind
            reply = outcome.reply
        else:
            assert isinstance(outcome, bytes), "a result or a failure"
            reply = Reply(jsonrpc.result_reply(call.request.id, outcome), 200, call.retry_after)
        self.metrics.observe(_known(call.request.method), call.tool_name, error_type, seconds)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "request answered",
                extra={
                    "qortal_mcp.method": _shown(call.request.method),
                    "qortal_mcp.tool": call.tool_name,
                    "qortal_mcp.rpc_id": repeated(str(call.request.id), 40),
                    "qortal_mcp.outcome": error_type or "ok",
                    "qortal_mcp.ms": round(seconds * 1000, 3),
                },
            )
        return reply

    def _note(self, request: jsonrpc.Request, outcome: str, started: float) -> None:
        """Count and log a request that was refused before anybody served it."""
        self.metrics.observe(_known(request.method), "", outcome, time.perf_counter() - started)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "request refused",
                extra={"qortal_mcp.method": _shown(request.method), "qortal_mcp.outcome": outcome},
            )

    def _failed(self, call: Call[Any], exc: Exception) -> bytes | Failure:
        """The one catch-all: what each kind of exception becomes on the wire."""
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
            return refusal(errors.INVALID_REQUEST, "one message at a time, not an array", None, 400)
        items = jsonrpc.read_batch(data, self.limits.batch_messages)
        if isinstance(items, jsonrpc.Invalid):
            return self._unreadable(items)
        if any(isinstance(item, jsonrpc.Request) and item.method == "initialize" for item in items):
            return refusal(errors.INVALID_REQUEST, "initialize cannot be part of a batch", None, 400)
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
                batch.add(self._unreadable(item))
        return batch.outcome()

    @property
    def busy(self) -> int:
        """How many requests are worked on; subscriptions have limits of their own."""
        return self._busy + self.batched.replies

    def begin(self, work: Work) -> None:
        self._running.add(work)
        self._busy += not work.streams

    def end(self, work: Work) -> None:
        self._running.discard(work)
        self._busy -= not work.streams

    async def settle(self, seconds: float) -> None:
        """Let what is being worked on end within this time, then cancel it."""
        tasks = [work.task for work in self._running if work.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for work in list(self._running):
            work.cancel()

    def close(self) -> None:
        """Accept no more subscriptions, and end the open ones properly."""
        self.hub.close()


def _known(method: str) -> str:
    """A method's name as it is counted. A bridge passes on methods of any name."""
    return method if method in versions.METHODS else "_unknown"


def _shown(method: str) -> str:
    """A method's name as the log shows it. Clients send what they like there, secrets included."""
    return method if method in versions.METHODS or _HARMLESS.fullmatch(method) else "(not shown)"
