"""The same server on every wire."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.client.everything import make

from qortal_mcp.server import Server

EVERYTHING = str(Path(__file__).with_name("everything.py"))
WIRES = ("memory", "stdio", "http", "http-sessions", "websocket")

Target = str | list[str] | Server


@contextmanager
def served(*flags: str) -> Iterator[str]:
    """The address of the server, run as a program."""
    process = subprocess.Popen(
        [sys.executable, EVERYTHING, "--listen", "127.0.0.1:0", *flags],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        match = re.search(r"http://\S+", line)
        assert match, line + process.stderr.read()
        yield match.group()
    finally:
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=10)
    assert process.returncode == 0, rest


@pytest.fixture(scope="session")
def http_address() -> Iterator[str]:
    with served() as url:
        yield url


@pytest.fixture(scope="session")
def session_address() -> Iterator[str]:
    with served("--sessions") as url:
        yield url


@pytest.fixture(params=WIRES)
def wire_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def target(wire_name: str, request: pytest.FixtureRequest) -> Target:
    """The everything server, reached over one wire."""
    ways: dict[str, Callable[[], Target]] = {
        "memory": make,
        "stdio": lambda: [sys.executable, EVERYTHING],
        "http": lambda: str(request.getfixturevalue("http_address")),
        "http-sessions": lambda: str(request.getfixturevalue("session_address")),
        "websocket": lambda: websocket_of(str(request.getfixturevalue("http_address"))),
    }
    return ways[wire_name]()


def websocket_of(url: str) -> str:
    return url.replace("http:", "ws:").replace("/mcp", "/ws")
