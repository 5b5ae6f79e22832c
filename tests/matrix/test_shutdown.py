"""The end: what is in flight is answered, subscriptions end in order, standard output stays clean."""

import asyncio
import json
import signal

import pytest
from tests.matrix import subject
from tests.matrix.conftest import Connect
from tests.matrix.wires import MODERN, SessionWire, StdioWire, WebSocketWire, Wire, unique

both_eras = pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
processes = pytest.mark.parametrize("transport", ["stdio", "http", "sessions", "websocket"])


async def start(wire: Wire) -> None:
    """Have a call in flight that will answer a moment later."""
    key = unique("in flight")
    await wire.post(wire.message("tools/call", {"name": "finish_soon", "arguments": {"key": key}}, id="last"))
    await wire.call("wait_for", {"mark": f"{key} started"})


async def ended_well(wire: Wire, seconds: float = 5) -> None:
    assert wire.child is not None
    assert await wire.child.ended(seconds) == 0
    assert "Traceback" not in wire.child.stderr(), wire.child.stderr()


@pytest.mark.promise(
    "Operations", "When the server is told to stop, calls in flight may finish, but not for ever."
)
@both_eras
@processes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_what_is_in_flight_finish(connect: Connect, number: signal.Signals) -> None:
    wire = await connect(own=True)
    await start(wire)
    assert wire.child is not None
    wire.child.signal(number)
    assert (await wire.reply_to("last"))["result"]["content"][0]["text"] == "finished"
    await ended_well(wire)
    if isinstance(wire, SessionWire):
        wire.session_id = None


@both_eras
@pytest.mark.parametrize("transport", ["stdio"])
async def test_the_end_of_input_lets_what_is_in_flight_finish(connect: Connect) -> None:
    wire = await connect()
    assert isinstance(wire, StdioWire)
    await start(wire)
    wire.close_stdin()
    assert (await wire.reply_to("last"))["result"]["content"][0]["text"] == "finished"
    await ended_well(wire)


@both_eras
@pytest.mark.parametrize("transport", ["stdio"])
async def test_the_last_line_counts_without_its_ending(connect: Connect) -> None:
    wire = await connect()
    assert isinstance(wire, StdioWire)
    message = wire.message("tools/list")
    wire.remember(message)
    await wire.write(json.dumps(message).encode())
    wire.close_stdin()
    assert "tools" in (await wire.reply_to(message["id"]))["result"]
    await ended_well(wire)


@pytest.mark.promise(
    "Operations", "When the server is told to stop, calls in flight may finish, but not for ever."
)
@both_eras
@processes
async def test_what_never_finishes_is_ended_after_a_while(connect: Connect) -> None:
    wire = await connect(own=True, limits={"shutdown_seconds": 0.2})
    key = unique("never")
    await wire.post(wire.message("tools/call", {"name": "hang", "arguments": {"key": key}}))
    await wire.call("wait_for", {"mark": f"{key} started"})
    assert wire.child is not None
    wire.child.signal()
    if not wire.lasting:
        assert (await wire.receive())["error"]["code"] == -32603
    await ended_well(wire)
    if isinstance(wire, SessionWire):
        wire.session_id = None


@processes
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_does_not_delay_the_end(connect: Connect) -> None:
    wire = await connect(own=True)
    message = wire.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="sub")
    await wire.post(message)
    await wire.receive()
    assert wire.child is not None
    wire.child.signal()
    assert (await wire.reply_to("sub"))["result"]["resultType"] == "complete"
    await ended_well(wire, 3)


@pytest.mark.parametrize("revision", ["2025-11-25"])
@pytest.mark.parametrize("transport", ["sessions"])
async def test_an_open_stream_of_a_session_does_not_delay_the_end(connect: Connect) -> None:
    wire = await connect(own=True)
    assert isinstance(wire, SessionWire)
    stream = wire.listen()
    assert await stream.status() == 200
    assert wire.child is not None
    wire.child.signal()
    await ended_well(wire, 3)
    await stream.done()
    wire.session_id = None


@both_eras
@pytest.mark.parametrize("transport", ["websocket"])
async def test_a_websocket_is_closed_with_a_reason(connect: Connect) -> None:
    wire = await connect(own=True)
    assert isinstance(wire, WebSocketWire)
    assert wire.child is not None
    wire.child.signal()
    async with asyncio.timeout(30):
        await wire.ended.wait()
    assert wire.socket.close_code in (1001, 1012)
    await ended_well(wire)


@both_eras
@pytest.mark.parametrize("transport", ["websocket"])
async def test_a_client_that_vanishes_leaves_nothing_behind(connect: Connect) -> None:
    wire, other = await connect(), await connect()
    assert isinstance(wire, WebSocketWire)
    key = unique("vanished")
    await wire.post(wire.message("tools/call", {"name": "hang", "arguments": {"key": key}}))
    await other.call("wait_for", {"mark": f"{key} started"})
    wire.socket.transport.abort()
    assert (await other.call("wait_for", {"mark": f"{key} ended"})).text == f"{key} ended"


@pytest.mark.promise(
    "Transports", "On stdio nothing but messages is written to standard output, even if a tool prints."
)
@both_eras
@pytest.mark.parametrize("transport", ["stdio"])
async def test_standard_output_stays_clean_though_a_tool_prints(connect: Connect) -> None:
    wire = await connect()
    answer = await wire.call("prints")
    assert (answer.text, answer.before) == ("printed", [])
    assert (await wire.fence()).before == []
    assert wire.child is not None
    assert wire.child.stderr().count(subject.NOISE) == 3
