"""docs/questions.md: the questions that people ask, the call that answers each, and what it costs the node."""

import functools
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from bench.costs import question_costs

from .markdown import table
from .questions import QUESTIONS, Question

_HEAD = """\
# The questions people ask

Each takes one call, from an AI client as well as from a terminal. The answers below are those of the sample chain, as
`qortal-mcp call` shows them on a terminal of 100 columns, without the middle of long lists; with your own node leave out
`--sample`. `--json` is for programs, `--csv` for a spreadsheet.

- An address may be written as `@` and a registered name; the answer says which address it is.
- A time may be ISO 8601, milliseconds since 1970, or `24h`, `7d`, `2w`, `1y`: so long before the newest block.
- Sums are exact. They say which blocks they cover and whether that is all that was asked for (`complete`); `page.next` has the
  arguments of the call that goes on.

"""
_COSTS = """\
## What each costs the node

Requests that one call makes: the first time, and again while the newest block is the same. Blocks that are a day old and
older are never asked for twice, so sums over weeks cost little the next day.

"""
_COLUMNS = 100
# Of a longer list the middle is left out.
_SHOWN_ROWS = 15
_LAST_ROWS = 2
# The heading of a list: `trades (9)`.
_LIST = re.compile(r" *\S+ \([0-9]+\)")


class NoAnswer(Exception):
    """A question that is not answered; the text says which and why."""


# Starting a program for each question is the slowest part of all documents.
@functools.cache
def page() -> str:
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(_shown, QUESTIONS))
    parts = [
        f"## {question.asked}\n\n```sh\nqortal-mcp call {_words(question)}\n```\n```text\n{answer}\n```\n\n"
        for question, answer in zip(QUESTIONS, answers, strict=True)
    ]
    costs = [
        (
            cost.asked,
            f"`{question.call.partition(' ')[0]}`",
            f"{cost.first.requests:.0f}",
            f"{cost.again.requests:.0f}",
        )
        for question, cost in zip(QUESTIONS, question_costs(), strict=True)
    ]
    return "".join([_HEAD, *parts, _COSTS, table(("question", "call", "first", "again"), costs)])


def _words(question: Question) -> str:
    toolset = f" --toolsets +{question.toolset}" if question.toolset else ""
    return f"{question.call} --sample{toolset}"


def _shown(question: Question) -> str:
    """What a terminal shows. Raises: NoAnswer."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "qortal_mcp", "call", *shlex.split(_words(question))],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        # A terminal without colours, which takes no line back.
        env={**os.environ, "COLUMNS": str(_COLUMNS), "PYTHONUTF8": "1", "TERM": "dumb"},
    ) as process:
        os.close(theirs)
        written = _all_of(ours)
        assert process.stderr is not None, "it was asked for"
        said = process.stderr.read().decode()
    os.close(ours)
    if process.returncode:
        raise NoAnswer(f"{question.call} fails: {said.strip()}")
    return "\n".join(_abridged([line.rstrip() for line in written.decode().rstrip().splitlines()]))


def _all_of(terminal: int) -> bytes:
    """What was written until nobody had the terminal open."""
    found = b""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # how a closed terminal is told on Linux
            return found
        if not read:
            return found
        found += read


def _abridged(lines: list[str]) -> Iterator[str]:
    """The same without the middle of long tables, so that what comes after them is seen."""
    for is_inner, found in groupby(lines, lambda line: line.startswith("  ") and not _LIST.fullmatch(line)):
        rows = list(found)
        if not is_inner or len(rows) <= _SHOWN_ROWS:
            yield from rows
            continue
        yield from rows[: _SHOWN_ROWS - _LAST_ROWS]
        yield f"{' ' * (len(rows[0]) - len(rows[0].lstrip()))}…"
        yield from rows[-_LAST_ROWS:]
