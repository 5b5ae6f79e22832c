"""Work that takes long, one piece at a time in the whole process and beside the event loop.

Several pieces at once would be no faster, and everybody else would wait for all of them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="agent")


async def in_turn(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What the work returns. Work that is cancelled before its turn is not begun."""
    return await asyncio.get_running_loop().run_in_executor(_worker, lambda: work(*args, **named))
