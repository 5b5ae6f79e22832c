"""Who subscribed to changes, and how they are notified: legacy connections and modern `subscriptions/listen`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable
from typing import Literal

import msgspec
from msgspec import UNSET

from ..limits import Limits
from ..protocol import errors, jsonrpc
from ..protocol.messages import SUBSCRIPTION_ID, ListenFilter
from .peer import Peer

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


class Hub:
    """All subscribers of one server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._peers: set[Peer] = set()
        self._listeners: set[Listener] = set()
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def __len__(self) -> int:
        return len(self._listeners)

    @property
    def peers(self) -> Collection[Peer]:
        return self._peers

    def join(self, peer: Peer) -> None:
        """Send notices to this connection from now on."""
        self._peers.add(peer)

    def leave(self, peer: Peer) -> None:
        self._peers.discard(peer)

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
        listener = Listener(id_, wants, self._limits.backlog_messages, caller)
        self._listeners.add(listener)
        return listener

    def drop(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def list_changed(self, listing: Listing) -> None:
        """Tell everybody who asked that a list is different now."""
        method = f"notifications/{listing}/list_changed"
        for peer in list(self._peers):
            if peer.revision is not None:
                peer.notify(jsonrpc.notification(method))
        for listener in list(self._listeners):
            if getattr(listener.wants, f"{listing}ListChanged"):
                listener.offer(method, {})

    def resource_updated(self, uri: str) -> None:
        """Tell everybody who watches it that a resource reads differently now."""
        method = "notifications/resources/updated"
        for peer in list(self._peers):
            if uri in peer.subscriptions:
                peer.notify(jsonrpc.notification(method, _encode({"uri": uri})))
        for listener in list(self._listeners):
            if uri in listener.uris:
                listener.offer(method, {"uri": uri})

    def is_watched(self, uri: str) -> bool:
        return any(uri in peer.subscriptions for peer in self._peers) or any(
            uri in listener.uris for listener in self._listeners
        )

    def watch(self, uri: str, changed: Callable[[], Awaitable[None]]) -> None:
        """While anybody watches a resource, wait for its changes and announce each."""
        if uri not in self._watching and not self._closed:
            task = asyncio.get_running_loop().create_task(self._watch(uri, changed))
            self._watching[uri] = task
            task.add_done_callback(lambda done: self._watching.pop(uri, None))

    async def _watch(self, uri: str, changed: Callable[[], Awaitable[None]]) -> None:
        while self.is_watched(uri):
            await changed()
            self.resource_updated(uri)

    def close(self) -> None:
        """End every subscription properly."""
        self._closed = True
        for task in list(self._watching.values()):
            task.cancel()
        for listener in list(self._listeners):
            listener.end()
