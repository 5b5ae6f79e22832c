"""Async functions that are begun where their request was read: a task for what is in memory costs more than the answer.

A function runs until it first has to wait; a task runs the rest. What needs a task from its first line on, as time-outs
and groups of tasks do, waits for `in_a_task` before.
"""

import types
from collections.abc import Coroutine, Generator
from contextvars import ContextVar
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_beginning: ContextVar[bool] = ContextVar("beginning", default=False)


class Begun(Generic[T]):
    """A coroutine that has run as far as it gets without waiting. Await it in a task for the rest, if there is one.

    Raises: what it raised until then.
    """

    __slots__ = ("_coroutine", "_waits_for", "is_done", "outcome")
    outcome: T

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self.is_done = False
        token = _beginning.set(True)
        try:
            self._waits_for = coroutine.send(None)
        except StopIteration as end:
            self.outcome = end.value
            self.is_done = True
        finally:
            _beginning.reset(token)

    def __await__(self) -> Generator[Any, Any, T]:
        if self.is_done:
            return self.outcome
        coroutine, waits_for = self._coroutine, self._waits_for
        go_on = partial(coroutine.send, None)
        while True:
            if waits_for is not None:  # otherwise it only wanted others to have their turn, and they had it
                try:
                    go_on = partial(coroutine.send, (yield waits_for))
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as exc:
                    go_on = partial(coroutine.throw, exc)
            try:
                waits_for = go_on()
            except StopIteration as end:
                outcome: T = end.value
                return outcome
            go_on = partial(coroutine.send, None)

    def close(self) -> None:
        """Nobody wants the rest."""
        self._coroutine.close()


@types.coroutine
def in_a_task() -> Generator[None, None, None]:
    """Go on in a task."""
    if _beginning.get():
        yield
