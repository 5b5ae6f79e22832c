"""A server that is not ours, asked through a bridge in this process: transports, eras, clocks and repairs are its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import click
from msgspec import UNSET, Raw

from .... import __version__
from ....audit import secrets
from ....bridge.bridge import Bridge
from ....protocol import errors, jsonrpc
from ....protocol.decoding import decoder
from ....protocol.errors import ErrorObject
from ....protocol.jsonrpc import UNREADABLE
from ....protocol.versions import NEWEST_HANDSHAKE
from ....repairs import values
from ....repairs.repair import Change
from ....text import visible
from ....transports.memory import MemoryConnection
from ...output import terminal
from ...output.progress import Progress, in_words
from ..bridge.bridging import bridge_of
from ..own_server import SLOW_SECONDS, Response
from .chosen import OtherServer
from .refusals import ERROR_KEY, refused

# More than one line of them says little more.
_MOST_CODES = 20
_HELLO = {
    "protocolVersion": NEWEST_HANDSHAKE,
    # Nobody answers questions here: what the server asks is refused.
    "capabilities": {},
    "clientInfo": {"name": "qortal-mcp", "version": __version__},
}
_decode_error = decoder(ErrorObject)


@asynccontextmanager
async def connected(chosen: OtherServer) -> AsyncIterator[Other]:
    """The server after its handshake. What was repaired is said at the end. Raises: Undetermined."""
    bridge = bridge_of(chosen.way, error_key=ERROR_KEY)
    repaired: list[Change] = []
    bridge.journal.on_change = lambda change, tool: repaired.append(change)
    shows_tools = False
    try:
        async with MemoryConnection(bridge) as connection:
            other = Other(chosen, bridge, connection)
            await other.open()
            yield other
            shows_tools = other.shows_tools
    finally:
        await bridge.shut()
        # The bridge reads the list of tools in any case; what was wrong in it matters to those who see it.
        seen = (one for one in repaired if shows_tools or not one.path.startswith("tools"))
        _say(list(dict.fromkeys(one.code for one in seen)))


def _say(codes: list[str]) -> None:
    if codes:
        more = f" and {len(codes) - _MOST_CODES} more" if len(codes) > _MOST_CODES else ""
        click.echo(f"Repaired: {', '.join(codes[:_MOST_CODES])}{more} (docs/bridge.md).", err=True)


class Other:
    """One client in front of the bridge, with one question at a time."""

    def __init__(self, chosen: OtherServer, bridge: Bridge, connection: MemoryConnection) -> None:
        self._chosen = chosen
        self._bridge = bridge
        self._connection = connection
        self._progress = Progress()
        self._ids = iter(range(1, 1_000_000))
        self._is_slow = False
        # What the server says about itself.
        self.info: dict[str, Any] = {}
        # Whether the list of tools is what the command is about.
        self.shows_tools = False

    async def open(self) -> None:
        """Raises: Undetermined."""
        response = await self.ask("initialize", _HELLO)
        if response.error is not UNSET:
            raise refused(self._chosen, response.error)
        await self._connection.send(jsonrpc.notification("notifications/initialized", None))
        opened = values.read(response.result)
        info = opened.get("serverInfo") if isinstance(opened, dict) else None
        self.info = info if isinstance(info, dict) else {}

    async def ask(self, method: str, params: object) -> Response:
        id_ = next(self._ids)
        if method == "tools/call" and isinstance(params, dict):
            # Progress also says that the server is alive, and starts its clock again.
            params = {**params, "_meta": {"progressToken": id_}}
        loop = asyncio.get_running_loop()
        slow = None if self._is_slow else loop.call_later(SLOW_SECONDS, self._say_that_it_waits, method)
        try:
            await self._connection.send(jsonrpc.request(id_, method, values.write(params)))
            return self._masked(await self._answer(id_))
        finally:
            if slow is not None:
                slow.cancel()
            self._progress.clear()

    async def _answer(self, id_: int) -> Response:
        while True:
            message = jsonrpc.read(await self._connection.receive())
            if isinstance(message, jsonrpc.Response) and message.id == id_:
                if message.error is not None:
                    return Response(error=_decode_error(message.error))
                return Response(result=message.result or Raw(b"{}"))
            if isinstance(message, jsonrpc.Request):
                await self._connection.send(
                    jsonrpc.error_reply(
                        message.id, ErrorObject(errors.METHOD_NOT_FOUND, "nobody can be asked")
                    )
                )
            elif isinstance(message, jsonrpc.Notification) and message.method == "notifications/progress":
                self._show_progress(message.params)

    def _show_progress(self, params: Raw | None) -> None:
        if words := in_words(params):
            self._is_slow = True  # and says so itself
            self._progress.say(self._chosen.way.mask(words))

    def _say_that_it_waits(self, method: str) -> None:
        if self._is_slow:
            return
        self._is_slow = True
        self._progress.clear()
        way = self._chosen.way
        if method != "initialize":
            self._progress.wait(f"Waiting for {way.name} …")
            return
        facts, _ = self._bridge.facts()
        found = next((one["error"] for one in facts["connections"] if "error" in one), "")
        why = f" ({visible(found)})" if found else ""
        terminal.note(f"Waiting for {way.name}{why}, at most {way.start_timeout:g} s (--start-timeout).")

    def _masked(self, response: Response) -> Response:
        """The same without the secrets that the server was given: it may repeat them anywhere."""
        known = self._chosen.secrets
        text = bytes(response.result).decode(errors="replace")
        if not known or secrets.without(text, known) == text:
            return response
        try:
            clean = _without(values.read(response.result), known)
        except UNREADABLE:
            unreadable = {ERROR_KEY: {"code": "SERVER_ERROR"}}
            return Response(
                error=ErrorObject(errors.INTERNAL_ERROR, "The server's answer cannot be read.", unreadable)
            )
        return Response(result=Raw(values.write(clean)))


def _without(value: Any, known: frozenset[str]) -> Any:
    if isinstance(value, str):
        return secrets.without(value, known)
    if isinstance(value, list):
        return [_without(part, known) for part in value]
    if isinstance(value, dict):
        return {secrets.without(name, known): _without(part, known) for name, part in value.items()}
    return value
