"""The bridge: receives what clients send, and answers it with what the server behind says, repaired."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from msgspec import Raw

from .. import __version__
from ..client.envelope import members
from ..client.errors import ClientError
from ..protocol import errors, jsonrpc, versions
from ..protocol.decoding import decoder
from ..protocol.inbound import Arrival, Rejection, Route
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import Implementation, RequestMeta
from ..protocol.versions import Method
from ..server.methods.call import Call
from ..server.options import ServerOptions
from ..server.peer import Peer
from ..server.receiver import Handler, Receiver
from . import methods
from .client_side import ClientSide
from .journal import Journal
from .kept_connection import KeptConnection
from .upstream import Opening, Upstream
from .way import Way

_NO_META = RequestMeta()
_decode_members = decoder(dict[str, Raw])


class Behind:
    """One connection to the server, with the clients that use it."""

    def __init__(self, bridge: Bridge, opening: Opening, *, is_shared: bool) -> None:
        way = bridge.way
        self.clients = ClientSide(way.repairs, bridge.journal, bridge.limits, way.limits, is_shared=is_shared)
        self.upstream = Upstream(
            way,
            bridge.journal,
            opening,
            hear=self.clients.hear,
            ask_client=self.clients.ask,
            on_list_changed=lambda: self.clients.list_changed("tools"),
            is_crowded=lambda: self.clients.is_crowded,
            room=self.clients.room,
            misfits=bridge.misfits,
        )
        self.connection = self.upstream.connection


class Bridge(Receiver):
    """Answers as the server behind does. Knows no transport in front."""

    def __init__(self, way: Way, options: ServerOptions) -> None:
        super().__init__(Implementation(name="qortal-mcp-bridge", version=__version__), options)
        self.way = way
        self.journal = Journal(self.metrics, way.limits.logged_repairs, way.repairs.codes)
        # Tools of the server whose results contradict what they declare.
        self.misfits: set[str] = set()
        self._shared: Behind | None = None
        self._own: dict[Peer, Behind] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._reached = False
        self._is_stopping = False
        # Set when a client has waited in vain for a server that was never there.
        self.never_reached = asyncio.Event()
        gauge = self.metrics.gauge
        gauge("mcp_bridge_connections", "Connections to the server behind.", lambda: len(self.behind))
        gauge(
            "mcp_bridge_connections_ready",
            "Connections to the server behind that are up.",
            lambda: sum(one.connection.state == "ready" for one in self.behind),
        )

    @property
    def behind(self) -> list[Behind]:
        return [*([self._shared] if self._shared is not None else []), *self._own.values()]

    @property
    def was_reached(self) -> bool:
        return self._reached or any(one.connection.was_up for one in self.behind)

    def failed_to_open(self, peer: Peer) -> None:
        """A handshake failed because there is no server."""
        self.leave(peer)
        if not self.was_reached and not self._is_stopping:
            self.never_reached.set()

    def shared(self) -> Behind:
        """The connection of all clients that have none of their own."""
        if self._shared is None:
            self._shared = Behind(self, Opening(), is_shared=True)
        return self._shared

    def connect_early(self) -> None:
        """Connect before the first client comes, so that operators can see whether the server is there."""
        self._start(_tried(self.shared().connection))

    def own(self, peer: Peer, opening: Opening | None = None) -> Behind:
        """The connection of one client. Only a connection or session has one.

        Raises: ProtocolError if there are too many.
        """
        if self.way.shared:
            return self.shared()
        found = self._own.get(peer)
        if found is not None and found.connection.is_open:
            return found
        if sum(one.connection.is_open for one in self._own.values()) >= self.way.max_children:
            raise errors.ProtocolError(
                errors.INTERNAL_ERROR,
                f"too many clients at once: the server is reached {self.way.max_children} times already (--max-children)",
            )
        if found is None:
            found = self._own[peer] = Behind(self, opening or Opening(), is_shared=False)
            if peer.lasting:
                found.clients.take_over(peer)
            if not peer.lasting and self._sweeper is None:
                self._sweeper = asyncio.get_running_loop().create_task(self._sweep())
        return found

    def behind_of(self, call: Call[Any]) -> Behind:
        """The connection that serves a request.

        Raises: ProtocolError.
        """
        peer = call.peer
        if peer.lasting or peer.revision is not None:
            return self.own(peer)
        return self.shared()

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
        behind, method = self._own.get(peer), notification.method
        if behind is None or method == "notifications/initialized" or not method.startswith("notifications/"):
            return
        with contextlib.suppress(TypeError, *UNREADABLE):
            params = members(None if notification.params is None else bytes(notification.params))
            self._start(behind.upstream.notify(notification.method, params))

    def join(self, peer: Peer) -> None:
        behind = self._own.get(peer) or (self.shared() if self.way.shared else None)
        if behind is not None:
            behind.clients.hub.join(peer)

    def leave(self, peer: Peer) -> None:
        if self._shared is not None:
            self._shared.clients.hub.leave(peer)
        behind = self._own.pop(peer, None)
        if behind is not None:
            self._reached = self._reached or behind.connection.was_up
            behind.clients.leave()
            self._start(behind.connection.close())

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _sweep(self) -> None:
        """Close what sessions have not used for long; they get a new connection when they come back."""
        limits = self.way.limits
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(limits.sweep_seconds)
            for peer, behind in list(self._own.items()):
                unused = loop.time() - behind.connection.last_used
                is_idle = not behind.upstream.in_flight and unused > limits.idle_seconds
                if not peer.lasting and is_idle:
                    await behind.connection.rest()

    def stop_waiting(self) -> None:
        """The bridge was told to end: who waits for a server that is not there is told so at once."""
        self._is_stopping = True
        for behind in self.behind:
            behind.connection.stop_waiting()

    def close(self) -> None:
        super().close()
        for behind in self.behind:
            behind.clients.hub.close()

    async def shut(self) -> None:
        """Close every connection to the server."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._reached = self.was_reached
        every = self.behind
        self._own.clear()
        self._shared = None
        await asyncio.gather(
            *(one.connection.close() for one in every), *self._closing, return_exceptions=True
        )

    def facts(self) -> tuple[dict[str, Any], bool]:
        """What operators are told, and whether the server can be used."""
        told = [one.connection.facts() for one in self.behind]
        is_ready = any(one["state"] == "ready" for one in told)
        return {"server": self.way.name, "ready": is_ready, "connections": told}, is_ready


async def _tried(connection: KeptConnection) -> None:
    with contextlib.suppress(ClientError):
        await connection.ready()
