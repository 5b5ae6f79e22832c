"""Which connection to the server serves which client.

A connection or session in front has one of its own. Modern clients over HTTP have neither: those that can be asked
nothing share one; those of one caller that can be asked the same share another, on which the server knows what it may ask.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from ..client.errors import ClientError
from ..protocol import errors, versions
from ..server.caller import rated
from ..server.methods.call import Call
from ..server.peer import Peer
from .client_side.clients import ClientSide
from .methods.opening import opening_of
from .server_side.opening import Opening
from .server_side.upstream import Upstream

if TYPE_CHECKING:
    from .bridge import Bridge

# Whether the clients are modern, what they can be asked for, and if anything, for whom: a server may ask too late.
_Kind = tuple[bool, bytes, Hashable]


class Behind:
    """One connection to the server, with the clients that use it."""

    def __init__(
        self, bridge: Bridge, opening: Opening, *, is_shared: bool = False, beside: Behind | None = None
    ) -> None:
        """`beside`: notices that are about no request go to whoever hears those of this other connection."""
        way = bridge.way
        self._users = 0
        self._freed = asyncio.Event()
        self.clients: ClientSide = ClientSide(
            way.repairs,
            bridge.journal,
            bridge.limits,
            way.limits,
            is_shared=is_shared,
            can_be_asked=not is_shared or bool(opening.kind),
            beside=None if beside is None else beside.clients,
        )
        self.upstream = Upstream(
            way,
            bridge.journal,
            opening,
            hear=self.clients.hear,
            ask_client=self.clients.ask,
            eras=bridge.eras,
            on_list_changed=lambda: self.clients.list_changed("tools"),
            is_crowded=lambda: self.clients.is_crowded,
            room=self.clients.room,
            misfits=bridge.misfits,
        )
        self.connection = self.upstream.connection

    @property
    def is_free(self) -> bool:
        return self._users == 0

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if self.is_free:
                self._freed.set()

    async def freed(self, seconds: float) -> bool:
        """Wait until nobody uses it; False if that takes longer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.is_free:
                    self._freed.clear()
                    await self._freed.wait()
        return self.is_free


class Connections:
    """All connections of one bridge, bounded in number."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._way = bridge.way
        self._limits = bridge.way.limits
        self._shared: dict[_Kind, Behind] = {}
        self._own: dict[Peer, Behind] = {}
        # For one request at a time, where the shared one has its hands full.
        self._lent: list[tuple[_Kind, Behind]] = []
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def all(self) -> list[Behind]:
        return [*self._shared.values(), *self._own.values(), *(one for _, one in self._lent)]

    def of(self, peer: Peer) -> Behind | None:
        """The connection of a client that has one of its own."""
        return self._own.get(peer)

    def shared(self, *, modern: bool = True) -> Behind:
        """The connection of all clients that have none of their own, and can be asked nothing.

        A modern server has one for each era: its lists look different to old clients.
        """
        found = self._shared.get((True, b"", None))
        modern = modern or self._way.shared or (found is not None and not found.upstream.is_modern)
        opening = Opening() if modern else Opening(versions.NEWEST_HANDSHAKE)
        return self._shared_by((modern, b"", None), opening)

    def _shared_by(self, kind: _Kind, opening: Opening) -> Behind:
        """Raises: ProtocolError if there are too many."""
        if kind not in self._shared:
            if kind[1]:
                self._make_room()
            self._shared[kind] = Behind(self._bridge, opening, is_shared=True)
            self._start_sweeping()
        return self._shared[kind]

    def own(self, peer: Peer, opening: Opening) -> Behind:
        """The connection of one client. Only a connection or session has one.

        Raises: ProtocolError if there are too many.
        """
        if self._way.shared:
            return self.shared()
        found = self._own.get(peer)
        if found is not None and found.connection.is_open:
            return found
        self._make_room()
        if found is None:
            found = self._own[peer] = Behind(self._bridge, opening)
            if peer.lasting:
                found.clients.take_over(peer)
            else:
                self._start_sweeping()
        return found

    def serving(self, call: Call[Any]) -> Behind:
        """The connection that serves a request.

        Raises: ProtocolError.
        """
        peer = call.peer
        if peer.lasting or peer.revision is not None:
            found = self._own.get(peer)
            if found is not None and found.connection.is_open:
                return found
            return self.own(peer, opening_of(call))
        if call.route.modern and not self._way.shared and (opening := opening_of(call)).kind:
            return self._shared_by((True, opening.kind, rated(peer.caller)), opening.for_many())
        return self.shared(modern=call.route.modern)

    @contextlib.asynccontextmanager
    async def exclusively(self, call: Call[Any]) -> AsyncIterator[Behind]:
        """The connection for a request during which the server may say or ask something that must be known to belong to
        it: where the server does not say so, nobody else uses the connection then.

        Raises: ProtocolError, ClientError.
        """
        behind = self.serving(call)
        if behind.clients.is_shared and not self._way.shared and call.route.modern:
            client = await behind.connection.ready()
            is_told_apart = client.wire.is_exchange or (
                client.terms.is_modern and call.route.meta.log_level is UNSET
            )
            opening = opening_of(call)
            must_be_alone = bool(opening.kind) or call.route.meta.log_level is not UNSET
            if must_be_alone and not is_told_apart and not behind.is_free:
                kind = (True, opening.kind, rated(call.peer.caller))
                behind = await self._lent_instead(kind, opening, behind)
        with behind.in_use():
            yield behind

    async def _lent_instead(self, kind: _Kind, opening: Opening, busy: Behind) -> Behind:
        """The usual connection if it is free in a moment, or else another one like it. Raises: ProtocolError."""

        def free() -> Behind | None:
            return next((one for its, one in self._lent if its == kind and one.is_free), None)

        found = free()
        if found is None and await busy.freed(self._limits.free_seconds):
            return busy
        found = found or free()
        if found is None:
            self._make_room()
            found = Behind(self._bridge, opening.for_many(), beside=busy)
            self._lent.append((kind, found))
        return found

    def _make_room(self) -> None:
        """Raises: ProtocolError if there are as many connections as there may be, and all are in use."""
        some = [*(one for _, one in self._lent), *self._own.values()]
        some += [one for (_, said, _), one in self._shared.items() if said]
        if sum(one.connection.is_open for one in some) < self._way.max_children:
            return
        idle = next((one for one in self._idle(0.0) if one.connection.is_open), None)
        if idle is None:
            raise errors.ProtocolError(
                errors.INTERNAL_ERROR,
                f"too many clients at once: the server is reached {self._way.max_children} times already (--max-children)",
            )
        self._take_back(idle)

    def _idle(self, seconds: float) -> list[Behind]:
        """Connections of clients without a session that nobody has used for so long."""
        now = asyncio.get_running_loop().time()
        some = [one for _, one in self._lent]
        some += [one for (_, said, _), one in self._shared.items() if said and not len(one.clients.hub)]
        idle = [one for one in some if one.is_free and not one.connection.is_awaited]
        return [one for one in idle if now - one.connection.last_used >= seconds]

    def _take_back(self, behind: Behind) -> None:
        self._shared = {kind: one for kind, one in self._shared.items() if one is not behind}
        self._lent = [(kind, one) for kind, one in self._lent if one is not behind]
        behind.clients.leave()
        self._bridge.start(behind.connection.close())

    def leave(self, peer: Peer) -> Behind | None:
        """A client is gone: its own connection is closed, and returned."""
        for shared in self._shared.values():
            shared.clients.hub.leave(peer)
        behind = self._own.pop(peer, None)
        if behind is not None:
            behind.clients.leave()
            self._bridge.start(behind.connection.close())
        return behind

    def _start_sweeping(self) -> None:
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def _sweep(self) -> None:
        """Close what has not been used for long; sessions get a new connection when they come back."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._limits.sweep_seconds)
            for peer, behind in list(self._own.items()):
                unused = loop.time() - behind.connection.last_used
                is_idle = not behind.upstream.in_flight and unused > self._limits.idle_seconds
                if not peer.lasting and is_idle:
                    await behind.connection.rest()
            for behind in self._idle(self._limits.idle_seconds):
                self._take_back(behind)

    async def shut(self) -> None:
        """Close all of them."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        every = self.all
        self._own.clear()
        self._lent.clear()
        self._shared.clear()
        await asyncio.gather(*(one.connection.close() for one in every), return_exceptions=True)


async def tried(behind: Behind) -> None:
    """Connect, if that is possible."""
    with contextlib.suppress(ClientError):
        await behind.connection.ready()
