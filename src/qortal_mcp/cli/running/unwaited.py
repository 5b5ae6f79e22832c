"""Work whose threads nobody waits for: a name that is looked up, a file on a disk that is gone. The end comes in time anyway."""

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from .until_stopped import until_stopped

T = TypeVar("T")


class _Unwaited(ThreadPoolExecutor):
    """A loop that ends waits for its threads, for minutes if need be."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Raises: Exit."""

    async def with_unwaited_threads() -> T:
        asyncio.get_running_loop().set_default_executor(_Unwaited())
        return await work

    return until_stopped(with_unwaited_threads())


def leave(code: int) -> int:
    """The exit code; with threads that are still busy, for which the interpreter would wait, the end itself."""
    if threading.active_count() > 1 and not _all_end_now():
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
    return code


def _all_end_now() -> bool:
    """Idle threads end as soon as their pool is closed; busy ones do not."""
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        thread.join(0.1)
    return not any(thread.is_alive() for thread in others)
