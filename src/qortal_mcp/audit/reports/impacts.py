"""Who breaks on a finding, in words: the same in every form of a report."""

from collections.abc import Iterable

from ..clients import Impact, Outcome

# In words that go on from the name of a client.
_WORDS: dict[Outcome, str] = {
    "server unusable": "offers no tool of this server",
    "tool missing": "does not offer the tool",
    "hangs": "waits until its time is over",
    "call fails": "fails the call",
    "garbage": "gives its model nothing, or something wrong",
}


def by_outcome(impacts: Iterable[Impact]) -> list[tuple[str, list[Impact]]]:
    """Clients that break in the same way together, the worst first."""
    found = list(impacts)
    return [
        (words, mine)
        for outcome, words in _WORDS.items()
        if (mine := [impact for impact in found if impact.outcome == outcome])
    ]


def sentence(impacts: Iterable[Impact]) -> str:
    """All of it in one line."""
    parts = [f"{', '.join(one.client for one in mine)}: {words}" for words, mine in by_outcome(impacts)]
    return "; ".join(parts)
