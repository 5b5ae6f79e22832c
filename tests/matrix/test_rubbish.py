"""Any bytes on any wire: what has a readable id is answered once, nothing else is, and the server lives on."""

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.matrix import rawhttp, subject
from tests.matrix.conftest import Connect
from tests.matrix.processes import Child, Zygote
from tests.matrix.wires import MODERN, HttpWire, StdioWire, WebSocketWire, Wire, open_wire
from websockets.frames import Frame, Opcode

from qortal_mcp.server import Server

SILENT, ANONYMOUS = ("silent",), (None,)
Option = tuple[Any, ...]


def expected(line: bytes) -> list[Option]:
    """The ways in which one message may be answered: not at all, with `id: null`, or with this id."""
    if not line.strip(b" \t\r\n"):
        return [SILENT]
    try:
        options = _expected(line.decode())
        # Half of a surrogate pair is no character: it cannot be read, nor sent back.
        return [*options, ANONYMOUS] if b"\\ud" in line.lower() and ANONYMOUS not in options else options
    except UnicodeDecodeError:
        # Bytes that are no text are refused where they are read; where nobody reads them they do no harm.
        return [*(option for option in _expected(line.decode("latin-1")) if option != ANONYMOUS), ANONYMOUS]


def _expected(text: str) -> list[Option]:
    try:
        message = json.loads(text, parse_constant=_refuse, parse_int=_integer)
    except (ValueError, RecursionError):
        return [ANONYMOUS]
    if not isinstance(message, dict):
        return [ANONYMOUS]
    id_ = message.get("id")
    if isinstance(id_, int | str) and not isinstance(id_, bool):
        if isinstance(id_, int) and not -(2**63) <= id_ < 2**64:
            return [(int, id_), ANONYMOUS]  # larger than most can count
        is_response = ("result" in message) != ("error" in message) and "method" not in message
        return [SILENT] if is_response and message.get("jsonrpc") == "2.0" else [(type(id_), id_)]
    if "id" in message:
        only_error = "error" in message and not {"method", "result"} & set(message)
        return [SILENT, ANONYMOUS] if only_error else [ANONYMOUS]
    if isinstance(message.get("method"), str):
        return [SILENT]
    return [SILENT, ANONYMOUS] if "result" in message or "error" in message else [ANONYMOUS]


def _refuse(what: str) -> Any:
    raise ValueError(what)


def _integer(digits: str) -> int:
    return int(digits) if len(digits) < 100 else 10**99


def test_the_judge_itself_tells_the_kinds_apart() -> None:
    assert expected(b'{"jsonrpc":"2.0","id":1,"method":"x"}') == [(int, 1)]
    assert expected(b'{"jsonrpc":"2.0","id":null,"method":"x"}') == [ANONYMOUS]
    assert expected(b'{"jsonrpc":"2.0","method":"x"}') == [SILENT]
    assert expected(b'{"jsonrpc":"2.0","id":1,"result":{}}') == [SILENT]
    assert expected(b"[NaN]") == [ANONYMOUS]
    assert expected(b'{"id":1,"method":"\xff"}') == [(int, 1), ANONYMOUS]


def answered_with(message: Any) -> Option:
    return ANONYMOUS if message["id"] is None else (type(message["id"]), message["id"])


DEEP = 100_000
CORPUS: dict[str, bytes] = {
    "nan": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
    "infinity": b'{"jsonrpc":"2.0","id":-Infinity,"method":"ping"}',
    "lone-surrogate-id": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    "lone-surrogate-method": b'{"jsonrpc":"2.0","id":2,"method":"\\udfff"}',
    "huge-integer-id": b'{"jsonrpc":"2.0","id":1' + b"0" * 10_000 + b',"method":"ping"}',
    "huge-integer": b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":9' + b"9" * 10_000 + b"}}",
    "long-fraction": b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":0.' + b"9" * 10_000 + b"e999}}",
    "deep-array": b"[" * DEEP,
    "deep-whole-array": b"[" * DEEP + b"]" * DEEP,
    "deep-object": b'{"a":' * DEEP,
    "deep-params": b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":'
    + b"[" * DEEP
    + b"]" * DEEP
    + b"}}",
    "deep-meta": b'{"jsonrpc":"2.0","id":6,"method":"ping","params":{"_meta":'
    + b'{"a":' * 5000
    + b"1"
    + b"}" * 5001
    + b"}",
    "deep-before-id": b'{"jsonrpc":"2.0","method":"ping","params":{"a":'
    + b"[" * DEEP
    + b"]" * DEEP
    + b'},"id":"late"}',
    "deep-id-inside": b'{"jsonrpc":"2.0","method":"ping","params":{"id":1,"a":'
    + b"[" * DEEP
    + b"]" * DEEP
    + b"}}",
    "members-twice": b'{"jsonrpc":"2.0","id":7,"id":8,"method":"nope","method":"ping"}',
    "bad-utf8-id": b'{"jsonrpc":"2.0","id":"\xc3\x28","method":"ping"}',
    "bad-utf8-params": b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":"\xf0\x28\x8c\x28"}}',
    "overlong-utf8": b'{"jsonrpc":"2.0","id":"\xc0\xaf","method":"ping"}',
    "bom": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":10,"method":"ping"}',
    "utf-16": '{"jsonrpc":"2.0","id":11,"method":"ping"}'.encode("utf-16-le"),
    "nul": b'{"jsonrpc":"2.0","id":12,"method":"ping"}\x00',
    "two-messages": b'{"jsonrpc":"2.0","id":13,"method":"ping"}{"jsonrpc":"2.0","id":14,"method":"ping"}',
    "truncated": b'{"jsonrpc":"2.0","id":15,"method":"pi',
    "array-of-arrays": b"[[],[[]],1,null]",
    "comment": b'{"jsonrpc":"2.0","id":16,"method":"ping"} // hello',
    "single-quotes": b"{'jsonrpc':'2.0','id':17,'method':'ping'}",
    "trailing-comma": b'{"jsonrpc":"2.0","id":18,"method":"ping",}',
    "html": b"<!doctype html><title>not found</title>",
    "http": b"GET / HTTP/1.1",
    "many-members": b'{"jsonrpc":"2.0","id":19,"method":"ping",'
    + b",".join(b'"m%d":%d' % (n, n) for n in range(20_000))
    + b"}",
    "long-method": b'{"jsonrpc":"2.0","id":20,"method":"' + b"x" * 500_000 + b'"}',
    "long-id": b'{"jsonrpc":"2.0","id":"' + b"y" * 100_000 + b'","method":"ping"}',
    "quotes-only": b'"' * 1001,
    "backslashes": b'"' + b"\\" * 1000 + b'"',
    "proto": b'{"jsonrpc":"2.0","id":21,"method":"__init__","__class__":{},"__proto__":null}',
}


DEEP_IDS = {"deep-params": (int, 5), "deep-meta": (int, 6), "deep-before-id": (str, "late")}


@pytest.mark.promise(
    "Limits and abuse", "Whatever bytes arrive, each message gets one answer in time and the server goes on."
)
@pytest.mark.parametrize("revision", ["2025-06-18"])
async def test_each_piece_of_rubbish_gets_one_answer_in_time(connect: Connect) -> None:
    wire = await connect()
    for id_ in (*range(30), "late", "y" * 100_000):
        wire.remember({"id": id_, "method": "ping"})
    for name, data in CORPUS.items():
        if isinstance(wire, WebSocketWire) and not is_text(data):
            continue  # the WebSocket layer's to refuse
        async with asyncio.timeout(30):
            heard = await wire.heard(await wire.raw(data, wire.headers_of({})))
        assert len(heard) == 1, (name, heard)
        assert "error" in heard[0] or heard[0]["result"] == {}
        if name.startswith("deep-") and name not in ("deep-id-inside", "deep-object"):
            # In plain sight, however deep the rest is.
            assert (name, answered_with(heard[0])) == (name, DEEP_IDS.get(name, ANONYMOUS))
        else:
            assert answered_with(heard[0]) in expected(data), name
    assert (await wire.call("echo", {"text": "good"}, id="good")).text == "good"


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.promise(
    "Limits and abuse", "A message that is too large is refused without being kept, and the server goes on."
)
@pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
@pytest.mark.parametrize("revision", ["2025-06-18"])
async def test_a_message_over_the_limit_is_answered_without_an_id(connect: Connect) -> None:
    wire = await connect()
    data = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b"x" * 2_000_000 + b'"}}'
    (error,) = await wire.heard(await wire.raw(data, wire.headers_of({})))
    assert (error["id"], error["error"]["code"]) == (None, -32600)
    assert (await wire.call("echo", {"text": "good"})).text == "good"


scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8) | st.floats(width=32)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
METHODS = [
    "ping",
    "tools/list",
    "tools/call",
    "resources/read",
    "initialize",
    "nope",
    "",
    "notifications/initialized",
]
ids = st.integers(-3, 3) | st.sampled_from(["", "a", "1"])
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | st.just("2.0") | values,
        "id": ids | ids | values,
        "method": st.sampled_from(METHODS) | values,
        "params": st.just({"name": "gives_text"}) | st.just({"uri": "note://fixed"}) | values,
        "result": values,
        "error": values,
        "extra": values,
    },
)
as_json = (messages | messages | messages | values).map(lambda value: json.dumps(value).encode())
broken = st.tuples(as_json, st.integers(0, 60), st.binary(max_size=3)).map(
    lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]
)
rubbish = st.one_of(as_json, as_json, broken, st.binary(max_size=40)).map(
    lambda data: data.replace(b"\n", b" ")
)
flood = st.lists(rubbish, min_size=1, max_size=8)
FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@cache
def shared_server() -> Server:
    return subject.build()


async def check_answers(wire: Wire, lines: list[bytes]) -> None:
    """Hear everything that answers these lines, and compare it with what must."""
    wanted = [expected(line) for line in lines]
    certain = Counter(options[0] for options in wanted if len(options) == 1)
    del certain[SILENT]
    heard: Counter[Option] = Counter()
    fences = 0
    while fences < 2 or sum(heard.values()) < sum(certain.values()):
        if fences < 2:
            await wire.post(wire.message("server/discover" if wire.modern else "ping", id="the fence"))
        while (message := await wire.receive())["id"] != "the fence":
            heard[answered_with(message)] += 1
            if fences == 2:
                break
        else:
            fences += 1
    heard.subtract(certain)
    for options in wanted:
        if len(options) > 1:
            taken = next((option for option in options if heard[option] > 0), SILENT)
            assert taken in options, (lines, heard)
            heard[taken] -= 1
    del heard[SILENT]
    assert not +heard, (lines, heard)
    assert not -heard, (lines, heard)


def unproved(wire: Wire) -> Wire:
    """Rubbish uses the same id for anything, so what it asked for is not known by its id."""

    def take(data: bytes) -> None:
        wire.inbox.put_nowait(json.loads(data))

    wire.take = take  # type: ignore[method-assign]
    return wire


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@given(lines=flood, seed=st.integers(0, 2**16))
@FEW
def test_lines_of_anything_split_anywhere_are_answered_once_each(
    zygote: Zygote, revision: str, lines: list[bytes], seed: int
) -> None:
    async def run() -> None:
        async with open_wire("stdio", revision, zygote, server=subject.build, limits={}) as wire:
            assert isinstance(wire, StdioWire)
            if not wire.modern:
                await wire.shake_hands()
            unproved(wire)
            data = b"\n".join(lines) + random.Random(seed).choice([b"\n", b"\r\n", b"\n\n \r\n"])
            cuts = sorted(random.Random(seed).sample(range(len(data) + 1), min(5, len(data))))
            for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
                await wire.write(data[start:end])
            await check_answers(wire, lines)

    asyncio.run(run())


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@given(lines=flood)
@settings(FEW, max_examples=150)
def test_messages_of_anything_in_memory_are_answered_once_each(
    zygote: Zygote, revision: str, lines: list[bytes]
) -> None:
    async def run() -> None:
        async with open_wire("memory", revision, zygote, server=shared_server, limits={}) as wire:
            if not wire.modern:
                await wire.shake_hands()
            unproved(wire)
            lines_with_something = [line for line in lines if line.strip(b" \t\r")]
            for line in lines_with_something:
                await wire.raw(line)
            await check_answers(wire, lines_with_something)

    asyncio.run(run())


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@given(lines=flood)
@FEW
def test_frames_of_anything_are_answered_once_each(zygote: Zygote, revision: str, lines: list[bytes]) -> None:
    async def run() -> None:
        async with open_wire("websocket", revision, zygote, server=subject.build, limits={}) as wire:
            assert isinstance(wire, WebSocketWire)
            if not wire.modern:
                await wire.shake_hands()
            unproved(wire)
            for line in lines:
                try:
                    await wire.socket.send(line.decode())
                except UnicodeDecodeError:
                    await wire.socket.send(line)  # a binary frame is read all the same
            await check_answers(wire, lines)

    asyncio.run(run())


@pytest.mark.parametrize("transport", ["http", "sessions"])
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@given(lines=flood)
@FEW
def test_bodies_of_anything_get_one_reply_each(
    zygote: Zygote, transport: str, revision: str, lines: list[bytes]
) -> None:
    async def run() -> None:
        async with open_wire(transport, revision, zygote, server=subject.build, limits={}) as wire:
            assert isinstance(wire, HttpWire)
            if not wire.modern:
                await wire.shake_hands()
            for line in lines:
                headers = [*wire.headers_of({}), ("Content-Type", "application/json")]
                reply, body = await wire.ask("POST", headers, line)
                wanted = expected(line) if line.strip(b" \t\r") else [ANONYMOUS]
                if wire.modern and b"method" not in line:
                    wanted.append(ANONYMOUS)  # a modern client has nothing to respond to
                if body:
                    assert answered_with(json.loads(body)) in wanted
                    assert reply.status in (200, 400, 404)
                else:
                    assert reply.status == 202
                    assert SILENT in wanted

    asyncio.run(run())


@pytest.mark.parametrize("transport", ["stdio"])
@pytest.mark.parametrize("revision", ["2025-06-18"])
async def test_line_endings_and_blank_lines_do_not_matter(connect: Connect) -> None:
    wire = await connect()
    assert isinstance(wire, StdioWire)
    one, two = wire.message("ping", id="one"), wire.message("ping", id="two")
    wire.remember([one, two])
    data = (
        b"\n\r\n  \t\n" + json.dumps(one).encode() + b"\r\n\n" + b"  " + json.dumps(two).encode() + b"  \r\n"
    )
    for at in range(len(data)):
        await wire.write(data[at : at + 1])
    heard = [await wire.receive() for _ in range(2)]
    assert [message["id"] for message in heard] == ["one", "two"]
    assert (await wire.fence()).before == []


HAS_PROC = Path("/proc/self/status").exists()


def resident_kilobytes(child: Child) -> int:
    status = Path(f"/proc/{child.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


@pytest.mark.promise("Limits and abuse", "Memory stays flat under messages that are too long.")
@pytest.mark.parametrize("transport", ["stdio", "http", "websocket"])
@pytest.mark.parametrize("revision", ["2025-06-18"])
async def test_memory_stays_flat_under_messages_that_are_too_long(connect: Connect) -> None:
    if not HAS_PROC:
        pytest.skip("memory is read from /proc")
    wire = await connect(limits={"message_bytes": 100_000}, own=True)
    assert wire.child is not None
    large = b"[" + b" " * 1_000_000

    async def send_it(times: int) -> None:
        for _ in range(times):
            if isinstance(wire, WebSocketWire):
                assert wire.child is not None
                await _send_too_long(wire.child.port, large)
            elif isinstance(wire, HttpWire):
                reply, _ = await wire.ask("POST", [("Content-Type", "application/json")], large)
                assert reply.status == 413
            else:
                (error,) = await wire.heard(await wire.raw(large))
                assert error["error"]["code"] == -32600

    await send_it(3)
    before = resident_kilobytes(wire.child)
    await send_it(12)
    assert resident_kilobytes(wire.child) - before < 8_000


async def _send_too_long(port: int, data: bytes) -> None:
    import websockets.asyncio.client
    import websockets.exceptions

    async with websockets.asyncio.client.connect(
        f"ws://127.0.0.1:{port}/ws", proxy=None, compression=None
    ) as socket:
        # The refusal may come before everything is sent.
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            await socket.send(data, text=True)
        await socket.wait_closed()
        assert socket.close_code == 1009


JSON = ("Content-Type", "application/json")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture(scope="module")
def small(zygote: Zygote) -> Iterator[Child]:
    """A door with small bounds."""
    child = zygote.http({"receive_seconds": 0.2, "message_bytes": 10_000, "header_bytes": 4_000})
    yield child
    child.close()


async def still_serves(port: int) -> None:
    reply, body = await rawhttp.ask(port, "POST", "/mcp", [JSON], PING)
    assert (reply.status, json.loads(body)["result"]) == (200, {})


async def said_until_closed(port: int, *pieces: bytes) -> bytes:
    """Everything a connection answers until the other side closes it."""
    async with asyncio.timeout(30), await rawhttp.Client.open(port) as client:
        try:
            for piece in pieces:
                await client.send(piece)
            return await client.reader.read()
        except ConnectionError:
            return b""


SLOW = [
    pytest.param(b"POST /mcp HTT", id="request-line"),
    pytest.param(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-", id="header"),
    pytest.param(
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        id="body",
    ),
    pytest.param(
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        id="chunk",
    ),
    pytest.param(b"", id="nothing"),
]


@pytest.mark.promise("Limits and abuse", "Half a request followed by silence is given up.")
async def test_half_a_request_and_then_silence_is_given_up(small: Child) -> None:
    waiting = [said_until_closed(small.port, start.values[0]) for start in SLOW]  # type: ignore[arg-type]
    for said in await asyncio.gather(*waiting):
        assert said == b"" or said.startswith(b"HTTP/1.1 408")
    await still_serves(small.port)


async def test_a_head_over_the_limit_is_refused(small: Child) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
    for data in (
        head + b"X-Large: " + b"x" * 2_000_000 + b"\r\n\r\n",
        head + b"".join(b"X-%d: y\r\n" % n for n in range(5_000)) + b"\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        head + b"X-Endless: " + b"x" * 10_000,
    ):
        said = await said_until_closed(small.port, data)
        assert said == b"" or said.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
        assert b"HTTP/1.1 200" not in said
    await still_serves(small.port)


NO_REQUESTS = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"\r\n\r\n\r\n\r\n",
    b"GET\r\n\r\n",
    b"POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"\xff" * 5_000,
]


async def test_what_is_no_request_is_refused_and_closed(small: Child) -> None:
    async def one(data: bytes) -> bytes:
        return await said_until_closed(small.port, data)

    for said in await asyncio.gather(*(one(data) for data in NO_REQUESTS)):
        assert said == b"" or said.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), said[:80]
    await still_serves(small.port)


@pytest.mark.promise(
    "Limits and abuse", "Whatever bytes arrive, each message gets one answer in time and the server goes on."
)
@given(
    data=st.binary(max_size=200),
    end=st.sampled_from([b"", b"\r\n\r\n", b" HTTP/1.1\r\nHost: localhost\r\n\r\n"]),
)
@settings(FEW, max_examples=30)
def test_any_bytes_at_the_door_leave_it_open(zygote: Zygote, data: bytes, end: bytes) -> None:
    port = zygote.shared_http({"receive_seconds": 0.2}, sessions=False).port

    async def run() -> None:
        async with asyncio.timeout(30), AsyncExitStack() as stack:
            client = await stack.enter_async_context(await rawhttp.Client.open(port))
            try:
                await client.send(data + end)
                client.writer.write_eof()
                said = await client.reader.read()
            except ConnectionError:
                said = b""
            assert b" 200 " not in said[:20]
            await still_serves(port)

    asyncio.run(run())


async def test_pipelined_requests_are_answered_in_order(small: Child) -> None:
    requests = [
        rawhttp.request_bytes("POST", "/mcp", [JSON], b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % n)
        for n in range(5)
    ]
    for size in (1_000_000, 7):
        data = b"".join(requests)
        async with asyncio.timeout(30), await rawhttp.Client.open(small.port) as client:
            for at in range(0, len(data), size):
                await client.send(data[at : at + size])
            for n in range(5):
                reply = await client.reply()
                assert json.loads(await reply.body())["id"] == n


async def test_http_1_0_is_served_and_closed(small: Child) -> None:
    head = b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    said = await said_until_closed(small.port, head % len(PING) + PING)
    assert b" 200 " in said[:20]
    assert said.endswith(b'{"jsonrpc":"2.0","id":1,"result":{}}')


async def test_a_client_may_wait_to_be_told_to_go_on(small: Child) -> None:
    head = rawhttp.request_bytes("POST", "/mcp", [JSON, ("Expect", "100-continue")], PING)[: -len(PING)]
    async with asyncio.timeout(30), await rawhttp.Client.open(small.port) as client:
        await client.send(head)
        assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        await client.send(PING)
        assert (await client.reply()).status == 200


async def test_a_chunked_body_in_small_pieces_is_read_whole(small: Child) -> None:
    heads = [JSON, ("Transfer-Encoding", "chunked"), ("Connection", "close")]
    head = rawhttp.request_bytes("GET", "/mcp", heads).replace(b"GET", b"POST", 1)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in PING) + b"0\r\n\r\n"
    async with asyncio.timeout(30), await rawhttp.Client.open(small.port) as client:
        await client.send(head + chunks)
        reply = await client.reply()
        assert (reply.status, json.loads(await reply.body())["id"]) == (200, 1)


only_websocket = pytest.mark.parametrize("transport", ["websocket"])
one_legacy = pytest.mark.parametrize("revision", ["2025-06-18"])


async def websocket(connect: Connect, **more: Any) -> WebSocketWire:
    wire = await connect(**more)
    assert isinstance(wire, WebSocketWire)
    return wire


@only_websocket
@one_legacy
async def test_a_message_may_come_in_fragments_or_as_bytes(connect: Connect) -> None:
    wire = await websocket(connect)
    for id_, pieces in (("text", "text"), ("bytes", b"bytes")):
        message = wire.message("tools/call", {"name": "echo", "arguments": {"text": "ø"}}, id=id_)
        wire.remember(message)
        text = json.dumps(message, ensure_ascii=False)
        whole: Any = text if isinstance(pieces, str) else text.encode()
        await wire.socket.send([whole[at : at + 3] for at in range(0, len(whole), 3)])
        assert (await wire.reply_to(id_))["result"]["content"][0]["text"] == "ø"


@only_websocket
@one_legacy
async def test_empty_frames_and_pings_are_no_messages(connect: Connect) -> None:
    wire = await websocket(connect)
    for frame in ("", " ", b"", b"\n"):
        await wire.socket.send(frame)
    async with asyncio.timeout(30):
        await (await wire.socket.ping(b"alive"))
    assert (await wire.fence()).before == []
    await wire.socket.send("\x0b")  # white space to some, but not to JSON
    assert (await wire.receive())["error"]["code"] == -32700


async def _ends_with(connect: Connect, frame: bytes, codes: set[int], **more: Any) -> None:
    wire, other = await websocket(connect, **more), await websocket(connect, **more)
    wire.socket.transport.write(frame)
    async with asyncio.timeout(30):
        await wire.ended.wait()
    assert wire.socket.close_code in codes
    assert (await other.call("echo", {"text": "good"})).text == "good"


FRAMES = [
    pytest.param(Frame(Opcode.TEXT, b"\xff\xfe").serialize(mask=True), {1007}, id="not-text"),
    pytest.param(Frame(Opcode.TEXT, b"{}").serialize(mask=False), {1002}, id="not-masked"),
    pytest.param(b"\x83\x80\0\0\0\0", {1002}, id="unknown-opcode"),
    pytest.param(b"\xf1\x80\0\0\0\0", {1002}, id="reserved-bits"),
    pytest.param(b"\x80\x80\0\0\0\0", {1002}, id="continuation-of-nothing"),
    pytest.param(b"\x89\xfe\x00\x7e\0\0\0\0" + bytes(126), {1002}, id="long-ping"),
    pytest.param(
        b"\x81\xff" + b"\x00\x00\x00\x7f\xff\xff\xff\xff" + b"\0\0\0\0", {1009}, id="2-gb-announced"
    ),
]


@pytest.mark.parametrize(("frame", "codes"), FRAMES)
@only_websocket
@one_legacy
async def test_a_broken_frame_ends_its_connection_and_no_other(
    connect: Connect, frame: bytes, codes: set[int]
) -> None:
    await _ends_with(connect, frame, codes)


@only_websocket
@one_legacy
async def test_an_oversized_frame_ends_its_connection_and_no_other(connect: Connect) -> None:
    frame = Frame(Opcode.TEXT, b"[" + b" " * 200_000).serialize(mask=True)
    await _ends_with(connect, frame, {1009}, limits={"message_bytes": 100_000})


@pytest.mark.promise("Limits and abuse", "More connections than allowed are turned away.")
@only_websocket
@one_legacy
async def test_more_connections_than_allowed_are_turned_away(connect: Connect) -> None:
    first = await websocket(connect, limits={"connections": 1}, own=True)
    assert first.child is not None
    from tests.matrix.test_http import UPGRADE

    async with await rawhttp.Client.open(first.child.port) as client:
        await client.send(rawhttp.request_bytes("GET", "/ws", UPGRADE))
        assert (await client.reply()).status == 503
    assert (await first.call("echo", {"text": "good"})).text == "good"
