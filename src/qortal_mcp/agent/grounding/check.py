"""Looks up what an answer says in what the tools returned. What is in no result is not from a tool, right or wrong."""

import re
from collections.abc import Collection, Sequence

from ..run import Claim, Grounding
from .claims import Found, find_claims
from .facts import Facts
from .lookups import Lookup, Words


def ground(answer: str, results: Sequence[str], question: str = "", tools: Collection[str] = ()) -> Grounding:
    """How many claims an answer makes, and those that no result has. To name one of the `tools` is not a claim.

    A number is in a result if one of its numbers is equal, or rounds or is cut to it at the precision that is written.
    """
    claims = [claim for claim in find_claims(answer) if answer[claim.start : claim.end] not in tools]
    missing = _missing(claims, Facts(results))
    also_missing = set(_missing(missing, Facts([question]))) if question else set(missing)
    return Grounding(
        checked=len(claims),
        not_from_a_tool=tuple(
            Claim(
                text=answer[claim.start : claim.end],
                kind=claim.kind,
                start=claim.start,
                end=claim.end,
                in_question=claim not in also_missing,
            )
            for claim in missing
        ),
    )


def _missing(claims: Sequence[Found], facts: Facts) -> list[Found]:
    """The claims of which no lookup finds anything. Each lookup is made once, however often it is needed."""
    lookups = {lookup for claim in claims for lookup in claim.lookups}
    phrases = facts.phrases(
        [lookup for lookup in lookups if isinstance(lookup, Words) and len(lookup.words) > 1]
    )
    known: dict[Lookup, bool] = {}

    def has(lookup: Lookup) -> bool:
        if lookup not in known:
            known[lookup] = lookup in phrases or facts.has(lookup)
        return known[lookup]

    return [claim for claim in claims if not any(map(has, claim.lookups))]


def occurs(fact: str, text: str) -> bool:
    """Whether a text says a fact: names, addresses and times by the same rules, numbers by their value without
    rounding, anything else as whole words in any case."""
    claims = find_claims(fact)
    if claims:
        return not _missing(claims, Facts([text], is_exact=True))
    words = re.escape(" ".join(fact.split())).replace(r"\ ", r"\s+")
    return re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None
