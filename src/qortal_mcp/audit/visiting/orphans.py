"""Processes that a program under audit started and left behind in sessions of their own, out of reach of its group.

Linux gives the children of a process that has ended to the nearest ancestor that asked for them. A process that starts
nothing but programs under audit can ask, and end whatever it is given; other systems have no such way.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_ROUND_SECONDS = 0.01


class Orphans:
    """From now on what is left behind comes to this process, until `end` ends it."""

    def __init__(self) -> None:
        self._ours = _children()
        self._are_given = sys.platform == "linux" and _ask_for_them()

    async def end(self, seconds: float) -> None:
        """Kill what has come, and what comes because its parent was killed."""
        if not self._are_given:
            return
        end = time.monotonic() + seconds
        while (found := _children() - self._ours) and time.monotonic() < end:
            for pid in found:
                _kill(pid)
            await asyncio.sleep(_ROUND_SECONDS)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _ask_for_them() -> bool:
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _children() -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while it is looked at; its name may hold anything, so the fields are counted after it.
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = stat.read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == os.getpid():
                found.add(int(stat.parent.name))
    return found
