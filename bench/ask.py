"""`qortal-mcp ask`: from its start to the first request to the model, and memory over a long conversation."""

import contextlib
import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from bench.chat_endpoint import ChatEndpoint
from bench.contestants import OURS, Command, running
from bench.environments import PYTHON
from bench.figures import Budget, Figure, compare
from bench.processes import ROOT, SERVER_CORE, Failed, environment, pinned
from bench.run import Run, by_name

PART = "ask"
_BARE = "a bare aiohttp client"
_FIRST = "start to the first request to the model"
_SECONDS = 30.0
_TURNS, _SETTLED = 200, 50
_PROMPT = b"\n> "


def measure(run: Run) -> list[Figure]:
    with ChatEndpoint() as endpoint:
        return [*_starts(run, endpoint), *_conversation(run, endpoint)]


def _starts(run: Run, endpoint: ChatEndpoint) -> list[Figure]:
    commands: dict[str, Command] = {
        _BARE: [PYTHON, "-m", "bench.bare_chat", endpoint.base_url],
        OURS: [*_ask(run, endpoint), "How high is the chain?"],
    }
    wall = by_name(commands)
    for name, command in commands.items():
        _start(name, command, endpoint)  # the first start reads files from disk
    for number, name in run.turns(list(commands)):
        wall[name].append(_start(name, commands[name], endpoint))
        run.say(f"ask, round {number}: {name} {wall[name][-1]:.0f} ms")
    beyond = tuple(ours - bare for ours, bare in zip(wall[OURS], wall[_BARE], strict=True))
    return [
        *compare(PART, _FIRST, "ms", wall, reference=_BARE),
        Figure(PART, f"{_FIRST}, beyond the bare client", OURS, "ms", beyond, budget=Budget(300, "value")),
    ]


def _ask(run: Run, endpoint: ChatEndpoint) -> Command:
    return [run.contestants.program, "ask", "--sample", "--base-url", endpoint.base_url, "--model", "bench"]


def _start(name: str, command: Command, endpoint: ChatEndpoint) -> float:
    """Milliseconds until the endpoint is asked. Raises: Failed."""
    endpoint.forget()
    began = time.perf_counter()
    with running(f"ask {name}", command) as child:
        asked = endpoint.asked_at(_SECONDS)
        if asked is None:
            raise Failed(f"{name} asked nothing: {child.tail()}")
    return (asked - began) * 1000


def _conversation(run: Run, endpoint: ChatEndpoint) -> list[Figure]:
    """Resident memory of a conversation at a terminal."""
    sizes: dict[int, float] = {}
    with _Terminal.running(_ask(run, endpoint)) as terminal:
        terminal.wait_for(b"> ")
        for number in range(1, _TURNS + 1):
            terminal.ask(f"How high is the chain, for the {number}th time?")
            sizes[number] = terminal.rss_mb()
    growth = sizes[_TURNS] - sizes[_SETTLED]
    subject = f"{_TURNS} questions"
    run.say(
        f"ask: {sizes[1]:.1f}, {sizes[_SETTLED]:.1f}, {sizes[_TURNS]:.1f} MB after 1, {_SETTLED}, {_TURNS}"
    )
    return [
        Figure(PART, "resident at the end", subject, "MB", (sizes[_TURNS],)),
        Figure(
            PART, f"growth after the first {_SETTLED}", subject, "MB", (growth,), budget=Budget(2.0, "value")
        ),
    ]


class _Terminal:
    """The command at a terminal of its own."""

    def __init__(self, command: Command) -> None:
        self._fd, theirs = pty.openpty()
        with pinned(SERVER_CORE):
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                cwd=ROOT,
                env=environment(TERM="dumb"),
                start_new_session=True,
            )
        os.close(theirs)
        self._said = b""

    @classmethod
    @contextlib.contextmanager
    def running(cls, command: Command) -> Iterator["_Terminal"]:
        terminal = cls(command)
        try:
            yield terminal
        finally:
            terminal._process.terminate()
            terminal._process.wait(_SECONDS)
            os.close(terminal._fd)

    def ask(self, question: str) -> None:
        """Returns when the next prompt is there."""
        os.write(self._fd, question.encode() + b"\n")
        self.wait_for(question.encode())  # the echo
        self.wait_for(_PROMPT)

    def wait_for(self, text: bytes) -> None:
        """Raises: Failed."""
        ends = time.monotonic() + _SECONDS
        while text not in self._said:
            if time.monotonic() > ends or not select.select([self._fd], [], [], _SECONDS)[0]:
                raise Failed(f"the conversation stands still: {self._said[-300:]!r}")
            try:
                self._said += os.read(self._fd, 65536)
            except OSError:
                raise Failed(f"the conversation ended: {self._said[-300:]!r}") from None
        self._said = self._said.partition(text)[2]

    def rss_mb(self) -> float:
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
