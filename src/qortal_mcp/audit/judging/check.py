"""A check: one record that says what is expected, and one function that sees where it is not so."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from ...protocol.versions import LEGACY, MODERN
from ..evidence import Step, Visit
from ..subjects import Subject

Severity = Literal["MUST", "SHOULD", "portability", "advice"]
MUST: Severity = "MUST"
SHOULD: Severity = "SHOULD"
PORTABILITY: Severity = "portability"
ADVICE: Severity = "advice"
# From worst to least.
SEVERITIES: tuple[Severity, ...] = (MUST, SHOULD, PORTABILITY, ADVICE)

S = TypeVar("S", bound=Subject)


class Defect(Struct, frozen=True, kw_only=True):
    """One place where it is not so."""

    # Inside the subject: "result.content[0]". Empty where the subject itself is meant.
    path: str = ""
    # What stands there: a value, or bytes of the wire.
    evidence: Any = b""
    # What is wrong there, where the check's own words are too general.
    note: str = ""
    # Only where it is more or less severe than usual.
    severity: Severity | None = None
    # The measured case that is closest, where the code has several.
    case: str = ""
    # Where it was seen, for checks that look at several visits at once.
    at: tuple[Visit, Step] | None = None


def count_note(found: Sequence[object]) -> str:
    """The note of a defect that stands for several."""
    return f"{len(found)} in total" if len(found) > 1 else ""


class Check(Struct, Generic[S], frozen=True, kw_only=True):
    """What is looked at, what is expected of it by whom, and how to fix it."""

    # Stable: reports, baselines and bridges refer to it.
    code: str
    severity: Severity
    about: type[S]
    judge: Callable[[S], Iterable[Defect]]
    # The title, one line.
    title: str
    expected: str
    # Where the specification says so; empty where only experience says so.
    clause: str
    fix: str
    # Why its severity is not the word of the specification; empty where it is.
    departs: str = ""
    # Restrictions: the subject's `only`, and the revisions it holds in.
    only: frozenset[str] = frozenset()
    revisions: frozenset[str] = frozenset()

    def applies_to(self, subject: Subject) -> bool:
        return (
            isinstance(subject, self.about)
            and (not self.only or subject.only in self.only)
            and (not self.revisions or subject.revision in self.revisions)
        )


ANY = (*LEGACY, *MODERN)


def since(revision: str) -> frozenset[str]:
    """That revision and every later one."""
    return frozenset(known for known in ANY if known >= revision)


IN_LEGACY = frozenset(LEGACY)
IN_MODERN = frozenset(MODERN)


def check(
    code: str,
    severity: Severity,
    about: type[S],
    *,
    expected: str,
    fix: str,
    clause: str = "",
    departs: str = "",
    only: str | Iterable[str] = (),
    revisions: Iterable[str] = (),
) -> Callable[[Callable[[S], Iterable[Defect]]], Check[S]]:
    """Makes a check of a function. Its docstring is the title."""

    def make(judge: Callable[[S], Iterable[Defect]]) -> Check[S]:
        assert judge.__doc__, f"{code} has no title"
        return Check(
            code=code,
            severity=severity,
            about=about,
            judge=judge,
            title=" ".join(judge.__doc__.split()).rstrip("."),
            expected=expected,
            clause=clause,
            fix=fix,
            departs=departs,
            only=frozenset([only] if isinstance(only, str) else only),
            revisions=frozenset(revisions),
        )

    return make
