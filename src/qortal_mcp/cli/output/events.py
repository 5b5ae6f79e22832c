"""What `watch` shows: how things are at first, then one line per event; as JSON, a line each."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ...text import printable_json
from . import terminal, view
from .differences import Difference
from .values import shown


class Event(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line of `watch --json`."""

    # state: as it is now, at first and when it appears; absent: not there; change; unreachable and reachable: the node;
    # still: nothing will change.
    event: Literal["state", "absent", "change", "unreachable", "reachable", "still"]
    # The resource, unless it is about the node.
    uri: str | UnsetType = UNSET
    # Of the newest block, or the time of day where there is none.
    time: str | UnsetType | None = UNSET
    height: int | UnsetType | None = UNSET
    node: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    state: dict[str, Any] | UnsetType = UNSET
    changes: list[Difference] | UnsetType = UNSET


_INDENT = "  "
_encode = msgspec.json.Encoder().encode


class Lines:
    """Writes events to standard output as they come."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def write(self, event: Event, words: str, subject: str = "") -> None:
        """`words` say the same to people, and `subject` what it is about."""
        if self._as_json:
            terminal.write(printable_json(_encode(event).decode()))
            return
        when, name = _when(event), f"{terminal.one_line(subject)}: " if subject else ""
        palette = view.palette()
        head = f"{palette.quiet(when)}{palette.name(name)}"
        width = terminal.width()
        if not terminal.is_terminal() or terminal.columns(f"{when}{name}{words}") <= width:
            terminal.write(f"{head}{words}")
            return
        folded = terminal.wrapped(words, width - len(_INDENT))
        terminal.write("\n".join([head.rstrip(), *(_INDENT + line for line in folded)]))

    def write_state(self, event: Event, subject: str) -> None:
        """How something is now, as `call` shows an answer."""
        assert isinstance(event.state, dict), "it is there"
        if self._as_json:
            self.write(event, "")
            return
        palette, paper = view.palette(), view.paper()
        heading = f"{palette.quiet(_when(event))}{palette.heading(terminal.one_line(subject))}"
        narrow = paper._replace(width=paper.width - len(_INDENT))
        state = view.answer(event.state, narrow, palette).splitlines()
        terminal.write("\n".join([heading, *(_INDENT + line for line in state)]))


def _when(event: Event) -> str:
    time = f"{shown('time', event.time)}  " if event.time else ""
    return f"{time}block {event.height}  " if isinstance(event.height, int) else time
