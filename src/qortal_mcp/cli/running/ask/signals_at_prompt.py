"""Signals while a person types: Ctrl-C and a stop signal end the wait for a line.

Line editing waits in C and does not notice a signal that comes just before it begins to wait. It is woken once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import click

from .. import failures

# By then the wait has begun, or the signal was noticed anyway.
_WAKE_SECONDS = (0.05, 0.5)


@contextlib.contextmanager
def signals_at_prompt(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """For the main thread, with a loop that runs in another one. Raises: Exit."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        arrived = ours.fileno()
        stop = signal.signal(signal.SIGTERM, _stop)
        wake = signal.signal(signal.SIGURG, _ignore)
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        loop.call_soon_threadsafe(loop.add_reader, arrived, _arrived, ours, loop)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            loop.call_soon_threadsafe(loop.remove_reader, arrived)
            signal.signal(signal.SIGURG, wake)
            signal.signal(signal.SIGTERM, stop)


def _arrived(ours: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(OSError):
        if set(ours.recv(64)) - {signal.SIGURG}:
            for seconds in _WAKE_SECONDS:
                loop.call_later(seconds, _wake)


def _wake() -> None:
    ident = threading.main_thread().ident
    assert ident is not None, "it runs"
    signal.pthread_kill(ident, signal.SIGURG)


def _ignore(number: int, frame: FrameType | None) -> None:
    """It has interrupted the wait: that is all."""


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise click.exceptions.Exit(failures.TERMINATED)
