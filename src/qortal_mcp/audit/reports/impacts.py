"""Who breaks on a finding, in words: the same in every form of a report."""

from collections.abc import Iterable

from ..judging.clients import Impact, Outcome

# In words that can follow the names of one or several clients.
_WORDS: dict[Outcome, str] = {
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
        for outcome, words in _WORDS.items()
        if (mine := [impact for impact in found if impact.outcome == outcome])
    ]


def sentence(impacts: Iterable[Impact]) -> str:
    """All of it in one line."""
    parts = [f"{', '.join(one.client for one in mine)}: {words}" for words, mine in by_outcome(impacts)]
    return "; ".join(parts)
