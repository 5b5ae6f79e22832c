"""Looks up what an answer says in what the tools returned. What is in no result is not from a tool, right or wrong."""

import re
from collections.abc import Collection, Mapping, Sequence

from ..run import Claim, Grounding, TracedClaim
from .claims import MOST_CLAIMS, Found, find_claims
from .facts import MOST_COMPARED, Facts
from .lookups import Lookup, Words

# Calls that are named for one claim: somebody who follows it reads the first, and perhaps a second one.
_MOST_CALLS = 3
# Each claim is looked up in each of these results: a million times at most.
_MOST_SEARCHED = 500


def ground(
    answer: str,
    results: Sequence[str],
    question: str = "",
    tools: Collection[str] = (),
    calls: Mapping[int, int] | None = None,
) -> Grounding:
    """How many claims an answer makes, where the results have them, and those that no result has. To name one of the
    `tools` is not a claim. `calls` has the call of each result that belongs to one, by the place of the result.

    A number is in a result if one of its numbers is equal, or rounds or is cut to it at the precision that is written.
    """
    every = find_claims(answer)
    claims = [claim for claim in every[:MOST_CLAIMS] if answer[claim.start : claim.end] not in tools]
    found, missing = _parted(claims, Facts(results))
    in_question = set(_parted(missing, Facts([question]))[0]) if question else set()
    return Grounding(
        checked=len(claims),
        is_partial=len(every) > MOST_CLAIMS,
        from_calls=tuple(
            TracedClaim(
                text=answer[claim.start : claim.end],
                kind=claim.kind,
                start=claim.start,
                end=claim.end,
                calls=tuple(of),
            )
            for claim, of in zip(found, _calls_of(found, results, calls or {}), strict=True)
        ),
        not_from_a_tool=tuple(
            Claim(
                text=answer[claim.start : claim.end],
                kind=claim.kind,
                start=claim.start,
                end=claim.end,
                in_question=claim in in_question,
            )
            for claim in missing
        ),
    )


def _calls_of(claims: Sequence[Found], results: Sequence[str], calls: Mapping[int, int]) -> list[list[int]]:
    """For each claim the first calls whose result has it."""
    of: dict[Found, list[int]] = {claim: [] for claim in claims}
    searched = sorted(calls.items(), key=lambda item: item[1])[:_MOST_SEARCHED]
    for place, call in searched:
        wanted = [claim for claim, found in of.items() if len(found) < _MOST_CALLS]
        if not wanted:
            break
        facts = Facts([results[place]], most_compared=MOST_COMPARED // len(searched))
        for claim in _parted(wanted, facts)[0]:
            of[claim].append(call)
    return [of[claim] for claim in claims]


def _parted(claims: Sequence[Found], facts: Facts) -> tuple[list[Found], list[Found]]:
    """The claims of which a lookup finds something, and the others. Each lookup is made once, however often it is needed."""
    lookups = {lookup for claim in claims for lookup in claim.lookups}
    phrases = facts.phrases(
        [lookup for lookup in lookups if isinstance(lookup, Words) and len(lookup.words) > 1]
    )
    known: dict[Lookup, bool] = {}

    def has(lookup: Lookup) -> bool:
        if lookup not in known:
            known[lookup] = lookup in phrases or facts.has(lookup)
        return known[lookup]

    found: list[Found] = []
    missing: list[Found] = []
    for claim in claims:
        (found if any(map(has, claim.lookups)) else missing).append(claim)
    return found, missing


def occurs(fact: str, text: str) -> bool:
    """Whether a text says a fact: names, addresses and times by the same rules, numbers by their value without
    rounding, anything else as whole words in any case."""
    claims = find_claims(fact)
    if claims:
        return not _parted(claims, Facts([text], is_exact=True))[1]
    words = re.escape(" ".join(fact.split())).replace(r"\ ", r"\s+")
    return re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None
