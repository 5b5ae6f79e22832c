"""`subscriptions/listen` for several servers: one subscription with each of them, opened again when it ends, merged into one."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw

from ...protocol import errors, jsonrpc
from ...protocol.decoding import decode, decoder
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.messages import SUBSCRIPTION_ID, ListenFilter, ListenParams
from ...server.caller import rated
from ...server.context import Context
from ...server.subscriptions import Listener
from .away import Away
from .links.client import Client
from .links.link import Link
from .links.waiting import within
from .member import Member
from .names import parts_of_uri
from .rewriting import LISTINGS, UPDATED

if TYPE_CHECKING:
    from .gathering import GatheringCall

_encode = msgspec.json.Encoder().encode
_decode_listen = decoder(ListenParams)
_decode_members = decoder(dict[str, Raw])
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class Listening:
    """One subscription of a modern client, over all servers."""

    def __init__(self, call: GatheringCall, client: Client) -> None:
        """`client` is who else hears what this one hears: the connection, or all clients without one."""
        self._call = call
        self._client = client
        self._wanted = call.params(_decode_listen).notifications
        params = call.params(_decode_members)
        self._meta = params.get("_meta", Raw(b"{}"))
        self._accepted: set[str] = set()
        self._tasks: dict[Member, asyncio.Task[None]] = {}
        self._listener: Listener | None = None

    @property
    def _wants_lists(self) -> bool:
        return any(getattr(self._wanted, f"{one}ListChanged") for one in LISTINGS)

    def _uris(self, member: Member) -> list[str]:
        """The server's own addresses among those that are wanted."""
        found = self._wanted.resourceSubscriptions
        every = (
            []
            if found is UNSET
            else list(dict.fromkeys(found))[: self._call.server.limits.peer_subscriptions]
        )
        parts = [parts_of_uri(uri) for uri in every]
        return [part[1] for part in parts if part is not None and part[0] == member.label]

    async def run(self, context: Context) -> bytes:
        gathering, call = self._call.server, self._call
        meta = {SUBSCRIPTION_ID: call.request.id}
        # Before the servers are asked: what they say from the first moment on waits here until it may be sent.
        listener = gathering.hub.listen(call.request.id, self._wanted, rated(call.peer.caller))
        self._listener = listener
        self._client.listeners.add(listener)
        answered = {member: self.add(member) for member in gathering.members.values()}
        gathering.listenings.add(self)
        try:
            waits = {member: one.wait for member, one in answered.items() if one is not None}
            await within(gathering.bounds.handshake_seconds, self._client, waits)
            accepted = self._kept()
            told = _encode({"notifications": accepted, "_meta": meta})
            await context.send(jsonrpc.notification(_ACKNOWLEDGED, told))
            while (message := await listener.next()) is not None:
                await context.send(message)
            if call.peer.lasting:
                over = _encode({"requestId": call.request.id, "reason": "the bridge is stopping"})
                await context.send(jsonrpc.notification("notifications/cancelled", over))
            return call.shape.complete(b"{}", meta)
        finally:
            gathering.listenings.discard(self)
            gathering.hub.drop(listener)
            self._client.listeners.discard(listener)
            for task in self._tasks.values():
                task.cancel()

    def _kept(self) -> ListenFilter:
        """What is kept of the wishes. Lists can always change; of an address its server decides, if it has answered."""
        wanted = self._wanted
        found = wanted.resourceSubscriptions
        uris = [] if found is UNSET else [uri for uri in dict.fromkeys(found) if uri in self._accepted]
        return ListenFilter(
            toolsListChanged=wanted.toolsListChanged,
            promptsListChanged=wanted.promptsListChanged,
            resourcesListChanged=wanted.resourcesListChanged,
            resourceSubscriptions=uris or UNSET,
        )

    def add(self, member: Member) -> asyncio.Event | None:
        """Listen to one more server. The event is set when it has said what it keeps."""
        uris = self._uris(member)
        if member.receiver is None or not (uris or self._wants_lists):
            return None
        self._accepted.update(f"{member.label}+{uri}" for uri in uris)
        link = self._call.server.link_for(self._call, member)
        answered = asyncio.Event()
        keep = self._keep(link, uris, answered)
        self._tasks[member] = asyncio.get_running_loop().create_task(keep)
        return answered

    def remove(self, member: Member) -> None:
        task = self._tasks.pop(member, None)
        if task is not None:
            task.cancel()

    async def _keep(self, link: Link, uris: list[str], answered: asyncio.Event) -> None:
        limits = self._call.server.bounds
        pause = limits.first_retry_seconds
        params = _encode({"notifications": self._filter(uris), "_meta": self._meta})
        has_ended = False

        async def heard(message: bytes) -> None:
            nonlocal pause
            notification = jsonrpc.read(message)
            if not isinstance(notification, jsonrpc.Notification):
                return
            if notification.method == _ACKNOWLEDGED:
                self._acknowledged(link.member, notification, uris)
                answered.set()
                pause = limits.first_retry_seconds
                if has_ended:
                    self._everything_changed()
            elif notification.method == UPDATED:
                self._updated(notification)

        while True:
            with contextlib.suppress(Away):
                await link.ask("subscriptions/listen", params, self._call.request.id, heard, modern=True)
            if link.member.is_gone:
                return
            answered.set()
            has_ended = True
            await asyncio.sleep(pause)
            pause = min(2 * pause, limits.longest_retry_seconds)

    def _filter(self, uris: list[str]) -> ListenFilter:
        wanted = self._wanted
        return ListenFilter(
            toolsListChanged=wanted.toolsListChanged,
            promptsListChanged=wanted.promptsListChanged,
            resourcesListChanged=wanted.resourcesListChanged,
            resourceSubscriptions=uris or UNSET,
        )

    def _acknowledged(self, member: Member, notification: jsonrpc.Notification, uris: list[str]) -> None:
        try:
            told: Any = decode(notification.params or b"{}")
            kept = told["notifications"].get("resourceSubscriptions", [])
        except (*UNREADABLE, KeyError, TypeError, AttributeError):
            return
        for uri in uris:
            if uri not in kept:
                self._accepted.discard(f"{member.label}+{uri}")

    def _updated(self, notification: jsonrpc.Notification) -> None:
        with contextlib.suppress(*UNREADABLE):
            told = decode(notification.params or b"{}")
            if self._listener is not None and isinstance(told, dict) and isinstance(told.get("uri"), str):
                self._listener.offer(UPDATED, {"uri": told["uri"]})

    def _everything_changed(self) -> None:
        for listing in LISTINGS:
            self._client.changed(listing)


def refuse_too_many(call: GatheringCall) -> None:
    """Raises: ProtocolError."""
    streams = sum(work.streams for work in call.peer.working.values())
    if streams >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
