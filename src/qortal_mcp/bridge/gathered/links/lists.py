"""One list of what several servers have: what is there within a short time, and what is known of those that are slow or away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from msgspec import Raw

from ..limits import GatheredLimits
from ..member import Known, Member
from ..rewriting import LISTING_OF, Kind
from .client import Client
from .link import Link


class Part:
    """What a client is given of one server."""

    def __init__(self, member: Member, known: Known | None, *, is_away: bool) -> None:
        self.member = member
        self.known = known
        self.is_away = is_away

    def written(self, hidden: frozenset[str] = frozenset()) -> bytes:
        """The items as JSON, separated by commas, without tools of these names."""
        if self.known is None:
            return b""
        if hidden:
            shown = [item for item in self.known.items if item.get("name") not in hidden]
            return Part(self.member, Known(shown, ()), is_away=self.is_away).written()
        return self.known.noted(self.member.name) if self.is_away else self.known.written()


async def gathered(
    client: Client, members: Iterable[Member], kind: Kind, params: Mapping[str, Raw], *, modern: bool
) -> list[Part]:
    """The parts of a list in the order of the servers. Waits for nobody longer than a list may take.

    Who was too slow, or is away, is waited for in the background; then the client hears that the list has changed.
    """
    own = {name: value for name, value in params.items() if name != "cursor"}
    links = [client.link(member) for member in members]
    readings = {
        link: link.lists.begin(kind, own, modern=modern) for link in links if link.member.receiver is not None
    }
    seconds = client.limits.list_seconds
    # Whoever was waited for in vain is not waited for again, but for a slow one that was greeted just now.
    young = {
        link.member: task
        for link, task in readings.items()
        if link.lists.seconds(kind) < seconds and link.member.is_worth_waiting_for(client)
    }
    if young:
        await asyncio.wait(young.values(), timeout=seconds)
        for member, task in young.items():
            member.was_waited_for(in_vain=not _is_read(task))
    return [_part(link, readings.get(link), kind, own, modern=modern) for link in links]


def _is_read(reading: asyncio.Task[Known]) -> bool:
    return reading.done() and not reading.cancelled() and reading.exception() is None


def _part(
    link: Link, reading: asyncio.Task[Known] | None, kind: Kind, params: dict[str, Raw], *, modern: bool
) -> Part:
    member = link.member
    last_known = member.known.get(kind)
    if reading is None:
        return Part(member, last_known, is_away=True)
    if not reading.done():

        def announce(done: asyncio.Task[Known]) -> None:
            if not _announced(link, kind, last_known, done) and not done.cancelled():
                link.lists.watch(params, modern=modern)

        reading.add_done_callback(announce)
        return Part(member, last_known, is_away=True)
    read = reading.result() if _is_read(reading) else None
    # A bridge answers with what it has known of a server that is away.
    is_away = not member.is_up
    if is_away or read is None:
        link.lists.watch(params, modern=modern)
    return Part(member, read or last_known, is_away=is_away)


def _announced(link: Link, kind: Kind, given: Known | None, reading: asyncio.Task[Known]) -> bool:
    """Whether a slow server has answered: its part of the list was left out, or had a note, and the client is told."""
    if not _is_read(reading) or not link.member.is_up:
        return False
    if reading.result().items or given is not None:
        link.client.changed(LISTING_OF[kind])
    return True


def joined(
    parts: Iterable[Part], kind: Kind, limits: GatheredLimits, hidden: frozenset[str] = frozenset()
) -> bytes:
    """The body of the answer. Of servers for which there is no room, nothing is listed."""
    pieces: list[bytes] = []
    size = 0
    for part in parts:
        written = part.written(hidden)
        size += len(written) + 1
        if size > limits.front_bytes:
            part.member.too_long(kind)
            break
        if written:
            pieces.append(written)
    return b'{"%b":[%b]}' % (kind.encode(), b",".join(pieces))
