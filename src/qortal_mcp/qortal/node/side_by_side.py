"""Several requests at once. If one fails, the others are cancelled: nothing keeps running after the answer was given."""

import asyncio
from collections.abc import Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar, overload

from ...server.at_once import Begun, in_a_task

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
T5 = TypeVar("T5")
T6 = TypeVar("T6")

Work = Coroutine[Any, Any, T]


@overload
async def side_by_side(one: Work[T1], two: Work[T2], /) -> tuple[T1, T2]: ...
@overload
async def side_by_side(one: Work[T1], two: Work[T2], three: Work[T3], /) -> tuple[T1, T2, T3]: ...
@overload
async def side_by_side(
    one: Work[T1], two: Work[T2], three: Work[T3], four: Work[T4], /
) -> tuple[T1, T2, T3, T4]: ...
@overload
async def side_by_side(
    one: Work[T1], two: Work[T2], three: Work[T3], four: Work[T4], five: Work[T5], /
) -> tuple[T1, T2, T3, T4, T5]: ...
@overload
async def side_by_side(
    one: Work[T1], two: Work[T2], three: Work[T3], four: Work[T4], five: Work[T5], six: Work[T6], /
) -> tuple[T1, T2, T3, T4, T5, T6]: ...
@overload
async def side_by_side(*work: Work[T]) -> list[T]: ...
async def side_by_side(*work: Work[Any]) -> Any:
    """The outcomes, in the order of the requests. Raises: what the first failure raised."""
    begun = _begun(work)
    waiting = [each for each in begun if not each.is_done]
    if waiting:
        await in_a_task()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_outcome(each)) for each in waiting]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        outcomes = map(asyncio.Task.result, tasks)
    return [each.outcome if each.is_done else next(outcomes) for each in begun]


def _begun(work: tuple[Work[T], ...]) -> list[Begun[T]]:
    """What is in memory needs no task. Raises: what the first failure raised."""
    begun: list[Begun[T]] = []
    try:
        for each in work:
            begun.append(Begun(each))
    except BaseException:
        for started in begun:
            started.close()
        for unused in work[len(begun) :]:
            unused.close()
        raise
    return begun


async def _outcome(begun: Begun[T]) -> T:
    return await begun


async def a_few_at_once(work: Iterable[Work[T]], at_once: int) -> list[T]:
    """The same for any number of requests, a few at a time: the rest of the node's queue is for others."""
    outcomes: list[T] = []
    coming = iter(work)
    while batch := list(islice(coming, at_once)):
        outcomes += await side_by_side(*batch)
    return outcomes
