"""Reads the lists of one server for one client, and looks after a server that is away until it is back."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from ....protocol import errors
from ..away import Away, code_of, reason_of
from ..member import Known, next_cursor
from ..rewriting import LIST_METHODS, LISTING_OF, LISTINGS, Kind, Listing

if TYPE_CHECKING:
    from .link import Link

_encode = msgspec.json.Encoder().encode


class Reading:
    """The lists that are being read over one link."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._readings: dict[Kind, asyncio.Task[Known]] = {}
        self._began: dict[Kind, float] = {}
        self._watcher: asyncio.Task[None] | None = None

    def outdate(self, listing: Listing) -> None:
        """The list has changed. What is being read may have begun before; whoever asks now wants to know what is there after it."""
        for kind in [kind for kind in self._readings if LISTING_OF[kind] == listing]:
            del self._readings[kind]

    def begin(self, kind: Kind, params: dict[str, Raw], *, modern: bool) -> asyncio.Task[Known]:
        """A list that is being read, for all who ask for it meanwhile. Raises, when awaited: Away."""
        task = self._readings.get(kind)
        if task is None:
            task = self._readings[kind] = self._link.start(self._read(kind, params, modern=modern))
            self._began[kind] = asyncio.get_running_loop().time()
            task.add_done_callback(lambda done: self._read_done(kind, done))
        return task

    def seconds(self, kind: Kind) -> float:
        """How long a list has been read already."""
        return asyncio.get_running_loop().time() - self._began.get(kind, 0.0)

    def _read_done(self, kind: Kind, task: asyncio.Task[Known]) -> None:
        if self._readings.get(kind) is task:
            del self._readings[kind]
        if not task.cancelled():
            task.exception()  # those who waited have seen it

    async def _read(self, kind: Kind, params: dict[str, Raw], *, modern: bool) -> Known:
        limits = self._link.client.limits
        try:
            async with asyncio.timeout(limits.read_seconds):
                return await self._read_pages(kind, params, modern=modern)
        except TimeoutError:
            raise Away(f"{self._link.member.name} did not answer {LIST_METHODS[kind]} in time.") from None

    async def _read_pages(self, kind: Kind, params: dict[str, Raw], *, modern: bool) -> Known:
        limits = self._link.client.limits
        if not modern:
            await self._link.ready()
        if self._link.capabilities is not None and LISTING_OF[kind] not in self._link.capabilities:
            return self._link.member.take(kind, ())
        pages: list[bytes] = []
        cursors: set[str] = set()
        size = 0
        for _ in range(limits.list_pages):
            response = await self._link.ask(
                LIST_METHODS[kind], _encode(params), None, self._link.client.say, modern=modern
            )
            if response.result is None:
                if not pages and code_of(response) == errors.METHOD_NOT_FOUND:
                    return self._link.member.take(kind, ())
                raise Away(reason_of(response))
            size += len(response.result)
            if size > limits.list_bytes:
                self._link.member.too_long(kind)
                break
            pages.append(bytes(response.result))
            cursor = next_cursor(response.result)
            if cursor is None or cursor in cursors:
                break
            cursors.add(cursor)
            params = {**params, "cursor": Raw(_encode(cursor))}
        else:
            self._link.member.too_long(kind)
        return self._link.member.take(kind, tuple(pages))

    def watch(self, params: dict[str, Raw], *, modern: bool) -> None:
        """The client was given a list of a server that is away: tell it when the server is back."""
        if self._link.is_opening or self._link.is_closed or self._link.member.receiver is None:
            return  # that it opens is announced
        if self._watcher is None or self._watcher.done():
            self._watcher = self._link.start(self._watch(params, modern=modern))

    async def _watch(self, params: dict[str, Raw], *, modern: bool) -> None:
        limits = self._link.client.limits
        pause = limits.first_retry_seconds
        is_up = False
        while not is_up and not self._link.member.is_gone:
            # Somebody has to want the server, so that it is not tried every half minute only.
            with contextlib.suppress(Away):
                await asyncio.shield(self.begin("tools", params, modern=modern))
            is_up = await self._link.member.up_within(pause)
            pause = min(2 * pause, limits.longest_retry_seconds)
        for listing in LISTINGS:
            self._link.client.changed(listing)
