"""A bare HTTP/1.1 client: every byte of a request is the test's own, and a reply can be read as it comes."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterable

Headers = Iterable[tuple[str, str]]


class Reply:
    """Status and headers of a reply, and its body while it lasts."""

    def __init__(self, status: int, headers: list[tuple[str, str]], reader: asyncio.StreamReader) -> None:
        self.status = status
        self.headers = dict(headers)
        self._reader = reader

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]

    async def pieces(self) -> AsyncIterator[bytes]:
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int((await self._reader.readuntil(b"\r\n")).strip(), 16):
                yield await self._reader.readexactly(size)
                await self._reader.readexactly(2)
            await self._reader.readexactly(2)
        elif "content-length" in self.headers:
            yield await self._reader.readexactly(int(self.headers["content-length"]))
        elif self.status not in (204, 304):
            yield await self._reader.read()

    async def body(self) -> bytes:
        return b"".join([piece async for piece in self.pieces()])

    async def events(self) -> AsyncGenerator[dict[str, str], None]:
        """Server-Sent Events as their fields; comments are kept under the empty name."""
        held = b""
        async for piece in self.pieces():
            held += piece
            while b"\n\n" in held:
                block, _, held = held.partition(b"\n\n")
                lines = [line.partition(":") for line in block.decode().split("\n")]
                yield {name: value.removeprefix(" ") for name, _, value in lines}


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status_line, *lines = head.rstrip("\r\n").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    return Reply(int(status_line.split(" ")[1]), headers, reader)


def request_bytes(
    method: str, path: str, headers: Headers, body: bytes = b"", *, host: str | None = "127.0.0.1"
) -> bytes:
    """A request, with a length where it has a body and a Host unless there shall be none."""
    lines = [f"{method} {path} HTTP/1.1"]
    if host is not None:
        lines.append(f"Host: {host}")
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int) -> "Client":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self) -> Reply:
        return await read_reply(self.reader)

    async def close(self) -> None:
        self.writer.close()
        # A server that has answered need not read the rest of what is still being sent.
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


async def ask(
    port: int,
    method: str,
    path: str,
    headers: Headers = (),
    body: bytes = b"",
    *,
    host: str | None = "127.0.0.1",
) -> tuple[Reply, bytes]:
    """One request on a connection of its own, and its whole reply."""
    async with asyncio.timeout(30), await Client.open(port) as client:
        await client.send(request_bytes(method, path, [*headers, ("Connection", "close")], body, host=host))
        reply = await client.reply()
        return reply, await reply.body()
