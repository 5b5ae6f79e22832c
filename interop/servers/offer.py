"""What the Python servers here offer: a tool for each kind of value, written as users of the libraries write them."""

import base64
import socket
import sys
from dataclasses import dataclass

# One transparent pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@dataclass
class Sum:
    total: int
    count: int


def add(numbers: list[int]) -> Sum:
    """Add numbers up: an object with a schema of its own."""
    return Sum(sum(numbers), len(numbers))


def get_object() -> dict[str, int]:
    """An object with unknown members."""
    return {"a": 1, "b": 2}


def get_list() -> list[str]:
    """A list of two texts."""
    return ["one", "two"]


def get_text() -> str:
    """A text."""
    return "hello"


def get_number() -> int:
    """A number."""
    return 5


def get_nothing() -> None:
    """Nothing at all."""


def get_untyped():
    """A list without a declared type."""
    return [1, 2]


def fail() -> str:
    """Always raises."""
    raise ValueError("it did not work")


TOOLS = (add, get_object, get_list, get_text, get_number, get_nothing, get_untyped, fail)


def listen(app):
    """Serve an ASGI application on a free port, and print the address."""
    import uvicorn

    # The protocol is named because asyncio sets TCP_NODELAY only then; without it each reply waits 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        print(f"Listening on http://127.0.0.1:{sock.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[sock])
