"""The terminal that output goes to: its width, its colours, and how wide a text is on it."""

import io
import os
import re
import shutil
import sys
import unicodedata

import click
import msgspec

from ...text import printable_json, visible

# For output without a known width: a pipe, a file.
_WIDTH_ELSEWHERE = 100
_NARROWEST = 40
_LEAD = re.compile(r" *(?:[-*•] +|[0-9]{1,3}[.)] +)?")


def width() -> int:
    """Columns of the terminal; COLUMNS if that is set."""
    return max(_NARROWEST, shutil.get_terminal_size((_WIDTH_ELSEWHERE, 24)).columns)


def is_terminal() -> bool:
    """Whether a person sees standard output; otherwise it is a pipe or a file."""
    return sys.stdout.isatty()


def wants_colours() -> bool:
    """Whether colours are not switched off (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def has_colours() -> bool:
    """Only on a terminal, and not if colours are switched off (no-color.org)."""
    return sys.stdout.isatty() and wants_colours()


def can_show(text: str) -> bool:
    """Whether the encoding of the output has these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(text: str) -> None:
    """Print lines; a character that the output's encoding lacks becomes an escape, not a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    click.echo(text, color=has_colours())


def write_bytes(data: bytes) -> None:
    """Print bytes as they are, whatever the encoding and the line endings of the platform."""
    click.echo(data, nl=False)


def note(text: str) -> None:
    """A line for the person at the terminal; scripts and logs do not get it."""
    if sys.stderr is not None and sys.stderr.isatty():
        warn(text)


def warn(text: str) -> None:
    """A line on standard error, for people and scripts; a terminal gets it in lines that fit."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    click.echo("\n".join(wrapped(text, _error_width())) if is_terminal else text, err=True)


def _error_width() -> int:
    """Of the terminal that standard error is, wherever standard output goes."""
    try:
        size = int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stderr.fileno()).columns)
    except (ValueError, OSError):
        size = _WIDTH_ELSEWHERE
    return max(_NARROWEST, size)


def write_json(encoded: bytes) -> None:
    """Print JSON: on one line for programs, indented for people. Hidden characters are escaped in it."""
    write(printable_json(msgspec.json.format(encoded, indent=2 if sys.stdout.isatty() else -1).decode()))


def columns(text: str) -> int:
    """How many columns a text takes: none for combining marks, two for wide characters."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, to: int, *, right: bool = False) -> str:
    """The text padded to a number of columns, on its right, or on its left if right-aligned."""
    blanks = " " * (to - columns(text))
    return blanks + text if right else text + blanks


def one_line(text: str) -> str:
    """Text of others as a part of one line, with nothing hidden in it."""
    return visible(" ".join(text.split()))


def cut(text: str, to: int) -> str:
    """The text in at most that many columns; an ellipsis if there was more."""
    return text if columns(text) <= to else f"{pieces(text, to - 1)[0]}…"


def wrapped(text: str, to: int) -> list[str]:
    """The text in lines of at most that many columns, broken at spaces if possible.

    A signature or an address that is wider stays in one piece, so that it can be copied.
    """
    return [line for paragraph in text.split("\n") for line in _wrapped_paragraph(paragraph, to)]


def hanging(line: str, to: int) -> list[str]:
    """A line as `wrapped` does it, with the lines that follow below its text: after its blanks, and the sign of a list."""
    begin = _LEAD.match(line)
    lead = begin[0] if begin is not None and len(begin[0]) < to // 2 else ""
    first, *more = wrapped(line[len(lead) :], to - len(lead))
    return [lead + first, *(" " * len(lead) + each for each in more)]


def _wrapped_paragraph(paragraph: str, to: int) -> list[str]:
    lines = [""]
    for word in paragraph.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(joined) <= to:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        lines[-1:] = [word] if word.isascii() else pieces(word, to)
    return lines


def pieces(word: str, to: int) -> list[str]:
    """A word that may be wider than a line, cut where the line ends."""
    found = [""]
    used = 0
    for character in word:
        size = _columns(character)
        if used + size > to:
            found.append("")
            used = 0
        found[-1] += character
        used += size
    return found
