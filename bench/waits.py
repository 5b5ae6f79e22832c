"""How long others wait while the server works on one costly message, or on one costly reply of a node.

One client asks `ping` without a pause; its slowest answer is the wait. The server has a core of its own.
"""

import http.client
import json
import threading
import time
from collections.abc import Iterator

from bench.contestants import OURS, running, stub_node
from bench.figures import Budget, Figure
from bench.processes import Failed
from bench.run import Run

PART = "waits"
_BUDGET = Budget(250, "value")
_MESSAGE_BYTES = 1024 * 1024 - 1000
_ROUNDS = 3
_PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


def measure(run: Run) -> list[Figure]:
    figures = []
    with (
        stub_node() as node,
        running(
            f"{OURS} waits", run.contestants.ours("uvloop", "--node", f"http://127.0.0.1:{node.port()}")
        ) as child,
    ):
        port = child.port()
        for subject, body in _requests():
            waits = tuple(_longest_wait(port, body) for _ in range(_ROUNDS))
            figures.append(Figure(PART, "longest wait of others", subject, "ms", waits, budget=_BUDGET))
            run.say(f"waits: {subject}: {max(waits):.0f} ms")
    return figures


def _requests() -> Iterator[tuple[str, bytes]]:
    floats = _full_of("1e300")
    yield "1 MiB of floats as an argument", _call("validate_address", f'{{"address":{floats}}}')
    yield (
        "1 MiB of floats as a progress token",
        _request("tools/list", f'{{"_meta":{{"progressToken":{floats}}}}}'),
    )
    yield "1 MiB of floats for an unknown method", _request("no/such", f'{{"x":{floats}}}')
    yield "1 MiB of empty lists as an argument", _call("validate_address", f'{{"address":{_full_of("[]")}}}')
    yield "4 MiB of floats from a node", _call("read_core", '{"endpoint":"/names"}')


def _full_of(item: str) -> str:
    return "[" + ",".join([item] * (_MESSAGE_BYTES // (len(item) + 1))) + "]"


def _request(method: str, params: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}'.encode()


def _call(tool: str, arguments: str) -> bytes:
    return _request("tools/call", f'{{"name":"{tool}","arguments":{arguments}}}')


def _post(port: int, body: bytes) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/mcp", body, _HEADERS)
        return connection.getresponse().read()
    finally:
        connection.close()


def _longest_wait(port: int, body: bytes) -> float:
    """In milliseconds. Raises: Failed if a client got no answer."""
    waits: list[float] = []
    is_done = threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while not is_done.is_set():
            started = time.perf_counter()
            connection.request("POST", "/mcp", _PING, _HEADERS)
            connection.getresponse().read()
            waits.append((time.perf_counter() - started) * 1000)
        connection.close()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        time.sleep(0.2)
        answer = _post(port, body)
        time.sleep(0.2)
    finally:
        is_done.set()
        asking.join()
    if not answer.startswith(b'{"jsonrpc"') or not waits:
        raise Failed(f"no answer, but {answer[:200]!r}")
    return max(waits)
