"""What a modern server tells by itself: one `subscriptions/listen` for everything that the clients in front want to hear.

Old clients subscribe to one resource after the other and never to lists; the subscription is opened anew with every
change, the new one before the old one ends, so that nothing is missed in between.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from ...client.client import Client
from ...client.errors import ClientError, ConnectionLost, RequestTimeout
from ...protocol.jsonrpc import Notification
from ...protocol.messages import ListenFilter
from ..limits import BridgeLimits
from .kept_connection import KeptConnection


class Listening:
    """The subscription of one connection to a modern server. Does nothing for an old one."""

    def __init__(
        self,
        connection: KeptConnection,
        limits: BridgeLimits,
        seconds: float,
        hear: Callable[[Notification], None],
        on_gap: Callable[[], None],
    ) -> None:
        """`seconds`: how long the server may take to accept a subscription. `on_gap`: for a while nobody was listening."""
        self._connection = connection
        self._limits = limits
        self._seconds = seconds
        self._hear = hear
        self._on_gap = on_gap
        self._uris: dict[str, None] = {}
        self._current: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()

    def begin(self) -> None:
        """There is a new connection."""
        self._current = None  # it ended with the old one
        self._connection.start(self._begin())

    async def _begin(self) -> None:
        with contextlib.suppress(ClientError):
            await self._renew()

    async def watch(self, uri: str) -> bool:
        """Hear of changes of a resource. False: the server does not accept it. Raises: ClientError."""
        if len(self._uris) >= self._limits.kept_subscriptions and uri not in self._uris:
            return False
        is_new = uri not in self._uris
        self._uris[uri] = None
        try:
            accepted = await self._renew()
        except BaseException:
            if is_new:
                self._uris.pop(uri, None)
            raise
        if accepted.resourceSubscriptions is UNSET or uri not in accepted.resourceSubscriptions:
            self._uris.pop(uri, None)
            return False
        return True

    async def unwatch(self, uri: str) -> None:
        """Raises: ClientError."""
        if self._uris.pop(uri, UNSET) is None:
            await self._renew()

    async def _renew(self) -> ListenFilter:
        """Subscribe to what is wanted now, and end the subscription before it. Raises: ClientError."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._renewed()
        except TimeoutError:
            raise RequestTimeout("subscriptions/listen", self._seconds) from None

    async def _renewed(self) -> ListenFilter:
        async with self._changing:
            client = await self._connection.ready()
            wanted = _wanted(client.terms.capabilities, list(self._uris))
            former, self._current = self._current, None
            accepted = ListenFilter()
            try:
                if wanted != accepted:
                    began: asyncio.Future[ListenFilter] = asyncio.get_running_loop().create_future()
                    self._current = self._connection.start(self._listen(client, wanted, began))
                    accepted = await began
            finally:
                if former is not None:
                    former.cancel()
            return accepted

    async def _listen(
        self, client: Client, wanted: ListenFilter, began: asyncio.Future[ListenFilter]
    ) -> None:
        try:
            await self._keep_listening(client, wanted, began)
        finally:
            if not began.done():
                began.set_exception(ConnectionLost("the connection was lost"))
                began.exception()  # retrieved: perhaps nobody waits for it

    async def _keep_listening(
        self, client: Client, wanted: ListenFilter, began: asyncio.Future[ListenFilter]
    ) -> None:
        """Pass on what the server says, and subscribe again if it ends the subscription while the connection lasts."""
        pause = self._limits.first_pause_seconds
        while True:
            try:
                async with client.listen(wanted) as subscription:
                    if began.done():
                        self._on_gap()
                    else:
                        began.set_result(subscription.accepted)
                    async for notification in subscription:
                        pause = self._limits.first_pause_seconds
                        self._hear(notification)
            except ClientError as exc:
                if not began.done():
                    began.set_exception(exc)
                    return
            if client.is_lost or self._connection.client is not client:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._limits.idle_pause_seconds)


def _wanted(capabilities: Mapping[str, Any], uris: list[str]) -> ListenFilter:
    """Every list that may change, and these resources."""

    def declares(kind: str, what: str) -> bool:
        part = capabilities.get(kind)
        return isinstance(part, dict) and part.get(what) is True

    return ListenFilter(
        toolsListChanged=declares("tools", "listChanged"),
        promptsListChanged=declares("prompts", "listChanged"),
        resourcesListChanged=declares("resources", "listChanged"),
        resourceSubscriptions=uris or UNSET,
    )
