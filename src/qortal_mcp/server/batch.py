"""Several requests in one message: 2025-03-26 has them, no other revision does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..protocol import errors
from .context import Send
from .reply import Reply, refusal
from .work import Work


class Batch:
    """The answers to a batch of 2025-03-26, worked on side by side."""

    streams = False
    legacy = True
    may_send = True

    def __init__(self, answers: list[Reply | Work]) -> None:
        self._answers = answers

    async def run(self, send: Send, close_stream: Callable[[], None] | None = None) -> Reply | None:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(answer.run(send)) if isinstance(answer, Work) else answer
                for answer in self._answers
            ]
        replies = [task.result() if isinstance(task, asyncio.Task) else task for task in tasks]
        bodies = [reply.body for reply in replies if reply is not None]
        return Reply(b"[%b]" % b",".join(bodies)) if bodies else None

    def discard(self) -> None:
        for answer in self._answers:
            if isinstance(answer, Work):
                answer.discard()

    def cancelled_reply(self) -> Reply:
        return refusal(errors.REQUEST_CANCELLED, "Every request of the batch was cancelled", None, 200)
