"""An in-memory wire: client and server in one process, with the same bytes as on any other wire."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from ...server.batch import Batch
from ...server.peer import Peer
from ...server.receiver import Receiver
from ...server.reply import Reply
from ...server.work import Work
from ..errors import ConnectionLost
from ..transcript import Observer, Recorder
from .wire import NoSink, Outgoing, Sink


class MemoryWire:
    """One lasting connection to a server object."""

    is_exchange = False

    def __init__(self, server: Receiver, sink: Sink | None = None, observer: Observer | None = None) -> None:
        self._server = server
        self._sink = sink or NoSink()
        self._recorder = Recorder(observer)
        self._peer = Peer(lasting=True, caller="memory", post=self._post, limits=server.limits)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._is_begun = False
        server.join(self._peer)

    async def send(self, message: Outgoing) -> None:
        await self.send_raw(message.data)

    async def send_raw(self, data: bytes) -> None:
        if self._closed:
            raise ConnectionLost("this connection is closed")
        if self._server.life is not None and not self._is_begun:
            self._is_begun = True
            await self._server.life.hold()
        self._recorder.note("sent", "message", data)
        answer = self._server.receive(data, self._peer)
        if isinstance(answer, Reply):
            # Not within the call that sends: no other wire answers that fast, and callers rely on that.
            self._start(self._reply(answer.body))
        elif answer is not None:
            self._start(self._work(answer))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, work: Work | Batch) -> None:
        reply = await work.run(self._reply)
        if reply is not None:
            await self._reply(reply.body)

    async def _reply(self, data: bytes) -> None:
        self._post(data)

    def _post(self, data: bytes) -> bool:
        if not self._closed:
            self._recorder.note("received", "message", data)
            self._sink.arrived(data)
        return not self._closed

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._server.leave(self._peer)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._server.life is not None and self._is_begun:
            await self._server.life.release()
        self._recorder.note("received", "closed")
