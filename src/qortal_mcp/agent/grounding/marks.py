"""Digits of an answer that count or point instead of saying something: list numbers, labels, citations."""

import re
from collections.abc import Iterator

_LEAD = r"^[ \t>]*(?:[-*+•][ \t]+|#{1,6}[ \t]+)?(?:\*\*|__)?"
# Each has to go on where the one before it ended: "298. Then" at the start of a line is not a list.
_SERIES = (
    re.compile(rf"{_LEAD}(?P<label>)(?P<number>\d{{1,3}})[.)](?=[ \t*_\\])", re.MULTILINE),
    re.compile(
        r"^[ \t]*\|[ \t]*(?P<label>)(?:\*\*)?#?(?P<number>\d{1,3})[.)]?(?:\*\*)?[ \t]*\|", re.MULTILINE
    ),
    re.compile(
        rf"{_LEAD}(?P<label>[^\W\d_]{{1,30}})[ \t]+#?(?P<number>\d{{1,3}})(?:[ \t]*(?:\*\*|__)|[ \t]*[:.)–—-](?!\d)|[ \t]*$)",
        re.MULTILINE,
    ),
)
_CITATION = re.compile(r"(?<![:=,\[{(])(?<![:=,\[{(][ \t])\[\^?(?P<number>\d{1,2})\](?!\()")
_KEYCAP = re.compile("(?P<number>\\d)\ufe0f?\u20e3")
# The one unit that a price is given for: 1 LTC costs ...
_UNIT = re.compile(
    r"(?<![\w.,])(?P<number>1)(?=[ \u00a0][A-Z]{2,6}[ \u00a0]"
    r"(?:[=≈~]|(?:costs?|is worth|equals|kostet|entspricht|coûte|vaut|cuesta|vale)(?!\w)))"
)
_FENCE = re.compile(r"^[ \t]*(?P<number>```+|~~~+)[^\n]*$", re.MULTILINE)


def without_marks(text: str) -> str:
    """The text with spaces in place of such digits."""
    taken = sorted(
        {
            *_series(text),
            *(
                match.span("number")
                for form in (_CITATION, _KEYCAP, _FENCE, _UNIT)
                for match in form.finditer(text)
            ),
        }
    )
    pieces: list[str] = []
    at = 0
    for start, end in taken:
        if start >= at:
            pieces += (text[at:start], " " * (end - start))
            at = end
    return "".join((*pieces, text[at:]))


def _series(text: str) -> Iterator[tuple[int, int]]:
    for form in _SERIES:
        last: dict[str, int] = {}
        for match in form.finditer(text):
            number, label = int(match["number"]), match["label"].lower()
            if number in (1, last.get(label, 0), last.get(label, 0) + 1):
                last[label] = number
                yield match.span("number")
