"""A rate that several processes count together: the rule of one process, exact for all of them."""

import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest

from qortal_mcp.server.rates.rate import RateLimit

pytest.importorskip("fcntl", reason="there are no workers without it")

from qortal_mcp.server.rates.machine_rate import TABLE_BYTES, MachineRate

KEY = b"k" * 32
# Asks as often as it is told, and says how often it may.
ASKING = """
import mmap, sys
from qortal_mcp.server.rates.machine_rate import TABLE_BYTES, MachineRate
file, times = int(sys.argv[1]), int(sys.argv[2])
rate = MachineRate(50, memoryview(mmap.mmap(file, TABLE_BYTES)), file, b"k" * 32, lambda: 1000.0)
sys.stdin.read(1)
print(sum(rate.wait("ann") == 0 for _ in range(times)))
"""


@pytest.fixture
def file() -> Iterator[int]:
    with tempfile.TemporaryFile() as made:
        os.truncate(made.fileno(), TABLE_BYTES)
        yield made.fileno()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def rates(file: int, per_second: float, clock: Clock) -> list[MachineRate]:
    """As two processes have it."""
    return [
        MachineRate(per_second, memoryview(mmap.mmap(file, TABLE_BYTES)), file, KEY, clock) for _ in range(2)
    ]


@pytest.mark.parametrize("per_second", [0.5, 1, 5, 50, 3.7])
def test_it_allows_what_one_process_would(file: int, per_second: float) -> None:
    clock = Clock()
    together, alone = rates(file, per_second, clock), RateLimit(per_second, clock)
    for step in range(300):
        waits = together[step % 2].wait("ann"), alone.wait("ann")
        assert waits[0] == pytest.approx(waits[1], abs=1e-5)
        clock.now += (0, 0, 0.03, 0, 0.4, 0, 0, 2.0)[step % 8]


def test_callers_have_a_rate_each(file: int) -> None:
    first, second = rates(file, 1, Clock())
    assert [first.wait("ann"), second.wait("ann"), first.wait("bob")] == [0, 0, 0]
    assert second.wait("ann") == pytest.approx(1, abs=1e-3)
    assert second.wait("bob") == 0


def test_more_callers_than_there_is_room_for_displace_the_idle(file: int) -> None:
    clock = Clock()
    rate, _ = rates(file, 1, clock)
    for number in range(20_000):
        assert rate.wait(f"caller {number}") == 0
        clock.now += 0.001


def test_processes_that_ask_at_the_same_time_get_what_there_is_and_no_more(file: int) -> None:
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", ASKING, str(file), "400"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[file],
        )
        for _ in range(3)
    ]
    allowed = 0
    for each in asking:
        assert each.stdin is not None
        each.stdin.write(b"!")
        each.stdin.flush()
    for each in asking:
        allowed += int(each.communicate(timeout=30)[0])
    assert allowed == 100


def test_a_lock_of_somebody_who_was_stopped_holds_up_nobody(file: int) -> None:
    held = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import fcntl, sys; fcntl.lockf({file}, fcntl.LOCK_EX); print(flush=True); sys.stdin.read(1)",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[file],
    )
    assert held.stdout is not None
    held.stdout.readline()
    try:
        assert rates(file, 1, Clock())[0].wait("ann") == 0
    finally:
        held.communicate(b"!", timeout=30)
