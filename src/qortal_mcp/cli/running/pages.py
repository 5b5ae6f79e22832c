"""Every page of an answer, gathered into one: `page.next` is followed to the end.

What differs from page to page besides the list cannot be joined, a sum of each page for example. It is left out,
and a note says so.
"""

import shlex
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from msgspec import Raw

from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...text import visible
from ..output import terminal
from ..output.progress import Progress
from ..output.tabular.rows import main_list
from . import failures

# Some 100,000 rows of ours, which take minutes to read from a node and 64 MB at the most.
_MOST_PAGES = 1000
_MOST_BYTES = 256 * 1024 * 1024
_ABOUT = frozenset({"page", "asOf", "notes"})

Ask = Callable[[Any], Awaitable[Raw]]


class Gathered(NamedTuple):
    """A result of `tools/call`, and why it is not all, if it is not."""

    result: Raw
    stopped: str = ""


async def gathered(ask: Ask, arguments: Any) -> Gathered:
    """All pages as one result; the failure of any page is the result instead. Raises: what `ask` raises."""
    raw = await ask(arguments)
    first = _answer(raw)
    name = main_list(first) if first is not None else None
    if first is None or name is None or name not in first:
        return Gathered(raw)
    all_ = _All(first, name)
    asked = {values.write(arguments)}
    size = len(raw)
    progress = Progress()
    try:
        while (following := _next(all_.last)) is not None:
            if len(asked) >= _MOST_PAGES or size >= _MOST_BYTES:
                return all_.result(f"Stopped after {len(asked):,} pages")
            if (key := values.write(following)) in asked:
                return all_.result("Stopped: the server repeats a page")
            asked.add(key)
            progress.say(f"{len(all_.rows):,} rows of {len(asked) - 1:,} pages, reading the next …")
            raw = await ask(following)
            size += len(raw)
            page = _answer(raw)
            if page is None or not isinstance(page.get(name), list):
                progress.clear()
                terminal.note(
                    f"Page {len(asked):,} failed; the {len(all_.rows):,} rows before it are not shown."
                )
                return Gathered(raw)
            all_.add(page)
    finally:
        progress.clear()
    return all_.result()


def ending(found: Gathered) -> int:
    """The exit code of an answer that has been shown. Raises: Undetermined, if it is not all of it."""
    if found.stopped:
        raise failures.Undetermined(found.stopped)
    return failures.GOOD


class _All:
    """The pages so far."""

    def __init__(self, first: dict[str, Any], name: str) -> None:
        self._first = first
        self._name = name
        self._pages = 1
        self._differing: set[str] = set()
        self._notes: dict[str, None] = dict.fromkeys(_notes(first))
        self.rows: list[Any] = list(first[name])
        self.last = first

    def add(self, page: dict[str, Any]) -> None:
        self._pages += 1
        self.rows += page[self._name]
        self._notes |= dict.fromkeys(_notes(page))
        names = (self._first.keys() | page.keys()) - _ABOUT - {self._name}
        self._differing |= {name for name in names if self._first.get(name) != page.get(name)}
        self.last = page

    def result(self, stopped: str = "") -> Gathered:
        answer = {name: part for name, part in self._first.items() if name not in self._differing}
        answer[self._name] = self.rows
        following = _next(self.last) if stopped else None
        answer["page"] = {"returned": len(self.rows), **({"next": following} if following else {})}
        if notes := [*self._notes, *self._own_notes()]:
            answer["notes"] = notes
        if following:
            stopped += f". The next page: --args {shlex.quote(visible(values.text_of(following)))}"
        return Gathered(Raw(values.write({"content": [], "structuredContent": answer})), stopped)

    def _own_notes(self) -> list[str]:
        notes: list[str] = []
        if self._differing:
            left_out = ", ".join(name for name in {**self._first, **self.last} if name in self._differing)
            notes.append(f"Each of the {self._pages} pages has its own, so left out here: {left_out}.")
        if (begun := _height(self._first)) != (ended := _height(self.last)):
            notes.append(
                f"Read while the chain grew from block {begun} to {ended}: rows may be doubled or missing."
            )
        return notes


def _answer(raw: Raw) -> dict[str, Any] | None:
    """The structured answer of a result; None if it failed or has none."""
    try:
        result = values.read(raw)
    except UNREADABLE:
        return None
    if not isinstance(result, dict) or result.get("isError") is True:
        return None
    answer = result.get("structuredContent")
    return answer if isinstance(answer, dict) else None


def _next(answer: dict[str, Any]) -> dict[str, Any] | None:
    page = answer.get("page")
    following = page.get("next") if isinstance(page, dict) else None
    return following if isinstance(following, dict) and following else None


def _notes(answer: dict[str, Any]) -> list[str]:
    notes = answer.get("notes")
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []


def _height(answer: dict[str, Any]) -> Any:
    as_of = answer.get("asOf")
    return as_of.get("height") if isinstance(as_of, dict) else None
