"""A wire with requests on it: sends them, waits for their replies, cancels them, answers the server's own.

Knows ids, eras and headers; of the methods, only those that control a connection.
"""

import asyncio
import logging
from collections.abc import Callable

import msgspec
from msgspec import Raw

from ..protocol import errors, jsonrpc, messages
from ..protocol.decoding import decode_as
from ..protocol.framing import TooLong
from ..protocol.headers import HeaderParam
from ..protocol.jsonrpc import UNREADABLE, RequestId
from . import answering, envelope
from .answering import Handlers
from .envelope import Params
from .errors import AnswerRefused, ClientError, ConnectionLost, MalformedReply, shown
from .options import Options
from .pending import OnNotification, OnProgress, Pending, Reply, Requests
from .reading import Changes, Reading
from .subscription import Subscription, subscription_id
from .tasks import Tasks
from .wires.wire import Outgoing, RawWire

log = logging.getLogger(__name__)

_CANCELLED = "notifications/cancelled"
# A handshake may not be cancelled, and a server that did not know the probe would not know its cancellation either.
_NEVER_CANCELLED = frozenset({"initialize", "server/discover"})
_encode = msgspec.json.Encoder().encode


class Link:
    """The client's end of a connection, and the sink of its wire."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._limits = options.limits
        self._requests = Requests(options.limits)
        self._sending = Tasks()
        self._farewells = Tasks()
        self._answers = Tasks()
        self._answering: dict[RequestId, asyncio.Task[None]] = {}
        self._subscriptions: dict[RequestId, Subscription] = {}
        self._wire: RawWire | None = None
        self._lost: ClientError | None = None
        # The revision that governs what is sent; None until a handshake has settled it.
        self.revision: str | None = None
        self.is_modern = False

    @property
    def wire(self) -> RawWire:
        if self._wire is None:
            raise ConnectionLost("not connected")
        return self._wire

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    def use(self, wire: RawWire) -> None:
        """Take a wire that was opened with this link as its sink."""
        self._wire = wire
        self._lost = None

    def speak(self, revision: str | None, *, modern: bool = False) -> None:
        self.revision, self.is_modern = revision, modern

    async def ask(
        self,
        method: str,
        params: Params,
        *,
        seconds: float,
        progress: OnProgress | None = None,
        header_params: tuple[HeaderParam, ...] = (),
        may_renew: bool = False,
        hears: OnNotification | None = None,
        handlers: Handlers | None = None,
    ) -> Reply:
        """Send a request and wait for its result. `hears` and `handlers` are for what the server says in its HTTP reply.

        Raises: ClientError. Cancelling the wait cancels the request.
        """
        pending = self._requests.open(method, progress)
        pending.hears, pending.handlers = hears, handlers
        try:
            sending = self._post(pending, self._outgoing(pending, params, header_params, may_renew))
            return await self._wait(pending, sending, seconds)
        finally:
            self._requests.close(pending)

    def _outgoing(
        self, pending: Pending, params: Params, header_params: tuple[HeaderParam, ...], may_renew: bool
    ) -> Outgoing:
        meta: dict[str, object] = {}
        sender: dict[str, object] = {}
        if self.is_modern and self.revision is not None:
            meta[messages.PROTOCOL_VERSION] = self.revision
            # A caller that asks for somebody else says so in its own parameters.
            sender = envelope.about_sender(
                self._options.info, self.capabilities(self.revision), self._options.log_level
            )
        if pending.progress is not None:
            meta["progressToken"] = pending.id
        full = envelope.add_meta(params, meta, sender)
        # Some servers insist on params even though the schema does not.
        data = jsonrpc.request(pending.id, pending.method, _encode(full))
        if self.is_modern and self.revision is not None:
            mirrored = envelope.mirrored(self.revision, pending.method, full, header_params)
            return Outgoing(data, pending.id, mirrored)
        return Outgoing(
            data,
            pending.id,
            revision=self.revision,
            resumable=True,
            opens_session=pending.method == "initialize",
            may_renew=may_renew,
        )

    def capabilities(self, revision: str) -> messages.ClientCapabilities | Raw:
        """What is declared to a server of this revision."""
        return self._options.capabilities or answering.capabilities_of(self._options.handlers, revision)

    def _post(self, pending: Pending, message: Outgoing) -> asyncio.Task[None]:
        """Send in the background; whatever goes wrong there fails the request."""
        if self._lost is not None:
            raise self._lost
        wire = self.wire

        def sent(task: asyncio.Task[None]) -> None:
            if task.cancelled():
                pending.fail(ConnectionLost("this connection is closed"))
            elif (error := task.exception()) is not None:
                pending.fail(error)
            elif wire.is_exchange and not pending.reply.done():
                evidence = tuple(pending.strays)
                pending.fail(MalformedReply("the reply ended without an answer", evidence))

        sending = self._sending.start(wire.send(message))
        sending.add_done_callback(sent)
        return sending

    async def _wait(self, pending: Pending, sending: asyncio.Task[None], seconds: float) -> Reply:
        now = asyncio.get_running_loop().time
        last = now() + max(seconds, self._limits.longest_seconds)
        try:
            async with asyncio.timeout(seconds) as clock:
                pending.on_life = lambda: clock.reschedule(min(now() + seconds, last))
                return await pending.reply
        except TimeoutError:
            self._abandon(pending, sending)
            raise self._requests.timed_out(pending, seconds) from None
        except asyncio.CancelledError:
            self._abandon(pending, sending)
            raise
        finally:
            pending.on_life = None

    def _abandon(self, pending: Pending, sending: asyncio.Task[None]) -> None:
        """Tell the server that the request is no longer wanted, in the way of its era."""
        is_exchange = self._wire is None or self._wire.is_exchange
        closing_tells = self.is_modern and is_exchange  # modern HTTP: closing the stream says so
        if closing_tells or self._lost is not None or pending.method in _NEVER_CANCELLED:
            sending.cancel()
        else:
            self._farewells.start(self._say_cancelled(pending.id, sending))

    async def _say_cancelled(self, id_: RequestId, sending: asyncio.Task[None]) -> None:
        try:
            async with asyncio.timeout(self._limits.goodbye_seconds):
                await self.notify(_CANCELLED, {"requestId": Raw(_encode(id_))})
        except (TimeoutError, ClientError):
            pass  # the wire itself has failed, which is reported elsewhere
        finally:
            sending.cancel()

    async def notify(self, method: str, params: Params | None = None) -> None:
        """Send a notification.

        Raises: ClientError.
        """
        data = jsonrpc.notification(method, _encode(params) if params else None)
        await self._deliver(data, method)

    async def _deliver(self, data: bytes, method: str = "") -> None:
        if self._lost is not None:
            raise self._lost
        if self.is_modern and self.revision is not None:
            message = Outgoing(data, headers=envelope.mirrored(self.revision, method, {}))
        else:
            message = Outgoing(data, revision=self.revision)
        try:
            async with asyncio.timeout(self._limits.send_seconds):
                await self.wire.send(message)
        except TimeoutError:
            raise ConnectionLost("the server does not accept messages") from None

    def listen(self, params: Params) -> tuple[Pending, Subscription, Callable[[], None]]:
        """Start a modern subscription: its request, its notifications, and how to end it."""
        pending = self._requests.open("subscriptions/listen")
        subscription = Subscription(self._limits.backlog_messages)
        self._subscriptions[pending.id] = subscription
        try:
            sending = self._post(pending, self._outgoing(pending, params, (), False))
        except BaseException:
            self._forget(pending)
            raise

        def over(reply: asyncio.Future[Reply]) -> None:
            error = None if reply.cancelled() else reply.exception()
            subscription.end(error if isinstance(error, ClientError) else None)

        def stop() -> None:
            if not pending.reply.done():
                self._abandon(pending, sending)
                pending.reply.cancel()
            self._forget(pending)

        pending.reply.add_done_callback(over)
        return pending, subscription, stop

    def _forget(self, pending: Pending) -> None:
        self._subscriptions.pop(pending.id, None)
        self._requests.close(pending)

    def arrived(
        self,
        data: bytes,
        via: RequestId | None = None,
        status: int | None = None,
        changes: Changes = (),
    ) -> bool:
        if self._options.reading is not None:
            self._read(self._options.reading, data, via, status, changes)
        else:
            self._take_strictly(data, via, status)
        return self._requests.is_settled(via)

    def _read(
        self,
        reading: Reading,
        data: bytes,
        via: RequestId | None,
        status: int | None,
        changes: Changes,
    ) -> None:
        lasting = self._wire is None or not self._wire.is_exchange
        asked = self._requests
        for one in reading(data, asked.in_flight, via, asked.latest, lasting, asked.given_up):
            found = (*changes, *one.changes) if changes else one.changes
            if not one.data:
                invalid = one.parsed
                if isinstance(invalid, jsonrpc.Invalid):
                    self._requests.take_invalid(invalid, data, via)
                else:
                    self._requests.stray(data, via)
                if not found:
                    log.debug("a late answer was dropped")
                self.dropped(found)
            elif one.parsed is not None:
                self._take(one.parsed, one.data, via, status, found)
            else:
                self._take_strictly(one.data, via, status, found)

    def _take_strictly(
        self, data: bytes, via: RequestId | None, status: int | None, changes: Changes = ()
    ) -> None:
        message = jsonrpc.read(data)
        if isinstance(message, jsonrpc.Invalid) and jsonrpc.is_array(data):
            # 2025-03-26 lets a server group its messages; some do in every revision.
            batch = jsonrpc.read_batch(data, self._limits.backlog_messages)
            for item in batch if isinstance(batch, list) else [batch]:
                self._take(item, data, via, status, changes)
        else:
            self._take(message, data, via, status, changes)

    def _take(
        self,
        message: jsonrpc.Message,
        data: bytes,
        via: RequestId | None,
        status: int | None,
        changes: Changes,
    ) -> None:
        if isinstance(message, jsonrpc.Response):
            is_read = self._options.reading is not None
            self._requests.take_response(message, data, via, status, changes, is_read=is_read)
            return
        if changes:
            self.dropped(changes)
        if isinstance(message, jsonrpc.Notification):
            self._take_notification(message, via)
        elif isinstance(message, jsonrpc.Request):
            self._take_request(message, data, via)
        else:
            self._requests.take_invalid(message, data, via)

    def dropped(self, changes: Changes) -> None:
        if self._options.on_dropped is None:
            return
        try:
            self._options.on_dropped(changes)
        except Exception:
            # The callback belongs to the caller; a bug in it must not cost the connection.
            log.exception("a callback failed")

    def too_long(self, line: TooLong) -> None:
        self._requests.take_too_long(line)

    @property
    def is_full(self) -> bool:
        return self._options.is_full is not None and self._options.is_full()

    async def room(self) -> None:
        if self._options.room is not None:
            await self._options.room()

    def lost(self, error: ClientError) -> None:
        self._lost = error
        self._requests.fail_all(error)
        if self._options.on_lost is not None and self._wire is not None:
            self._options.on_lost(error)

    async def settled(self) -> None:
        """Wait until no request is in flight."""
        await self._sending.over()

    def _take_notification(self, notification: jsonrpc.Notification, via: RequestId | None) -> None:
        owner = None if via is None else self._requests.get(via)
        hears = (
            owner.hears if owner is not None and owner.hears is not None else self._options.on_notification
        )
        try:
            if notification.method == "notifications/progress":
                if self._requests.take_progress(notification.params):
                    return
            elif notification.method == _CANCELLED:
                self._take_cancelled(notification.params)
                return
            id_ = subscription_id(notification.params)
            subscribed = None if id_ is None else self._subscriptions.get(id_)
            if subscribed is not None:
                subscribed.take(notification)
            elif hears is not None:
                hears(notification)
        except Exception:
            # Callbacks belong to the caller; a bug in one must not cost the connection.
            log.exception("a callback failed", extra={"qortal_mcp.method": shown(notification.method)})

    def _take_cancelled(self, params: Raw | None) -> None:
        try:
            id_ = decode_as(params or b"null", messages.CancelledParams).requestId
        except UNREADABLE:
            return
        task = self._answering.get(id_)
        if task is not None:
            task.cancel()
        subscription = self._subscriptions.get(id_)
        if subscription is not None:
            subscription.end(None)

    def _take_request(self, request: jsonrpc.Request, data: bytes, via: RequestId | None) -> None:
        if self.is_modern:
            # 2026-07-28 has no requests from servers, and forbids answering one.
            self._requests.stray(data, via)
            return
        if request.id in self._answering:
            return  # the answer in progress serves both
        busy = len(self._answering) >= self._limits.questions
        if len(self._answers) >= 2 * self._limits.questions:
            # Refusals are no longer written either: the server does not read them.
            self._requests.stray(data, via)
            return
        owner = None if via is None else self._requests.get(via)
        handlers = (owner.handlers if owner is not None else None) or self._options.handlers
        task = self._answers.start(self._answer(request, busy, handlers))
        if not busy:
            self._answering[request.id] = task
            task.add_done_callback(lambda _: self._answering.pop(request.id, None))

    async def _answer(self, request: jsonrpc.Request, busy: bool, handlers: Handlers) -> None:
        try:
            if busy:
                raise AnswerRefused("Too many requests at once")
            async with asyncio.timeout(self._limits.answer_seconds):
                result = await answering.answer(handlers, request.method, request.params)
            reply = jsonrpc.result_reply(request.id, result)
        except AnswerRefused as exc:
            reply = jsonrpc.error_reply(request.id, exc.error)
        except TimeoutError:
            error = errors.ErrorObject(errors.INTERNAL_ERROR, "Nobody answered in time")
            reply = jsonrpc.error_reply(request.id, error)
        try:
            await self._deliver(reply)
        except ClientError as exc:
            log.debug("an answer could not be delivered", extra={"qortal_mcp.reason": str(exc)})

    async def drop_wire(self) -> None:
        """Close the wire, so that another can take its place."""
        if self._wire is not None:
            wire, self._wire = self._wire, None
            await wire.close()
        await self._sending.close()

    async def close(self) -> None:
        for subscription in list(self._subscriptions.values()):
            subscription.end(None)
        try:
            await self._answers.close()
            await self._farewells.close(self._limits.goodbye_seconds)
        finally:
            await self.drop_wire()
        closed = ConnectionLost("this connection is closed")
        self._lost = self._lost or closed
        self._requests.fail_all(closed)
