"""Who subscribed to changes, and how they are notified: legacy connections and modern `subscriptions/listen`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET

from ..limits import Limits
from ..protocol import errors, jsonrpc
from ..protocol.messages import SUBSCRIPTION_ID, ListenFilter
from .caller import asking, rated
from .peer import Peer

if TYPE_CHECKING:
    from .offers.catalogue import Watchable

log = logging.getLogger(__name__)

Listing = Literal["tools", "prompts", "resources"]
_encode = msgspec.json.Encoder().encode


class Listener:
    """One modern subscription: what it wants, and a bounded queue of what it has not been sent yet."""

    def __init__(
        self, id_: jsonrpc.RequestId, wants: ListenFilter, backlog: int, caller: Hashable = None
    ) -> None:
        self.id = id_
        self.caller = caller
        self.wants = wants
        self.uris = (
            frozenset() if wants.resourceSubscriptions is UNSET else frozenset(wants.resourceSubscriptions)
        )
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(backlog)
        self._ended = False

    def offer(self, method: str, params: dict[str, object]) -> None:
        """Queue a notice; a subscriber that does not read is ended rather than buffered for."""
        if self._ended:
            return
        message = jsonrpc.notification(method, _encode({**params, "_meta": {SUBSCRIPTION_ID: self.id}}))
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self.end()

    def end(self) -> None:
        self._ended = True
        try:
            self._queue.put_nowait(None)
        except asyncio.QueueFull:
            self._queue.get_nowait()
            self._queue.put_nowait(None)

    async def next(self) -> bytes | None:
        """The next notice; None when the subscription is over."""
        return await self._queue.get()


class _Watched:
    """A thing that is looked at for its subscribers, the URIs they know it by, and who looks."""

    __slots__ = ("looking", "uris")

    def __init__(self, looking: asyncio.Task[None]) -> None:
        self.looking = looking
        self.uris: set[str] = set()


class Hub:
    """All subscribers of one server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._peers: set[Peer] = set()
        self._listeners: set[Listener] = set()
        self._watched: dict[Hashable, _Watched] = {}
        self._thing_of: dict[str, Hashable] = {}
        self._closed = False
        # Where subscribers are notified; plain functions report changes from threads.
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._listeners)

    @property
    def peers(self) -> Collection[Peer]:
        return self._peers

    def join(self, peer: Peer) -> None:
        """Send notices to this connection from now on."""
        self._loop = _running_loop()
        self._peers.add(peer)

    def leave(self, peer: Peer) -> None:
        self._peers.discard(peer)
        self.release(peer.subscriptions)

    def listen(self, id_: jsonrpc.RequestId, wants: ListenFilter, caller: Hashable | None = None) -> Listener:
        """`caller` is whose share it is taken from, as a rate limit counts it; None: nobody's.

        Raises: ProtocolError when there are too many already.
        """
        if self._closed or len(self._listeners) >= self._limits.server_subscriptions:
            raise errors.ProtocolError(errors.INTERNAL_ERROR, "too many subscriptions")
        most = self._limits.caller_subscriptions
        if caller is not None and sum(one.caller == caller for one in self._listeners) >= most:
            raise errors.ProtocolError(
                errors.INVALID_PARAMS, f"too many subscriptions: one caller may hold {most}; end another one"
            )
        self._loop = _running_loop()
        listener = Listener(id_, wants, self._limits.backlog_messages, caller)
        self._listeners.add(listener)
        return listener

    def drop(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        self.release(listener.uris)

    def list_changed(self, listing: Listing) -> None:
        """Tell everybody who asked that a list is different now. May be called from any thread."""
        self._notify(self._list_changed, listing)

    def _list_changed(self, listing: Listing) -> None:
        method = f"notifications/{listing}/list_changed"
        for peer in list(self._peers):
            if peer.revision is not None:
                peer.notify(jsonrpc.notification(method))
        for listener in list(self._listeners):
            if getattr(listener.wants, f"{listing}ListChanged"):
                listener.offer(method, {})

    def resource_updated(self, uri: str) -> None:
        """Tell everybody who watches it that a resource reads differently now. May be called from any thread."""
        self._notify(self._resource_updated, uri)

    def _resource_updated(self, uri: str) -> None:
        method = "notifications/resources/updated"
        for peer in list(self._peers):
            if uri in peer.subscriptions:
                peer.notify(jsonrpc.notification(method, _encode({"uri": uri})))
        for listener in list(self._listeners):
            if uri in listener.uris:
                listener.offer(method, {"uri": uri})

    def _notify(self, tell: Callable[[Any], None], what: str) -> None:
        if self._loop is None or _running_loop() is not None:
            tell(what)
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the subscribers with it
            self._loop.call_soon_threadsafe(tell, what)

    def is_watched(self, uri: str) -> bool:
        return any(uri in peer.subscriptions for peer in self._peers) or any(
            uri in listener.uris for listener in self._listeners
        )

    def check_room(
        self, watchable: Watchable, caller: Hashable | None, together: Sequence[Watchable] = ()
    ) -> None:
        """Whether a caller may watch one more resource, besides those it is about to watch.

        Raises: ProtocolError when there are too many already.
        """
        if watchable.changes is None:
            return
        things = {each.thing for each in together if each.changes is not None} | {watchable.thing}
        if len(self._watched.keys() | things) > self._limits.watched_resources:
            raise errors.ProtocolError(errors.INTERNAL_ERROR, "too many resources are watched")
        most = self._limits.caller_watched_resources
        if caller is not None and len(self._things_of(caller) | things) > most:
            raise errors.ProtocolError(
                errors.INVALID_PARAMS, f"too many resources: one caller may watch {most}; leave another one"
            )

    def _things_of(self, caller: Hashable) -> set[Hashable]:
        """What one caller watches, over all its connections."""
        known = self._thing_of
        return {
            known[uri]
            for uris in (
                *(peer.subscriptions for peer in self._peers if rated(peer.caller) == caller),
                *(listener.uris for listener in self._listeners if listener.caller == caller),
            )
            for uri in uris
            if uri in known
        }

    def watch(self, watchable: Watchable) -> None:
        """Look for changes of a resource until the last subscriber leaves, once for all of them."""
        thing, changes = watchable.thing, watchable.changes
        if changes is None or self._closed:
            return
        watched = self._watched.get(thing)
        if watched is None:
            watched = self._watched[thing] = _Watched(asyncio.create_task(self._look(thing, changes)))
        elif watched.looking.done():  # it failed
            watched.looking = asyncio.create_task(self._look(thing, changes))
        watched.uris.add(watchable.uri)
        self._thing_of[watchable.uri] = thing

    def release(self, uris: Iterable[str]) -> None:
        """Stop looking at those of these resources that nobody watches any more."""
        for uri in uris:
            if uri in self._thing_of and not self.is_watched(uri):
                thing = self._thing_of.pop(uri)
                watched = self._watched[thing]
                watched.uris.discard(uri)
                if not watched.uris:
                    del self._watched[thing]
                    watched.looking.cancel()

    async def _look(self, thing: Hashable, changes: AsyncIterator[None]) -> None:
        asking.set("")  # it is done for all subscribers, not for the first
        try:
            async for _ in changes:
                for uri in list(self._watched[thing].uris):
                    self.resource_updated(uri)
        except Exception:
            log.exception("changes of a resource cannot be noticed any more")

    def close(self) -> None:
        """End every subscription properly."""
        self._closed = True
        for watched in self._watched.values():
            watched.looking.cancel()
        for listener in list(self._listeners):
            listener.end()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
