"""Several requests in one message: 2025-03-26 has them, no other revision does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..protocol import errors, jsonrpc
from .context import Send
from .peer import Peer
from .reply import Reply, refusal
from .work import Work

if TYPE_CHECKING:
    from .receiver import Receiver


class Batch:
    """The answers to a batch of 2025-03-26, worked on side by side.

    Answers that are ready wait for the others. Meanwhile each counts as a request that is worked on, and their bytes
    are limited, for the batch and for all batches together; what would come after that is refused, one by one.
    """

    streams = False
    legacy = True
    may_send = True

    def __init__(self, server: Receiver, peer: Peer) -> None:
        self._server = server
        self._peer = peer
        self._answers: list[Reply | Work] = []
        self._ready = 0
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether its answers have become so large that there is no room for another."""
        limits = self._server.limits
        return self._bytes >= limits.batch_reply_bytes or self._server.batched.bytes >= limits.unread_bytes

    @staticmethod
    def no_room(id_: jsonrpc.RequestId) -> Reply:
        return refusal(errors.INTERNAL_ERROR, "the answers of this batch are too large", id_, 503, 1.0)

    def add(self, answer: Reply | Work) -> None:
        self._answers.append(answer)
        if isinstance(answer, Reply):
            self._count(1, len(answer.body))

    def _count(self, replies: int, size: int) -> None:
        self._ready += replies
        self._bytes += size
        self._peer.busy += replies
        self._server.batched.add(replies, size)

    def outcome(self) -> Reply | Batch | None:
        """The batch if there is work to do, else its answer; None if nothing is to be answered."""
        if any(isinstance(answer, Work) for answer in self._answers):
            return self
        replies = [answer for answer in self._answers if isinstance(answer, Reply)]
        self.discard()
        return _joined(replies)

    async def run(self, send: Send, close_stream: Callable[[], None] | None = None) -> Reply | None:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._finish(answer, send)) if isinstance(answer, Work) else answer
                    for answer in self._answers
                ]
            replies = [task.result() if isinstance(task, asyncio.Task) else task for task in tasks]
            return _joined([reply for reply in replies if reply is not None])
        finally:
            self.discard()

    async def _finish(self, work: Work, send: Send) -> Reply | None:
        reply = await work.run(send)
        if reply is None:
            return None
        if self.is_full:
            reply = self.no_room(work.call.request.id)
        self._count(1, len(reply.body))
        return reply

    def discard(self) -> None:
        """It will not be run, or not any longer."""
        self._count(-self._ready, -self._bytes)
        self._answers = []

    def cancelled_reply(self) -> Reply:
        return refusal(errors.REQUEST_CANCELLED, "Every request of the batch was cancelled", None, 200)


class Batched:
    """Answers that are ready and wait for the rest of their batch, over all batches of the process."""

    def __init__(self) -> None:
        self.replies = 0
        self.bytes = 0

    def add(self, replies: int, size: int) -> None:
        self.replies += replies
        self.bytes += size


def _joined(replies: list[Reply]) -> Reply | None:
    return Reply(b"[%b]" % b",".join([reply.body for reply in replies])) if replies else None
