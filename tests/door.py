"""The real server behind its HTTP door, as a child process: what a client or a curl command meets."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

START_SECONDS = 20


class Answer(Struct, frozen=True):
    """One HTTP reply."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Door:
    """A running `qortal-mcp serve`."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: list[str]) -> None:
        self.process = process
        self.port = port
        self.log = log

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def send(
        self,
        body: bytes | None = None,
        *,
        method: str = "POST",
        path: str = "/mcp",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        # A guard against hangs, not a measure: a busy machine may take long.
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = {"content-type": "application/json"} if method == "POST" else {}
            connection.request(method, path, body, {**sent, **(headers or {})})
            reply = connection.getresponse()
            return Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def rpc(
        self, method: str, params: Any = None, *, id_: Any = 1, headers: dict[str, str] | None = None
    ) -> Any:
        """A JSON-RPC request and its reply."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": method}
        if params is not None:
            message["params"] = params
        return self.send(json.dumps(message).encode(), headers=headers).json

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """The result of a tool call."""
        return self.rpc("tools/call", {"name": tool, "arguments": arguments})["result"]

    def notify(self, method: str, params: Any = None) -> Answer:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        return self.send(json.dumps(message).encode())

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.send(method="GET", path=path, headers=headers)

    def logged(self, piece: str) -> list[str]:
        """The log lines with a piece of text in them; waits for the first, which is on its way through a pipe."""
        deadline = time.monotonic() + 10
        while not (found := [line for line in self.log if piece in line]) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    def stop(self) -> int:
        """Ask it to end, and tell how it did."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15)


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without anything that would change what a command does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QORTAL")}
    kept.pop("PYTHONUNBUFFERED", None)
    return {**kept, **more}


@contextmanager
def open_door(*options: str, environment: dict[str, str] | None = None) -> Iterator[Door]:
    """Start `qortal-mcp serve` on a free port and end it afterwards."""
    command = [sys.executable, "-m", "qortal_mcp", "serve", "--listen", "127.0.0.1:0", *options]
    with open_program(command, environment) as door:
        yield door


@contextmanager
def open_program(command: list[str], environment: dict[str, str] | None = None) -> Iterator[Door]:
    """Start a program that announces its address as ours does, and end it afterwards."""
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=clean_environment(**(environment or {})),
    )
    log: list[str] = []
    listening = threading.Event()
    reader = threading.Thread(target=_read_log, args=(process, log, listening), daemon=True)
    reader.start()
    try:
        if not listening.wait(START_SECONDS):
            raise AssertionError(f"the server did not start: {''.join(log)}")
        yield Door(process, _port(log), log)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        reader.join(timeout=5)
        assert process.stderr is not None
        process.stderr.close()


def _read_log(process: subprocess.Popen[str], log: list[str], listening: threading.Event) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        log.append(line)
        if line.startswith("Listening on "):
            listening.set()
    listening.set()


def _port(log: list[str]) -> int:
    for line in log:
        match = re.match(r"Listening on http://127\.0\.0\.1:(\d+)/mcp", line)
        if match:
            return int(match.group(1))
    raise AssertionError(f"no address in: {''.join(log)}")
