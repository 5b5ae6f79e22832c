"""Child processes: what they print, how they end, and that none is left running."""

import asyncio
import os
import sys

import pytest
from tests.client.fakes import child, is_gone, wait_until

from qortal_mcp.client import (
    Client,
    ClientLimits,
    ConnectionLost,
    MalformedReply,
    Options,
    RequestTimeout,
    ServerError,
    Transcript,
    connect,
)
from qortal_mcp.client.wires.stdio import StdioWire

OK = '{"jsonrpc":"2.0","id":ID,"result":{"ok":true}}'
QUICK = ClientLimits(exit_seconds=0.3, goodbye_seconds=0.3, probe_seconds=0.5, request_seconds=2)


def pid_of(client: Client) -> int:
    assert isinstance(client.wire, StdioWire)
    return client.wire.pid


NOISE = [
    pytest.param(["Server started", OK], id="banner"),
    pytest.param(["", "  ", OK], id="blank-lines"),
    pytest.param([OK + "\r"], id="crlf"),
    pytest.param(["\xff\xfe broken \x00", OK], id="undecodable"),
    pytest.param(['{"level":"info"}', OK], id="json-log"),
    pytest.param(["{" * 100_000, OK], id="deep"),
    pytest.param(['{"jsonrpc":"2.0","method":"notifications/odd","params":null}', OK], id="odd-notification"),
]


@pytest.mark.parametrize("lines", NOISE)
async def test_noise_on_stdout_does_no_harm_and_is_kept(lines: list[str]) -> None:
    transcript = Transcript()
    options = Options(observer=transcript, limits=QUICK)
    async with asyncio.timeout(30), connect(child(x=lines), options=options) as client:
        mark = transcript.count
        assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}
        id_ = transcript.messages("sent", since=mark)[0].partition(b'"id":')[2].partition(b",")[0]
        received = [record.data for record in transcript.records("received", since=mark)]
    expected = [line.encode("latin-1").replace(b"ID", id_) + b"\n" for line in lines]
    assert received == expected


async def test_a_line_beyond_the_limit_is_dropped_and_reported() -> None:
    transcript = Transcript()
    options = Options(observer=transcript, limits=ClientLimits(message_bytes=1000, exit_seconds=0.3))
    async with asyncio.timeout(30), connect(child(x=["{" + "a" * 5000, OK]), options=options) as client:
        assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}
    assert len(transcript.records("received", "too_long")) == 1


LARGE = "a" * 5000
TOO_LARGE = [
    pytest.param(f'{{"jsonrpc":"2.0","id":ID,"result":{{"x":"{LARGE}"}}}}', id="id-first"),
    pytest.param(f'{{ "id": ID, "jsonrpc": "2.0", "error": {{"message":"{LARGE}"}}}}', id="error"),
    pytest.param(f'{{"result":{{"x":"{LARGE}"}},"jsonrpc":"2.0","id":ID}}', id="id-last"),
]


@pytest.mark.parametrize("line", TOO_LARGE)
async def test_a_reply_beyond_the_limit_fails_its_request_at_once(line: str) -> None:
    options = Options(limits=ClientLimits(message_bytes=1000, exit_seconds=0.3))
    async with asyncio.timeout(30), connect(child(x=[line], y=[OK]), options=options) as client:
        with pytest.raises(MalformedReply, match="the reply is larger than 1000 bytes"):
            await client.request("x")
        assert (await client.request("y")).read(dict[str, bool]) == {"ok": True}


async def test_a_notification_beyond_the_limit_fails_no_request() -> None:
    notice = f'{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{LARGE}"}}}}'
    options = Options(limits=ClientLimits(message_bytes=1000, exit_seconds=0.3))
    async with asyncio.timeout(30), connect(child(x=[notice, OK]), options=options) as client:
        assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}


@pytest.mark.promise(
    "Library",
    "A program that the client started is gone when the client is closed, together with its own children.",
)
async def test_the_child_is_gone_when_the_client_is_closed() -> None:
    async with asyncio.timeout(30), connect(child(), options=Options(limits=QUICK)) as client:
        pid = pid_of(client)
        assert not is_gone(pid)
    assert is_gone(pid)


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    while True:
        time.sleep(60)
print(os.getpid(), file=sys.stderr, flush=True)
while True:
    time.sleep(60)
"""


@pytest.mark.promise(
    "Library",
    "A program that the client started is gone when the client is closed, together with its own children.",
)
async def test_a_child_that_ignores_everything_is_killed_with_its_own_children() -> None:
    transcript = Transcript()
    wire = await StdioWire.open([sys.executable, "-c", STUBBORN], observer=transcript, limits=QUICK)
    async with asyncio.timeout(30):
        await transcript.wait_for(lambda record: record.kind == "stderr", 5)
        group = os.getpgid(wire.pid)
        await wire.close()
    assert wire.exit_code == -9
    # Its child is reaped by its new parent; the group must be empty soon.
    await wait_until(lambda: group_is_empty(group))


def group_is_empty(group: int) -> bool:
    """Zombies that their new parent has not reaped yet do not count."""
    alive = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                alive.append(name)
    return not alive


async def test_a_cancelled_close_still_reaps_the_child() -> None:
    transcript = Transcript()
    patient = ClientLimits(exit_seconds=60)
    wire = await StdioWire.open([sys.executable, "-c", STUBBORN], observer=transcript, limits=patient)
    async with asyncio.timeout(30):
        await transcript.wait_for(lambda record: record.kind == "stderr", 5)
        closing = asyncio.create_task(wire.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
    assert is_gone(wire.pid)


async def test_a_cancelled_connect_leaves_no_child() -> None:
    started: list[int] = []
    options = Options(limits=QUICK, on_stderr=lambda line: started.append(int(line)))
    program = "import os, sys; print(os.getpid(), file=sys.stderr, flush=True); sys.stdin.read()"

    async def never() -> None:
        async with connect([sys.executable, "-c", program], era="legacy", options=options):
            raise AssertionError("nobody answered")

    task = asyncio.create_task(never())
    await wait_until(lambda: bool(started))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(started[0])


async def test_a_child_that_dies_says_how() -> None:
    program = child(x=["EXIT"])
    program[2] = "import sys; print('last words', file=sys.stderr)\n" + program[2]
    async with asyncio.timeout(30), connect(program, options=Options(limits=QUICK)) as client:
        with pytest.raises(ConnectionLost, match="exit code 7") as failure:
            await client.request("x")
        assert failure.value.evidence == (b"last words\n",)
        with pytest.raises(ConnectionLost):
            await client.request("x")


async def test_a_child_that_exits_on_the_probe_gets_a_second_chance() -> None:
    argv = child(server__discover=["EXIT"], x=[OK])
    async with asyncio.timeout(30), connect(argv, options=Options(limits=QUICK)) as client:
        assert client.terms.revision == "2025-06-18"
        assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}


async def test_what_cannot_be_started_is_an_error() -> None:
    with pytest.raises(ConnectionLost, match="no-such-program"):
        async with connect(["/nowhere/no-such-program"]):
            pass


async def test_the_environment_is_the_callers_and_no_shell_reads_the_arguments() -> None:
    program = "import os, sys; print(sorted(os.environ), sys.argv[1:], file=sys.stderr)"
    transcript = Transcript()
    wire = await StdioWire.open(
        [sys.executable, "-c", program, "$HOME; ls *"], env={"ONLY": "this"}, observer=transcript
    )
    async with asyncio.timeout(30):
        record = await transcript.wait_for(lambda record: record.kind == "stderr", 5)
        await wire.close()
    assert record is not None
    # LC_CTYPE is Python's own doing.
    assert record.data.replace(b"'LC_CTYPE', ", b"") == b"['ONLY'] ['$HOME; ls *']\n"


async def test_standard_error_is_kept_within_its_bound() -> None:
    program = "import sys\nfor n in range(10000): print('x' * 99, n, file=sys.stderr)"
    transcript = Transcript()
    wire = await StdioWire.open([sys.executable, "-c", program], limits=QUICK, observer=transcript)
    # A child that is slow to start would be ended before it has said anything.
    said = await transcript.wait_for(lambda record: record.data.endswith(b" 9999\n"), 20)
    assert said is not None
    async with asyncio.timeout(30):
        await wire.close()
    assert len(wire.stderr_tail) <= QUICK.stderr_bytes
    assert wire.stderr_tail.endswith(b" 9999\n")


async def test_a_child_that_does_not_read_cannot_hold_a_sender_for_ever() -> None:
    limits = ClientLimits(send_seconds=0.2, exit_seconds=0.1)
    wire = await StdioWire.open([sys.executable, "-c", "import time; time.sleep(60)"], limits=limits)
    async with asyncio.timeout(30):
        with pytest.raises(ConnectionLost, match="does not read"):
            await wire.send_raw(b"x" * 10_000_000)
        await wire.close()
    assert is_gone(wire.pid)


async def test_a_flood_of_output_does_not_stop_a_timeout() -> None:
    flood = "import sys\nwhile True: sys.stdout.write('noise ' * 1000 + '\\n')"
    limits = ClientLimits(handshake_seconds=0.3, exit_seconds=0.2)
    async with asyncio.timeout(30):
        with pytest.raises(RequestTimeout):
            async with connect([sys.executable, "-c", flood], era="legacy", options=Options(limits=limits)):
                pass


async def test_odd_bytes_can_be_sent_as_they_are() -> None:
    transcript = Transcript()
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"
    wire = await StdioWire.open([sys.executable, "-c", echo], observer=transcript, limits=QUICK)
    async with asyncio.timeout(30):
        await wire.send_raw(b'{"odd": \xff}\r\n')
        record = await transcript.wait_for(lambda record: record.direction == "received", 5)
        await wire.close()
    assert record is not None
    assert record.data == b'{"odd": \xff}\r\n'


async def test_a_server_error_does_not_end_the_connection() -> None:
    argv = child(x=['{"jsonrpc":"2.0","id":ID,"error":{"code":-5,"message":"no"}}'], y=[OK])
    async with asyncio.timeout(30), connect(argv, options=Options(limits=QUICK)) as client:
        with pytest.raises(ServerError):
            await client.request("x")
        assert (await client.request("y")).read(dict[str, bool]) == {"ok": True}
