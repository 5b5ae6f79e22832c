"""The real command as a process: run to its end, or kept listening while a test asks it."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

COMMAND = (sys.executable, "-m", "qortal_mcp")
ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
# A start takes a tenth of a second; a loaded machine may take long.
SECONDS = 30.0
# Workers start one after the other, and each takes as long.
_START_SECONDS = 90.0


class Ended(Struct, frozen=True):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of this process without settings of the product, and with a fixed width."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QORTAL_")}
    return {**clean, "COLUMNS": "100", **(more or {})}


def run(
    *words: str, env: Mapping[str, str] | None = None, stdin: bytes = b"", seconds: float = SECONDS
) -> Ended:
    """The command, run to its end."""
    done = subprocess.run(
        [*COMMAND, *words], input=stdin, capture_output=True, timeout=seconds, env=environment(env)
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


class Listening:
    """A command that serves HTTP."""

    def __init__(
        self, words: tuple[str, ...], env: Mapping[str, str] | None, command: tuple[str, ...] = COMMAND
    ) -> None:
        self._process = subprocess.Popen(
            [*command, *words],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(env),
            text=True,
        )
        self._lines: list[str] = []
        self._said = threading.Condition()
        self._started = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._started.wait(_START_SECONDS):
            self.stop(signal.SIGKILL)
            raise AssertionError(f"it does not say where it listens: {self.err}")
        self.url = next(line for line in self._lines if line.startswith("Listening")).split()[-1]

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._said:
                self._lines.append(line)
                self._said.notify_all()
            if line.startswith("Listening on "):
                self._started.set()
        self._started.set()

    @property
    def err(self) -> str:
        return "".join(self._lines)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_silent(self) -> bool:
        """Nobody can write to its standard error any more: all processes that it has started are gone as well."""
        return not self._reader.is_alive()

    def wait_for(self, said: Callable[[str], bool]) -> list[str]:
        """What it wrote so far, once that satisfies a condition."""
        with self._said:
            assert self._said.wait_for(lambda: said(self.err), SECONDS), self.err
            return self.err.splitlines()

    def ask(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, method: str | None = None
    ) -> tuple[int, bytes]:
        """One request; a body is sent as JSON by POST."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
        with contextlib.closing(connection):
            data = None if body is None else json.dumps(body)
            kind = {} if body is None else {"Content-Type": "application/json"}
            connection.request(
                method or ("GET" if body is None else "POST"), path, data, {**kind, **(headers or {})}
            )
            reply = connection.getresponse()
            return reply.status, reply.read()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            code = self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        self._reader.join(SECONDS)
        assert self._process.stderr is not None
        self._process.stderr.close()
        return code


@contextlib.contextmanager
def listening(
    *words: str, env: Mapping[str, str] | None = None, command: tuple[str, ...] = COMMAND
) -> Iterator[Listening]:
    """A command that serves on a free port, until the block ends."""
    server = Listening((*words, "--listen", "127.0.0.1:0"), env, command)
    try:
        yield server
    finally:
        server.stop()


def message(id_: int | None, method: str, params: Any = None) -> bytes:
    """A JSON-RPC message as one line."""
    body = {"jsonrpc": "2.0", "method": method, **({} if id_ is None else {"id": id_})}
    return json.dumps(body if params is None else {**body, "params": params}).encode() + b"\n"


INITIALIZE = message(
    1,
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
)
