"""A request that takes time: run under a deadline, and cancelled from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..protocol import errors, jsonrpc
from .caller import asking
from .context import Context, Send
from .methods.call import Call, Running
from .outcomes import as_failure, is_cancelled
from .reply import Failure, Reply, refusal
from .watching.spans import Span

if TYPE_CHECKING:
    from .receiver import Receiver


class Work:
    """A request that takes time. Run it once; `cancel` ends it from outside."""

    __slots__ = (
        "_is_late",
        "_is_stopped",
        "_run",
        "_started",
        "call",
        "cancelled",
        "server",
        "streams",
        "task",
    )

    def __init__(
        self,
        server: Receiver,
        call: Call[Any],
        run: Running,
        started: float,
    ) -> None:
        self.server = server
        self.call = call
        self.cancelled = False
        self._is_late = False
        self._is_stopped = False
        self._run = run
        self._started = started
        self.task: asyncio.Task[Any] | None = None
        # A subscription has no end of its own and can only be streamed.
        self.streams = call.route.method.name == "subscriptions/listen"
        call.peer.working[call.request.id] = self
        # From now on, not only once it runs: those that come at the same moment count, too.
        call.peer.busy += not self.streams
        server.busy_with(self)

    def put_inside(self, span: Span) -> None:
        """What it asks for becomes part of this span. Before it is run."""
        self._run = span.inside(self._run)

    async def run(self, send: Send, close_stream: Callable[[], None] | None = None) -> Reply | None:
        """The reply; None if the peer cancelled the request."""
        call, server, context = self.call, self.server, None
        self.task = asyncio.current_task()
        asking.set(call.peer.caller)
        server.begin(self)
        try:
            if self.cancelled:
                return None
            context = call.context(send, close_stream) if call.needs_context else None
            if self.streams:
                outcome = await self._run(context)
            elif context is None:
                outcome = await self._run_in_time()
            else:
                outcome = await self._run_with_pauses(context)
            return server.finish(call, outcome, self._started)
        except asyncio.CancelledError as exc:
            if self.cancelled and self.task is not None:
                self.task.uncancel()
                if self._is_stopped:
                    return server.finish(call, Failure("INTERNAL", self._stopping_reply()), self._started)
                server.finish(call, Failure("cancelled", Reply(b"")), self._started)
                return None
            if is_cancelled(exc):
                # Its client has left, or the server stops. A stream ends in no other way.
                left = b"" if self.streams else Failure("cancelled", Reply(b""))
                server.finish(call, left, self._started)
                raise
            return server.failed(call, as_failure(exc), self._started)
        except SystemExit as exc:  # one call must not end the server
            return server.failed(call, as_failure(exc), self._started)
        except Exception as exc:
            return server.failed(call, exc, self._started)
        finally:
            if context is not None:
                context.end()
            server.end(self)
            self.discard()

    async def _run_in_time(self) -> bytes:
        """Run what only returns; most calls do."""
        assert self.task is not None, "run() is at work"
        deadlines = self.server.deadlines
        deadlines.set(self._too_late)
        try:
            return await self._run(None)
        except asyncio.CancelledError:
            if not self._is_late or self.task.uncancel():
                raise  # somebody else ended it
            raise self.server.options.timed_out(self.server.limits.call_seconds) from None
        finally:
            deadlines.take_back(self._too_late)

    def _too_late(self) -> None:
        assert self.task is not None, "only set while it runs"
        self._is_late = True
        self.task.cancel()

    async def _run_with_pauses(self, context: Context) -> bytes:
        """Run what may ask the client: the clock stands still until the answer arrives."""
        seconds = self.server.limits.call_seconds
        try:
            async with asyncio.timeout(seconds) as deadline:
                context.deadline = deadline
                return await self._run(context)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise self.server.options.timed_out(seconds) from None

    def stop(self) -> None:
        """The server ends, and its time to finish is over."""
        self._is_stopped = True
        self.cancel()

    def _stopping_reply(self) -> Reply:
        words = "the server is stopping; ask again when it is back"
        return refusal(errors.INTERNAL_ERROR, words, self.call.request.id, 503, 1.0)

    def cancel(self) -> None:
        """The peer no longer wants an answer."""
        self.cancelled = True
        if self.task is not None:
            self.task.cancel()

    @property
    def legacy(self) -> bool:
        return not self.call.route.modern

    @property
    def may_send(self) -> bool:
        """Whether messages can come before the answer."""
        return self.call.needs_context

    def discard(self) -> None:
        """It will not be run, or not any longer."""
        working, id_ = self.call.peer.working, self.call.request.id
        if working.get(id_) is self:
            del working[id_]
            self.call.peer.busy -= not self.streams
            self.server.done_with(self)

    def __del__(self) -> None:
        self.discard()  # of one that was never run, because its task was ended before it began

    def cancelled_reply(self) -> Reply:
        """What closes the HTTP request of a client that cancelled its own call."""
        error = errors.ErrorObject(errors.REQUEST_CANCELLED, "Request cancelled")
        return Reply(jsonrpc.error_reply(self.call.request.id, error))
