"""What a check is: a record with a pure function that judges facts, and what it can say."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

# A warning is something to improve; a problem keeps something from working.
State = Literal["good", "warning", "problem", "unknown"]

Facts = TypeVar("Facts")


class Finding(Struct, frozen=True):
    """One thing that a check has to say. Every state but good comes with a next step."""

    state: State
    says: str
    advice: str = ""
    # What it is about, one by one, if that is more than a sentence can hold.
    details: tuple[str, ...] = ()


class Check(Struct, Generic[Facts], frozen=True):
    """`judge` yields nothing if there is nothing to say, and never raises."""

    # Stable: scripts refer to it.
    code: str
    title: str
    # In words, for documents.
    asks: str
    # The facts that it judges.
    about: type[Facts]
    judge: Callable[[Facts], Iterable[Finding]]


Judge = Callable[[Facts], Iterable[Finding]]


def check(code: str, title: str, about: type[Facts], asks: str) -> Callable[[Judge[Facts]], Check[Facts]]:
    """Makes a record of a function; it is run if it stands in `checks.CHECKS`."""
    return lambda judge: Check(code, title, asks, about, judge)


AnyCheck = Check[Any]


def good(says: str) -> Finding:
    return Finding("good", says)


def warning(says: str, advice: str, details: Iterable[str] = ()) -> Finding:
    return Finding("warning", says, advice, tuple(details))


def problem(says: str, advice: str) -> Finding:
    return Finding("problem", says, advice)


def unknown(says: str, advice: str) -> Finding:
    return Finding("unknown", says, advice)


# Of what cannot be judged because of a problem that another check reports.
NOT_CHECKED = unknown("not checked", "First solve the problem above.")
