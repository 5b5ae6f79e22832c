"""A run in a file: one event per line, so that it can be shown again without a model or a node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

from ..protocol.decoding import decoder_of_any
from ..protocol.jsonrpc import UNREADABLE
from .events import Asked, Ended, Event, Text

# What is kept of one conversation, oldest runs dropped first: hundreds of questions.
_MOST_BYTES = 16 * 1024 * 1024


class Title(Struct, frozen=True, kw_only=True, tag="title"):
    """The first line: what the file is."""

    format: Literal["qortal-mcp/run"] = "qortal-mcp/run"
    version: Literal[1] = 1


_read = decoder_of_any(Title | Event)


class NotARun(ValueError):
    """A file that is not a saved run, and where it stops being one."""


def write(events: Iterable[Event]) -> bytes:
    """The whole file."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in (Title(), *events))


def is_run(first_line: bytes) -> bool:
    try:
        return isinstance(_read(first_line), Title)
    except UNREADABLE:
        return False


def read(data: bytes) -> list[Event]:
    """Raises: NotARun."""
    first, *lines = data.splitlines() or [b""]
    if not is_run(first):
        raise NotARun("its first line does not say that it is a saved run")
    events: list[Event] = []
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        try:
            event = _read(line)
        except UNREADABLE as exc:
            raise NotARun(f"line {number} cannot be read: {exc}") from None
        if isinstance(event, Title):
            raise NotARun(f"line {number} begins a second run")
        events.append(event)
    if not any(isinstance(event, Ended) for event in events):
        raise NotARun("it holds no run that ended")
    return events


class Recorder:
    """Remembers the newest runs of a conversation. A question that was interrupted is forgotten."""

    def __init__(self) -> None:
        self._runs: deque[tuple[Event, ...]] = deque()
        self._sizes: deque[int] = deque()
        self._now: list[Event] = []
        self._pieces: list[str] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Text):
            self._pieces.append(event.text)
            return
        if self._pieces:
            self._now.append(Text(text="".join(self._pieces)))
            self._pieces = []
        if isinstance(event, Asked):
            self._now = []
        self._now.append(event)
        if isinstance(event, Ended):
            self._keep(tuple(self._now))
            self._now = []

    def _keep(self, run: tuple[Event, ...]) -> None:
        self._runs.append(run)
        self._sizes.append(sum(len(msgspec.json.encode(event)) for event in run))
        while len(self._runs) > 1 and sum(self._sizes) > _MOST_BYTES:
            self._runs.popleft()
            self._sizes.popleft()

    @property
    def events(self) -> list[Event]:
        return [event for run in self._runs for event in run]

    def clear(self) -> None:
        self._runs.clear()
        self._sizes.clear()
