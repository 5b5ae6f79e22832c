"""Numbers of an answer with what scales them: 1.2 million, 45 %, 12.3k, 1 h 22 min."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from .lookups import Day, Exact, Lookup, Numbers, Value, Words
from .numbers import BODY, EXACT, EXPONENT, Plain, as_ascii, power_of, readings, value
from .vocabulary import ABOUT, DURATIONS, ORDINALS, PERCENT, SCALES
from .words import folded

# Letters of scripts that put spaces between words.
_LETTERS = "A-Za-zÀ-ÖØ-öø-\u052f"
_PERCENT = "|".join(PERCENT)
_QUANTITY = re.compile(
    rf"(?:(?<![^\s(\[|:=“\"'*`~≈,;/])(?P<sign>[-−+])[$€£¥₿]?)?(?<![\d_{_LETTERS}])(?P<body>{BODY})(?P<exponent>{EXPONENT})?"
    rf"(?:[ \u00a0\u202f]?(?P<percent>{_PERCENT})|(?P<gap>[ \u00a0\u202f-]?)(?P<suffix>[{_LETTERS}ºª]{{1,12}})(?![\d_{_LETTERS}]))?",
    re.IGNORECASE,
)
_BETWEEN_PARTS = re.compile(r"[ \u00a0]*,?[ \u00a0]*(?:(?:and|und|et|y|e)[ \u00a0]+)?")
_PERCENT_FACTORS = (Decimal(1), Decimal("0.01"))
# How far before a number a word such as "about" is looked for.
_ABOUT_CHARS = 24


class _Part(NamedTuple):
    """A number with a unit of time, which may go on: 1 h 22 min."""

    start: int
    end: int
    milliseconds: int
    total: Decimal
    values: tuple[Value, ...]


def find_quantities(text: str) -> Iterator[tuple[int, int, tuple[Lookup, ...]]]:
    """Every number of a text: where it stands, and how to look it up."""
    last: _Part | None = None
    for match in _QUANTITY.finditer(text):
        start, end, lookups = _looked_up(text, match)
        part = _duration(match)
        if (
            part
            and last
            and part.milliseconds < last.milliseconds
            and _BETWEEN_PARTS.fullmatch(text, last.end, part.start)
        ):
            part = part._replace(
                start=last.start, total=EXACT.add(last.total, part.total), values=last.values + part.values
            )
        if last and (not part or part.start != last.start):
            yield _whole_duration(last)
        if not part:
            yield start, end, lookups
        last = part
    if last:
        yield _whole_duration(last)


def _looked_up(text: str, match: re.Match[str]) -> tuple[int, int, tuple[Lookup, ...]]:
    suffix = (match["suffix"] or "").lower()
    end = match.end("exponent") if match["exponent"] else match.end("body")
    factors: tuple[Decimal, ...] = (Decimal(1),)
    also: tuple[Lookup, ...] = ()
    if match["percent"]:
        factors, end = _PERCENT_FACTORS, match.end()
    elif suffix in SCALES and _is_scale(match):
        factors, end = SCALES[suffix], match.end()
    elif suffix in ORDINALS and not match["gap"]:
        end = match.end()
        day = as_ascii(match["body"])
        also = (Day(int(day)),) if day.isdigit() and len(day) < 3 else ()
    is_about = ABOUT.search(text[max(0, match.start() - _ABOUT_CHARS) : match.start()]) is not None
    power = power_of(match["exponent"]) if match["exponent"] else 0
    lookups = [
        _numbers(reading, factor, power, match["sign"] in ("-", "−"), is_about)
        for reading in readings(match["body"])
        for factor in factors
    ]
    start = match.start("sign") if match["sign"] else match.start("body")
    written = text[match.start("body") : end]
    # A number with more digits than any number has is looked up as it is written.
    as_text = (Exact(as_ascii(match["body"])), Words((folded(written),)))
    return start, end, (*(lookup for lookup in lookups if lookup), *also) or as_text


def _is_scale(match: re.Match[str]) -> bool:
    """A single letter scales only right after its number; m and b only as capitals, since they are also units."""
    suffix = match["suffix"]
    return len(suffix) > 1 or (not match["gap"] and suffix not in ("m", "b"))


def _numbers(
    reading: tuple[Plain, ...], factor: Decimal, power: int, is_negative: bool, is_about: bool
) -> Numbers | None:
    values = [
        value(plain, times=factor, power=power, is_negative=is_negative, is_about=is_about)
        for plain in reading
    ]
    kept = tuple(written for written in values if written is not None)
    return Numbers(kept) if len(kept) == len(values) else None


def _duration(match: re.Match[str]) -> _Part | None:
    milliseconds = DURATIONS.get((match["suffix"] or "").lower())
    if milliseconds is None or match["suffix"] == "M" or match["sign"] or match["exponent"]:
        return None
    for reading in readings(match["body"]):
        written = value(reading[0])
        if len(reading) == 1 and written is not None:
            total = EXACT.multiply(written.magnitude, Decimal(milliseconds))
            return _Part(match.start("body"), match.end(), milliseconds, total, (written,))
    return None


def _whole_duration(part: _Part) -> tuple[int, int, tuple[Lookup, ...]]:
    """As its numbers, and as milliseconds or seconds together."""
    unit = EXACT.multiply(part.values[-1].unit, Decimal(part.milliseconds))
    total = Value(part.total, unit)
    in_seconds = Value(part.total.scaleb(-3), unit.scaleb(-3))
    return part.start, part.end, (Numbers(part.values), Numbers((total,)), Numbers((in_seconds,)))
