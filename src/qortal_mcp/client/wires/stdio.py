"""A server as a child process: messages as lines on standard input and output, log output on standard error.

The child leads a session of its own, so that everything it starts can be ended with it. It is always
reaped, even if the task that waits for its end is cancelled.
"""

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...protocol.framing import LineSplitter, TooLong
from ..errors import CannotRun, ConnectionLost
from ..limits import DEFAULT, ClientLimits
from ..reading import SplitPiece, Splitter
from ..transcript import Observer, Recorder
from .turns import LINES, Turn
from .wire import NoSink, Outgoing, Sink

_READ_BYTES = 64 * 1024
_BLANK = b" \t\r\n"


class StdioWire:
    """One child process. Made by `open`."""

    is_exchange = False

    def __init__(
        self,
        child: asyncio.subprocess.Process,
        sink: Sink,
        recorder: Recorder,
        limits: ClientLimits,
        on_stderr: Callable[[bytes], None] | None,
        splitter: Callable[[int], Splitter] | None,
    ) -> None:
        self._child = child
        self._sink = sink
        self._recorder = recorder
        self._limits = limits
        self._on_stderr = on_stderr
        self._splitter = splitter
        self._writing = asyncio.Lock()
        self._stderr: deque[bytes] = deque()
        self._stderr_bytes = 0
        self._closing: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self._readers = [loop.create_task(self._read_stdout()), loop.create_task(self._read_stderr())]

    @classmethod
    async def open(
        cls,
        argv: Sequence[str],
        sink: Sink | None = None,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        observer: Observer | None = None,
        on_stderr: Callable[[bytes], None] | None = None,
        splitter: Callable[[int], Splitter] | None = None,
        limits: ClientLimits = DEFAULT,
    ) -> "StdioWire":
        """Start the program. `env` is its whole environment; None passes on ours.

        Raises: ConnectionLost if it cannot be started.
        """
        if not argv:
            raise ConnectionLost("no command to run")
        try:
            child = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=None if env is None else dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as exc:
            raise CannotRun(f"cannot run {argv[0]}: {_why_not(exc)}") from exc
        return cls(child, sink or NoSink(), Recorder(observer), limits, on_stderr, splitter)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        """None while the child runs; negative for the signal that ended it."""
        return self._child.returncode

    @property
    def stderr_tail(self) -> bytes:
        """The end of the child's standard error."""
        return b"".join(self._stderr)

    async def send(self, message: Outgoing) -> None:
        await self.send_raw(message.data + b"\n")

    async def send_raw(self, data: bytes) -> None:
        stdin = self._child.stdin
        assert stdin is not None, "opened with a pipe"
        try:
            async with asyncio.timeout(self._limits.send_seconds), self._writing:
                if stdin.is_closing():
                    raise await self._left()
                self._recorder.note("sent", "message", data)
                stdin.write(data)
                await stdin.drain()
        except TimeoutError:
            raise ConnectionLost("the program does not read its standard input") from None
        except OSError:
            raise await self._left() from None

    async def _read_stdout(self) -> None:
        stdout = self._child.stdout
        assert stdout is not None, "opened with a pipe"
        limit = self._limits.message_bytes
        splitter = LineSplitter(limit, exact=True) if self._splitter is None else self._splitter(limit)
        loop = asyncio.get_running_loop()
        ends = (loop.create_task(self._take_output(stdout, splitter)), loop.create_task(self._crashed()))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        for piece in splitter.close():
            self._take(piece)
        # Its exit code is worth waiting for, but a program may close its output and keep running.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.exit_seconds):
                await self._child.wait()
                await self._readers[1]
        self._recorder.note("received", "closed", str(self._gone()).encode())
        self._sink.lost(self._gone())

    async def _take_output(self, stdout: asyncio.StreamReader, splitter: Splitter | LineSplitter) -> None:
        turn = Turn()
        with contextlib.suppress(OSError):
            while data := await stdout.read(_READ_BYTES):
                for piece in splitter.feed(data):
                    self._take(piece)
                    # It may be large, and the next one may never come.
                    del piece
                    if self._sink.is_full:
                        await self._sink.room()
                    await turn.took_one()

    async def _crashed(self) -> None:
        """Return when the program has failed although its output is still open: what it started may hold it."""
        while not self._child.returncode:  # noqa: ASYNC110 - `wait` may wait for the output too
            await asyncio.sleep(self._limits.exit_seconds / 2)
        await asyncio.sleep(self._limits.exit_seconds)

    def _take(self, piece: bytes | SplitPiece | TooLong) -> None:
        if isinstance(piece, TooLong):
            self._recorder.note("received", "too_long")
            self._sink.too_long(piece)
        elif isinstance(piece, bytes):
            self._take_line(piece)
        elif piece.data:
            self._recorder.note("received", "message", piece.raw)
            self._sink.arrived(piece.data, changes=piece.changes)
        else:
            self._recorder.note("received", "noise", piece.raw)
            self._sink.dropped(piece.changes)

    def _take_line(self, line: bytes) -> None:
        message = line.strip(_BLANK)
        # A message is an object or, in 2025-03-26, an array. Programs also print banners and blank lines here.
        if message[:1] in (b"{", b"["):
            self._recorder.note("received", "message", line)
            self._sink.arrived(message)
        else:
            self._recorder.note("received", "noise", line)

    async def _read_stderr(self) -> None:
        stderr = self._child.stderr
        assert stderr is not None, "opened with a pipe"
        splitter = LineSplitter(self._limits.stderr_bytes, exact=True)
        turn = Turn(LINES)
        with contextlib.suppress(OSError):
            while data := await stderr.read(_READ_BYTES):
                for line in splitter.feed(data):
                    self._take_stderr(line)
                    await turn.took_one()
        for line in splitter.close():
            self._take_stderr(line)

    def _take_stderr(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._recorder.note("received", "too_long")
            return
        self._recorder.note("received", "stderr", line)
        self._stderr.append(line)
        self._stderr_bytes += len(line)
        while self._stderr_bytes > self._limits.stderr_bytes:
            self._stderr_bytes -= len(self._stderr.popleft())
        if self._on_stderr is not None:
            self._on_stderr(line)

    async def _left(self) -> ConnectionLost:
        """Why nothing can be sent any more: a program that has just ended has an exit code in a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.exit_seconds):
                await self._child.wait()
        return self._gone()

    def _gone(self) -> ConnectionLost:
        code = self._child.returncode
        how = "closed its output" if code is None else _ended(code)
        tail = self.stderr_tail[-self._limits.evidence_bytes :]
        return ConnectionLost(f"the program {how}", (tail,) if tail else ())

    async def end_input(self, seconds: float) -> bool:
        """Close the child's standard input and return whether it exited by itself in time."""
        assert self._child.stdin is not None, "opened with a pipe"
        self._child.stdin.close()
        try:
            async with asyncio.timeout(seconds):
                await self._child.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """End the child: close its input, then SIGTERM, then SIGKILL."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._end())
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            # The caller is in a hurry: the child is killed at once, but still reaped.
            self._signal(signal.SIGKILL)
            await self._closing
            raise

    async def _end(self) -> None:
        assert self._child.stdin is not None, "opened with a pipe"
        self._child.stdin.close()
        if not await self._exits():
            self._signal(signal.SIGTERM)
            await self._exits()
        # Even after a clean exit: what the child started and left running is in the same group.
        self._signal(signal.SIGKILL)
        await self._child.wait()
        _, running = await asyncio.wait(self._readers, timeout=self._limits.exit_seconds)
        for reader in running:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        # A process outside the group may still hold the pipes: asyncio would keep our ends open.
        transport = getattr(self._child, "_transport", None)
        if transport is not None:
            transport.close()

    async def _exits(self) -> bool:
        try:
            async with asyncio.timeout(self._limits.exit_seconds):
                await self._child.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._child.pid, number)
            elif self._child.returncode is None:
                self._child.send_signal(number)


def _why_not(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such program"
    said = error.strerror if isinstance(error, OSError) else None
    return said.lower() if said else str(error)


def _ended(code: int) -> str:
    """How a program ended: with an exit code, or by a signal, which is a negative one."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:
        name = ""
    return f"was killed by signal {-code}{name}"
