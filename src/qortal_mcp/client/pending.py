"""Requests in flight: unique ids, and replies matched to them by id and type. Sends nothing."""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from msgspec import Raw, Struct

from ..protocol import jsonrpc
from ..protocol.decoding import decode_as
from ..protocol.errors import ErrorObject
from ..protocol.framing import TooLong
from ..protocol.jsonrpc import UNREADABLE, RequestId
from .answering import Handlers
from .errors import ClientError, MalformedReply, RequestTimeout, ServerError
from .limits import ClientLimits
from .reading import Changes

T = TypeVar("T")
# Whoever answers later than after so many more has forgotten what was asked.
_MOST_GIVEN_UP = 1000
_VERSION = rb'(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?'
# A reply up to what may be large in it. Its id may also come last.
_REPLY = re.compile(
    rb"\s*\{\s*" + _VERSION + rb'(?:"id"\s*:\s*(\d{1,15})\s*,\s*)?' + _VERSION + rb'"(?:result|error)"'
)


class Progress(Struct, frozen=True):
    """How far a request has got, as reported by the server."""

    progressToken: RequestId
    progress: float
    total: float | None = None
    message: str | None = None


OnProgress = Callable[[Progress], None]
OnNotification = Callable[[jsonrpc.Notification], None]


class Reply(Struct, frozen=True):
    """A result, and the message it came in, byte for byte. `status` is the HTTP status."""

    result: Raw
    raw: bytes
    status: int | None = None
    # What `Options.reading` and the wire put right in the message.
    changes: Changes = ()

    def read(self, type_: type[T]) -> T:
        """The result as a type.

        Raises: MalformedReply, with the message as evidence.
        """
        try:
            return decode_as(self.result, type_)
        except UNREADABLE as exc:
            raise MalformedReply(f"unexpected result: {exc}", (self.raw,)) from None


class Pending:
    """One request that is waiting for its reply."""

    def __init__(
        self,
        id_: RequestId,
        method: str,
        progress: OnProgress | None,
        strays: int,
        in_flight: dict[RequestId, str],
    ) -> None:
        self.id = id_
        self.method = method
        self.progress = progress
        self._in_flight = in_flight
        in_flight[id_] = method
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        # What came in its own HTTP reply and was not the answer.
        self.strays: deque[bytes] = deque(maxlen=strays)
        self.is_answered = False
        # Called on progress: the clock starts again.
        self.on_life: Callable[[], None] | None = None
        # Who hears and answers what the server says in the HTTP reply of this request; None: whoever does elsewhere.
        self.hears: OnNotification | None = None
        self.handlers: Handlers | None = None

    def fail(self, error: BaseException) -> None:
        self._in_flight.pop(self.id, None)
        self.is_answered |= isinstance(error, ServerError | MalformedReply)
        if not self.reply.done():
            self.reply.set_exception(error)
            self.reply.exception()  # retrieved, so that asyncio does not complain if there is no waiter

    def settle(self, reply: Reply) -> None:
        self._in_flight.pop(self.id, None)
        self.is_answered = True
        if not self.reply.done():
            self.reply.set_result(reply)


class Requests:
    """All pending requests of one client."""

    def __init__(self, limits: ClientLimits) -> None:
        self._limits = limits
        # The highest id so far.
        self.latest = 0
        self._waiting: dict[RequestId, Pending] = {}
        # The methods of those that have no reply yet: a reply settles its request before its caller goes on.
        self.in_flight: dict[RequestId, str] = {}
        # Those that nobody waits for any more although no answer came, the newest last.
        self.given_up: dict[RequestId, None] = {}
        # Messages that belonged to no request: they explain a timeout better than silence does.
        self._strays: deque[bytes] = deque(maxlen=limits.evidence_items)

    def open(self, method: str, progress: OnProgress | None = None) -> Pending:
        self.latest += 1
        pending = Pending(self.latest, method, progress, self._limits.evidence_items, self.in_flight)
        self._waiting[pending.id] = pending
        return pending

    def close(self, pending: Pending) -> None:
        """Stop waiting: a late reply will be dropped."""
        self._waiting.pop(pending.id, None)
        self.in_flight.pop(pending.id, None)
        if not pending.is_answered:
            self.given_up[pending.id] = None
            if len(self.given_up) > _MOST_GIVEN_UP:
                del self.given_up[next(iter(self.given_up))]

    def get(self, id_: RequestId) -> Pending | None:
        return self._waiting.get(id_)

    def is_settled(self, id_: RequestId | None) -> bool:
        pending = None if id_ is None else self._waiting.get(id_)
        return id_ is not None and (pending is None or pending.reply.done())

    def fail_all(self, error: ClientError) -> None:
        for pending in list(self._waiting.values()):
            pending.fail(error)

    def timed_out(self, pending: Pending, seconds: float) -> RequestTimeout:
        return RequestTimeout(pending.method, seconds, (*self._strays, *pending.strays))

    def take_response(
        self,
        response: jsonrpc.Response,
        data: bytes,
        via: RequestId | None,
        status: int | None,
        changes: Changes = (),
        *,
        is_read: bool = False,
    ) -> None:
        """Pass a response to its request, or keep it as a stray.

        `is_read`: `Options.reading` has decided whose it is, and results need not be objects.
        """
        pending = None if response.id is None else self._waiting.get(response.id)
        if pending is None:
            self._take_unmatched(response, data, via, status, is_read)
        elif response.error is not None:
            pending.fail(self._server_error(response.error, data, status, changes))
        elif response.result is not None and (is_read or bytes(memoryview(response.result)[:1]) == b"{"):
            pending.settle(Reply(response.result, data, status, changes))
        else:
            pending.fail(MalformedReply("a result must be an object", (self.cut(data),)))

    def _take_unmatched(
        self,
        response: jsonrpc.Response,
        data: bytes,
        via: RequestId | None,
        status: int | None,
        is_read: bool,
    ) -> None:
        if response.id is None:
            # A server that could not read a request cannot repeat its id. Which request failed can still be
            # determined: the one whose POST this answers, or the only one pending.
            owner = None if is_read else self._only()
            if via is not None:
                owner = self._waiting.get(via)
            if owner is not None and response.error is not None:
                owner.fail(self._server_error(response.error, data, status))
                return
        elif (owner := self._other_type(response.id)) is not None:
            owner.fail(MalformedReply("the id came back with a different type", (self.cut(data),)))
            return
        self.stray(data, via)

    def take_invalid(self, invalid: jsonrpc.Invalid, data: bytes, via: RequestId | None) -> None:
        """An invalid message may still name the request it was meant for."""
        owner = None if invalid.id is None else self._waiting.get(invalid.id)
        if owner is None:
            self.stray(data, via)
        else:
            owner.fail(MalformedReply(invalid.reason, (self.cut(data),)))

    def take_too_long(self, line: TooLong) -> None:
        """A message that was dropped for its size: if it begins like a reply, its request has failed."""
        begun = _REPLY.match(line.start)
        if begun is None:
            return
        owner = self._only() if begun[1] is None else self._waiting.get(int(begun[1]))
        if owner is not None:
            owner.fail(MalformedReply(f"the reply is larger than {line.limit} bytes"))

    def stray(self, data: bytes, via: RequestId | None = None) -> None:
        owner = None if via is None else self._waiting.get(via)
        (self._strays if owner is None else owner.strays).append(self.cut(data))

    def take_progress(self, params: Raw | None) -> bool:
        """False if no pending request wants it."""
        try:
            progress = decode_as(params or b"null", Progress)
        except UNREADABLE:
            return False
        pending = self._waiting.get(progress.progressToken)
        if pending is None or pending.progress is None:
            return False
        if pending.on_life is not None:
            pending.on_life()
        pending.progress(progress)
        return True

    def cut(self, data: bytes) -> bytes:
        return data[: self._limits.evidence_bytes]

    def _only(self) -> Pending | None:
        return next(iter(self._waiting.values())) if len(self._waiting) == 1 else None

    def _other_type(self, id_: RequestId) -> Pending | None:
        if isinstance(id_, int) or not (id_.isascii() and id_.isdigit() and len(id_) < 16):
            return None  # our own ids are integers
        return self._waiting.get(int(id_))

    def _server_error(self, raw: Raw, data: bytes, status: int | None, changes: Changes = ()) -> ClientError:
        try:
            error = decode_as(raw, ErrorObject)
        except UNREADABLE as exc:
            return MalformedReply(f"unexpected error object: {exc}", (self.cut(data),))
        return ServerError(error, (self.cut(data),), status, raw, changes)
