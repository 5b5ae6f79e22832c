"""A node that is reached through TLS, and every way in which that fails."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import caller
from .faulty_node import FaultyNode
from .world import ALICE

HERE = Path(__file__).parent / "tls"
CERTIFICATE, KEY = HERE / "localhost.crt", HERE / "localhost.key"
LIMITS = NodeLimits(reply_seconds=5, connect_seconds=5, tip_seconds=5, rest_seconds=0.001)


@pytest.fixture
async def secured() -> AsyncIterator[FaultyNode]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE, KEY)
    async with FaultyNode(context) as node:
        yield node


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an operator trusts an authority of their own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


async def balance(url: str) -> tuple[bool, str]:
    """Whether a call failed, and what it said."""
    node = Node.at([url], LIMITS)
    try:
        result = await caller(make_server(node))("get_balance", address=ALICE)
    finally:
        await node.close()
    if result["isError"]:
        assert result["_meta"]["qortal-mcp/error"] == {"code": "NODE_UNREACHABLE", "retryable": True}
    text: str = result["content"][0]["text"]
    return result["isError"], text


@pytest.mark.promise("Nodes", "A node can be reached through TLS, and its certificate is checked.")
@pytest.mark.usefixtures("trusted")
async def test_a_node_with_a_trusted_certificate_answers(secured: FaultyNode) -> None:
    failed, text = await balance(f"https://localhost:{secured.port}")
    assert not failed
    assert '"balance"' in text
    assert f"https://localhost:{secured.port}" in text
    assert secured.asked


@pytest.mark.promise("Nodes", "A node can be reached through TLS, and its certificate is checked.")
async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(secured: FaultyNode) -> None:
    url = f"https://localhost:{secured.port}"
    failed, text = await balance(url)
    assert failed
    assert text == f"Node unreachable. TLS to {url} failed: its certificate is not trusted."
    assert secured.asked == []


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_of_another_host_is_named_as_such(secured: FaultyNode) -> None:
    url = f"https://127.0.0.1:{secured.port}"
    failed, text = await balance(url)
    assert failed
    assert text == f"Node unreachable. TLS to {url} failed: its certificate is for another address."
    assert secured.asked == []


async def test_a_node_without_tls_is_not_said_to_be_switched_off() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        writer.close()

    plain = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with plain:
        url = f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}"
        failed, text = await balance(url)
    assert failed
    assert text == (
        f"Node unreachable. TLS to {url} failed: what answers there is not TLS. Perhaps its address starts with http://."
    )


async def test_a_connection_that_is_closed_during_the_handshake_is_a_failure_of_tls() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    leaving = await asyncio.start_server(leave, "127.0.0.1", 0)
    async with leaving:
        url = f"https://127.0.0.1:{leaving.sockets[0].getsockname()[1]}"
        failed, text = await balance(url)
    assert failed
    assert text == f"Node unreachable. TLS to {url} failed: the connection was closed during the handshake."
