"""The client's side of stdio: one line out, one line in, in a process that does nothing else in the meantime."""

import json
import os
import select
import time
from typing import Any

from bench.processes import Child, Failed
from bench.wire import INITIALIZE, INITIALIZED, LIST_TOOLS

_REPLY_SECONDS = 30.0


class Lines:
    """A conversation with a child that has pipes."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._buffer = b""

    def send(self, message: str) -> None:
        os.write(self._child.stdin.fileno(), message.encode() + b"\n")

    def ask(self, message: str) -> bytes:
        """Send a request and wait for the next line. Raises: Failed."""
        self.send(message)
        return self.receive()

    def receive(self) -> bytes:
        """The next line. Raises: Failed."""
        deadline = time.monotonic() + _REPLY_SECONDS
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._child.stdout], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self._child.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                raise Failed(f"{self._child.name} did not answer on stdio: {self._child.tail()}")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def greet(self) -> bytes:
        """The handshake."""
        reply = self.ask(INITIALIZE)
        self.send(INITIALIZED)
        return reply

    def list_tools(self) -> bytes:
        return self.ask(LIST_TOOLS)


def result(reply: bytes) -> dict[str, Any]:
    """The result of a reply. Raises: Failed if it is an error, from the protocol or from the tool."""
    found = json.loads(reply)
    if "result" not in found or found["result"].get("isError"):
        raise Failed(f"wrong reply: {reply[:500]!r}")
    value: dict[str, Any] = found["result"]
    return value
