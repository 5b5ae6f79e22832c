"""Long work of several questions: one piece at a time, and never in the way of the event loop."""

import asyncio
import threading

from qortal_mcp.agent.in_turn import in_turn


async def test_work_is_done_one_piece_at_a_time_beside_the_event_loop() -> None:
    running = threading.Lock()

    def work(number: int) -> tuple[int, bool]:
        alone = running.acquire(blocking=False)
        if alone:
            sum(range(50_000))
            running.release()
        return number, alone and threading.current_thread() is not threading.main_thread()

    assert await asyncio.gather(*(in_turn(work, number) for number in range(20))) == [
        (number, True) for number in range(20)
    ]


async def test_work_that_is_cancelled_before_its_turn_is_not_begun() -> None:
    may_end = threading.Event()
    begun: list[int] = []
    first = asyncio.create_task(in_turn(may_end.wait, 30.0))
    second = asyncio.create_task(in_turn(begun.append, 2))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    may_end.set()
    assert await first
    await in_turn(begun.append, 3)
    assert begun == [3]
