"""Which pieces of an answer are names: what is in quotes, code or bold, after a word such as "owned by", in a column of names."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .vocabulary import CUES, CUES_LOWER, DURATIONS, EMPHASIS, NAME_COLUMNS, ORDINALS, ORDINARY, SCALES
from .words import WORD

MOST_CHARS = 40
MOST_WORDS = 6

_QUOTED = (
    re.compile(r"`([^`\n]{1,80})`"),
    re.compile(r"(?<!\w)\"([^\"\n]{1,80})\"(?!\w)"),
    re.compile(r"“([^“”\n]{1,80})”"),
    re.compile(r"„([^„“”\n]{1,80})[“”]"),
    re.compile(r"«[ \u00a0\u202f]?([^«»\n]{1,80}?)[ \u00a0\u202f]?»"),
    re.compile(r"»([^«»\n]{1,80})«"),
    re.compile(r"‘([^‘’\n]{1,80})’(?!\w)"),
    re.compile(r"(?<![\w'])'([^'\n]{1,80})'(?![\w'])"),
    re.compile(r"「([^「」\n]{1,80})」"),
)
_BOLD = re.compile(r"(?:(?<!\*)\*\*(?![\s*])([^*\n]{1,80})\*\*|(?<![\w_])__(?![\s_])([^_\n]{1,80})__)")
# What makes a bold piece a label: where it stands, and what follows it.
_LABEL_BEFORE = re.compile(r"(?:^|\n|\|)[ \t>]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+|#{1,6}[ \t]+)?[ \t]*$")
_LABEL_AFTER = re.compile(r"[ \t]*(?:[:：|–—-]|\n|$|\()")
_CODE = re.compile(r"[{}\[\]()=<>|;$\\]|:[ \t]|/\*")
_FOLLOWING = r"[ \t]+(?P<name>[^\W\d]\w*(?:[-.@]\w+)*)"
_CUE = re.compile(
    rf"(?<!\w)(?:(?P<lower>{'|'.join(CUES_LOWER)})|{'|'.join(sorted(CUES, key=len, reverse=True))}){_FOLLOWING}",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-|: \t]*")
_NUMBER_SUFFIXES = frozenset({*SCALES, *DURATIONS, *ORDINALS, "x", "ms"})
_NUMBER_WORD = re.compile(
    r"\d+(?:\.\d+)?(?P<suffix>[^\W\d_]{0,10})|\d+(?:\.\d+)?[eE][+-]?\d+|\d+(?:\.\d+)?x10"
)


class Span(NamedTuple):
    """A piece of an answer that is set apart. It is a name, or has a number in it and is looked up with that."""

    start: int
    end: int
    is_name: bool


def find_spans(text: str) -> Iterator[Span]:
    """Every piece that is set apart, each place once."""
    taken = bytearray(len(text) + 1)
    for span in (*_quoted(text), *_bold(text), *_cells(text), *_after_cues(text)):
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
            yield span


def is_mixed_name(word: str) -> bool:
    """Whether a word is a name because of its looks: B0b, alice-test2, BLOG_POST, but not 24h, 24-hour, read-only."""
    # Scripts without spaces have their words right beside a number.
    if word.lower() in ORDINARY or any(char >= "\u2e80" for char in word):
        return False
    if "_" in word:
        return True
    if not any(map(str.isdecimal, word)) or not any(map(str.isalpha, word)):
        return False
    if _is_number(word):
        return False
    parts = word.split("-")
    return not all(part.isalpha() or _is_number(part) for part in parts)


def _is_number(word: str) -> bool:
    match = _NUMBER_WORD.fullmatch(word)
    if not match:
        return False
    suffix = match["suffix"] or ""
    # Scripts without spaces have their words right after a number.
    return (
        not suffix
        or suffix.lower() in _NUMBER_SUFFIXES
        or (suffix.isupper() and len(suffix) > 2)
        or suffix[0] > "\u2e80"
    )


def _quoted(text: str) -> Iterator[Span]:
    for form in _QUOTED:
        for match in form.finditer(text):
            yield from _span(text, *match.span(1))


def _bold(text: str) -> Iterator[Span]:
    for match in _BOLD.finditer(text):
        start, end = match.span(1) if match[1] else match.span(2)
        content = text[start:end]
        is_label = content.rstrip().endswith((":", "：")) or _LABEL_AFTER.match(text, match.end()) is not None
        if is_label and (
            content.rstrip().endswith((":", "："))
            or _LABEL_BEFORE.search(text[max(0, match.start() - 40) : match.start()])
        ):
            continue
        if text[match.end() : match.end() + 1] in (":", "：") or (
            content == content.lower() and content.isalpha()
        ):
            continue
        if (
            EMPHASIS.isdisjoint(content.lower().split()) and content != content.lower()
        ) or not content.replace(" ", "").isalpha():
            yield from _span(text, start, end)


def _cells(text: str) -> Iterator[Span]:
    columns: set[int] | None = None
    head, at = "", 0
    for line in text.split("\n"):
        if "|" not in line:
            columns = None
        elif _SEPARATOR.fullmatch(line):
            columns = {
                place
                for place, cell in enumerate(head.split("|"))
                if cell.strip(" \t*_`\r").lower() in NAME_COLUMNS
            }
        elif columns:
            start = at
            for place, cell in enumerate(line.split("|")):
                if place in columns and EMPHASIS.isdisjoint(cell.lower().split()):
                    for part in re.finditer(r"[^,]+", cell):
                        yield from _span(text, start + part.start(), start + part.end())
                start += len(cell) + 1
        head, at = line, at + len(line) + 1


def _after_cues(text: str) -> Iterator[Span]:
    for match in _CUE.finditer(text):
        name = match["name"]
        if (
            name.lower() in EMPHASIS
            or not (name[0].isupper() or match["lower"])
            or (name.isupper() and len(name) < 3)
        ):
            continue
        if (
            match["lower"]
            and name.islower()
            and match["lower"].lower().startswith(("the", "der", "le", "el"))
        ):
            continue
        yield from _span(text, *match.span("name"))


def _span(text: str, start: int, end: int) -> Iterator[Span]:
    content = text[start:end]
    bare = content.strip(" \t*_`\"'@")
    start += content.index(bare) if bare else 0
    end = start + len(bare)
    words = WORD.findall(bare)
    if (
        not words
        or len(bare) > MOST_CHARS
        or len(bare.split()) > MOST_WORDS
        or "\x00" in bare
        or bare[0] == "("
    ):
        return
    if bare.lower() in ORDINARY or _CODE.search(bare) or (bare[-1] in ".!" and len(words) > 3):
        return
    has_number = any(_is_number(word) or all(map(str.isdecimal, word.split("."))) for word in words)
    yield Span(start, end, not has_number)
