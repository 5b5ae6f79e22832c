"""One server whose tools are offered: its connection, opened again when it was lost, and its list of tools.

A call that may have run is never sent twice. Servers that make known mistakes are read with the repairs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias
from urllib.parse import urlsplit

from msgspec.structs import replace

from ...client.client import Client
from ...client.errors import (
    ClientError,
    ConnectionLost,
    HttpRefused,
    RequestTimeout,
    ServerError,
)
from ...client.options import Options
from ...client.pending import Reply
from ...protocol import errors
from ...protocol.jsonrpc import Notification
from ...protocol.messages import ListenFilter
from ...protocol.versions import NEWEST_HANDSHAKE
from ...repairs.chosen import Repairs
from ...repairs.subjects import Asked
from ...text import printable
from . import failures
from .failures import Unavailable
from .last_lines import LastLines
from .listing import LIST, Connection, list_tools
from .offer import Offer, Tool
from .results import Seen, read_reply

if TYPE_CHECKING:
    from ...server.receiver import Receiver

log = logging.getLogger(__name__)

Target: TypeAlias = "str | Sequence[str] | Receiver"

# A reply with another id is not taken for the answer. Of a member that occurs twice, decoding keeps the last one anyway.
_MESSAGES = Repairs("all", without=("rpc-id-wrong", "json-duplicate-member"))
_CALL = "tools/call"
_LIST_CHANGED = "notifications/tools/list_changed"
# Names of methods in an older dialect.
_OLD_NAMES = {LIST: "list_tools", _CALL: "call_tool"}
_LABEL_CHARS = 40
_CLOSE_SECONDS = 10.0


class ToolServer:
    """A server behind a URL, a command or in this process. Methods never raise because of what it does."""

    def __init__(
        self,
        target: Target,
        *,
        label: str = "",
        options: Options | None = None,
        mask: Callable[[str], str] = str,
        is_ours: bool = False,
        read_only: bool = False,
    ) -> None:
        """`mask` takes secrets out of what is shown of the server. `is_ours`: its tools never change. `read_only`: only
        tools that declare themselves read-only are offered.
        """
        self.is_ours = is_ours
        self._read_only = read_only
        self.tools: tuple[Tool, ...] = ()
        # Why it cannot be used; empty if it can.
        self.problem = ""
        self.label = _label(label) or _target_name(target)
        self._has_own_label = bool(_label(label))
        self._target = target
        self._mask = mask
        self._stderr = LastLines(mask)
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()
        self._is_outdated = False
        self._is_closed = False
        self._listening: asyncio.Task[None] | None = None
        self._options = replace(
            options or Options(),
            on_notification=self._notified,
            on_stderr=self._stderr.take,
            reading=_MESSAGES.messages,
            forgives=_MESSAGES.codes,
            splitter=_MESSAGES.lines,
            handshake=self._shaken,
        )

    async def open(self, seconds: float) -> None:
        """Connect and list the tools; `problem` says if that was not possible."""
        with contextlib.suppress(Unavailable):
            await self._ready(seconds)

    async def refresh(self, seconds: float) -> None:
        """List the tools again if they may have changed; connect again if there is no connection."""
        connection = self._connection
        if connection is None or connection.client.is_lost:
            await self.open(seconds)
        elif self._may_have_changed(connection):
            await self._list_again(connection, seconds)

    async def catch_up(self, seconds: float) -> None:
        """The same, but only if the server said that its tools have changed, refused one, or was not there for a call."""
        if self._is_outdated:
            await self.refresh(seconds)

    def _may_have_changed(self, connection: Connection) -> bool:
        if self._is_outdated:
            return True
        if self.is_ours:
            return False
        if connection.is_modern:
            return self._listening is None or self._listening.done()
        # Over HTTP, a notice gets lost if there is no standing stream, or while the server is started again.
        return connection.client.wire.is_exchange or not connection.declares_changes

    async def call(self, offer: Offer, arguments: dict[str, Any], seconds: float) -> Seen:
        """Call a tool, in at most so many seconds."""
        connection: Connection | None = None
        try:
            async with asyncio.timeout(seconds):
                connection = await self._ready(seconds)
                params = {"name": offer.tool, "arguments": arguments}
                reply = await connection.client.request(connection.named(_CALL), params, timeout=seconds)
        except (TimeoutError, RequestTimeout):
            return _failed(failures.timed_out(offer.name, seconds))
        except ServerError as exc:
            if exc.code in (errors.INVALID_PARAMS, errors.METHOD_NOT_FOUND):
                self._is_outdated = True  # the tool may be gone
            assert connection is not None, "only a connected server answers"
            return read_reply(None, exc.raw, connection.asked(_CALL), changes=exc.changes)
        except ClientError as exc:
            self._is_outdated |= isinstance(exc, ConnectionLost)
            return _failed(failures.of_call(exc, self.label, self._mask))
        return read_reply(
            reply.result,
            None,
            connection.asked(_CALL),
            output_schema=offer.output_schema,
            changes=reply.changes,
        )

    async def close(self) -> None:
        """End the connection, and the program if it is one. Never takes longer than some seconds."""
        self._is_closed = True
        await self._drop()

    async def _ready(self, seconds: float) -> Connection:
        """The connection, opened if there is none.

        Raises: Unavailable.
        """
        async with self._opening:
            connection = self._connection
            if connection is not None and not connection.client.is_lost:
                return connection
            if self._is_closed:
                raise Unavailable(self._closed())
            await self._drop()
            try:
                connection = await self._open(seconds)
            except ClientError as exc:
                self._fail(failures.of_opening(exc, self.label, self._mask, self._stderr.text))
            except Exception:
                # One server must not cost the others, not even by a mistake of ours.
                log.exception("internal error", extra={"qortal_mcp.server": self.label})
                self._fail(f"{self.label} cannot be used: its answers cannot be processed.")
            if self._is_closed:  # meanwhile
                self.tools = ()
                await _close(connection.client)
                raise Unavailable(self._closed())
            self._connection, self.problem = connection, ""
            self._listen(connection)
            return connection

    def _fail(self, sentence: str) -> NoReturn:
        self.tools, self.problem = (), sentence
        raise Unavailable(sentence)

    def _closed(self) -> str:
        return f"The connection to {self.label} is closed."

    async def _open(self, seconds: float) -> Connection:
        """Raises: ClientError."""
        self._stderr.clear()
        self._is_outdated = False
        client = Client(self._target, self._options)
        try:
            async with asyncio.timeout(seconds):
                await client.open("auto")
                connection, tools = await self._list_first(client)
        except TimeoutError:
            await _close(client)
            raise RequestTimeout("initialize", seconds) from None
        except BaseException:
            # Only then everything is known that a program wrote.
            await _close(client)
            raise
        self.tools = tools
        info = client.terms.info
        if not self._has_own_label and info is not None:
            title = info.title if isinstance(info.title, str) else ""
            self.label = _label(info.name) or _label(title) or self.label
        return connection

    def _shaken(self, answer: Reply | ServerError) -> Reply:
        """The answer to `initialize` as it should have been. Raises: ServerError."""
        asked = Asked(revision=NEWEST_HANDSHAKE, method="initialize")
        result, error = (answer.result, None) if isinstance(answer, Reply) else (None, answer.raw)
        outcome = _MESSAGES.handshake(result, error, asked, _target_name(self._target), answer.changes)
        if outcome.result is not None:
            return Reply(outcome.result, answer.raw if isinstance(answer, Reply) else b"")
        assert isinstance(answer, ServerError), "a result stays one"
        raise answer

    async def _list_first(self, client: Client) -> tuple[Connection, tuple[Tool, ...]]:
        """Find out how the server calls its methods. Raises: ClientError."""
        usual = Connection(client=client, names={})
        try:
            return usual, await self._listed(usual)
        except ServerError as exc:
            if exc.code != errors.METHOD_NOT_FOUND:
                raise
            older = Connection(client=client, names=_OLD_NAMES)
            try:
                return older, await self._listed(older)
            except ServerError:
                if "tools" in client.terms.capabilities:
                    raise exc from None
                return usual, ()  # it does not claim to have any

    async def _listed(self, connection: Connection) -> tuple[Tool, ...]:
        """Raises: ClientError."""
        tools = await list_tools(connection, self._options.limits, self._mask)
        return tuple(tool for tool in tools if tool.is_read_only or not self._read_only)

    async def _list_again(self, connection: Connection, seconds: float) -> None:
        self._is_outdated = False
        try:
            async with asyncio.timeout(seconds):
                self.tools = await self._listed(connection)
        except ConnectionLost as exc:
            if isinstance(exc, HttpRefused) and exc.status < 500:
                self._keep(exc)
                return
            self._connection = None
            await _close(connection.client)
            await self.open(seconds)
        except (TimeoutError, ClientError) as exc:
            self._keep(exc)
        except Exception as exc:
            log.exception("internal error", extra={"qortal_mcp.server": self.label})
            self._keep(exc)

    def _keep(self, error: Exception) -> None:
        """The list cannot be read now: the tools of the one before may still work."""
        self._is_outdated = True
        log.info("the tools cannot be listed again", extra={"qortal_mcp.reason": self._mask(str(error))})

    def _notified(self, notification: Notification) -> None:
        if notification.method == _LIST_CHANGED:
            self._is_outdated = True

    def _listen(self, connection: Connection) -> None:
        """Hear of changes from a server of the modern era that offers that."""
        if connection.is_modern and connection.declares_changes:
            self._listening = asyncio.get_running_loop().create_task(self._hear(connection.client))

    async def _hear(self, client: Client) -> None:
        with contextlib.suppress(ClientError):
            async with client.listen(ListenFilter(toolsListChanged=True)) as subscription:
                self._is_outdated = True  # what changed before it began was not said
                async for notification in subscription:
                    self._notified(notification)
        self._is_outdated = True  # nobody would say so any more

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        listening, self._listening = self._listening, None
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        if connection is not None:
            await _close(connection.client)


async def _close(client: Client) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await client.close()


def _failed(text: str) -> Seen:
    return Seen(text=text, ok=False)


def _label(text: str) -> str:
    shown = printable(" ".join(text.split()))
    return shown if len(shown) <= _LABEL_CHARS else f"{shown[: _LABEL_CHARS - 1]}…"


def _target_name(target: Target) -> str:
    """What a target is called without its secrets: its host or its program."""
    if isinstance(target, str):
        try:
            parts = urlsplit(target)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return "server"
        return _label(f"{host}:{port}" if port else host) or "server"
    if isinstance(target, Sequence):
        return _label(os.path.basename(target[0]) if target else "") or "server"
    return "server"
