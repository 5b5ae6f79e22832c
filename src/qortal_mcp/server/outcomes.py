"""How the functions of a server's author are called: on the loop, or in a thread."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .context import Context

if TYPE_CHECKING:
    from .threads import Threads


class Crowded(Exception):
    """Every thread is taken, and none became free in time."""


async def outcome_of(
    call: Callable[[Any, Context | None], Any],
    arguments: Any,
    context: Context | None,
    threads: Threads | None,
) -> Any:
    """What a function of the server's author gives: on the loop, or in one of these threads."""
    if threads is None:
        value = call(arguments, context)
    else:
        if context is not None:
            context.used_in_thread()
        value = await threads.run(lambda: call(arguments, context))
    return await value if inspect.isawaitable(value) else value


def is_cancelled(exc: BaseException) -> bool:
    """Whether this task was asked to end, rather than something that it waited for."""
    task = asyncio.current_task()
    return isinstance(exc, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def as_failure(exc: BaseException) -> RuntimeError:
    """What would end more than one call, as something that does not."""
    failure = RuntimeError(f"the function raised {type(exc).__name__}")
    failure.__cause__ = exc
    return failure
