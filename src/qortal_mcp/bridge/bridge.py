"""The bridge: receives what clients send, and answers it with what the server behind says, repaired."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from .. import __version__
from ..client.envelope import members
from ..metrics import names
from ..protocol import errors, jsonrpc, versions
from ..protocol.inbound import Arrival, Rejection, Route
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import Implementation, RequestMeta
from ..protocol.versions import Method
from ..server.options import ServerOptions
from ..server.peer import Peer
from ..server.receiver import Handler, Receiver
from . import methods
from .client_side.suspended import Suspended
from .connections import Behind, Connections, tried
from .journal import Journal
from .server_side.opening import Eras
from .way import Way

_NO_META = RequestMeta()


class Bridge(Receiver):
    """Answers as the server behind does. Knows no transport in front."""

    def __init__(self, way: Way, options: ServerOptions) -> None:
        super().__init__(Implementation(name="qortal-mcp-bridge", version=__version__), options)
        self.way = way
        self.journal = Journal(self.metrics, way.limits.logged_repairs, way.repairs.codes)
        # Tools of the server whose results contradict what they declare.
        self.misfits: set[str] = set()
        self.eras = Eras(way.revision)
        # Calls of modern clients that an old server has interrupted with questions.
        self.suspended = Suspended(way.limits, way.max_children, self.limits.ask_seconds)
        self.connections = Connections(self)
        self._closing: set[asyncio.Task[None]] = set()
        self._reached = False
        self._is_stopping = False
        # Set when a client has waited in vain for a server that was never there.
        self.never_reached = asyncio.Event()
        show = self.metrics.show
        show(names.BRIDGE_CONNECTIONS, lambda: len(self.behind))
        show(
            names.BRIDGE_CONNECTIONS_READY,
            lambda: sum(one.connection.state == "ready" for one in self.behind),
        )

    @property
    def behind(self) -> list[Behind]:
        return self.connections.all

    @property
    def was_reached(self) -> bool:
        return self._reached or any(one.connection.was_up for one in self.behind)

    def failed_to_open(self, peer: Peer) -> None:
        """A handshake failed because there is no server."""
        self.leave(peer)
        if not self.was_reached and not self._is_stopping:
            self.never_reached.set()

    def connect_early(self) -> None:
        """Connect before the first client comes, so that operators can see whether the server is there."""
        self.start(tried(self.connections.shared()))

    def handler(self, method: str) -> Handler:
        return methods.TABLE.get(method, methods.pass_on)

    def offers(self, route: Route, peer: Peer) -> bool:
        """What the server has, it says itself. Subscriptions and log levels need somebody who can be told."""
        if route.method.capability in ("subscribe", "logging"):
            return peer.post is not None and peer.revision is not None and not self.way.shared
        return True

    def reconsider(
        self, request: jsonrpc.Request, rejection: Rejection, arrival: Arrival
    ) -> tuple[jsonrpc.Request, Route | Rejection]:
        """Methods that only the server may know are passed on, if the client has shaken hands.

        Not if tools are withheld: any of these methods may be another name for calling one.
        """
        is_unknown = (
            rejection.error.code == errors.METHOD_NOT_FOUND and request.method not in versions.METHODS
        )
        if rejection.modern or arrival.handshake is None or not is_unknown or self.way.withholds_tools:
            return request, rejection
        return request, Route(arrival.handshake, False, Method(request.method), _NO_META)

    def noticed(self, notification: jsonrpc.Notification, peer: Peer) -> None:
        """Notifications of a client that has the server for itself are passed on, except for those about the handshake.

        A request without an id is not one of them: some servers would do what it says.
        """
        behind, method = self.connections.of(peer), notification.method
        if behind is None or method == "notifications/initialized" or not method.startswith("notifications/"):
            return
        with contextlib.suppress(TypeError, *UNREADABLE):
            params = members(None if notification.params is None else bytes(notification.params))
            self.start(behind.upstream.notify(notification.method, params))

    def join(self, peer: Peer) -> None:
        behind = self.connections.of(peer) or (self.connections.shared() if self.way.shared else None)
        if behind is not None:
            behind.clients.hub.join(peer)

    def leave(self, peer: Peer) -> None:
        if peer.lasting:
            self.suspended.forget(peer)
        behind = self.connections.leave(peer)
        if behind is not None:
            self._reached = self._reached or behind.connection.was_up

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Work in the background that is waited for at the end."""
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def stop_waiting(self) -> None:
        """The bridge was told to end: who waits for a server that is not there is told so at once."""
        self._is_stopping = True
        for behind in self.behind:
            behind.connection.stop_waiting()

    def close(self) -> None:
        super().close()
        self.suspended.close()
        for behind in self.behind:
            behind.clients.hub.close()

    async def shut(self) -> None:
        """Close every connection to the server."""
        self._reached = self.was_reached
        self.suspended.close()
        await self.connections.shut()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def facts(self) -> tuple[dict[str, Any], bool]:
        """What operators are told, and whether the server can be used."""
        told = [one.connection.facts() for one in self.behind]
        is_ready = any(one["state"] == "ready" for one in told)
        return {"server": self.way.name, "ready": is_ready, "connections": told}, is_ready
