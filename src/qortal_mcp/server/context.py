"""What a tool, prompt or resource can do besides returning: report progress, log, ask the client."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..protocol import errors, jsonrpc
from ..protocol.messages import LOG_LEVELS, ClientCapabilities, LogLevel, ProgressToken

if TYPE_CHECKING:
    from .asking import Question, Questions
    from .peer import Peer
    from .receiver import Receiver

T = TypeVar("T")
Send = Callable[[bytes], Awaitable[None]]
_encode = msgspec.json.Encoder().encode
_OVER = "the call is over: it was cancelled, or took too long"


class _Progress(Struct, omit_defaults=True):
    progressToken: ProgressToken
    progress: float
    total: float | UnsetType = UNSET
    message: str | UnsetType = UNSET


class _Log(Struct, omit_defaults=True):
    level: LogLevel
    data: Any
    logger: str | UnsetType = UNSET


class _Done:
    """For a function in a thread that was already waited for: awaiting it is not needed."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


_DONE = _Done()


class Context:
    """The current request. Made by the server; a function gets it by having a parameter of this type."""

    __slots__ = (
        "_asked",
        "_is_over",
        "_last_progress",
        "_loop",
        "_send",
        "_waiting",
        "capabilities",
        "close_stream",
        "deadline",
        "log_level",
        "peer",
        "progress_token",
        "questions",
        "request_id",
        "revision",
        "server",
    )

    def __init__(
        self,
        *,
        server: Receiver,
        peer: Peer,
        revision: str,
        request_id: jsonrpc.RequestId,
        capabilities: ClientCapabilities,
        send: Send,
        progress_token: ProgressToken | UnsetType = UNSET,
        log_level: LogLevel | None = None,
        questions: Questions | None = None,
        close_stream: Callable[[], None] | None = None,
    ) -> None:
        self.server = server
        self.peer = peer
        self.revision = revision
        self.request_id = request_id
        self.capabilities = capabilities
        self.progress_token = progress_token
        self.log_level = log_level
        self.questions = questions
        # Legacy HTTP sessions only: close the connection of this reply; the client fetches it later.
        self.close_stream = close_stream or (lambda: None)
        # Set while the work is under a time limit.
        self.deadline: asyncio.Timeout | None = None
        self._send = send
        self._asked = 0
        self._last_progress: float | None = None
        # The loop of the server while the function runs in a thread.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_over = False
        self._waiting: concurrent.futures.Future[Any] | None = None

    def watch(self, seen: Callable[[bytes], None]) -> None:
        """Show somebody every message that is sent from now on."""
        send = self._send

        async def shown(message: bytes) -> None:
            seen(message)
            await send(message)

        self._send = shown

    @property
    def lifespan(self) -> Any:
        """The value of the server's lifespan."""
        return self.server.lifespan

    def used_in_thread(self) -> None:
        """The function runs in a thread from here on."""
        self._loop = asyncio.get_running_loop()

    def end(self) -> None:
        """The call is over: nothing is sent any more."""
        self._is_over = True
        if self._waiting is not None:
            self._waiting.cancel()

    def wait(self, work: Awaitable[T]) -> T:
        """For a plain function: wait for something that only the server's loop can do, such as `ctx.ask`.

        Raises: asyncio.CancelledError if the call is over; RuntimeError in an `async` function.
        """
        if self._loop is None or _is_on_a_loop():
            _never_run(work)
            raise RuntimeError("ctx.wait is for plain functions, which run in a thread; use await here")
        if self._is_over or self._loop.is_closed():
            _never_run(work)
            raise asyncio.CancelledError(_OVER)

        async def awaited() -> T:
            return await work

        waiting = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        self._waiting = waiting
        if self._is_over:  # it ended just now, and did not see that somebody waits
            waiting.cancel()
        try:
            return waiting.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError(_OVER) from None

    def _said(self, work: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """Something to await; in a thread it is done already."""
        if self._loop is None or _is_on_a_loop():
            return work
        self.wait(work)
        return _DONE

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Tell the client how far the work is. Sends nothing if the client did not ask, or if it did not grow.

        Await it, except in a plain function.
        """
        return self._said(self._progress(progress, total, message))

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        if self.progress_token is UNSET:
            return
        if self._last_progress is not None and progress <= self._last_progress:
            return
        self._last_progress = progress
        body = _Progress(
            self.progress_token,
            progress,
            UNSET if total is None else total,
            UNSET if message is None else message,
        )
        await self._send(jsonrpc.notification("notifications/progress", _encode(body)))

    def log(self, level: LogLevel, data: Any, logger: str | None = None) -> Awaitable[None]:
        """Send a log message to the client, if it wants this level. Await it, except in a plain function."""
        return self._said(self._log(level, data, logger))

    async def _log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        if self.log_level is None or LOG_LEVELS.index(level) < LOG_LEVELS.index(self.log_level):
            return
        body = _Log(level, data, UNSET if logger is None else logger)
        await self._send(jsonrpc.notification("notifications/message", _encode(body)))

    def require(self, capability: str) -> None:
        """Insist on something the client must have declared.

        Raises: ProtocolError with the code of a missing capability.
        """
        if not self.capabilities.has(capability):
            raise missing_capability({capability: {}})

    @overload
    async def ask(self, questions: dict[str, Question]) -> dict[str, Any]: ...
    @overload
    async def ask(self, questions: str, form: type[T]) -> T | None: ...
    async def ask(self, questions: dict[str, Question] | str, form: Any = None) -> Any:
        """Ask the client one or several things at once; the keys name the answers.

        `ask("Your name?", Person)` asks the person for one thing: an instance of the type, or None if they did not answer.

        In the legacy era these are requests of ours. In the modern one the whole call ends with the questions
        and is made again with the answers: the function then runs from its start, so do nothing lasting
        before the last question.
        """
        from .asking import ask, elicit

        if isinstance(questions, str):
            # The function runs again from its start with the answers: the same question has the same number then.
            self._asked += 1
            key = f"question-{self._asked}"
            answer = (await self.ask({key: elicit(questions, form)}))[key]
            return answer.content if answer.action == "accept" else None
        if self.deadline is None:
            return await ask(self, questions)
        # A person may take longer than a tool may: the clock stands still meanwhile.
        now = asyncio.get_running_loop().time
        until = self.deadline.when()
        left = None if until is None else until - now()  # None while another question stopped the clock
        self.deadline.reschedule(None)
        try:
            return await ask(self, questions)
        finally:
            if left is not None and not (self._is_over or self.deadline.expired()):
                self.deadline.reschedule(now() + left)

    async def send(self, message: bytes) -> None:
        """Put a message of ours on this request's stream."""
        await self._send(message)


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _never_run(work: Awaitable[Any]) -> None:
    """Drop it without the warning that it was not awaited: an error says why."""
    if isinstance(work, Coroutine):
        work.close()


def missing_capability(wanted: dict[str, Any]) -> errors.ProtocolError:
    names = ", ".join(wanted)
    return errors.ProtocolError(
        errors.MISSING_CAPABILITY, f"The client must declare: {names}", {"requiredCapabilities": wanted}
    )
