"""The way to a server: proxies from the environment, certificates from a file, and where secrets go."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from tests.client.fakes import LIMITS, OK, HttpScript, legacy, ok, web_server, websocket_server

from qortal_mcp.client import ClientError, ConnectionLost, Options, connect
from qortal_mcp.client.wires.routes import proxy_for

TLS = Path(__file__).parents[1] / "qortal" / "tls"
SECRET = (("authorization", "Bearer secret"),)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ws_proxy", "wss_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class Proxy:
    """A forward proxy that leads every host name to one port of this machine. `heads` is what it was sent."""

    def __init__(self, port: int, *, refuses: bool = False) -> None:
        self._port = port
        self._refuses = refuses
        self.heads: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            if self._refuses:
                writer.write(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n")
                return
            there, onward = await asyncio.open_connection("127.0.0.1", self._port)
            if head.startswith("CONNECT "):
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                verb, url, rest = head.split(" ", 2)
                onward.write(f"{verb} /{url.split('/', 3)[3]} {rest}".encode("latin-1"))
            await asyncio.gather(_copy(reader, onward), _copy(there, writer))
        finally:
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


@asynccontextmanager
async def proxied(proxy: Proxy) -> AsyncIterator[str]:
    listener = await asyncio.start_server(proxy, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()


def port_of(url: str) -> int:
    return int(url.split(":")[2].split("/")[0])


PROXIES = {
    "HTTP_PROXY": "http://plain:1",
    "HTTPS_PROXY": "secure:2",
    "NO_PROXY": "direct.test,.inner.test,x.test:81",
}
WAYS = [
    ("http://a.test/mcp", "http://plain:1"),
    ("ws://a.test/ws", "http://plain:1"),
    ("https://a.test/mcp", "http://secure:2"),
    ("wss://a.test/ws", "http://secure:2"),
    ("http://direct.test/", None),
    ("wss://b.inner.test/", None),
    ("http://x.test:81/", None),
    ("http://x.test:82/", "http://plain:1"),
    ("http://127.0.0.1:8000/", None),
    ("http://127.1.2.3/", None),
    ("http://[::1]:8000/", None),
    ("ws://localhost:7400", None),
    ("http://api.localhost/", None),
]


@pytest.mark.parametrize(("url", "proxy"), WAYS)
def test_a_proxy_is_chosen_by_the_usual_variables(
    url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PROXIES.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy


def test_one_variable_can_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://all:3")
    assert {proxy_for("http://a.test/"), proxy_for("wss://a.test/")} == {"http://all:3"}
    monkeypatch.setenv("NO_PROXY", "*")
    assert proxy_for("http://a.test/") is None


async def test_http_goes_through_the_proxy_if_the_options_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    server = HttpScript(legacy(ok))
    async with asyncio.timeout(30), web_server(server) as url:
        proxy = Proxy(port_of(url))
        async with proxied(proxy) as address:
            monkeypatch.setenv("HTTP_PROXY", f"http://me:word@{address}")
            options = Options(limits=LIMITS, proxies=True)
            async with connect("http://mcp.test/mcp", era="legacy", options=options) as client:
                assert (await client.request("x")).read(dict[str, bool]) == OK
            assert proxy.heads[0].startswith("POST http://mcp.test/mcp HTTP/1.1\r\n")
            assert "Proxy-Authorization: Basic bWU6d29yZA==" in proxy.heads[0]
            proxy.heads.clear()
            async with connect(url, era="legacy", options=options) as client:
                assert (await client.request("x")).read(dict[str, bool]) == OK
            assert proxy.heads == [], "this machine is not reached through a proxy"


async def test_without_the_option_the_variables_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with web_server(HttpScript(legacy(ok))) as url:
        local = url.replace("127.0.0.1", "localhost")
        async with connect(local, era="legacy", options=Options(limits=LIMITS)) as client:
            assert (await client.request("x")).read(dict[str, bool]) == OK


async def test_a_websocket_goes_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    async with asyncio.timeout(30), websocket_server(legacy(ok)) as url:
        proxy = Proxy(port_of(url))
        async with proxied(proxy) as address:
            monkeypatch.setenv("HTTP_PROXY", address)
            options = Options(limits=LIMITS, proxies=True)
            async with connect("ws://mcp.test/ws", era="legacy", options=options) as client:
                assert (await client.request("x")).read(dict[str, bool]) == OK
    assert [head.split("\r\n")[0] for head in proxy.heads] == ["GET ws://mcp.test/ws HTTP/1.1"]


@pytest.mark.parametrize("url", ["http://mcp.test/mcp", "ws://mcp.test/ws", "http://me:word@mcp.test/mcp"])
async def test_secrets_do_not_pass_a_proxy_unencrypted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy(9)
    async with asyncio.timeout(30), proxied(proxy) as address:
        monkeypatch.setenv("HTTP_PROXY", address)
        options = Options(limits=LIMITS, proxies=True, headers=() if "@" in url else SECRET)
        with pytest.raises(
            ClientError, match=r"mcp\.test would pass a proxy unencrypted.*NO_PROXY"
        ) as failure:
            async with connect(url, era="legacy", options=options):
                pass
    assert proxy.heads == []
    assert "word" not in str(failure.value)


@pytest.mark.parametrize("url", ["https://mcp.test/mcp", "wss://mcp.test/ws"])
async def test_a_proxy_of_a_secure_connection_sees_only_the_host(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy(9, refuses=True)
    async with asyncio.timeout(30), proxied(proxy) as address:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:word@{address}")
        options = Options(limits=LIMITS, proxies=True, headers=SECRET)
        with pytest.raises(ConnectionLost, match="the proxy refuses with HTTP status 407") as failure:
            async with connect(url, era="legacy", options=options):
                pass
    assert "word" not in str(failure.value)
    for head in proxy.heads:
        assert head.startswith("CONNECT mcp.test:443 HTTP/1.1\r\n")
        assert "secret" not in head
        assert "mcp-" not in head.lower()


async def test_passwords_of_other_programs_are_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password word\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server = HttpScript(legacy(ok))
    options = Options(limits=LIMITS, proxies=True)
    async with web_server(server) as url, connect(url, era="legacy", options=options) as client:
        await client.request("x")
    assert not [headers for _, headers, _ in server.requests if "authorization" in headers]


@asynccontextmanager
async def secured() -> AsyncIterator[str]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "localhost.crt", TLS / "localhost.key")
    server = HttpScript(legacy(ok))

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.headers.get("upgrade") == "websocket":
            socket = web.WebSocketResponse(protocols=("mcp",), timeout=0.1)
            await socket.prepare(request)
            async for frame in socket:
                for answer in legacy(ok)(frame.json()):
                    await socket.send_str(answer.decode())
            return socket
        return await server(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield f"localhost:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("scheme", ["https", "wss"])
async def test_certificates_of_a_file_are_trusted(scheme: str) -> None:
    async with asyncio.timeout(30), secured() as address:
        url = f"{scheme}://{address}/mcp"
        options = Options(limits=LIMITS, ca_file=str(TLS / "localhost.crt"))
        async with connect(url, era="legacy", options=options) as client:
            assert (await client.request("x")).read(dict[str, bool]) == OK
        with pytest.raises(ConnectionLost, match=r"(?i)certificate"):
            async with connect(url, era="legacy", options=Options(limits=LIMITS)):
                pass


@pytest.mark.parametrize("scheme", ["http", "https", "ws", "wss"])
async def test_a_file_without_certificates_is_an_error_at_once(scheme: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing here")
    wrong = {
        str(empty): "holds no certificate in PEM form",
        str(tmp_path / "missing.pem"): "cannot be read: No such file",
        str(tmp_path): "cannot be read|holds no certificate",
    }
    for path, says in wrong.items():
        with pytest.raises(ClientError, match=says):
            async with connect(f"{scheme}://127.0.0.1:9/", options=Options(limits=LIMITS, ca_file=path)):
                pass
