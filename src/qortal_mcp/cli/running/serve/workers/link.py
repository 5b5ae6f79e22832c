"""A worker's connection to the process that looks after it: what it is told, and what it asks for."""

import asyncio
import contextlib
import itertools
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AsyncExitStack

from ..... import logs
from .....console.asking.allowance import Place, Refusal
from .....console.auditing.places import Busy
from .....one_of_several import OneOfSeveral
from . import messages

log = logging.getLogger(__name__)

# The process that is asked does nothing that takes long.
_ANSWER_SECONDS = 2.0
# How long a worker looks at its node before it leaves its numbers, old ones if need be.
_LOOK_SECONDS = 0.5
# What is shown of an idle worker is left this often, so that little is lost if it dies.
_SHOW_SECONDS = 10.0


class Link:
    """Lives as long as the application."""

    def __init__(
        self,
        sock: socket.socket,
        among: OneOfSeveral,
        renew_token: Callable[[str], None],
        say_leaving: Callable[[], None],
    ) -> None:
        self._sock = sock
        self._among = among
        self._renew_token = renew_token
        self._say_leaving = say_leaving
        self._ids = itertools.count(1)
        self._asked: dict[int, asyncio.Future[messages.Answer]] = {}
        self._writer: asyncio.StreamWriter | None = None
        # Brings up to date what this worker shows.
        self.look: Callable[[], Awaitable[None]] | None = None
        # Says what is read, and whether it works.
        self.report: Callable[[], None] = lambda: None

    async def live(self, stack: AsyncExitStack) -> None:
        reader, self._writer = await asyncio.open_unix_connection(sock=self._sock, limit=messages.LINE_BYTES)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._say, messages.Leaving())
        self._among.look_at_all = self._look_at_all
        for task in (loop.create_task(self._listen(reader)), loop.create_task(self._show_on())):
            stack.callback(task.cancel)
        stack.callback(self._among.show)

    def ready(self) -> None:
        self._say(messages.Ready())

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Until the other side is gone, which also ends what is handed over, and so the worker."""
        looking: set[asyncio.Task[None]] = set()
        with contextlib.suppress(OSError):
            while text := await reader.readline():
                message = messages.to_worker(text)
                if isinstance(message, messages.Show):
                    task = asyncio.get_running_loop().create_task(self._show(message.ticket))
                    looking.add(task)
                    task.add_done_callback(looking.discard)
                elif isinstance(message, messages.Report):
                    self.report()
                elif isinstance(message, messages.Renew):
                    self._renew(message)
                elif isinstance(message, messages.Leave):
                    self._say_leaving()
                elif isinstance(message, messages.Answer):
                    future = self._asked.pop(message.id, None)
                    if future is not None and not future.done():
                        future.set_result(message)

    def _renew(self, message: messages.Renew) -> None:
        if message.token is not None:
            self._renew_token(message.token)
        if message.log is not None:
            logs.configure(message.log.log_level, message.log.log_format)
        self._say(messages.Renewed())

    # Numbers.

    async def _show(self, ticket: int) -> None:
        await self._look()
        self._among.show()
        self._say(messages.Shown(ticket))

    async def _show_on(self) -> None:
        while True:
            await asyncio.sleep(_SHOW_SECONDS)
            self._among.show()

    async def _look(self) -> None:
        if self.look is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self.look()

    async def _look_at_all(self) -> None:
        """One that does not answer in time is shown as it was."""
        asked = self._ask(messages.Look(next(self._ids)))
        await asyncio.gather(self._look(), asyncio.wait([asked], timeout=_ANSWER_SECONDS))

    # Places.

    def _ask(self, message: messages.Asked) -> asyncio.Future[messages.Answer]:
        future = self._asked[message.id] = asyncio.get_running_loop().create_future()
        self._say(message)
        return future

    def _say(self, message: messages.FromWorker) -> None:
        if self._writer is not None:
            self._writer.write(messages.line(message))

    async def _answer(
        self, message: messages.Asked, too_late: Callable[[messages.Answer], None]
    ) -> messages.Answer | None:
        """None if it takes too long. What is answered to somebody who has left is given back."""
        asked = self._ask(message)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await asyncio.shield(asked)
        except BaseException as exc:
            asked.add_done_callback(lambda done: None if done.cancelled() else too_late(done.result()))
            if isinstance(exc, TimeoutError):
                return None
            raise

    async def take_question(self, caller: Hashable, tokens: int | None, seconds: float) -> Place | Refusal:
        def too_late(answer: messages.Answer) -> None:
            if answer.place is not None:
                self.give_question(answer.place, 0, 0)

        message = messages.TakeQuestion(next(self._ids), str(caller), tokens, seconds)
        answer = await self._answer(message, too_late)
        if answer is None:
            return Refusal("The server is too busy for a question. Try again in a moment.", _ANSWER_SECONDS)
        if answer.refusal is not None:
            return answer.refusal
        assert answer.place is not None, "one of the two"
        return answer.place

    def give_question(self, place: Place, calls: int, tokens: int) -> None:
        self._say(messages.GiveQuestion(place.number, calls, tokens))

    async def take_audit(self, caller: Hashable) -> Busy | None:
        def too_late(answer: messages.Answer) -> None:
            if answer.busy is None:
                self.give_audit(caller)

        answer = await self._answer(messages.TakeAudit(next(self._ids), str(caller)), too_late)
        return "full" if answer is None else answer.busy

    def give_audit(self, caller: Hashable) -> None:
        self._say(messages.GiveAudit(str(caller)))


class Questions:
    """The allowance of callers, kept by the process that looks after all workers."""

    def __init__(self, link: Link) -> None:
        self.take = link.take_question
        self.give_back = link.give_question


class Audits:
    """The places for audits, kept there as well."""

    def __init__(self, link: Link) -> None:
        self.take = link.take_audit
        self.give_back = link.give_audit
