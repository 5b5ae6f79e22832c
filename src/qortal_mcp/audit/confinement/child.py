"""The process that judges: it bounds its own memory and time, and sends each outcome as soon as it is there."""

import signal
import sys
from typing import BinaryIO

import msgspec

from ..evidence import from_file
from ..judging.finding import shown
from ..judging.judge import judge
from ..judging.outcome import Facts, Outcome, Watch
from ..steps import words_of
from .messages import AT, OUT_OF_MEMORY, News, Place, Task, known_in
from .own_process import bound

_LABEL_CHARS = 200
# The process is ended from outside long before it has used this much processor time, unless nobody is left to do so.
_MORE_SECONDS = 10


def main(left_out: str) -> None:
    """Judge the capture on standard input; `left_out` is JSON: the checks that are not to be run, with the reasons."""
    # An interrupt must end the process even while a library keeps the interpreter busy.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
        bound(memory_bytes=task.limits.judge_bytes, cpu_seconds=task.limits.judge_seconds + _MORE_SECONDS)
        teller = _Teller(sys.stdout.buffer)
        report = judge(
            from_file(sys.stdin.buffer.read()),
            known_in(task),
            limits=task.limits,
            left_out=msgspec.json.decode(left_out, type=dict[str, str]),
            watch=teller,
        )
        teller.tell(News(report=report))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)


class _Teller(Watch):
    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def tell(self, news: News) -> None:
        self._write(msgspec.json.encode(news))

    def looking(self, code: str, label: str) -> None:
        place = Place(code, shown(words_of(label), _LABEL_CHARS))
        self._write(AT + msgspec.json.encode(place))

    def learned(self, facts: Facts) -> None:
        self.tell(News(facts=facts))

    def judged(self, outcome: Outcome) -> None:
        self.tell(News(outcome=outcome))

    def _write(self, line: bytes) -> None:
        self._out.write(line + b"\n")
        # Nothing that is still in a buffer survives the end of the process.
        self._out.flush()
