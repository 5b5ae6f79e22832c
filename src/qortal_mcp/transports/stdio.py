"""Lines on standard input and output. Standard output is the wire: whatever else a process prints goes to stderr.

Reading and writing happen in a thread each, so that a client that stops reading stalls only itself; both
are bounded. Plain `os.read` and `os.write`: buffered readers in daemon threads can abort the interpreter.
"""

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from ..protocol.framing import LineSplitter, TooLong
from ..server.receiver import Receiver
from .connection import Connection
from .hang_up import has_hung_up
from .signals import stop_signals

_READ_BYTES = 64 * 1024
# Chunks of input that may wait for the loop, and bytes of output that may wait for the client.
_INPUT_CHUNKS = 16
_OUTPUT_BYTES = 4 * 1024 * 1024


class LineWriter:
    """Writes whole lines to a file descriptor, in a thread of its own."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, on_broken: Callable[[], None]) -> None:
        self._fd = fd
        self._loop = loop
        self._on_broken = on_broken
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._wake = threading.Condition()
        self._closed = False
        self._room = asyncio.Event()
        self._last_progress = loop.time()
        self._thread = threading.Thread(target=self._run, name="stdout", daemon=True)
        self._thread.start()

    async def write(self, message: bytes) -> None:
        """Queue a message; waits while too much is queued already."""
        while not self.post(message):
            if self._closed:
                return
            self._room.clear()
            await self._room.wait()

    def post(self, message: bytes) -> bool:
        with self._wake:
            if self._closed or self._waiting_bytes > _OUTPUT_BYTES:
                return False
            self._lines.append(message)
            self._waiting_bytes += len(message)
            self._wake.notify()
        return True

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._lines and not self._closed:
                    self._wake.wait()
                if not self._lines:
                    return
                lines = list(self._lines)
                self._lines.clear()
            try:
                _write_all(self._fd, b"\n".join(lines) + b"\n")
            except OSError:
                with self._wake:
                    self._closed = True
                    self._lines.clear()
                self._call(self._on_broken)
            with self._wake:
                self._waiting_bytes -= sum(len(line) for line in lines)
            self._call(self._progressed)

    def _progressed(self) -> None:
        self._last_progress = self._loop.time()
        self._room.set()

    @property
    def is_full(self) -> bool:
        """Whether the client does not read its answers."""
        return self._waiting_bytes > _OUTPUT_BYTES

    @property
    def idle_seconds(self) -> float:
        """How long nothing could be written."""
        return self._loop.time() - self._last_progress

    def _call(self, callback: Callable[[], None]) -> None:
        # The loop may already be closed when the last line is out.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback)

    async def close(self, seconds: float) -> None:
        """Write what is queued, within this time."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        await asyncio.to_thread(self._thread.join, seconds)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class LineReader:
    """Reads lines from a file descriptor in a thread and hands them to the loop, a bounded number ahead."""

    def __init__(self, fd: int, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._loop = loop
        self._splitter = LineSplitter(limit)
        self._slots = threading.Semaphore(_INPUT_CHUNKS)
        self._queue: asyncio.Queue[list[bytes | TooLong] | None] = asyncio.Queue()
        # Set when all input has been read, though perhaps not yet processed.
        self.ended = asyncio.Event()
        threading.Thread(target=self._run, name="stdin", daemon=True).start()

    def _run(self) -> None:
        data = b"?"
        while data:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except OSError:
                data = b""
            lines = self._splitter.feed(data) if data else self._splitter.close()
            if lines:
                self._wait_for_slot()
                self._hand_over(lines)
        self._hand_over(None)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.ended.set)

    def _wait_for_slot(self) -> None:
        """Wait until the loop wants more; meanwhile notice if the other side is gone."""
        while not self._slots.acquire(timeout=0.5):
            if has_hung_up(self._fd) and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self.ended.set)

    def _hand_over(self, lines: list[bytes | TooLong] | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, lines)

    async def next(self) -> list[bytes | TooLong] | None:
        """The lines of the next piece of input; None at its end."""
        lines = await self._queue.get()
        if lines is not None:
            self._slots.release()
        return lines


async def serve_fds(
    server: Receiver,
    in_fd: int,
    out_fd: int,
    *,
    on_idle: Callable[[], None] | None = None,
    stop: asyncio.Event | None = None,
    on_signal: Callable[[], None] | None = None,
) -> None:
    """Serve one client on two file descriptors until its input ends, a signal asks to stop, or `stop` is set.

    Raises: LifespanFailed.
    """
    async with server.living():
        await _serve_fds(server, in_fd, out_fd, on_idle, stop, on_signal)


async def _serve_fds(
    server: Receiver,
    in_fd: int,
    out_fd: int,
    on_idle: Callable[[], None] | None,
    stop: asyncio.Event | None,
    on_signal: Callable[[], None] | None,
) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def told_to_stop() -> None:
        if on_signal is not None:
            on_signal()
        stopping.set()

    reader = LineReader(in_fd, server.limits.message_bytes, loop)
    writer = LineWriter(out_fd, loop, stopping.set)
    connection = Connection(server, writer.write, writer.post, "stdio", "pipe")
    for number in stop_signals():
        try:
            loop.add_signal_handler(number, told_to_stop)
        except (NotImplementedError, RuntimeError, ValueError):
            break  # Windows, or not the main thread: the caller's own handling applies
    tasks = [
        loop.create_task(_take_all(reader, connection, on_idle)),
        *(loop.create_task(event.wait()) for event in (stopping, stop) if event is not None),
        loop.create_task(_stuck(reader, writer, server.limits.shutdown_seconds)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # A client that has sent everything may still be reading; of one that does not, `_stuck` would have known.
        if not writer.is_full or writer.idle_seconds < server.limits.shutdown_seconds:
            server.close()
            await connection.finish(server.limits.shutdown_seconds)
    finally:
        for task in tasks:
            task.cancel()
        await connection.drop()
        await writer.close(server.limits.shutdown_seconds)
        await asyncio.gather(*tasks, return_exceptions=True)


async def _take_all(reader: LineReader, connection: Connection, on_idle: Callable[[], None] | None) -> None:
    while (lines := await reader.next()) is not None:
        for line in lines:
            if isinstance(line, TooLong):
                await connection.refuse_too_long()
            else:
                await connection.take(line)
        if on_idle is not None:
            on_idle()


async def _stuck(reader: LineReader, writer: LineWriter, seconds: float) -> None:
    """Return when a client whose input has ended has read nothing for this long."""
    await reader.ended.wait()
    while not writer.is_full or writer.idle_seconds < seconds:  # noqa: ASYNC110 - it waits for time to pass
        await asyncio.sleep(seconds / 10)


def serve_stdio(
    server: Receiver,
    *,
    on_idle: Callable[[], None] | None = None,
    beside: AbstractAsyncContextManager[None] | None = None,
) -> None:
    """Serve the process's own stdin and stdout, and return when the client is done. `beside` lives as long."""
    wire = take_stdout()

    async def serve() -> None:
        async with beside or nullcontext():
            await serve_fds(server, 0, wire, on_idle=on_idle)

    asyncio.run(serve())


def take_stdout() -> int:
    """Keep the real stdout for the wire; what libraries and children print goes to stderr from now on."""
    for fd in (0, 1, 2):  # a descriptor that was closed would be given to the next file opened
        try:
            os.fstat(fd)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    if sys.stdout is not None:
        sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return wire
