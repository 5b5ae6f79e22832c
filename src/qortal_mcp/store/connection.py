"""One connection to a Valkey or Redis server, as the valkey client makes it. The only file that imports that client.

What the server sends is read by `_Replies`: the client's own readers would take a reply of any size and depth.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from valkey.asyncio.connection import (
    AbstractConnection,
    Connection,
    SSLConnection,
    UnixDomainSocketConnection,
)
from valkey.exceptions import ResponseError

from .address import Address
from .line import Refused, Reply, StoreAway, Word

# An error or the length of a reply; the stream itself refuses lines longer than 64 kB.
_LINE_BYTES = 1024


class _Unexpected(Exception):
    """A reply that nobody asked for."""


class Wire:
    """Sends commands and reads their replies, in the same order."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection

    async def send(self, commands: Sequence[tuple[Word, ...]]) -> None:
        await self._connection.send_packed_command(_packed(commands), check_health=False)

    async def reply(self) -> Reply:
        """An error of the server's is a reply, too."""
        try:
            found: Reply = await self._connection.read_response(disable_decoding=True)
        except ResponseError as exc:
            return Refused(str(exc))
        return found

    async def close(self) -> None:
        await self._connection.disconnect(nowait=True)


async def connected(address: Address, password: str | None, most_bytes: int) -> Wire:
    """A connection that is ready for commands. Raises: anything, where there is no store."""
    options: dict[str, Any] = {
        "db": address.database,
        "password": password,
        # Whoever asks says how long to wait; the client's own clocks would cost more than a command.
        "socket_timeout": None,
        "lib_name": None,
        "lib_version": None,
        "parser_class": lambda socket_read_size: _Replies(most_bytes),
    }
    connection: AbstractConnection
    if address.path:
        connection = UnixDomainSocketConnection(path=address.path, **options)
    else:
        options |= {"host": address.host, "port": address.port, "socket_keepalive": True}
        # Whom a certificate was made for is not checked unless it is said.
        connection = (
            SSLConnection(ssl_check_hostname=True, **options) if address.tls else Connection(**options)
        )
    wire = Wire(connection)
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
    except ResponseError as exc:
        await wire.close()
        raise StoreAway(f"it refuses: {Refused(str(exc)).code}") from None
    except BaseException:
        await wire.close()
        raise
    return wire


def _packed(commands: Sequence[tuple[Word, ...]]) -> bytes:
    """Commands as they are sent. The client's own way to write them takes longer than everything else about a command."""
    parts: list[bytes] = []
    for words in commands:
        parts.append(b"*%d\r\n" % len(words))
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)


class _Replies:
    """Reads the four kinds of reply that our commands have: no lists, and nothing longer than was asked for."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._stream: asyncio.StreamReader | None = None

    def on_connect(self, connection: Any) -> None:
        self._stream = connection._reader

    def on_disconnect(self) -> None:
        self._stream = None

    async def read_response(self, disable_decoding: bool = False) -> Any:
        stream = self._stream
        if stream is None:
            raise ConnectionError("not connected")
        line = await stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if len(rest) > _LINE_BYTES:
            raise _Unexpected("a line that is too long")
        if kind == b"$":
            return await self._bulk(stream, _number(rest))
        if kind == b":":
            return _number(rest)
        if kind == b"+":
            return rest
        if kind == b"-":
            return ResponseError(rest.decode("ascii", "replace"))
        raise _Unexpected("another kind of reply")

    async def _bulk(self, stream: asyncio.StreamReader, size: int) -> bytes | None:
        if size == -1:
            return None
        if not 0 <= size <= self._most_bytes:
            raise _Unexpected("a value that is too long")
        data = await stream.readexactly(size + 2)
        if not data.endswith(b"\r\n"):
            raise _Unexpected("a value without its end")
        return data[:-2]


def _number(text: bytes) -> int:
    if len(text) > 20 or not text.removeprefix(b"-").isdigit():
        raise _Unexpected("not a number")
    return int(text)
