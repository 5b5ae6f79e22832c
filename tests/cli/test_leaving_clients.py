"""`serve` when a client leaves, when it is asked to stop, and at an address without a name."""

import contextlib
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.cli.running import SECONDS, Listening, listening
from tests.cli.workers import called, events
from tests.metrics.prometheus import numbers

WAITING = """
import asyncio
from pathlib import Path
from qortal_mcp.server import Server, tool

@tool("Wait")
async def wait(folder: str) -> str:
    "Waits for ever."
    Path(folder, "begun").touch()
    await asyncio.sleep(3600)
    return "done"

server = Server("own", "1", tools=[wait])
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent")


@pytest.fixture
def own(tmp_path: Path) -> str:
    file = tmp_path / "own.py"
    file.write_text(WAITING)
    return f"{file}:server"


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def begun_call(server: Listening, folder: Path) -> http.client.HTTPConnection:
    """A call that is being worked on."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
    body = json.dumps(called("wait", folder=str(folder)))
    connection.request("POST", "/mcp", body, {"content-type": "application/json"})
    until((folder / "begun").exists)
    return connection


def outcomes(server: Listening) -> dict[str, float]:
    """How many calls of tools ended with which code."""
    page = server.ask("/metrics")[1].decode()
    return {
        dict(labels).get("rpc_response_status_code", ""): value
        for (name, labels), value in numbers(page).items()
        if name == "mcp_server_operation_duration_seconds_count"
        and ("mcp_method_name", "tools/call") in labels
    }


@pytest.mark.promise("Operations", "A call whose client has left is counted as cancelled.")
def test_a_call_whose_client_has_left_is_counted(own: str, tmp_path: Path) -> None:
    with listening("serve", own) as server:
        begun_call(server, tmp_path).close()
        until(lambda: outcomes(server) == {"-32800": 1.0})


def test_the_second_ctrl_c_does_not_wait_for_calls(own: str, tmp_path: Path) -> None:
    server = Listening(("serve", own, "--listen", "127.0.0.1:0"), None)
    with contextlib.closing(begun_call(server, tmp_path)):
        os.kill(server.pid, signal.SIGINT)
        server.wait_for(lambda said: '"stopping"' in said)
        began = time.monotonic()
        assert server.stop(signal.SIGINT) == 130
        assert time.monotonic() - began < 4  # calls in flight would have five seconds
    assert "Traceback" not in server.err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_that_it_was_asked_to_stop_stands_in_the_log(workers: str) -> None:
    with listening("serve", "--sample", "--workers", workers, "--drain-seconds", "0.5") as server:
        assert server.stop() == 0
    assert len(events(server, "leaving: asked to stop")) == 1
    assert len(events(server, "stopping")) == 1


@pytest.mark.promise(
    "Operations", "Probes may use the IP address at which a server is reached; names have to be allowed."
)
@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux has more addresses of loopback without set-up"
)
def test_a_request_to_the_very_address_of_the_server_needs_no_leave() -> None:
    server = Listening(("serve", "--sample", "--listen", "127.0.0.2:0"), None)
    try:
        port = urlsplit(server.url).port
        seen = {
            host: server.ask("/metrics", headers={"Host": host})[0]
            for host in ("127.0.0.2", f"127.0.0.2:{port}", "127.0.0.2:1", "127.0.0.3", "evil.example", "")
        }
        assert list(seen.values()) == [200, 200, 421, 421, 421, 400]
        own, foreign = f"http://127.0.0.2:{port}", "http://evil.example"
        host = {"Host": f"127.0.0.2:{port}"}
        assert server.ask("/metrics", headers={**host, "Origin": own})[0] == 200
        assert server.ask("/metrics", headers={**host, "Origin": foreign})[0] == 403
    finally:
        server.stop()


def test_what_keeps_a_store_away_is_said(tmp_path: Path) -> None:
    """A password that is refused, and something that is not a store."""
    said = {
        b"-WRONGPASS no": "it refuses: WRONGPASS",
        b"-NOAUTH no": "it refuses: NOAUTH",
        b"+HELLO": "it is not a store",
    }
    for reply, why in said.items():
        with socket.create_server(("127.0.0.1", 0)) as store:
            stopping = threading.Event()
            thread = threading.Thread(target=_answers, args=(store, reply, stopping))
            thread.start()
            url = f"redis://127.0.0.1:{store.getsockname()[1]}"
            env = {"QORTAL_MCP_CACHE_PASSWORD": "a-password-of-tests"} if b"WRONGPASS" in reply else {}
            try:
                with listening("serve", "--sample", "--cache", url, env=env) as server:
                    server.wait_for(lambda text: "the shared store does not answer" in text)
                    (event,) = events(
                        server, "the shared store does not answer; every process goes on by itself"
                    )
                    assert event["qortal_mcp.why"] == why
            finally:
                stopping.set()
                thread.join()


def _answers(store: socket.socket, reply: bytes, stopping: threading.Event) -> None:
    store.settimeout(0.1)
    taken = []
    while not stopping.is_set():
        with contextlib.suppress(TimeoutError):
            taken.append(store.accept()[0])
            taken[-1].settimeout(0.1)
        for connection in taken:
            with contextlib.suppress(OSError):
                if connection.recv(4096):
                    connection.sendall(reply + b"\r\n")
    for connection in taken:
        connection.close()
