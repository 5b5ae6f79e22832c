"""Finds what can be looked up in an answer: links, times, addresses, signatures, names and numbers, in that order.

What one kind has taken is blanked out for those after it, so that nothing is looked up twice and offsets stay true.
Every pattern has one way to match at most, so that a scan takes linear time whatever the answer is.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

from .lookups import Ends, Exact, Lookup, Numbers, Words
from .marks import without_marks
from .names import Span, find_spans, is_mixed_name
from .numbers import readings, value
from .quantities import find_quantities
from .times import find_times
from .words import DOTTED, HEX, MOST_PARTED, URL, WORD, bare_hex, trimmed_url, words_of

# An answer has some dozen, a long table some hundred. More are not looked up: each costs time, and a place in the run.
MOST_CLAIMS = 2_000
# Forms such as QgV4…9v that are looked up: each costs a search of its own.
MOST_SHORTENED = 200

_SHORTENED = re.compile(
    r"(?<![0-9A-Za-z])(?:(?P<head>[0-9A-Za-z]{3,90})(?:…|\.{2,6}|\*{3,6})(?P<tail>[0-9A-Za-z]{2,90})"
    r"|(?P<only>[0-9A-Za-z]{4,90})(?:…|\.{3}))(?![0-9A-Za-z])"
)
_LONG = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]{26,}(?![0-9A-Za-z])")
_DIGIT = re.compile(r"\d")
# A hidden character as it is shown. The last one may have been cut with the answer.
_ESCAPE = re.compile(r"\\u\{[0-9A-F]{1,6}(?:\}|\Z)")
_BLANK = "\x00"


class Found(NamedTuple):
    """A claim, and the ways to look it up."""

    kind: Literal["number", "address", "signature", "name", "time"]
    start: int
    end: int
    lookups: tuple[Lookup, ...]


def find_claims(answer: str) -> list[Found]:
    """The claims of an answer, in its order; one more than MOST_CLAIMS if there are more."""
    most = MOST_CLAIMS + 1
    text = answer.replace("\r", "\n")
    found: list[Found] = list(islice(_links(text), most))
    text = _ESCAPE.sub(lambda escape: _BLANK * len(escape[0]), _blanked(text, found))
    # Each kind is found in the order of the answer, so that the first ones of all are among the first of each.
    for find in (_times, _shortened, _long_runs):
        claims = list(islice(find(text), most))
        found += claims
        text = _blanked(text, claims)
    text = without_marks(text)
    spans = list(find_spans(text))
    names = [
        Found("name", span.start, span.end, (Words(words_of(text[span.start : span.end])),))
        for span in spans
        if span.is_name
    ]
    found += names
    text = _blanked(text, names)
    words = list(islice(_words(text), most))
    found += words
    text = _blanked(text, words)
    found += (_number(start, end, lookups, spans_at)
              for spans_at in [_by_position(text, spans)]
              for start, end, lookups in islice(find_quantities(text), most))  # fmt: skip
    return sorted(found, key=lambda claim: claim.start)[:most]


def _blanked(text: str, claims: list[Found]) -> str:
    pieces: list[str] = []
    at = 0
    for claim in sorted(claims, key=lambda claim: claim.start):
        if claim.end > at:
            start = max(at, claim.start)
            pieces += (text[at:start], _BLANK * (claim.end - start))
            at = claim.end
    return "".join((*pieces, text[at:]))


def _links(text: str) -> Iterator[Found]:
    for match in URL.finditer(text):
        url = trimmed_url(match[0])
        yield Found("name", match.start(), match.start() + len(url), (Exact(url),))


def _times(text: str) -> Iterator[Found]:
    for start, end, moments in find_times(text):
        lookups: tuple[Lookup, ...] = moments
        parts = [int(part) for part in re.findall(r"\d+", text[start:end])]
        if re.fullmatch(r"\d{1,2}:\d\d:\d\d", text[start:end]):
            # Hours, minutes and seconds may as well be how long something took.
            seconds = parts[0] * 3600 + parts[1] * 60 + parts[2]
            lookups += _milliseconds(seconds)
        yield Found("time", start, end, lookups)


def _milliseconds(seconds: int) -> tuple[Lookup, ...]:
    (whole,) = readings(str(seconds))[0]
    exact, thousand = value(whole), value(whole, power=3)
    return tuple(Numbers((written,)) for written in (exact, thousand) if written is not None)


def _shortened(text: str) -> Iterator[Found]:
    seen = 0
    for match in _SHORTENED.finditer(text):
        head, tail = (match["only"], "") if match["only"] else (match["head"], match["tail"])
        if _is_jumble(head + tail) and seen < MOST_SHORTENED:
            seen += 1
            yield Found("address", match.start(), match.end(), (Ends(head, tail),))


def _is_jumble(run: str) -> bool:
    """Whether letters are mixed with digits, or capitals with small letters as in no word."""
    if run.isdigit() or not any(map(str.isalpha, run)):
        return False
    return any(map(str.isdigit, run)) or not (run.islower() or run.isupper() or run.istitle())


def _long_runs(text: str) -> Iterator[Found]:
    for match in _LONG.finditer(text):
        run = match[0]
        if run.isdigit() or (run.isalpha() and (run.islower() or run.istitle())):
            continue
        if HEX.fullmatch(run):
            yield Found("signature", match.start(), match.end(), (Exact(run), Exact(bare_hex(run))))
        else:
            kind: Literal["signature", "address"] = (
                "signature" if len(run) >= 60 and not run.islower() else "address"
            )
            yield Found(kind, match.start(), match.end(), (Exact(run),))


def _words(text: str) -> Iterator[Found]:
    """Words that are names by their looks: with digits and letters, underscores, or an @ before them; and versions."""
    for match in WORD.finditer(text):
        word = match[0].strip("_")
        start = match.start() + match[0].index(word) if word else match.start()
        is_handle = start > 0 and text[start - 1] == "@" and not text[start - 2 : start - 1].isalnum()
        if not word or word.isdecimal() or (word.isalpha() and not is_handle):
            continue
        version = word[1:] if word[0] in "vV" else word
        lookups: tuple[Lookup, ...] = (Words(words_of(word)),)
        if DOTTED.fullmatch(version):
            if readings(version):
                continue
            lookups += (Exact(version),)
        elif not (is_handle or is_mixed_name(word)):
            continue
        yield Found("name", start, start + len(word), lookups)


def _by_position(text: str, spans: list[Span]) -> Callable[[int], tuple[Lookup, ...]]:
    """What else a number at a place can be looked up as: the words in quotes around it, or the word it is part of."""
    around: dict[int, tuple[Lookup, ...]] = {}
    for span in spans:
        if not span.is_name:
            around.update(
                dict.fromkeys(range(span.start, span.end), (Words(words_of(text[span.start : span.end])),))
            )
    for match in WORD.finditer(text):
        word = match[0]
        if DOTTED.fullmatch(word):
            around[match.start()] = (Exact(word),)
        elif "-" in word and len(word) <= MOST_PARTED and _DIGIT.search(word):
            # A number of a hyphenated word: 24-hour, post-2.
            whole = (Words(words_of(word)),)
            for at in range(match.start(), match.end()):
                around.setdefault(at, whole)
    return lambda at: around.get(at, ())


def _number(
    start: int, end: int, lookups: tuple[Lookup, ...], also: Callable[[int], tuple[Lookup, ...]]
) -> Found:
    return Found("number", start, end, (*lookups, *also(start)))
