"""Why a connection failed, in the words that people read."""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from qortal_mcp.client import ConnectionLost
from qortal_mcp.client.limits import DEFAULT
from qortal_mcp.client.transcript import Recorder
from qortal_mcp.client.wires.reasons import reason
from qortal_mcp.client.wires.web import Web

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
KEY = ConnectionKey("host", 1, True, True, None, None, None)


async def closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.close()


async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.transport.abort()


async def babbles(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.write(b"hello\r\n\r\n")
    await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[int]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
    return port


async def failure(url: str) -> str:
    web = Web(Recorder(None), DEFAULT)
    try:
        with pytest.raises(ConnectionLost) as lost:
            async with web.request("POST", url, data=b"{}"):
                pass
    finally:
        await web.close()
    return str(lost.value)


@pytest.mark.parametrize(
    ("scheme", "serve", "words"),
    [
        pytest.param("http", closes, "the server closed the connection without an answer", id="closed"),
        pytest.param("http", resets, "the server closed the connection without an answer", id="reset"),
        pytest.param("http", babbles, "the answer is not HTTP: Bad status line", id="not-http"),
        pytest.param("https", babbles, "TLS failed: the server does not speak TLS", id="tls-to-plain"),
        pytest.param("https", closes, "TLS failed: the server does not speak TLS", id="tls-closed"),
    ],
)
async def test_a_server_of_another_kind_is_described(scheme: str, serve: Serve, words: str) -> None:
    async with listening(serve) as port:
        assert (await failure(f"{scheme}://127.0.0.1:{port}/mcp")).startswith(words)


async def test_nobody_at_the_address_is_a_refused_connection() -> None:
    assert await failure(f"http://127.0.0.1:{free_port()}/") == "connection refused"


def _untrusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(socket.EAI_NONAME, "x")), "host not found"),
        (
            aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(socket.EAI_AGAIN, "try again")),
            "host not found (try again)",
        ),
        (
            aiohttp.ClientConnectorCertificateError(KEY, _untrusted()),
            "TLS failed: the certificate is not accepted (self-signed certificate)",
        ),
        (
            aiohttp.ClientProxyConnectionError(KEY, ConnectionRefusedError(errno.ECONNREFUSED, "x")),
            "the proxy cannot be reached: connection refused",
        ),
        (aiohttp.ConnectionTimeoutError("x"), "connection timed out"),
        (TimeoutError(), "connection timed out"),
        (aiohttp.ClientOSError(errno.ECONNRESET, "x"), "connection reset"),
        (aiohttp.ClientPayloadError("x"), "the answer ended too early"),
        (ValueError("odd"), "ValueError: odd"),
    ],
)
def test_an_error_of_the_library_is_said_in_plain_words(error: Exception, words: str) -> None:
    assert reason(error) == words
