"""What the results of tools say: their numbers, times, words and long runs of characters, each found when first needed.

Facts are the numbers and texts of a result, the keys of its objects, the number of items of each of its lists, and
the digits in keys such as `last24Hours`. Sums, differences and other arithmetic are not facts.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import msgspec

from ...protocol.decoding import decode_exactly
from ...protocol.jsonrpc import UNREADABLE
from .lookups import Day, Ends, Exact, Lookup, Moment, Numbers, Value, Words
from .numbers import BODY, EXACT, EXPONENT, MOST_DIGITS, power_of, readings
from .times import find_times, from_timestamp, moment_of
from .vocabulary import POWERS
from .words import DOTTED, HEX, LONG_RUN, URL, WORD, bare_hex, folded, parts_of, trimmed_url

# With a bounded exponent, so that arithmetic stays cheap.
_JSON_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_ISO = re.compile(r"(\d{4})-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_NUMBER_IN_TEXT = re.compile(
    rf"(?<![\dA-Za-z_.])(?:(?<![\w)])([-−]))?({BODY})({EXPONENT})?(?:[ \u00a0]?([^\W\d_]{{1,10}})(?!\w)|(?!\w))"
)
_DIGIT = re.compile(r"\d")
# What a line has that a date or a time of day is written in.
_TIME_HINT = re.compile(
    r"\d[:h]\d\d|\d{4}|\d\S{0,3}[ \u00a0][^\W\d_]|[^\W\d_]\.?[ \u00a0]\d|\d[ap]\.?m", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+", re.ASCII)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}
_HALF = Decimal("0.5")
# Runs that are compared with how shortened ones begin and end: of real results, some hundred have the same beginning.
MOST_COMPARED = 250_000


class Facts:
    """What occurs in some texts, most of which are JSON. `is_exact`: no number stands for one that it rounds to."""

    def __init__(
        self, results: Iterable[str], *, is_exact: bool = False, most_compared: int = MOST_COMPARED
    ) -> None:
        self._is_exact = is_exact
        self._texts: set[str] = set()
        self._keys: set[str] = set()
        # As they are written in JSON.
        self._numbers: set[str] = set()
        self._left_to_compare = most_compared
        for result in results:
            self._read(result)

    def _read(self, result: str) -> None:
        try:
            self._walk(decode_exactly(result))
        except (*UNREADABLE, msgspec.ValidationError, UnicodeEncodeError):
            # JSON that was cut has its escapes still.
            is_broken_json = "\\" in result and result.lstrip()[:1] in ("{", "[", '"')
            self._texts.add(_ESCAPE.sub(_unescaped, result) if is_broken_json else result)

    def _walk(self, whole: Any) -> None:
        rest = [whole]
        while rest:
            part = rest.pop()
            if isinstance(part, str):
                self._texts.add(part)
            elif isinstance(part, dict):
                self._keys.update(part)
                rest.extend(part.values())
            elif isinstance(part, list):
                self._numbers.add(str(len(part)))
                rest.extend(part)
            elif isinstance(part, msgspec.Raw):
                self._numbers.add(bytes(part).decode())
            elif isinstance(part, int) and not isinstance(part, bool):
                self._numbers.add(str(part))

    def has(self, lookup: Lookup) -> bool:
        """Whether something of the results is what was looked up. Words: only one of them; see `phrases`."""
        match lookup:
            case Numbers(values):
                return all(map(self._has_value, values))
            case Moment():
                return self._has_moment(lookup)
            case Day(day):
                return Moment(day=day) in self._moments_like((False, False, True, False, False, False))
            case Words((word,)):
                return word in self._words
            case Words():
                return False
            case Exact(text):
                return text in self._exact
            case Ends(head, tail):
                return self._has_ends(head, tail)

    def phrases(self, wanted: Collection[Words]) -> set[Words]:
        """Which of these occur in a text of the results, in one pass over the texts."""
        tree: dict[str, Any] = {}
        for phrase in wanted:
            if all(word in self._words for word in phrase.words):
                branch = tree
                for word in phrase.words:
                    branch = branch.setdefault(word, {})
                branch[""] = phrase
        found: set[Words] = set()
        for text in (*self._texts, *self._keys) if tree else ():
            words = WORD.findall(folded(text))
            for at, word in enumerate(words):
                if word in tree:
                    found.update(_along(tree, words, at))
            if len(found) == len(wanted):
                break
        return found

    def _has_value(self, written: Value) -> bool:
        magnitude, unit, is_negative = written
        numbers = self._negative if is_negative else self._magnitudes
        if self._is_exact:
            at = bisect_left(numbers, magnitude)
            return numbers[at : at + 1] == [magnitude]
        at = bisect_left(
            numbers, EXACT.subtract(magnitude, EXACT.multiply(unit, _HALF)) if magnitude else magnitude
        )
        if at == len(numbers):
            return False
        if not magnitude:
            # Nothing is cut to zero: 0.01 is not 0, though 0.001 is 0.00.
            return numbers[at] == 0 or (unit < 1 and numbers[at] <= EXACT.multiply(unit, _HALF))
        return numbers[at] < EXACT.add(magnitude, unit)

    @cached_property
    def _values(self) -> set[Decimal]:
        """Every number that is not too long to be one."""
        written = {number for number in self._numbers if _JSON_NUMBER.fullmatch(number)}
        for text in self._texts:
            if _JSON_NUMBER.fullmatch(text):
                written.add(text)
            elif match := _ISO.fullmatch(text):
                written.add(match[1])
            else:
                written.update(_numbers_in(text))
        for key in self._keys:
            written.update(_DIGITS.findall(key))
        written.update(str(time.year) for time in self._timestamps)
        return {Decimal(number) for number in written if len(number) <= MOST_DIGITS}

    @cached_property
    def _magnitudes(self) -> list[Decimal]:
        return sorted({number.copy_abs() for number in self._values})

    @cached_property
    def _negative(self) -> list[Decimal]:
        return sorted(number.copy_abs() for number in self._values if number < 0)

    @cached_property
    def _timestamps(self) -> list[datetime]:
        whole = (
            number for number in self._numbers | self._texts if 10 <= len(number) <= 13 and number.isascii()
        )
        times = (from_timestamp(int(number)) for number in whole if number.isdigit())
        return [time for time in times if time is not None]

    @cached_property
    def _moments(self) -> set[Moment]:
        found: set[Moment] = set()
        lines: set[str] = set()
        times = list(self._timestamps)
        for text in self._texts:
            if len(text) <= 40 and _ISO.fullmatch(text):
                try:
                    times.append(datetime.fromisoformat(text))
                except ValueError:
                    continue
                if len(text) == len("2026-11-15"):
                    found.add(Moment(*times.pop().timetuple()[:3]))
            elif _DIGIT.search(text):
                lines.update(line for line in text.splitlines() if _TIME_HINT.search(line))
        for line in lines:
            found.update(moment for _, _, moments in find_times(line) for moment in moments)
        for time in times:
            found.add(moment_of(time))
            if offset := time.utcoffset():
                found.add(moment_of(time - offset) if _can_move(time) else moment_of(time))
            if time.microsecond >= 500_000 and _can_move(time):
                found.add(moment_of(time + timedelta(seconds=1)))
        return found

    def _has_moment(self, moment: Moment) -> bool:
        given = tuple(part is not None for part in moment)
        return moment in self._moments_like(given)

    @cached_property
    def _by_shape(self) -> dict[tuple[bool, ...], set[Moment]]:
        return {}

    def _moments_like(self, given: tuple[bool, ...]) -> set[Moment]:
        """The moments of the results with only those parts that are given."""
        if given not in self._by_shape:
            self._by_shape[given] = {
                Moment(*(part if wanted else None for part, wanted in zip(moment, given, strict=True)))
                for moment in self._moments
            }
        return self._by_shape[given]

    @cached_property
    def _words(self) -> set[str]:
        found: set[str] = set()
        for text in (*self._texts, *self._keys):
            found.update(WORD.findall(text))
        for word in [word for word in found if not word.isalnum()]:
            found.update(parts_of(word))
        return set(map(folded, found)) | self._numbers

    @cached_property
    def _runs(self) -> list[str]:
        """Every long run of letters and digits, in order."""
        found = {number for number in self._numbers if len(number) >= 12}
        for text in (*self._texts, *self._keys):
            found.update(LONG_RUN.findall(text))
        return sorted(found)

    @cached_property
    def _exact(self) -> set[str]:
        found = set(self._runs)
        found.update(bare_hex(run) for run in self._runs if HEX.fullmatch(run))
        for text in self._texts:
            found.update(map(trimmed_url, URL.findall(text)))
            if "." in text:
                found.update(DOTTED.findall(text))
        return found

    def _has_ends(self, head: str, tail: str) -> bool:
        runs = self._runs
        at = bisect_left(runs, head)
        while at < len(runs) and self._left_to_compare and runs[at].startswith(head):
            self._left_to_compare -= 1
            if runs[at].endswith(tail) and len(runs[at]) > len(head) + len(tail):
                return True
            at += 1
        return False


def _numbers_in(text: str) -> Iterator[str]:
    """The numbers of a text, each in every reading."""
    if not _DIGIT.search(text):
        return
    for match in _ISO.finditer(text):
        yield match[1]
    for sign, body, exponent, suffix in set(_NUMBER_IN_TEXT.findall(_ISO.sub(" ", text))):
        if body.isdigit() and body.isascii() and not suffix and not exponent:
            yield f"{(sign and '-') or ''}{body}"
            continue
        power = power_of(exponent) if exponent else 0
        powers = {power, *(power + scale for scale in POWERS.get(suffix.lower(), ()))}
        for reading in readings(body):
            for whole, part in reading:
                for scaled in powers if abs(power) <= MOST_DIGITS else ():
                    yield f"{(sign and '-') or ''}{whole}.{part or 0}E{scaled}"


def _along(tree: dict[str, Any], words: list[str], at: int) -> Iterator[Words]:
    branch: Any = tree
    while at < len(words) and (branch := branch.get(words[at])) is not None:
        if "" in branch:
            yield branch[""]
        at += 1


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])


def _can_move(time: datetime) -> bool:
    return 1 < time.year < 9999
