"""One of the servers behind a front: its bridge, what is known of its lists, and the calls that it is working on."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ...metrics import Metrics
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...server.options import ServerOptions
from ...server.receiver import Receiver
from ...server.work import Work
from ..bridge import Bridge
from ..way import Way
from .counting import ServerMetrics
from .finding.search import Fields, fields_of
from .limits import GatheredLimits
from .names import label_of, offered_tools
from .rewriting import Kind, with_address, with_name, with_note

log = logging.getLogger(__name__)

# How often a server that is away is looked at.
_LOOK_SECONDS = 0.25
_encode = msgspec.json.Encoder().encode


class Unusable(Struct, frozen=True):
    """A server that cannot even be tried, and why: one sentence."""

    # How the target is shown: without anything secret.
    name: str
    reason: str


Source: TypeAlias = Way | Receiver | Unusable


class Known:
    """A list of one server as clients get it."""

    def __init__(self, items: list[dict[str, Any]], pages: tuple[bytes, ...]) -> None:
        self.items = items
        # What the server answered, to see whether it is still the same.
        self.pages = pages
        self._written: bytes | None = None
        self._noted: bytes | None = None
        self._searchable: list[Fields] | None = None

    def searchable(self) -> list[Fields]:
        """What a search looks at in each item."""
        if self._searchable is None:
            self._searchable = [fields_of(item) for item in self.items]
        return self._searchable

    def written(self) -> bytes:
        """The items as JSON, separated by commas."""
        if self._written is None:
            self._written = b",".join([_encode(item) for item in self.items])
        return self._written

    def noted(self, server: str) -> bytes:
        """The same, each with a note that its server is away."""
        if self._noted is None:
            self._noted = b",".join([_encode(with_note(item, server)) for item in self.items])
        return self._noted


NOTHING = Known([], ())


class Member:
    """One server under its name. Outlives its connections and its clients."""

    def __init__(self, name: str, source: Source, options: ServerOptions, limits: GatheredLimits) -> None:
        self.name = name
        self.label = label_of(name)
        self.source = source
        self.receiver = _receiver(name, source, options)
        self.known: dict[Kind, Known] = {}
        # What it says about itself, as far as it was heard.
        self.instructions = ""
        self.running: set[Work] = set()
        self.is_gone = False
        self._limits = limits
        # The offered name of each tool -> the one that the server knows.
        self._tools: dict[str, str] = {}
        self._reported: set[Kind] = set()
        self._was_in_vain = False
        # Whose handshake has waited in vain.
        self._greeted: object = None

    def is_worth_waiting_for(self, client: object = None) -> bool:
        """Not if somebody has waited in vain, and it has not been up since: its coming is announced.

        One exception: the client whose handshake was too short for a server that is only slow waits for it again with its
        first list. Some clients never read another one.
        """
        if self._was_in_vain and self.is_up:
            self._was_in_vain, self._greeted = False, None
        return not self._was_in_vain or (client is not None and client is self._greeted and not self._failed)

    def was_waited_for(self, *, in_vain: bool, greeted: object = None) -> None:
        """`greeted` is the client, if it was its handshake that waited."""
        self._was_in_vain = in_vain and not self.is_up
        self._greeted = greeted if self._was_in_vain else None

    @property
    def _failed(self) -> bool:
        """Whether it could not be opened, or was lost: it is not just slow."""
        return any("error" in connection for connection in self.facts().get("connections", ()))

    @property
    def is_up(self) -> bool:
        """Whether it can be asked now, by what its bridge knows."""
        if isinstance(self.receiver, Bridge):
            return self.receiver.facts()[1]
        return self.receiver is not None

    async def up_within(self, seconds: float) -> bool:
        """Wait until it is up. There is no event for it: what is asked is the bridge's word for operators."""
        step = min(seconds, _LOOK_SECONDS)
        for _ in range(max(1, round(seconds / step))):
            if self.is_up:
                return True
            await asyncio.sleep(step)
        return self.is_up

    def own_tool(self, offered: str) -> str | None:
        """The server's name of a tool that it has listed; None if it has not."""
        return self._tools.get(offered)

    def offered_as(self, own: str) -> list[str]:
        """The names under which a tool is listed."""
        return [offered for offered, name in self._tools.items() if name == own]

    def tool_names(self) -> list[str]:
        return list(self._tools)

    def too_long(self, kind: Kind) -> None:
        """Its list is longer than anybody reads."""
        if kind not in self._reported:
            self._reported.add(kind)
            log.warning(
                "the list is too long, its end is left out",
                extra={"qortal_mcp.server": self.name, "qortal_mcp.list": kind},
            )

    def take(self, kind: Kind, pages: tuple[bytes, ...]) -> Known:
        """A list as it was read just now. What has not changed since is not processed again."""
        known = self.known.get(kind)
        if known is None or known.pages != pages:
            known = self.known[kind] = self._known(kind, pages)
        return known

    def _known(self, kind: Kind, pages: tuple[bytes, ...]) -> Known:
        limits = self._limits
        items = [item for page in pages for item in _items(page, kind)]
        if len(items) > limits.list_items:
            self.too_long(kind)
            items = items[: limits.list_items]
        if kind in ("resources", "resourceTemplates"):
            return Known([with_address(item, kind, self.label) for item in items], pages)
        items = [item for item in items if isinstance(item.get("name"), str)]
        names: dict[str, str] = {}
        if kind == "tools":
            names = offered_tools(self.name, [item["name"] for item in items])
            self._tools = {offered: own for own, offered in names.items()}
        return Known([with_name(item, self.name, names) for item in items], pages)

    def facts(self) -> dict[str, Any]:
        """What operators are told."""
        if isinstance(self.source, Unusable):
            return {"server": self.source.name, "ready": False, "error": self.source.reason}
        if isinstance(self.receiver, Bridge):
            return self.receiver.facts()[0]
        return {"ready": self.is_up}

    def connect_early(self) -> None:
        if isinstance(self.receiver, Bridge):
            self.receiver.connect_early()

    def stop_waiting(self) -> None:
        if isinstance(self.receiver, Bridge):
            self.receiver.stop_waiting()

    def end_calls(self) -> None:
        """It is no longer one of the servers: what it works on gets no answer."""
        self.is_gone = True
        for work in list(self.running):
            work.cancel()

    async def shut(self) -> None:
        if isinstance(self.receiver, Bridge):
            await self.receiver.shut()


def _items(page: bytes, kind: Kind) -> list[dict[str, Any]]:
    try:
        result = values.read(page)
    except UNREADABLE:
        return []
    found = result.get(kind) if isinstance(result, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


class _Page(Struct):
    nextCursor: str | None = None


_decode_page = decoder(_Page)


def next_cursor(page: Raw) -> str | None:
    """Where the list goes on; None where it ends."""
    try:
        return _decode_page(page).nextCursor or None
    except UNREADABLE:
        return None


def _receiver(name: str, source: Source, options: ServerOptions) -> Receiver | None:
    if isinstance(source, Unusable):
        return None
    if isinstance(source, Receiver):
        return source
    longest = source.client.limits.longest_seconds
    # Its bridge has clocks of its own for every call.
    limits = replace(options.limits, call_seconds=2 * max(longest, source.timeout, source.start_timeout))
    metrics = options.metrics or Metrics()
    return Bridge(
        source,
        ServerOptions(limits=limits, error_key=options.error_key, metrics=ServerMetrics(metrics, name)),
    )
