"""The real command at a terminal: what a person types, the bytes that come back, and the screen that they make."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from tests.cli.running import COMMAND, SECONDS, environment

CTRL_C, CTRL_D = b"\x03", b"\x04"

# Sequences that move nothing: colours, and how a line is edited.
_STYLE = re.compile(r"\x1b\[\??[0-9;]*[mhl]")


class Terminal:
    """`typed` writes, `until` waits for something new on the terminal."""

    def __init__(
        self, words: tuple[str, ...], env: Mapping[str, str] | None, stdout: IO[bytes] | None = None
    ) -> None:
        ours, theirs = pty.openpty()
        self._fd = ours
        self.raw = b""
        self._read = 0
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=theirs,
            stdout=stdout or theirs,
            stderr=theirs,
            env=environment({"TERM": "xterm", "COLUMNS": "80", **(env or {})}),
            # The terminal becomes that of the process: Ctrl-C reaches it as a signal.
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(theirs)

    def typed(self, text: str | bytes) -> None:
        """Keys as they are pressed; a text is a line."""
        data = text if isinstance(text, bytes) else text.encode() + b"\n"
        while data:
            # A terminal takes a few kB at a time, and what it echoes has to be read meanwhile.
            data = data[os.write(self._fd, data[:1024]) :]
            self._pump(0)

    def until(self, text: str) -> str:
        """What came since the last wait, up to the end of this text."""
        wanted, ends = text.encode(), time.monotonic() + SECONDS
        while (at := self.raw.find(wanted, self._read)) < 0:
            assert time.monotonic() < ends, f"{text!r} never came: {self.raw[self._read :]!r}"
            assert self._pump(0.2) is not None, f"{text!r} never came: {self.raw[self._read :]!r}"
        begin, self._read = self._read, at + len(wanted)
        return self.raw[begin : self._read].decode()

    def answered(self, question: str) -> str:
        """Ask, and wait for the next prompt."""
        self.typed(question)
        self.until(question)  # the echo
        return self.until("\n> ")

    def _pump(self, seconds: float) -> int | None:
        """Read what is there. None: nobody has the terminal open any more."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return 0
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return None
        self.raw += data
        return len(data) or None

    def ended(self) -> int:
        """The exit code, once the program has ended by itself."""
        ends = time.monotonic() + SECONDS
        while self._pump(0.2) is not None:
            assert time.monotonic() < ends, f"it does not end: {self.raw[-500:]!r}"
        return self.process.wait(SECONDS)

    @property
    def screen(self) -> list[str]:
        return screen(self.raw.decode(errors="replace"))

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(SECONDS)
        os.close(self._fd)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def terminal(
    *words: str, env: Mapping[str, str] | None = None, stdout: IO[bytes] | None = None
) -> Iterator[Terminal]:
    """Opened for the command; `stdout` may be elsewhere."""
    opened = Terminal(words, env, stdout)
    try:
        yield opened
    finally:
        opened.close()


def screen(text: str) -> list[str]:
    """The lines that a terminal wide enough shows. Sequences that it does not know are an error."""
    lines, column = [""], 0
    text = _STYLE.sub("", text)
    at = 0
    while at < len(text):
        if text.startswith("\x1b[K", at):
            lines[-1] = lines[-1][:column]
            at += 3
            continue
        character = text[at]
        at += 1
        if character == "\n":
            lines.append("")
            column = 0
        elif character == "\r":
            column = 0
        elif character == "\b":
            column = max(0, column - 1)
        else:
            assert character.isprintable(), f"{character!r} in {text[max(0, at - 40) : at + 40]!r}"
            line = lines[-1].ljust(column)
            lines[-1] = line[:column] + character + line[column + 1 :]
            column += 1
    return lines


def ended_with_its_terminal(words: list[str], *, once_said: bytes) -> int:
    """The exit code of a command whose terminal is closed once it has said something."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(words[0], words, environment())
    said = b""
    while once_said not in said:
        assert select.select([terminal], [], [], SECONDS)[0], said
        said += os.read(terminal, 4096)
    os.close(terminal)  # its end hangs up on everybody who is controlled by it
    ends = time.monotonic() + SECONDS
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("it goes on without its terminal")
        time.sleep(0.02)
