"""What this process uses of the machine. Where the system does not tell, a number is left out."""

import os
import time
from collections.abc import Callable, Iterable

from . import names
from .counting import Metrics
from .page import Family

_STARTED = time.time()


def show_process(metrics: Metrics) -> None:
    metrics.show(names.CPU_SECONDS, time.process_time)
    metrics.show(names.START_TIME, lambda: _STARTED)
    for metric, read in (
        (names.RESIDENT_BYTES, _resident_bytes),
        (names.OPEN_FILES, _open_files),
        (names.MOST_FILES, _most_files),
    ):
        metrics.show_each(metric, _if_told(read))


def process_numbers() -> list[Family]:
    """The same numbers of a process that counts nothing else."""
    metrics = Metrics()
    show_process(metrics)
    return list(metrics.shown())


def _if_told(read: Callable[[], float]) -> Callable[[], Iterable[tuple[tuple[str, ...], float]]]:
    def found() -> Iterable[tuple[tuple[str, ...], float]]:
        try:
            return [((), read())]
        except (OSError, ImportError, ValueError):
            return []

    return found


def _resident_bytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> float:
    return len(os.listdir("/proc/self/fd"))


def _most_files() -> float:
    import resource  # not on every system

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
