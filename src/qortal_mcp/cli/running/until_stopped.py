"""Work that a stop signal ends as an interrupt does, so that every process it started ends with it."""

import asyncio
import contextlib
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

import click

from ...transports.signals import stop_signals
from . import failures

T = TypeVar("T")


def until_stopped(work: Coroutine[Any, Any, T]) -> T:
    """Raises: Exit."""
    try:
        return asyncio.run(_with_stop_signal(work))
    except asyncio.CancelledError:
        raise click.exceptions.Exit(failures.TERMINATED) from None


async def _with_stop_signal(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    with contextlib.suppress(NotImplementedError):  # where there are no such signals
        for number in stop_signals():
            if number != signal.SIGINT:  # which interrupts
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task
