"""What a change does to a file, line by line, for a person to see. Secrets of other entries are not shown."""

import difflib
import re

from ..audit.secrets import SECRET
from ..text import visible
from .settings_files.formats import MARK
from .settings_files.splice import Splice

_CONTEXT_LINES = 2
# Beyond this, a line is shown only around the change: some files are one line.
_LINE_CHARS = 200
_AROUND_CHARS = 40
_VALUE = re.compile(r"([:=]\s*)\S.*")


def difference(data: bytes, splice: Splice) -> list[tuple[str, str]]:
    """Lines with their sign: a blank, a minus or a plus."""
    start = data.rfind(b"\n", 0, splice.start) + 1
    found = data.find(b"\n", splice.end)
    end = len(data) if found < 0 else found
    before, after = _cut(data[start : splice.start], last=True), _cut(data[splice.end : end], last=False)
    old = _text(before + data[splice.start : splice.end] + after).splitlines()
    new = _text(before + splice.text + after).splitlines()
    above = _text(data[:start]).splitlines()[-_CONTEXT_LINES:]
    below = _text(data[end:]).splitlines()[1 : 1 + _CONTEXT_LINES]
    rows = [("  ", line) for line in above]
    rows += [(line[:2], line[2:]) for line in difflib.ndiff(old, new) if not line.startswith("?")]
    rows += [("  ", line) for line in below]
    return [(sign.strip() or " ", _shown(sign, line)) for sign, line in rows]


def _text(data: bytes) -> str:
    return data.removeprefix(MARK).decode("utf-8", "replace")


def _cut(data: bytes, *, last: bool) -> bytes:
    if len(data) <= _LINE_CHARS:
        return data
    dots = "…".encode()
    return dots + data[-_AROUND_CHARS:] if last else data[:_AROUND_CHARS] + dots


def _shown(sign: str, line: str) -> str:
    if sign.strip() != "+" and SECRET.search(line):
        line = _VALUE.sub(r"\1***", line, count=1)
    return visible(line if len(line) <= 2 * _LINE_CHARS else f"{line[: 2 * _LINE_CHARS]}…")
