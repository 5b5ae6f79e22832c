"""The matrix: `connect` gives a wire for each transport and each revision."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import AsyncExitStack
from functools import cache
from typing import Any, Protocol

import pytest
from tests.matrix import subject
from tests.matrix.processes import Zygote
from tests.matrix.wires import EVERYTHING, REVISIONS, TRANSPORTS, Wire, open_wire

from qortal_mcp.server import Server


class Connect(Protocol):
    """Opens a wire and, unless told otherwise, shakes hands on it where the revision has a handshake."""

    def __call__(
        self,
        *,
        shake: bool = True,
        revision: str = ...,
        capabilities: dict[str, Any] = ...,
        limits: dict[str, Any] | None = None,
        own: bool = False,
    ) -> Awaitable[Wire]: ...


@cache
def _server(limits: tuple[tuple[str, Any], ...]) -> Server:
    """The server in memory, shared like the others by tests that want the same."""
    return subject.build(dict(limits))


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    zygote.close()


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def connect(zygote: Zygote, transport: str, revision: str) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        async def connect(
            *,
            shake: bool = True,
            revision: str = revision,
            capabilities: dict[str, Any] = EVERYTHING,
            limits: dict[str, Any] | None = None,
            own: bool = False,
        ) -> Wire:
            wanted = limits or {}

            def server() -> Server:
                return _server(tuple(sorted(wanted.items())))

            child = None
            if own and transport not in ("memory", "stdio"):
                child = zygote.http(wanted, sessions=transport == "sessions")
                stack.callback(child.close)
            wire = await stack.enter_async_context(
                open_wire(transport, revision, zygote, server=server, limits=wanted, child=child)
            )
            wire.capabilities = capabilities
            if shake and not wire.modern:
                await wire.shake_hands()
            return wire

        yield connect
