"""A repair: one record that says what it makes of a mistake, and one function that does it."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

Level = Literal["safe", "all"]
# Breaks what the specification demands. Nothing is lost, nothing is made up.
SAFE: Level = "safe"
# Allowed, but some client drops it; or the repair loses or makes up something.
ALL: Level = "all"
LEVELS: tuple[str, ...] = ("all", "safe", "none")

S = TypeVar("S")


class _Absent:
    """In place of a value: there is none."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()


class Change(Struct, frozen=True, kw_only=True):
    """One place that a repair put right. Values are JSON trees as `values.read` gives them.

    What stood there is kept for the client in `_meta` if it is gone now, or if `keep` says so. Other values are parts of
    the tree that later repairs change, unless the repairs are `for_reading`.
    """

    path: str = ""
    before: Any = ABSENT
    after: Any = ABSENT
    keep: bool = False
    # Set by who applies the repair.
    code: str = ""

    @property
    def kept(self) -> bool:
        """Whether the client should still be able to see what stood there."""
        return self.before is not ABSENT and self.before is not None and (self.keep or self.after is ABSENT)


class Repair(Struct, Generic[S], frozen=True, kw_only=True):
    """What it recognises, what it makes of it, and at which level."""

    # The audit's code for the same mistake, wherever the audit has one.
    code: str
    level: Level
    about: type[S]
    # Changes the subject in place and yields each change. None: it is done where the bytes are read (`envelope/`,
    # `framing`, `client/wires/`).
    apply: Callable[[S], Iterator[Change]] | None
    # What it recognises, one line.
    title: str
    # What it makes of it, one line.
    makes: str


def repair(
    code: str, level: Level, about: type[S], *, makes: str
) -> Callable[[Callable[[S], Iterator[Change]]], Repair[S]]:
    """Makes a repair of a function. Its docstring is the title."""

    def make(apply: Callable[[S], Iterator[Change]]) -> Repair[S]:
        assert apply.__doc__, f"{code} has no title"
        title = " ".join(apply.__doc__.split()).rstrip(".")
        return Repair(code=code, level=level, about=about, apply=apply, title=title, makes=makes)

    return make
