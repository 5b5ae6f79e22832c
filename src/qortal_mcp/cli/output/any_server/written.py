"""JSON of strangers on standard output, whatever it holds, and lines that end when a reader has had enough."""

import sys

import msgspec
from msgspec import Raw

from ....protocol.jsonrpc import UNREADABLE
from ....text import printable_json, visible
from .. import terminal, view


def palette() -> view.Palette:
    return view.palette()


def write_json(encoded: bytes | Raw) -> None:
    """On one line for programs, indented for people; as it came if it cannot be laid out."""
    indent = 2 if sys.stdout.isatty() else -1
    terminal.write(pretty(bytes(encoded), indent) or printable_json(bytes(encoded).decode(errors="replace")))


def pretty(encoded: bytes, indent: int = 2) -> str | None:
    """JSON laid out, with nothing hidden in it; None if it is not JSON."""
    try:
        return printable_json(msgspec.json.format(encoded, indent=indent).decode())
    except UNREADABLE:
        return None


def label(value: object, at_most: int = 128) -> str:
    """A name of somebody else's as a part of one line; a dash if it is not a text."""
    if not isinstance(value, str) or not value.strip():
        return "–"
    # Cut first: what is far longer than it is shown need not be looked at.
    return terminal.cut(terminal.one_line(value[: 4 * at_most]), at_most)


def prose(value: object, at_most: int = 2000) -> str:
    """What somebody else wrote in sentences, on one line; empty if there is nothing."""
    if not isinstance(value, str):
        return ""
    short = " ".join(value[: 4 * at_most].split())
    return visible(short if len(short) <= at_most else f"{short[:at_most]}…")


def first_sentence(value: object, at_most: int = 300) -> str:
    sentence, dot, _ = prose(value, at_most).partition(". ")
    return sentence + dot.strip()
