"""What code costs, compared with other code in the same run: how fast the machine is says nothing about it."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
# Costs below this are too small to compare.
_SECONDS = 0.05


def cpu_seconds(run: Callable[[], object], times: int = 1) -> float:
    """The CPU time of this thread for the cheapest of several runs."""
    return min(_once(run) for _ in range(times))


def is_linear(make: Callable[[int], T], run: Callable[[T], object], size: int) -> bool:
    """Whether eight times as much input costs about eight times as much; if it grew by the square, 64 times."""
    part, whole = make(size // 8), make(size)
    return cpu_seconds(lambda: run(whole)) < 24 * max(cpu_seconds(lambda: run(part)), _SECONDS)


def is_cheaper(run: Callable[[], object], than: Callable[[], object]) -> bool:
    """Whether something costs less than half of something else that is known to be costly."""
    return cpu_seconds(run, times=3) < cpu_seconds(than) / 2


def _once(run: Callable[[], object]) -> float:
    started = time.thread_time()
    run()
    return time.thread_time() - started
