"""Servers that leave: first they say so, then they stop, and nobody behind a balancer notices."""

import contextlib
import http.client
import json
import os
import signal
import threading
import time
from urllib.parse import urlsplit

import pytest
from tests.cli.running import Listening, listening

from .balancer import Balancer
from .servers import RecordingNode

BODY = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "get_block", "arguments": {"height": 3}},
    }
).encode()


def started(node: RecordingNode, port: int = 0, drain: str = "1.5", *more: str) -> Listening:
    at = ("--listen", f"127.0.0.1:{port}")
    return Listening(("serve", "--node", node.url, "--drain-seconds", drain, *at, *more), None)


@pytest.mark.promise(
    "Operations", "Servers behind a balancer can be restarted one after the other without a lost call."
)
def test_two_servers_restart_one_after_the_other_and_no_call_is_lost() -> None:
    lost: list[object] = []
    answered = [0]
    stopping = threading.Event()

    def keep_calling(balancer: Balancer) -> None:
        while not stopping.is_set():
            try:
                status, body = balancer.request(BODY)
            except (OSError, http.client.HTTPException) as exc:
                lost.append(repr(exc))
                continue
            answered[0] += 1
            if status != 200 or b'"isError":false' not in body:
                lost.append((status, body))

    with RecordingNode().running() as node:
        servers = [started(node), started(node)]
        ports = [urlsplit(server.url).port or 0 for server in servers]
        try:
            with Balancer([server.url for server in servers]).running() as balancer:
                for at in (0, 1):
                    balancer.wait_for(at, ready=True)
                callers = [threading.Thread(target=keep_calling, args=(balancer,)) for _ in range(3)]
                for caller in callers:
                    caller.start()
                try:
                    for at in (0, 1):
                        assert servers[at].stop() == 0
                        assert "Traceback" not in servers[at].err
                        servers[at] = started(node, ports[at])
                        balancer.wait_for(at, ready=True)
                        time.sleep(0.2)
                finally:
                    stopping.set()
                    for caller in callers:
                        caller.join()
        finally:
            for server in servers:
                server.stop()
    assert lost == []
    assert answered[0] > 20


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_that_leaves_says_so_first_and_still_serves(workers: str) -> None:
    with RecordingNode().running() as node:
        server = started(node, 0, "60", "--workers", workers)
        try:
            assert server.ask("/readyz")[0] == 200
            kept = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=30)
            with contextlib.closing(kept):
                kept.request("POST", "/mcp", BODY, {"Content-Type": "application/json"})
                before = kept.getresponse()
                before.read()
                assert not before.will_close
                os.kill(server.pid, signal.SIGTERM)
                _until_leaving(server)
                assert json.loads(server.ask("/readyz")[1]) == {"status": "stopping"}
                assert server.ask("/healthz")[0] == 200
                # The connection is used up with one more answer, so that the next request goes elsewhere.
                kept.request("POST", "/mcp", BODY, {"Content-Type": "application/json"})
                after = kept.getresponse()
                assert b'"isError":false' in after.read()
                assert after.will_close
            began = time.monotonic()
            # Whoever asks twice means now.
            assert server.stop() == 0
            assert time.monotonic() - began < 30
        finally:
            server.stop()


def test_ctrl_c_does_not_wait_for_balancers() -> None:
    with listening("serve", "--sample", "--drain-seconds", "60") as server:
        began = time.monotonic()
        assert server.stop(signal.SIGINT) == 0
        assert time.monotonic() - began < 30


def _until_leaving(server: Listening) -> None:
    """Several times in a row: workers are asked in turn."""
    ends, in_a_row = time.monotonic() + 30, 0
    while in_a_row < 4:
        in_a_row = in_a_row + 1 if server.ask("/readyz")[0] == 503 else 0
        assert time.monotonic() < ends
        time.sleep(0.02)
