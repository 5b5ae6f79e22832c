"""Watch resources of the server in this process: subscribe to them, read those that changed, and say what is different."""

import datetime
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from ...client import ClientError, ServerError, connect
from ...client.client import Client
from ...protocol.decoding import decode
from ...protocol.errors import INTERNAL_ERROR
from ...protocol.messages import ListenFilter
from ...qortal.resources import ACCOUNT, NAME, NODE, TRADE
from ...qortal.sample import SAMPLE_NOTICE
from ...settings import NodeOptions
from ...text import visible
from ..output.differences import change, differences
from ..output.events import Event, Lines
from ..output.terminal import one_line
from . import failures
from .own_server import opened

# What can be watched -> the address of its resource.
KINDS = {"address": ACCOUNT, "name": NAME, "trade": TRADE, "chain": NODE}
# Other words for them.
SYNONYMS = {"account": "address"}
# Members about an answer rather than part of it, and those that are never the same.
_ABOUT = frozenset({"asOf", "notes", "uptime", "verdict", "tipAgeSeconds", "clockDriftSeconds"})
_STILL = "The sample chain stands still: nothing will change."
_BACK = "The node answers again."


class Thing(Struct, frozen=True):
    """Something to watch."""

    kind: str
    which: str = ""

    @property
    def uri(self) -> str:
        template = KINDS[self.kind]
        return template[: template.index("{")] + quote(self.which, safe="") if self.which else template


class _Answer(Struct, frozen=True):
    """What a resource says now; no state: there is no such thing."""

    state: dict[str, Any] | None
    about: dict[str, Any] = {}
    reason: str = ""


class _Away(Exception):
    """The node does not answer; the text says why."""


class Watcher:
    """Knows what each thing was like, and shows how it changes."""

    def __init__(self, client: Client, things: Sequence[Thing], lines: Lines) -> None:
        self._client = client
        self._things = {thing.uri: thing for thing in things}
        self._lines = lines
        self._known: dict[str, _Answer] = {}
        # Things that were announced to have changed and could not be read yet.
        self._due: dict[str, None] = {}
        self._is_away = False

    @property
    def uris(self) -> list[str]:
        return list(dict.fromkeys((NODE, *self._things)))

    async def begin(self, accepted: Sequence[str]) -> bool:
        """Show how everything is now; whether it may change. Raises: WrongUsage, Undetermined."""
        try:
            status = await self._read(NODE)
            for uri, thing in self._things.items():
                answer = status if uri == NODE else await self._read(uri)
                if uri not in accepted:
                    raise failures.WrongUsage(f"Cannot watch the {thing.kind}: {visible(answer.reason)}")
                self._show(uri, answer)
        except _Away as exc:
            raise failures.Undetermined(visible(str(exc))) from None
        is_still = SAMPLE_NOTICE in status.about.get("notes", ())
        if is_still:
            self._lines.write(Event(event="still", reason=_STILL), _STILL)
        return not is_still

    async def heard(self, uri: str) -> bool:
        """Read what was announced to have changed; whether something did."""
        self._due[uri] = None
        changed = False
        for due in list(self._due):
            try:
                answer = await self._read(due)
            except _Away as exc:
                self._away(str(exc))
                continue
            del self._due[due]
            self._back(answer)
            changed = (due in self._things and self._show(due, answer)) or changed
        return changed

    def _away(self, reason: str) -> None:
        if not self._is_away:
            self._is_away = True
            now = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
            self._lines.write(Event(event="unreachable", time=now, reason=reason), one_line(reason))

    def _back(self, answer: _Answer) -> None:
        if self._is_away:
            self._is_away = False
            time, height, node = _as_of(answer)
            event = Event(event="reachable", time=time, height=height, node=node, reason=_BACK)
            self._lines.write(event, _BACK)

    def _show(self, uri: str, answer: _Answer) -> bool:
        """Whether it is different from what was known."""
        before = self._known.get(uri)
        if before is not None and before.state == answer.state:
            return False
        self._known[uri] = answer
        thing, old = self._things[uri], None if before is None else before.state
        time, height, node = _as_of(answer)
        subject = f"{thing.kind} {thing.which}".strip()
        if answer.state is None:
            event = Event(event="absent", uri=uri, reason=answer.reason)
            self._lines.write(event, one_line(answer.reason), subject)
        elif old is None:
            event = Event(event="state", uri=uri, time=time, height=height, node=node, state=answer.state)
            self._lines.write_state(event, subject)
        else:
            found = list(differences(old, answer.state))
            event = Event(event="change", uri=uri, time=time, height=height, node=node, changes=found)
            self._lines.write(event, change(old, answer.state), subject if len(self._things) > 1 else "")
        return True

    async def _read(self, uri: str) -> _Answer:
        """Raises: _Away."""
        try:
            result = await self._client.read_resource(uri)
        except ServerError as exc:
            if exc.code == INTERNAL_ERROR:
                raise _Away(exc.message) from None
            return _Answer(None, {}, exc.message)
        (contents,) = result.contents
        said: dict[str, Any] = decode(contents.text or "{}")
        about = {name: said[name] for name in _ABOUT & said.keys()}
        return _Answer({name: value for name, value in said.items() if name not in _ABOUT}, about)


def _as_of(answer: _Answer) -> tuple[str | None, int | None, str]:
    as_of = answer.about.get("asOf", {})
    return as_of.get("time"), as_of.get("height"), as_of.get("node", "")


async def watch(options: NodeOptions, things: Sequence[Thing], lines: Lines, *, once: bool) -> int:
    """Watch until interrupted, or until the first change. Raises: WrongUsage, Undetermined."""
    async with opened(options) as own, connect(own.server, era="modern") as client:
        watcher = Watcher(client, things, lines)
        async with client.listen(ListenFilter(resourceSubscriptions=watcher.uris)) as notices:
            if not await watcher.begin(notices.accepted.resourceSubscriptions or ()):
                return failures.UNDETERMINED if once else failures.GOOD
            try:
                async for notice in notices:
                    uri = decode(notice.params or b"{}").get("uri", "")
                    if await watcher.heard(uri) and once:
                        return failures.GOOD
            except ClientError as exc:
                raise failures.Undetermined(visible(str(exc))) from None
    raise failures.Undetermined("The subscription ended.")
