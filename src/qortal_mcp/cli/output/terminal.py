"""The terminal that output goes to: its width, its colours, and how wide a text is on it."""

import io
import os
import shutil
import sys
import unicodedata

import click
import msgspec

from ...text import printable_json, visible

# For output without a known width: a pipe, a file.
_WIDTH_ELSEWHERE = 100
_NARROWEST = 40


def width() -> int:
    """Columns of the terminal; COLUMNS if that is set."""
    return max(_NARROWEST, shutil.get_terminal_size((_WIDTH_ELSEWHERE, 24)).columns)


def wants_colours() -> bool:
    """Whether colours are not switched off (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def has_colours() -> bool:
    """Only on a terminal, and not if colours are switched off (no-color.org)."""
    return sys.stdout.isatty() and wants_colours()


def write(text: str) -> None:
    """Print lines; a character that the output's encoding lacks becomes an escape, not a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    click.echo(text, color=has_colours())


def note(text: str) -> None:
    """A line for the person at the terminal; scripts and logs do not get it."""
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo(text, err=True)


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
    return text if columns(text) <= to else f"{_pieces(text, to - 1)[0]}…"


def wrapped(text: str, to: int) -> list[str]:
    """The text in lines of at most that many columns, broken at spaces if possible.

    A signature or an address that is wider stays in one piece, so that it can be copied.
    """
    return [line for paragraph in text.split("\n") for line in _wrapped_paragraph(paragraph, to)]


def _wrapped_paragraph(paragraph: str, to: int) -> list[str]:
    lines = [""]
    for word in paragraph.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(joined) <= to:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        lines[-1:] = [word] if word.isascii() else _pieces(word, to)
    return lines


def _pieces(word: str, to: int) -> list[str]:
    """A word that may be wider than a line, cut where the line ends."""
    pieces = [""]
    used = 0
    for character in word:
        size = _columns(character)
        if used + size > to:
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += size
    return pieces
