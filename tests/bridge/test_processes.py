"""The real command: it ends when it should, leaves nothing running, and stays small whoever does not read."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from tests.bridge.behind import Noting, bridging, free_port, is_running, resident_bytes
from tests.bridge.fronts import Socket, stdio
from tests.cli.running import COMMAND, INITIALIZE, environment, message, run

from qortal_mcp.limits import DEFAULT

Json = dict[str, Any]
MEGABYTE = 1024 * 1024
# How much a server says that nobody reads: far more than any buffer on the way holds.
FLOOD: Json = {"messages": 3000, "size": 100_000}
# An end takes a second or so; one that waits for what is still open takes `shutdown_seconds`, which is more.
SOON_SECONDS = 0.9 * DEFAULT.shutdown_seconds


@pytest.fixture
def server(tmp_path: Path) -> Noting:
    return Noting(tmp_path / "log")


@contextlib.contextmanager
def piped(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command on pipes, ended at the end if it still runs, so that it ends its own programs; else killed."""
    process = subprocess.Popen(
        [*COMMAND, "bridge", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdin.close()
        process.stdout.close()


def ask(process: subprocess.Popen[bytes], data: bytes) -> Json:
    """Send a line, and read the next answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(data)
    process.stdin.flush()
    while True:
        answer: Json = json.loads(process.stdout.readline())
        if "id" in answer:
            return answer


def soon(claim: Any, seconds: float = 20.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _stubborn(pids: Path) -> list[str]:
    """A program that has a child of its own, and ignores both the end of its input and being asked to stop."""
    words = f"""
import json, os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({str(pids)!r}, "w") as file: file.write(f"{{os.getpid()}} {{child.pid}}")
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = {{"protocolVersion": "2025-06-18", "capabilities": {{}}, "serverInfo": {{"name": "s", "version": "1"}}}}
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
while True: signal.pause()
"""
    return [sys.executable, "-c", words]


@pytest.mark.parametrize("how", ["stdin", "SIGTERM", "SIGINT"])
def test_it_ends_soon_and_takes_children_and_grandchildren_along(tmp_path: Path, how: str) -> None:
    pids = tmp_path / "pids"
    with piped("--", *_stubborn(pids)) as process:
        assert "result" in ask(process, INITIALIZE)
        family = [int(pid) for pid in pids.read_text().split()]
        assert all(map(is_running, family))
        if how == "stdin":
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, how))
        assert process.wait(SOON_SECONDS) == 0
        assert not any(map(is_running, family))


def test_a_listening_bridge_takes_its_children_along(server: Noting) -> None:
    with bridging(server=server) as bridge:
        assert soon(server.pids)
        assert is_running(server.pids()[0])
        began = time.monotonic()
        assert bridge.stop() == 0
        assert time.monotonic() - began < SOON_SECONDS
    assert not is_running(server.pids()[0])


def test_a_child_sees_the_end_of_its_input_if_the_bridge_is_killed(server: Noting) -> None:
    with piped(*server.words) as process:
        assert "result" in ask(process, INITIALIZE)
        (child,) = server.pids()
        process.kill()
        assert soon(lambda: not is_running(child))


def test_what_a_child_leaves_running_when_it_crashes_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with piped("--", *_stubborn(pids)) as process:
        assert "result" in ask(process, INITIALIZE)
        leader, grandchild = (int(pid) for pid in pids.read_text().split())
        os.kill(leader, signal.SIGKILL)
        assert soon(lambda: not is_running(grandchild))
        assert not is_running(leader)


def test_a_websocket_behind_is_closed_properly(tmp_path: Path) -> None:
    async def scenario() -> list[Any]:
        async with Noting(tmp_path / "log", "ws").running() as server:

            def talk() -> None:
                with piped(*server.words) as process:
                    assert "result" in ask(process, INITIALIZE)
                    assert process.stdin is not None
                    process.stdin.close()
                    assert process.wait(2) == 0

            await asyncio.to_thread(talk)
            return [what for _, what in server.received()]

    assert "closed 1000" in asyncio.run(scenario())


def test_a_server_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    server = Noting(tmp_path / "log", "ws")
    with piped(*server.words) as process:
        assert process.stdin is not None
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        time.sleep(1.5)
        assert process.poll() is None
        asyncio.run(server.start())
        try:
            assert process.stdout is not None
            assert "result" in json.loads(process.stdout.readline())
        finally:
            server.kill()


def test_a_server_that_never_comes_is_reported_once_and_the_exit_code_says_so() -> None:
    target = f"ws://127.0.0.1:{free_port()}"
    ended = run("bridge", "--start-timeout", "5", target, stdin=INITIALIZE)
    assert ended.code == 3
    (line,) = ended.out.splitlines()
    assert json.loads(line)["error"] == {
        "code": -32603,
        "message": f"cannot reach {target}",
        "data": {"reason": "connection refused"},
    }


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT"])
def test_a_signal_before_the_first_message_ends_it_with_exit_code_0(how: str) -> None:
    with stdio(f"ws://127.0.0.1:{free_port()}", hello=False) as front:
        front.send(b"{}")  # the answer shows that it is up
        front.wait_for(lambda: bool(front.lines))
        front.process.send_signal(getattr(signal, how))
        assert front.process.wait(10) == 0


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT"])
def test_a_signal_while_a_client_waits_for_the_server_answers_it_at_once(how: str) -> None:
    target = f"ws://127.0.0.1:{free_port()}"
    with stdio(target, hello=False) as front:
        front.send(INITIALIZE.strip(), message(2, "tools/call", {"name": "t"}).strip())
        front.wait_for(lambda: "cannot reach the server" in front.err)
        began = time.monotonic()
        front.process.send_signal(getattr(signal, how))
        assert front.answer(1)["error"] == {
            "code": -32603,
            "message": f"cannot reach {target}",
            "data": {"reason": "the bridge is stopping"},
        }
        assert front.answer(2)["result"]["isError"] is True
        assert front.process.wait(10) == 0
        assert time.monotonic() - began < SOON_SECONDS


def test_on_a_terminal_it_says_that_it_waits_for_a_client() -> None:
    keyboard, terminal = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "bridge", f"ws://127.0.0.1:{free_port()}"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        assert process.stderr is not None
        first = process.stderr.readline().decode()
        os.write(keyboard, b"\x04")  # the end of input, as a person types it
        out, _ = process.communicate(timeout=10)
    finally:
        process.kill()
        os.close(keyboard)
        os.close(terminal)
    assert first == "Waiting for a client on stdin. Try --check, or --listen HOST:PORT.\n"
    assert (process.returncode, out) == (0, b"")


def test_a_listening_bridge_names_both_addresses_and_a_tool_hidden_in_vain_once(server: Noting) -> None:
    with bridging("--hide-tool", "nosuch", "--hide-tool", "note", server=server) as bridge:
        for _ in range(2):
            with contextlib.closing(Socket(bridge.url)) as client:
                assert "note" not in str(client.ask("tools/list", {}))
        bridge.wait_for(lambda said: "nosuch" in said)
        assert bridge.err.count("--hide-tool names a tool that the server does not have: nosuch") == 1
        assert "does not have: note" not in bridge.err
        assert f"WebSocket clients: {bridge.url.replace('http', 'ws').replace('/mcp', '/ws')}\n" in bridge.err


def test_a_check_shows_the_last_lines_of_a_program_that_does_not_start() -> None:
    words = "import sys; print('no key in KEY_FILE', file=sys.stderr); sys.exit(4)"
    ended = run("bridge", "--check", "--", sys.executable, "-c", words)
    assert ended.code == 3
    assert "exit code 4" in ended.err
    assert "no key in KEY_FILE" in ended.err


def test_readyz_shows_the_last_lines_of_a_program_that_does_not_start(tmp_path: Path) -> None:
    words = "import os, sys; print('no disk', os.environ.get('DISK_KEY'), file=sys.stderr); sys.exit(4)"

    class Program(Noting):
        @property
        def command(self) -> list[str]:
            return [sys.executable, "-c", words]

    with bridging(server=Program(tmp_path / "log")) as bridge:

        def state() -> Json:
            status, body = bridge.ask("/readyz")
            assert status == 503
            found: Json = json.loads(body)["connections"][0]
            return found

        assert soon(lambda: state().get("stderr") == "no disk None")
        assert bridge.ask("/healthz")[0] == 200


def test_a_flood_on_standard_error_and_garbage_on_standard_output_cost_nothing() -> None:
    words = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    if message["method"] == "tools/call":
        for number in range(200000):
            sys.stderr.write("the same complaint again and again %d\\n" % number)
            if number % 10 == 0: print("progress: %d %%" % number)
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
              "tools": [{"name": "t", "inputSchema": {"type": "object"}}], "content": []}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
    with piped("--", sys.executable, "-c", words) as process:
        assert "result" in ask(process, INITIALIZE)
        before = resident_bytes(process.pid)
        answer = ask(process, message(2, "tools/call", {"name": "t"}))
        assert answer["id"] == 2
        assert answer["result"]["content"] == []
        assert resident_bytes(process.pid) - before < 16 * MEGABYTE


def _growth(pid: int, before: int, seconds: float = 3.0) -> int:
    """The most memory that a process takes more than before, while nobody reads: until it grows no more for a second."""
    most, end = 0, time.monotonic() + seconds
    settled = end
    while (now := time.monotonic()) < min(end, settled):
        if (more := resident_bytes(pid) - before) > most + MEGABYTE // 4:
            most, settled = more, now + 1
        time.sleep(0.05)
    return most


@pytest.mark.parametrize(
    ("outside", "token"),
    [
        pytest.param(False, None, id="logs-during-a-call"),
        pytest.param(False, "p", id="progress"),
        pytest.param(True, None, id="logs-outside-calls"),
    ],
)
def test_a_client_on_stdio_that_does_not_read_makes_the_server_wait(
    server: Noting, outside: bool, token: str | None
) -> None:
    with piped(*server.words) as process:
        assert "result" in ask(process, INITIALIZE)
        before = resident_bytes(process.pid)
        meta = {"_meta": {"progressToken": token}} if token else {}
        params = {"name": "flood", "arguments": {**FLOOD, "outside": outside}, **meta}
        assert process.stdin is not None
        process.stdin.write(message(2, "tools/call", params))
        process.stdin.flush()
        grown = _growth(process.pid, before)
        assert grown < 64 * MEGABYTE
        # It has lost nothing by waiting.
        assert process.stdout is not None
        said = [json.loads(process.stdout.readline()) for _ in range(10)]
        told = [one["params"].get("logger", one["params"].get("progress")) for one in said if "method" in one]
        assert [int(one) for one in told] == list(range(len(told)))
        assert len(told) >= 9


@pytest.mark.parametrize("front", ["session", "stateless", "websocket"])
def test_a_client_of_a_listening_bridge_that_does_not_read_costs_little_memory(
    server: Noting, front: str
) -> None:
    """A client of sockets only, so that nothing reads for it."""
    with bridging(server=server) as bridge:
        parts = urlsplit(bridge.url)
        assert soon(lambda: bridge.ask("/readyz")[0] == 200)
        hello = json.loads(INITIALIZE)
        params = {"name": "flood", "arguments": FLOOD, "_meta": {"progressToken": "p"}}
        call: Json = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        head = "Host: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        with socket.create_connection((parts.hostname or "", parts.port or 0)) as sock:
            sock.settimeout(10)
            if front == "websocket":
                key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                sock.sendall(
                    f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n".encode()
                )
                assert b"101" in sock.recv(4096)
                sock.sendall(_frame(hello))
                assert b"serverInfo" in sock.recv(4096)
                before = resident_bytes(bridge.pid)
                sock.sendall(_frame(call))
            else:
                session = ""
                if front == "session":
                    sock.sendall(_request(head, hello))
                    reply = sock.recv(8192).decode()
                    session = next(line for line in reply.split("\r\n") if "mcp-session-id" in line.lower())
                    session += "\r\n"
                before = resident_bytes(bridge.pid)
                sock.sendall(_request(head + session, call))
            grown = _growth(bridge.pid, before)
            assert grown < 64 * MEGABYTE
            # Others are served meanwhile.
            status, body = bridge.ask(
                "/mcp",
                {
                    "jsonrpc": "2.0",
                    "id": 3,
                    "method": "tools/call",
                    "params": {"name": "note", "arguments": {"n": 7}},
                },
                {"accept": "application/json, text/event-stream"},
            )
            assert status == 200
            assert b'"7"' in body


def _request(head: str, body: Json) -> bytes:
    data = json.dumps(body)
    return f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(data)}\r\n\r\n{data}".encode()


def _frame(body: Json) -> bytes:
    data = json.dumps(body).encode()
    return b"\x81\xfe" + len(data).to_bytes(2, "big") + b"\0\0\0\0" + data


async def test_a_websocket_client_that_reads_gets_every_notice_of_a_burst(server: Noting) -> None:
    with bridging(server=server) as bridge:
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(f"{bridge.url.rpartition('/')[0]}/ws", max_msg_size=0) as front,
        ):
            await front.send_bytes(INITIALIZE)
            await front.receive()
            params = {"name": "flood", "arguments": {"messages": 2000, "size": 50, "outside": True}}
            await front.send_bytes(message(2, "tools/call", params))
            numbers: list[int] = []
            async with asyncio.timeout(20):
                while len(numbers) < 2000:
                    said = (await front.receive()).json()
                    if "method" in said:
                        numbers.append(int(said["params"]["logger"]))
            assert numbers == list(range(2000))


def test_a_server_that_does_not_read_costs_little_memory_and_its_calls_are_answered(server: Noting) -> None:
    with piped("--timeout", "2", *server.words) as process:
        assert "result" in ask(process, INITIALIZE)
        assert "result" in ask(process, message(2, "tools/call", {"name": "deafen"}))
        before = resident_bytes(process.pid)
        filler = "x" * 100_000
        assert process.stdin is not None
        for _ in range(300):
            process.stdin.write(message(None, "notifications/odd", {"filler": filler}))
        calls = range(10, 30)
        for id_ in calls:
            arguments = {"name": "note", "arguments": {"filler": filler}}
            process.stdin.write(message(id_, "tools/call", arguments))
        process.stdin.flush()
        assert process.stdout is not None
        answers = [json.loads(process.stdout.readline()) for _ in calls]
        assert sorted(answer["id"] for answer in answers) == list(calls)
        assert all(answer["result"]["isError"] for answer in answers)
        assert _growth(process.pid, before, 0.2) < 64 * MEGABYTE
