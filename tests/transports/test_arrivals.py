"""Connections that another process hands over."""

import asyncio
import socket

import pytest

from qortal_mcp.transports.arrivals import Arrivals

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "send_fds"), reason="Windows cannot hand over connections"
)


async def test_a_connection_that_was_lost_on_the_way_is_counted_as_taken() -> None:
    here, there = socket.socketpair()
    counted: list[tuple[int, int]] = []
    beats: list[None] = []
    with here, there:
        arrivals = Arrivals(there, lambda *numbers: counted.append(numbers), lambda: beats.append(None))
        ended = asyncio.Event()
        arrivals.begin(asyncio.Protocol, ended.set, lambda: None)
        here.send(b".")  # as it comes to a process that has no room for one more open file
        here.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(30):
            await ended.wait()
        arrivals.report(0)
    assert counted == [(1, 0)]
    assert len(beats) == 1
