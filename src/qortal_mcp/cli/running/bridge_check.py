"""`bridge --check`: connect, list, call what is harmless, and say what would be repaired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import click
from msgspec import UNSET, Raw, Struct

from ...audit.judging.clients import impact, measured_codes
from ...audit.visiting.calls import Permission, ReadOnlyClaims, choose
from ...bridge.way import Way
from ...protocol import jsonrpc
from ...protocol.versions import NEWEST_HANDSHAKE
from ...repairs import values
from ...repairs.repair import ABSENT, Change
from ...text import printable, shortened
from . import failures
from .bridging import bridge_of

# More calls say little more about the shape of the answers.
_MOST_CALLS = 20
_SHOWN_CHARS = 160


class Seen(Struct, frozen=True):
    """A repair that was made, and in whose answer."""

    change: Change
    tool: str


def check(way: Way) -> int:
    """0 if nothing needs repair, 1 if something does. Raises: Undetermined if the server cannot be used."""
    # What is repaired is the report itself; what else is logged would only be in the way.
    logging.getLogger("qortal_mcp").setLevel(logging.ERROR)
    seen, tools, called = asyncio.run(_look(way))
    first: dict[tuple[str, str], Seen] = {}
    for one in seen:
        first.setdefault((one.change.code, one.tool), one)
    for line in _report(way, list(first.values()), tools, called):
        click.echo(line)
    return failures.BAD if first else failures.GOOD


async def _look(way: Way) -> tuple[list[Seen], int, int]:
    from ...transports.memory import MemoryConnection

    bridge = bridge_of(way)
    seen: list[Seen] = []
    bridge.journal.on_change = lambda change, tool: seen.append(Seen(change, tool))
    try:
        async with MemoryConnection(bridge) as client:
            await _ask(client, 1, "initialize", _HELLO)
            listed = await _ask(client, 2, "tools/list", {})
            tools = [tool for tool in listed.get("tools", ()) if isinstance(tool, dict)]
            claims = ReadOnlyClaims()
            claims.add(tools, revision=NEWEST_HANDSHAKE)
            calls, _ = choose(tools, Permission(), _MOST_CALLS, claims)
            for number, call in enumerate(calls, 3):
                await _ask(
                    client,
                    number,
                    "tools/call",
                    {"name": call.tool, "arguments": call.arguments},
                    may_fail=True,
                )
    finally:
        await bridge.shut()
    return seen, len(tools), len(calls)


_HELLO = {
    "protocolVersion": NEWEST_HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "qortal-mcp", "version": "0"},
}


async def _ask(client: Any, id_: int, method: str, params: object, *, may_fail: bool = False) -> Any:
    """The result of a request through the bridge. Raises: Undetermined."""
    await client.send(jsonrpc.request(id_, method, values.write(params)))
    while True:
        message = jsonrpc.read(await client.receive())
        if isinstance(message, jsonrpc.Response) and message.id == id_:
            break
    if message.result is not None:
        return values.read(message.result)
    if may_fail:
        return {}
    error = values.read(message.error or Raw(b"{}"))
    raise failures.Undetermined(_one_line(str(error.get("message", "no answer"))))


def _one_line(text: str) -> str:
    lines = [printable(line) for line in text.splitlines() if line.strip()]
    return " | ".join(lines)


def _report(way: Way, seen: list[Seen], tools: int, called: int) -> Iterator[str]:
    what = f"{way.name}: {tools} tool{'s' if tools != 1 else ''} listed, {called} called"
    if not seen:
        yield f"{what}. Nothing needs repair at level {way.repairs.level}."
        return
    yield f"{what}. {len(seen)} repair{'s' if len(seen) != 1 else ''} at level {way.repairs.level}:"
    for one in seen:
        change = one.change
        yield ""
        about = f" in {printable(one.tool)}" if one.tool else ""
        at = f" at {printable(change.path)}" if change.path else ""
        yield f"  {change.code}{about}{at}"
        yield f"    before  {_shown(change.before)}"
        yield f"    after   {_shown(change.after)}"
        clients = (
            sorted({one.client for one in impact(change.code)}) if change.code in measured_codes() else []
        )
        if clients:
            yield f"    matters to {', '.join(clients)}"


def _shown(value: Any) -> str:
    if value is ABSENT or value is UNSET:
        return "(nothing)"
    return shortened(printable(values.text_of(value)), _SHOWN_CHARS)
