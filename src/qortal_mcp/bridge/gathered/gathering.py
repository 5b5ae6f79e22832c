"""Several servers behind one front: receives what clients send, and answers it with what the servers say, each under its name.

Each server has a bridge of its own, which repairs it, keeps its connections and crosses the eras. This works on messages:
it changes names on the way, and one server can do nothing to another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from ... import __version__
from ...metrics import Metrics, names
from ...protocol import jsonrpc
from ...protocol.decoding import decoder
from ...protocol.inbound import Route
from ...protocol.messages import CLIENT_CAPABILITIES, PROTOCOL_VERSION, Implementation
from ...protocol.versions import MODERN
from ...server.methods.call import Call
from ...server.options import ServerOptions
from ...server.peer import Peer
from ...server.receiver import Handler, Receiver
from ..bridge import Bridge
from . import methods
from .limits import DEFAULT, GatheredLimits
from .links.client import Client
from .links.link import Link
from .links.starts import Starts
from .listening import Listening
from .member import Member, Source, Unusable
from .names import server_names
from .rewriting import LISTINGS

log = logging.getLogger(__name__)

GatheringCall: TypeAlias = "Call[Gathering]"
_encode = msgspec.json.Encoder().encode
_decode_members = decoder(dict[str, Raw])
# The servers' own bridges have a clock for every call; this one would only be in the way.
_CALL_SECONDS = 7 * 86_400.0
_OUR_PARAMS = {"_meta": Raw(_encode({PROTOCOL_VERSION: MODERN[-1], CLIENT_CAPABILITIES: {}}))}


class Gathering(Receiver):
    """Answers for all servers together. Knows no transport in front."""

    def __init__(
        self,
        servers: Mapping[str, Source],
        options: ServerOptions,
        *,
        by_search: bool = False,
        hidden: Iterable[str] = (),
        is_shared: bool = False,
        bounds: GatheredLimits = DEFAULT,
    ) -> None:
        """`hidden` are offered names of tools. `is_shared`: all clients share the connections to the servers."""
        options = replace(
            options,
            limits=replace(options.limits, call_seconds=_CALL_SECONDS),
            metrics=options.metrics or Metrics(),
        )
        super().__init__(Implementation(name="qortal-mcp-bridge", version=__version__), options)
        self.bounds = bounds
        self.by_search = by_search
        self.hidden = frozenset(hidden)
        self.is_shared = is_shared
        self.listenings: set[Listening] = set()
        self.members: dict[str, Member] = {}
        self._clients: dict[Peer, Client] = {}
        self._starts = Starts(bounds.starts, bounds.start_turn_seconds)
        # For all clients without a connection or session of their own.
        self._resident = Client(Peer(lasting=False, limits=self.limits), self._starts, bounds)
        self._tasks: set[asyncio.Task[None]] = set()
        self._connects_early = False
        # Never set: there is a front whether its servers are there or not.
        self.never_reached = asyncio.Event()
        self._take(servers)
        show = self.metrics.show
        show(names.BRIDGE_CONNECTIONS, lambda: len(self._states()))
        show(names.BRIDGE_CONNECTIONS_READY, lambda: self._states().count("ready"))
        show(names.BRIDGE_SERVERS, lambda: len(self.members))
        show(names.BRIDGE_SERVERS_READY, lambda: sum(member.is_up for member in self.members.values()))

    def _take(self, servers: Mapping[str, Source]) -> tuple[list[Member], list[Member]]:
        """These servers from now on. Returns those that are gone and those that are new; others stay as they are."""
        if len(servers) > self.bounds.servers:
            raise ValueError(f"more than {self.bounds.servers} servers")
        names = server_names(servers)
        old, self.members = self.members, {}
        new = []
        for given, source in servers.items():
            name = names[given]
            known = old.get(name)
            if known is not None and _is_same(known.source, source):
                self.members[name] = old.pop(name)
            else:
                self.members[name] = member = Member(name, source, self.options, self.bounds)
                new.append(member)
                if isinstance(source, Unusable):
                    extra = {"qortal_mcp.server": name, "qortal_mcp.reason": source.reason}
                    log.warning("a server cannot be used", extra=extra)
        return list(old.values()), new

    async def change(self, servers: Mapping[str, Source]) -> None:
        """These servers from now on: new ones start, changed ones restart, unchanged ones notice nothing.

        Raises: ValueError if there are too many.
        """
        gone, new = self._take(servers)
        if not gone and not new:
            return
        for member in gone:
            for listening in list(self.listenings):
                listening.remove(member)
            for client in self._everyone():
                client.drop(member)
            member.end_calls()
        # First, as the new one of a name may need what the old one holds: a port, a lock.
        shutting = [asyncio.ensure_future(member.shut()) for member in gone]
        if shutting:
            await asyncio.wait(shutting, timeout=self.bounds.farewell_seconds)
        for member in new:
            if self._connects_early:
                self._start(self._connect(member))
            for client in self._everyone():
                if client.hello is not None:
                    client.link(member)
            for listening in list(self.listenings):
                listening.add(member)
        for client in self._everyone():
            for listing in LISTINGS:
                client.changed(listing)
        await asyncio.gather(*shutting, return_exceptions=True)

    def _everyone(self) -> list[Client]:
        return [self._resident, *self._clients.values()]

    def handler(self, method: str) -> Handler:
        return methods.TABLE[method]

    def offers(self, route: Route, peer: Peer) -> bool:
        """Subscriptions and log levels need somebody who can be told."""
        if route.method.capability in ("subscribe", "logging"):
            return peer.post is not None and peer.revision is not None and not self.is_shared
        return True

    def client_of(self, peer: Peer) -> Client:
        """A client with a connection or session of its own."""
        found = self._clients.get(peer)
        if found is None:
            found = self._clients[peer] = Client(peer, self._starts, self.bounds)
        return found

    def home_of(self, call: GatheringCall) -> Client:
        """Who is told what this caller should hear, and whose lists are its lists."""
        if call.peer.lasting or call.peer.revision is not None:
            return self.client_of(call.peer)
        return self._resident

    def link_for(self, call: GatheringCall, member: Member) -> Link:
        """What asks a server for one call. A stateless request has nothing that lasts."""
        home = self.home_of(call)
        return home.link(member) if home is not self._resident else Link(home, member, call.peer)

    def is_modern(self, call: GatheringCall) -> bool:
        """In which era lists are read for a caller."""
        return call.route.modern or self.home_of(call) is self._resident

    def list_params(self, call: GatheringCall, params: Mapping[str, Raw]) -> Mapping[str, Raw]:
        """What a list is asked for with: the caller's own words, unless the list is read for others as well."""
        if self.home_of(call) is self._resident:
            return _OUR_PARAMS
        if not call.route.modern or "_meta" not in params:
            return {}
        meta = _decode_members(params["_meta"])
        # Several servers are asked: none of them may report progress as the only one.
        meta.pop("progressToken", None)
        return {"_meta": Raw(_encode(meta))}

    def labelled(self, label: str) -> Member | None:
        return next((member for member in self.members.values() if member.label == label), None)

    def noticed(self, notification: jsonrpc.Notification, peer: Peer) -> None:
        client = self._clients.get(peer)
        for link in client.links.values() if client is not None else ():
            link.notify(notification)

    def answered(self, response: jsonrpc.Response, peer: Peer) -> None:
        """Ids are unguessable: the response belongs to whoever knows its id."""
        client = self._clients.get(peer)
        for link in client.links.values() if client is not None else ():
            link.peer.answered(response)

    def leave(self, peer: Peer) -> None:
        super().leave(peer)
        client = self._clients.pop(peer, None)
        if client is not None:
            client.leave()

    @property
    def was_reached(self) -> bool:
        """Whether any server has been there."""
        return any(
            member.receiver.was_reached if isinstance(member.receiver, Bridge) else member.is_up
            for member in self.members.values()
        )

    def connect_early(self) -> None:
        """Connect before the first client comes, so that operators can see which servers are there."""
        self._connects_early = True
        for member in self.members.values():
            self._start(self._connect(member))

    async def _connect(self, member: Member) -> None:
        async with self._starts.turn():
            if member.is_gone:
                return  # nobody would close what is opened now
            member.connect_early()
            await member.up_within(self.bounds.start_turn_seconds)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop_waiting(self) -> None:
        for member in self.members.values():
            member.stop_waiting()

    def close(self) -> None:
        super().close()
        for member in self.members.values():
            if member.receiver is not None:
                member.receiver.close()

    async def shut(self) -> None:
        """Close every connection to every server."""
        for task in list(self._tasks):
            task.cancel()
        for client in self._everyone():
            client.leave()
        self._clients.clear()
        await asyncio.gather(*(member.shut() for member in self.members.values()), return_exceptions=True)

    def _states(self) -> list[str]:
        """The state of each connection to any server."""
        told = [member.facts() for member in self.members.values()]
        return [connection["state"] for one in told for connection in one.get("connections", ())]

    def facts(self) -> tuple[dict[str, Any], bool]:
        """What operators are told, and whether any server can be used."""
        told = {member.name: member.facts() for member in self.members.values()}
        is_ready = any(one["ready"] for one in told.values())
        return {"ready": is_ready, "servers": told}, is_ready


def _is_same(old: Source, new: Source) -> bool:
    if isinstance(old, Receiver) or isinstance(new, Receiver):
        return old is new
    return type(old) is type(new) and old == new
