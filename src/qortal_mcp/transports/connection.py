"""A lasting connection: messages are taken in order and processed concurrently. Shared by stdio,
WebSocket and memory, which differ only in how bytes come and go."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable

from ..server.batch import Batch
from ..server.peer import Peer, Transport
from ..server.receiver import Receiver
from ..server.reply import Reply
from ..server.work import Work

log = logging.getLogger(__name__)


class Connection:
    """One lasting peer of a server. `write` waits while the other side reads slowly; `post` never waits."""

    def __init__(
        self,
        server: Receiver,
        write: Callable[[bytes], Awaitable[None]],
        post: Callable[[bytes], bool],
        caller: Hashable,
        transport: Transport = "",
    ) -> None:
        self._server = server
        self._write = write
        self._tasks: set[asyncio.Task[None]] = set()
        # Answers that are ready and cannot be written yet, because the other side does not read.
        self._unwritten = 0
        self._written = asyncio.Event()
        # Whether no message is waiting for what the rate limit says.
        self._is_taken = asyncio.Event()
        self._is_taken.set()
        self.peer = Peer(lasting=True, caller=caller, post=post, limits=server.limits, transport=transport)
        self.peer.write = write
        server.join(self.peer)

    async def take(self, message: bytes) -> None:
        """Take one message. Call it in the order of arrival: a handshake decides what follows.

        Waits while the other side does not read its answers: nothing more is taken from it then.
        """
        while self._unwritten:
            self._written.clear()
            await self._written.wait()
        if self._server.asked_rate is None:
            answer = self._server.receive(message, self.peer)
        else:
            self._is_taken.clear()
            try:
                await self._server.ask_rate(message, self.peer)
                answer = self._server.receive(message, self.peer)
            finally:
                self._is_taken.set()
        if isinstance(answer, Reply):
            await self._write(answer.body)
        elif answer is not None:
            self._start(answer)

    def take_at_once(self, message: bytes) -> None:
        """The same for a connection whose other side has read everything: the answer is posted."""
        answer = self._server.receive(message, self.peer)
        if isinstance(answer, Reply):
            self.peer.notify(answer.body)
        elif answer is not None:
            self._start(answer)

    def _start(self, answer: Work | Batch) -> None:
        task = asyncio.get_running_loop().create_task(self._work(answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if isinstance(answer, Batch):
            # Even if it never began: what it holds is counted.
            task.add_done_callback(lambda _: answer.discard())

    async def taken(self) -> None:
        """Until the message that has arrived, if any, is worked on."""
        await self._is_taken.wait()

    async def refuse_too_long(self) -> None:
        """Answer a message that exceeded the limit; its id is not known."""
        await self._write(self._server.too_long(self.peer).body)

    async def _work(self, work: Work | Batch) -> None:
        reply = await work.run(self._write)
        if reply is None:
            return
        self._unwritten += 1
        try:
            await self._write(reply.body)
        finally:
            self._unwritten -= 1
            self._written.set()

    async def finish(self, seconds: float) -> None:
        """The peer will send nothing more: let calls in flight finish within this time, then cancel them."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        await self.drop()

    async def drop(self) -> None:
        """The peer is gone: cancel everything at once."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        self._server.leave(self.peer)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                log.error("a call of a lost connection failed", exc_info=outcome)
