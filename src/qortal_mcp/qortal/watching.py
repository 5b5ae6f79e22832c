"""What subscribers hear of: a new block, and an account, a name or a trade that reads differently.

These change with blocks, so they are read again when there is a new one. Who is online in a trade changes in between.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..limits import DEFAULT, Limits
from ..protocol.decoding import decode
from ..server.offers.catalogue import Changes
from ..server.offers.resource import ResourceNotFound
from ..server.offers.tool import BoundTool, Tool
from ..server.tool_errors import ToolError
from .node.flights import Flights
from .node.node import Node
from .resources import ACCOUNT, NAME, NODE, TRADE

# How often the node is asked for its newest block while anybody waits for one. Blocks come about once a minute.
_LOOK_SECONDS = 5.0
# Things that are read at once after a new block: most of the node's queue is for those who ask.
_READ_AT_ONCE = 4
# Members about an answer rather than part of it.
_ABOUT = ("asOf", "notes")
_encode = msgspec.json.Encoder().encode


class _Read(Struct, frozen=True):
    """How a resource is read: the tool, and the variable of the template that is its argument."""

    tool: str
    variable: str
    argument: str
    # After so many looks it is read again without a new block; None: it never is.
    looks: int | None = None


_READ = {
    ACCOUNT: _Read("get_account_overview", "address", "address"),
    NAME: _Read("get_name", "name", "name"),
    # Who is online in it changes between blocks. A node's word on a trade is kept for as long as two looks take.
    TRADE: _Read("get_trade", "address", "trade_address", looks=2),
}


def changes(node: Node, tools: Sequence[Tool], limits: Limits = DEFAULT) -> dict[str, Changes]:
    """For each resource and template that changes: what yields with each change."""
    blocks, turns = _Blocks(node), asyncio.Semaphore(_READ_AT_ONCE)
    offered = {tool.name: tool for tool in tools}

    def of(read: _Read) -> Changes:
        tool = offered.get(read.tool)
        bound = None if tool is None else tool.bind([node])

        def begin(variables: Mapping[str, str]) -> AsyncIterator[None]:
            if bound is None:
                raise ResourceNotFound
            answer = _Answer(bound, {read.argument: variables[read.variable]}, limits, turns)
            return _differing(answer, blocks, read.looks)

        return begin

    return {NODE: lambda _: _new_blocks(blocks), **{uri: of(read) for uri, read in _READ.items()}}


class _Blocks:
    """The newest block of a node, looked at once for everybody who waits for the next one."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._looks: Flights[str | None] = Flights()

    async def newest(self) -> str | None:
        """None while the node does not report it."""
        try:
            return (await self._node.tip()).block
        except ToolError:
            return None

    async def after(self, block: str | None, looks: int | None = None) -> str | None:
        """The newest block as soon as it is another one, or after so many looks."""
        while True:
            newest = await self._looks.join("newest", self._look)
            looks = None if looks is None else looks - 1
            if newest != block or looks == 0:
                return newest

    async def _look(self) -> str | None:
        await asyncio.sleep(_LOOK_SECONDS)
        return await self.newest()


async def _new_blocks(blocks: _Blocks) -> AsyncIterator[None]:
    """A new block, or a node that stops or starts answering."""
    block = await blocks.newest()
    while True:
        block = await blocks.after(block)
        yield


class _Answer:
    """The answer of a tool, remembered by its hash: only whether it changed matters."""

    def __init__(
        self, tool: BoundTool, arguments: dict[str, str], limits: Limits, turns: asyncio.Semaphore
    ) -> None:
        """Raises: ToolError for arguments that the tool does not take."""
        self._tool = tool
        self._arguments: Any = tool.read_arguments(Raw(_encode(arguments)))[0]
        self._limits = limits
        self._turns = turns

    async def read(self) -> bytes | None:
        """What the answer is now, errors included; None while the node cannot tell."""
        async with self._turns:
            try:
                value = await self._tool.call(self._arguments, None)
                found = decode(self._tool.checked(value, self._limits))
            except ToolError as exc:
                return None if exc.retryable else str(exc).encode()
        for member in _ABOUT:
            found.pop(member, None)
        return hashlib.sha256(_encode(found)).digest()


async def _differing(answer: _Answer, blocks: _Blocks, looks: int | None) -> AsyncIterator[None]:
    """Whenever an answer is another one. A node that stops answering changes nothing; what it says afterwards may."""
    block, last = await blocks.newest(), await answer.read()
    new = last
    while True:
        # What could not be read is tried again soon, not with the next block.
        block = await blocks.after(block, 1 if new is None else looks)
        new = await answer.read()
        if new is not None and new != last:
            last = new
            yield
