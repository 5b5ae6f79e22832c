"""One `subscriptions/listen` of the modern era, as its reader sees it."""

import asyncio

import msgspec
from msgspec import Raw, Struct, UnsetType, field

from ..protocol.decoding import decode_as, decoder
from ..protocol.jsonrpc import UNREADABLE, Notification, RequestId
from ..protocol.messages import SUBSCRIPTION_ID, ListenFilter
from .errors import ClientError, ConnectionLost, MalformedReply

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class _Meta(Struct):
    id: RequestId | UnsetType = field(name=SUBSCRIPTION_ID, default=msgspec.UNSET)


class _Marked(Struct):
    meta: _Meta | UnsetType = field(name="_meta", default=msgspec.UNSET)


class _Acknowledged(Struct):
    notifications: ListenFilter


_decode_mark = decoder(_Marked)


def subscription_id(params: Raw | None) -> RequestId | None:
    """The subscription a notification belongs to, if any."""
    if params is None:
        return None
    try:
        marked = _decode_mark(params)
    except UNREADABLE:
        return None
    if isinstance(marked.meta, UnsetType) or isinstance(marked.meta.id, UnsetType):
        return None
    return marked.meta.id


class Subscription:
    """Notifications, in order. Iterating ends when the server ends the subscription, and raises if it is lost."""

    def __init__(self, backlog: int) -> None:
        self._notices: asyncio.Queue[Notification | None] = asyncio.Queue(backlog)
        self._error: ClientError | None = None
        self._ended = False
        self._accepted: asyncio.Future[ListenFilter] = asyncio.get_running_loop().create_future()

    @property
    def accepted(self) -> ListenFilter:
        """What the server agreed to send."""
        return self._accepted.result()

    async def acknowledged(self) -> None:
        await asyncio.shield(self._accepted)

    def take(self, notification: Notification) -> None:
        """Take a notification with this subscription's id."""
        if self._ended:
            return
        if notification.method == ACKNOWLEDGED:
            self._acknowledge(notification)
        elif not self._accepted.done():
            self.end(MalformedReply("a subscription must be acknowledged before anything else is sent"))
        else:
            try:
                self._notices.put_nowait(notification)
            except asyncio.QueueFull:
                self.end(ConnectionLost("notifications came faster than they were read"))

    def _acknowledge(self, notification: Notification) -> None:
        if self._accepted.done():
            return
        try:
            said = decode_as(notification.params or b"null", _Acknowledged)
        except UNREADABLE as exc:
            evidence = (bytes(notification.params or b""),)
            self.end(MalformedReply(f"unexpected acknowledgement: {exc}", evidence))
            return
        self._accepted.set_result(said.notifications)

    def end(self, error: ClientError | None) -> None:
        """No more will come; `error` says why, unless the server ended it on purpose."""
        if self._ended:
            return
        self._ended = True
        self._error = error
        if not self._accepted.done():
            self._accepted.set_exception(error or ConnectionLost("the subscription ended before it began"))
            self._accepted.exception()  # retrieved, so that asyncio does not complain if there is no waiter
        if self._notices.full():
            self._notices.get_nowait()
        self._notices.put_nowait(None)

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Notification:
        notice = await self._notices.get()
        if notice is not None:
            return notice
        self._notices.put_nowait(None)  # for the next call
        raise self._error or StopAsyncIteration
