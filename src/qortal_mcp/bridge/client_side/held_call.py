"""A call of a modern client whose old server may ask something in between.

2026-07-28 has no requests from servers: the client's request ends with the questions, and comes back with the answers.
The server knows nothing of that. It is waiting for its answer, so its call is held here until the client is back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from ...client.pending import Reply
from ...protocol import errors
from ..eras import INPUT_REQUIRED

if TYPE_CHECKING:
    from ..connections import Behind
    from .open_call import OpenCall

_encode = msgspec.json.Encoder().encode
# Nobody notices it beside the time that an answer takes.
_MOMENT_SECONDS = 0.05
_MOST_MOMENTS = 5


class Questions(Reply, frozen=True):
    """What a client gets in place of an answer."""


class _Question(Struct, frozen=True):
    method: str
    params: Raw
    answer: asyncio.Future[Raw]


class HeldCall:
    """One call to the server, and the questions that are open in it."""

    def __init__(self, call: OpenCall, behind: Behind, work: Coroutine[Any, Any, Reply]) -> None:
        self.call = call
        self.behind = behind
        call.held = self
        self._questions: dict[str, _Question] = {}
        self._asked = 0
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Reply]) -> None:
        if not task.cancelled():
            task.exception()  # retrieved: the client may never come back for it
        self._news.set()

    async def ask(self, method: str, params: Raw, seconds: float) -> Raw:
        """A question of the server. Raises: ProtocolError if the client cannot be asked; TimeoutError."""
        self._asked += 1
        key = f"question-{self._asked}"
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._questions[key] = _Question(method, params, answer)
        self._news.set()
        try:
            async with asyncio.timeout(seconds):
                return await answer
        finally:
            self._questions.pop(key, None)

    async def outcome(self) -> Reply | None:
        """The server's answer; None if it asks something before that. Whoever stops waiting ends the call.

        Raises: ClientError.
        """
        try:
            while not self._task.done() and not await self._has_asked():
                pass
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self._task.result() if self._task.done() else None

    async def _has_asked(self) -> bool:
        """Wait for news. A server that asks several things at once sends one question after the other: they belong into
        one round.
        """
        while not self._task.done() and not self._questions:
            self._news.clear()
            await self._news.wait()
        for _ in range(_MOST_MOMENTS):
            asked = self._asked
            await asyncio.sleep(0 if self._task.done() else _MOMENT_SECONDS)
            if asked == self._asked:
                break
        return bool(self._questions)

    def questions(self, state: str) -> Questions:
        """What ends the client's request: the open questions, and what it has to bring back."""
        asked = {key: {"method": one.method, "params": one.params} for key, one in self._questions.items()}
        body = _encode({"resultType": INPUT_REQUIRED, "inputRequests": asked, "requestState": state})
        return Questions(Raw(body), body)

    def answer(self, given: dict[str, Raw]) -> None:
        """What the client brought back. Questions without an answer stay open."""
        for key in [key for key in self._questions if key in given]:
            question = self._questions.pop(key)
            if not question.answer.done():
                question.answer.set_result(given[key])

    def refuse(self, why: str) -> None:
        """The client cannot be asked."""
        for question in self._questions.values():
            if not question.answer.done():
                question.answer.set_exception(errors.ProtocolError(errors.INTERNAL_ERROR, why))
        self._questions.clear()

    def cancel(self) -> None:
        """Nobody wants the answer any more."""
        self._task.cancel()
