"""Which repairs are switched on, and their application to one message."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ..protocol.decoding import has_more_values
from ..protocol.jsonrpc import UNREADABLE, RequestId
from . import values
from .envelope import ENVELOPE
from .envelope import reading as envelope
from .envelope.message import Message
from .framing import FRAMING, LooseLines
from .handshake import HANDSHAKE
from .notices import NOTICES
from .others import OTHERS
from .passing import PASSING
from .repair import ABSENT, ALL, SAFE, Change, Repair
from .results import RESULTS
from .results.reading import MOST_VALUES
from .subjects import (
    Asked,
    CallResult,
    Handshake,
    KnownTool,
    ListPage,
    Notice,
    OtherEntry,
    OtherResult,
    Subject,
    ToolEntry,
)
from .tools import TOOLS
from .wires import WIRES

# In the order in which they are applied: each relies on what those before it have put right.
REPAIRS: tuple[Repair[Any], ...] = (
    *WIRES,
    *PASSING,
    *FRAMING,
    *ENVELOPE,
    *HANDSHAKE,
    *NOTICES,
    *TOOLS,
    *RESULTS,
    *OTHERS,
)
CODES = frozenset(one.code for one in REPAIRS)

# What the client finds in `_meta`: the codes of what was repaired, and what was taken out, by its place.
REPAIRED = "qortal-mcp/repairs"
DROPPED = "qortal-mcp/dropped"
# Lists, objects and what they hold in one page of a list: the largest catalogues have some 1,000 tools with about 100 of them.
_MOST_LISTED = 500_000

Changes = tuple[Change, ...]


class Outcome(Struct, frozen=True, kw_only=True):
    """A reply after its repairs: `result` or `error` as JSON, the other one None. Without changes it is as it came."""

    result: Raw | None = None
    error: Raw | None = None
    changes: tuple[Change, ...] = ()
    # A result contradicts its tool's schema: the schema must go from the list.
    drops_schema: bool = False


class Said(Struct, frozen=True, kw_only=True):
    """A notification or request of the server after its repairs."""

    method: str
    params: Raw | None
    changes: tuple[Change, ...] = ()


class Page(Struct, frozen=True, kw_only=True):
    """A page of a list after its repairs, as a tree."""

    value: Any
    changes: tuple[Change, ...] = ()
    # Name in front -> name that the server knows, for tools that were renamed.
    names: Mapping[str, str] = {}
    # Tools, by their name in front, whose results are put under "result".
    wrapped: frozenset[str] = frozenset()


class Repairs:
    """A level, without the codes that were switched off. Holds no state."""

    def __init__(self, level: str = SAFE, without: Iterable[str] = (), *, for_reading: bool = False) -> None:
        """With `for_reading`, changes can be looked at later: see `Change`.

        Raises: ValueError for a code that no repair has.
        """
        if unknown := sorted(set(without) - CODES):
            raise ValueError(f"there is no repair {unknown[0]}")
        wanted: dict[str, tuple[str, ...]] = {"all": (SAFE, ALL), "safe": (SAFE,), "none": ()}
        self.level = level
        self._without = frozenset(without)
        self._for_reading = for_reading
        self.on = tuple(
            one for one in REPAIRS if one.level in wanted[level] and one.code not in self._without
        )
        self.codes = frozenset(one.code for one in self.on)
        self._about: dict[type, list[Repair[Any]]] = {}
        for one in self.on:
            self._about.setdefault(one.about, []).append(one)

    def for_reading(self) -> "Repairs":
        """The same repairs, whose changes hold what stood there at that time."""
        return Repairs(self.level, self._without, for_reading=True)

    def lines(self, limit: int) -> LooseLines:
        """Finds the messages in the standard output of a program."""
        return LooseLines(limit, self.codes)

    def messages(
        self,
        data: bytes,
        waiting: Mapping[RequestId, str],
        via: RequestId | None = None,
        latest: int = 0,
        lasting: bool = True,
        given_up: Container[RequestId] = (),
    ) -> list[Message]:
        """The messages in the bytes of one line, frame, body or event.

        `waiting` are the methods of the requests in flight, by id; `latest` is the highest id sent so far. `via` is the
        request in whose own HTTP reply the bytes came; `lasting` says that all messages share one connection.
        Answers to what was `given_up` come too late, and are not a mistake.
        """
        return envelope.messages(self.codes, data, waiting, via, latest, lasting, given_up)

    def handshake(
        self,
        result: Raw | None,
        error: Raw | None,
        asked: Asked,
        target: str,
        changed: Changes = (),
        serves: Mapping[str, bool] | None = None,
    ) -> Outcome:
        """What `initialize` was answered with. `changed` is what was wrong with its envelope; `serves` says which
        lists are answered, by capability.
        """
        try:
            subject = Handshake(
                value=_tree(result), error=_tree(error), asked=asked, target=target, serves=serves or {}
            )
            return self._outcome(subject, result, error, changed)
        except UNREADABLE:
            return Outcome(result=result, error=error, changes=changed)

    def call(
        self,
        result: Raw | None,
        error: Raw | None,
        asked: Asked,
        tool: KnownTool | None = None,
        changed: Changes = (),
    ) -> Outcome:
        """What `tools/call` was answered with. What cannot be read, or is too much, is passed on as it is."""
        try:
            subject = CallResult(value=_tree(result), error=_tree(error), asked=asked, tool=tool)
            return self._outcome(subject, result, error, changed)
        except UNREADABLE:
            # Perhaps too deep only now: a repair puts a value one level below where it was.
            return Outcome(result=result, error=error, changes=changed)

    def other(self, result: Raw | None, error: Raw | None, asked: Asked, changed: Changes = ()) -> Outcome:
        """What any method was answered with that is not a list, a call or the handshake."""
        try:
            subject = OtherResult(value=_tree(result), error=_tree(error), asked=asked)
            return self._outcome(subject, result, error, changed)
        except UNREADABLE:
            return Outcome(result=result, error=error, changes=changed)

    def said(self, method: str, params: Raw | None, asked: Asked) -> Said:
        """A notification or request of the server."""
        try:
            notice = Notice(method=method, params=_tree(params), asked=asked)
        except UNREADABLE:
            return Said(method=method, params=params)
        changes = tuple(self._applied(notice))
        if not changes:
            return Said(method=method, params=params)
        kept = None if notice.params is ABSENT else Raw(values.write(notice.params))
        return Said(method=notice.method, params=kept, changes=changes)

    def page(
        self, result: Raw, member: str, asked: Asked, taken: set[str] | None = None, changed: Changes = ()
    ) -> Page:
        """One page of a list. `taken` are the names of tools on earlier pages; those of this page are added.

        Raises: one of UNREADABLE if it is nested too deeply.
        """
        page = ListPage(value=_tree(result, _MOST_LISTED), member=member, asked=asked)
        changes = [*changed, *self._applied(page)]
        items = page.value.get(member) if isinstance(page.value, dict) else None
        if not isinstance(items, list):
            return Page(value=page.value, changes=tuple(changes))
        good: list[Any] = []
        names: dict[str, str] = {}
        wrapped: set[str] = set()
        taken = set() if taken is None else taken
        for number, item in enumerate(items):
            entry: ToolEntry | OtherEntry
            before = item.get("name") if isinstance(item, dict) else None
            if member == "tools":
                entry = ToolEntry(value=item, asked=asked, taken=taken)
            else:
                entry = OtherEntry(value=item, asked=asked, member=member)
            place = f"{member}[{number}]"
            changes += [
                replace(change, path=f"{place}.{change.path}" if change.path else place)
                for change in self._applied(entry)
            ]
            if entry.is_lost:
                continue
            good.append(entry.value)
            name = entry.value.get("name") if isinstance(entry.value, dict) else None
            if isinstance(entry, ToolEntry) and isinstance(name, str):
                taken.add(name)
                if isinstance(before, str) and name != before:
                    names[name] = before
                if entry.is_wrapped:
                    wrapped.add(name)
        value = {**page.value, member: good}
        return Page(
            value=_marked(value, changes), changes=tuple(changes), names=names, wrapped=frozenset(wrapped)
        )

    def _applied(self, subject: Subject) -> Iterator[Change]:
        for one in self._about.get(type(subject), ()):
            if one.apply is not None:
                for change in one.apply(subject):
                    yield self._noted(change, one.code)

    def _noted(self, change: Change, code: str) -> Change:
        """Later repairs go on changing the same tree: what somebody will look at is copied now."""
        if self._for_reading:
            before, after = values.copied(change.before), values.copied(change.after)
            return replace(change, code=code, before=before, after=after)
        if change.kept:
            return replace(change, code=code, before=values.copied(change.before))
        return replace(change, code=code)

    def _outcome(
        self,
        subject: CallResult | Handshake | OtherResult,
        result: Raw | None,
        error: Raw | None,
        changed: Changes,
    ) -> Outcome:
        changes = (*changed, *self._applied(subject))
        drops_schema = isinstance(subject, CallResult) and subject.drops_schema
        if not changes:
            return Outcome(result=result, error=error)
        if subject.error is not ABSENT:
            return Outcome(error=Raw(values.write(subject.error)), changes=changes)
        body = values.write(_marked(subject.value, changes))
        return Outcome(result=Raw(body), changes=changes, drops_schema=drops_schema)


def _tree(raw: Raw | None, most: int = MOST_VALUES) -> Any:
    """Raises: one of UNREADABLE, also for what would take too long to read."""
    if raw is None:
        return ABSENT
    if has_more_values(raw, most):
        raise msgspec.DecodeError(f"more than {most} values")
    return values.read(raw)


def _marked(value: Any, changes: Sequence[Change]) -> Any:
    """A result that says in its `_meta` what was repaired, and keeps what was taken out."""
    if not changes or not isinstance(value, dict):
        return value
    meta = value.get("_meta")
    marks: dict[str, Any] = {REPAIRED: list(dict.fromkeys(change.code for change in changes))}
    dropped: dict[str, Any] = {}
    for change in changes:
        if change.kept:
            dropped.setdefault(change.path, change.before)  # as the server sent it: the first one
    if dropped:
        marks[DROPPED] = dropped
    return {**value, "_meta": {**(meta if isinstance(meta, dict) else {}), **marks}}
