"""A node on loopback that answers some addresses as told, badly if need be, and the others from the sample chain."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType

from .live_chain import live_answer

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def replies(
    body: bytes | str, status: int = 200, content_type: str = "application/json", *headers: str
) -> Behaviour:
    """An ordinary HTTP answer."""
    data = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}", f"Content-Length: {len(data)}", *headers]

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write("\r\n".join([*head, "", ""]).encode() + (b"" if status == 204 else data))

    return behave


def sends(raw: bytes) -> Behaviour:
    """Whatever bytes, and then the end of the connection."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    return behave


async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """No answer until the other side gives up."""
    await reader.read()


class FaultyNode:
    """Use it as a context; `url` is where it listens, `asked` what it was asked."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        # Address (without query) -> what to do there; anything else is answered from the sample chain.
        self.behaviours: dict[str, Behaviour] = {}
        self.asked: list[str] = []
        self.heads: list[str] = []
        self._connections: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> "FaultyNode":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        host, port = self._server.sockets[0].getsockname()
        self.port = port
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        self._server.close()
        for writer in list(self._connections):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                target = head.split(" ", 2)[1]
                self.asked.append(target)
                self.heads.append(head)
                await self._behaviour(target)(reader, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    def _behaviour(self, target: str) -> Behaviour:
        told = self.behaviours.get(target.partition("?")[0]) or self.behaviours.get("*")
        if told is not None:
            return told
        reply = live_answer(target)
        return replies(reply.body, reply.status, reply.content_type)
