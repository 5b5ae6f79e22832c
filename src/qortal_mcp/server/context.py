"""What a tool, prompt or resource can do besides returning: report progress, log, ask the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..protocol import errors, jsonrpc
from ..protocol.messages import LOG_LEVELS, ClientCapabilities, LogLevel, ProgressToken

if TYPE_CHECKING:
    from .asking import Question, Questions
    from .peer import Peer
    from .receiver import Receiver

Send = Callable[[bytes], Awaitable[None]]
_encode = msgspec.json.Encoder().encode


class _Progress(Struct, omit_defaults=True):
    progressToken: ProgressToken
    progress: float
    total: float | UnsetType = UNSET
    message: str | UnsetType = UNSET


class _Log(Struct, omit_defaults=True):
    level: LogLevel
    data: Any
    logger: str | UnsetType = UNSET


class Context:
    """The current request. Made by the server; a function gets it by having a parameter of this type."""

    __slots__ = (
        "_last_progress",
        "_send",
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
        self._last_progress: float | None = None

    def watch(self, seen: Callable[[bytes], None]) -> None:
        """Show somebody every message that is sent from now on."""
        send = self._send

        async def shown(message: bytes) -> None:
            seen(message)
            await send(message)

        self._send = shown

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is. Sends nothing if the client did not ask, or if it did not grow."""
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

    async def log(self, level: LogLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message to the client, if it wants this level."""
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

    async def ask(self, questions: dict[str, Question]) -> dict[str, Any]:
        """Ask the client one or several things at once; the keys name the answers.

        In the legacy era these are requests of ours. In the modern one the whole call ends with the questions
        and is made again with the answers: the function then runs from its start, so do nothing lasting
        before the last question.
        """
        from .asking import ask

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
            if left is not None and not self.deadline.expired():
                self.deadline.reschedule(now() + left)

    async def send(self, message: bytes) -> None:
        """Put a message of ours on this request's stream."""
        await self._send(message)


def missing_capability(wanted: dict[str, Any]) -> errors.ProtocolError:
    names = ", ".join(wanted)
    return errors.ProtocolError(
        errors.MISSING_CAPABILITY, f"The client must declare: {names}", {"requiredCapabilities": wanted}
    )
