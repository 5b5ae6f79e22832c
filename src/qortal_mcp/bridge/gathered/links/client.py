"""One client of the front, and what it has with each server. Clients without a connection of their own share one of these."""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol import jsonrpc
from ....server.peer import Peer
from ....server.subscriptions import Listener
from ..limits import GatheredLimits
from ..member import Member
from ..rewriting import Listing
from .link import Link
from .notices import Notices
from .starts import Starts


class Client:
    """What a lasting connection, a session, or all stateless clients together have with the servers."""

    def __init__(self, peer: Peer, starts: Starts, limits: GatheredLimits) -> None:
        self.peer = peer
        self.starts = starts
        self.limits = limits
        self.links: dict[str, Link] = {}
        # How it introduced itself (legacy), and whether it was answered: nothing is announced before.
        self.hello: bytes | None = None
        self.is_introduced = False
        # The parameters of the last `logging/setLevel`.
        self.log_level: bytes | None = None
        self.listeners: set[Listener] = set()
        self.notices = Notices(limits.notice_seconds, self._tell)

    def link(self, member: Member) -> Link:
        if member.is_gone:
            # Not kept: another server may have its name by now.
            return Link(self, member, self.peer)
        found = self.links.get(member.name)
        if found is None or found.member is not member:
            found = self.links[member.name] = Link(self, member, self.peer)
            if self.hello is not None:
                found.open(self.hello)
        return found

    def greet(self, hello: bytes, members: Iterable[Member]) -> list[Link]:
        """Shake hands with all servers, as the client did with the front."""
        self.hello = hello
        links = [self.link(member) for member in members]
        for link in links:
            link.open(hello)
        return links

    def changed(self, listing: Listing) -> None:
        self.notices.changed(listing)

    def _tell(self, listing: Listing) -> bool:
        method = f"notifications/{listing}/list_changed"
        for listener in list(self.listeners):
            if getattr(listener.wants, f"{listing}ListChanged"):
                listener.offer(method, {})
        if self.peer.revision is None or self.peer.post is None:
            return True
        return self.peer.notify(jsonrpc.notification(method))

    async def say(self, message: bytes) -> None:
        """Put what a server says on the wire, outside the client's own calls."""
        if self.peer.write is not None:
            await self.peer.write(message)
        else:
            self.peer.notify(message)

    def drop(self, member: Member) -> None:
        """A server is gone."""
        link = self.links.get(member.name)
        if link is not None and link.member is member:
            del self.links[member.name]
            link.close()

    def leave(self) -> None:
        self.notices.close()
        for link in self.links.values():
            link.close()
        self.links.clear()
