"""Who breaks on a finding, in words: the same in every form of a report."""

from collections.abc import Iterable, Sequence

from ..judging.clients import Impact, Outcome
from ..judging.finding import Finding

# In words that can follow the names of one or several clients.
OUTCOME_WORDS: dict[Outcome, str] = {
    "server unusable": "none of the server's tools are offered",
    "tool missing": "the tool is not offered",
    "hangs": "the call hangs until it times out",
    "call fails": "the call fails",
    "garbage": "the model gets nothing, or something wrong",
}


def by_outcome(impacts: Iterable[Impact]) -> list[tuple[str, list[Impact]]]:
    """Clients that break in the same way together, the worst first."""
    found = list(impacts)
    return [
        (words, mine)
        for outcome, words in OUTCOME_WORDS.items()
        if (mine := [impact for impact in found if impact.outcome == outcome])
    ]


def by_place(findings: Sequence[Finding]) -> list[tuple[str, tuple[Impact, ...]]]:
    """Who breaks where: places on which the same clients break together. The place is empty where it is all of them."""
    alike: dict[tuple[Impact, ...], list[str]] = {}
    for one in findings:
        alike.setdefault(one.clients, []).append(one.place)
    if len(alike) == 1:
        return [("", next(iter(alike)))]
    return [(_places(places), impacts) for impacts, places in alike.items()]


def _places(places: list[str]) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"at {places[0]}{more}"


def sentence(impacts: Iterable[Impact]) -> str:
    """All of it in one line."""
    parts = [f"{', '.join(one.client for one in mine)}: {words}" for words, mine in by_outcome(impacts)]
    return "; ".join(parts)
