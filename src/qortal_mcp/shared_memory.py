"""Memory that all workers of a server see, in a file without a name: the rates of callers, then the numbers of each process."""

import os
import tempfile
from contextlib import suppress

from .metrics.board import Board, bytes_for

# What `server/rates/machine_rate.py` needs.
RATES_BYTES = 128 * 1024


def shared_memory(workers: int) -> int:
    """The file, whose memory is taken as it is used."""
    file = _unnamed()
    os.ftruncate(file, RATES_BYTES + bytes_for(1 + workers))
    return file


def _unnamed() -> int:
    if hasattr(os, "memfd_create"):
        with suppress(OSError):  # a sandbox may not allow it
            return os.memfd_create("qortal-mcp", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as unnamed:
        return os.dup(unnamed.fileno())


def board_in(memory: int, workers: int) -> Board:
    """Where all processes count: the one that looks after the others has part 0."""
    return Board(memory, RATES_BYTES, 1 + workers)
