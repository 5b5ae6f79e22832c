"""The tools of all servers together: what a model is offered, and how its calls reach their server."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ...text import printable, shortened
from ..limits import DEFAULT, AgentLimits
from ..run import ServerSeen
from .offer import Offer, offered
from .results import Seen
from .server import ToolServer

log = logging.getLogger(__name__)

_NAME_CHARS = 100
_MOST_NAMES = 200


class Toolbox:
    """Several servers, or one, or none. A server that is down is worked around, and tried again at each refresh."""

    def __init__(self, servers: Sequence[ToolServer], limits: AgentLimits = DEFAULT) -> None:
        self.servers = tuple(servers)
        self._limits = limits
        self._places: dict[str, tuple[int, Offer]] = {}
        self._offers: dict[str, Offer] = {}
        self._offered_of: tuple[Any, ...] = ()

    @property
    def offers(self) -> Mapping[str, Offer]:
        """What a model is offered, by name."""
        return self._offers

    async def open(self) -> None:
        """Connect to all servers side by side."""
        await asyncio.gather(*(server.open(self._limits.start_seconds) for server in self.servers))
        self._offer()

    async def refresh(self) -> None:
        """List again what may have changed, and try servers that are down: before each question but the first."""
        await asyncio.gather(*(server.refresh(self._limits.connect_seconds) for server in self.servers))
        self._offer()

    async def catch_up(self) -> None:
        """List again only what is known to have changed: in the middle of a question."""
        await asyncio.gather(*(server.catch_up(self._limits.connect_seconds) for server in self.servers))
        self._offer()

    def _offer(self) -> None:
        current = tuple(zip(self._labels(), (server.tools for server in self.servers), strict=True))
        if current != self._offered_of:
            self._offered_of = current
            self._places = offered(current)
            self._offers = {name: offer for name, (_, offer) in self._places.items()}

    def servers_seen(self) -> tuple[ServerSeen, ...]:
        """Each server, how many tools it has, and why it cannot be used, if it cannot."""
        return tuple(
            ServerSeen(name=label, tools=len(server.tools), problem=server.problem)
            for label, server in zip(self._labels(), self.servers, strict=True)
        )

    def _labels(self) -> list[str]:
        """One for each server, all different: a server chooses its name, and may choose that of another."""
        found: dict[str, str] = {}
        for server in self.servers:
            number, label = 1, server.label
            while label.lower() in found:
                number += 1
                label = f"{server.label}{number}"
            found[label.lower()] = label
        return list(found.values())

    async def call(self, name: str, arguments: dict[str, Any]) -> Seen:
        """Call a tool by the name that the model was offered."""
        found = self._places.get(name)
        if found is None:
            return Seen(text=self._unknown(name), ok=False)
        place, offer = found
        server = self.servers[place]
        try:
            return await server.call(offer, arguments, self._limits.call_seconds)
        except Exception:
            log.exception("internal error", extra={"qortal_mcp.tool": offer.tool})
            return Seen(text=f"{name} failed: its arguments or its reply cannot be processed.", ok=False)

    def _unknown(self, name: str) -> str:
        said = f"There is no tool {shortened(printable(name), _NAME_CHARS)}."
        names = list(self._offers)
        if not names:
            return f"{said} No tools are available."
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return f"{said} The tools are: {', '.join(names[:_MOST_NAMES])}{more}."

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(server.close() for server in self.servers))
