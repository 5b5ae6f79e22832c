"""Who counts as one caller: a token, an address, a connection; never what a client claims."""

import asyncio
import json
from collections.abc import Hashable, Mapping
from typing import Any

import pytest

from qortal_mcp.application import make_app
from qortal_mcp.settings import ListenOptions, NodeOptions, WrongSetting, read
from qortal_mcp.transports.callers import Callers

PROXY = "10.0.0.1"


def caller(callers: Callers, host: str | None, port: int = 5000, /, **headers: str) -> Hashable:
    sent = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return callers.of({"client": None if host is None else (host, port), "headers": sent})


def test_an_address_is_a_caller() -> None:
    callers = Callers()
    assert caller(callers, "192.0.2.1", 1) == caller(callers, "192.0.2.1", 2)
    assert caller(callers, "192.0.2.1") != caller(callers, "192.0.2.2")
    assert caller(callers, None) == "unknown"


@pytest.mark.promise("Limits and abuse", "All IPv6 addresses of one /64 network count as one caller.")
def test_the_ipv6_addresses_of_one_network_are_one_caller() -> None:
    callers = Callers(proxies=[PROXY])
    assert caller(callers, "2001:db8::1") == caller(callers, "2001:db8::ffff:2") == "2001:db8::/64"
    assert caller(callers, "2001:db8::1") != caller(callers, "2001:db8:0:1::1")
    assert caller(callers, "fe80::1%1") == caller(callers, "fe80::2%2")
    assert caller(callers, "::ffff:192.0.2.1") == caller(callers, "192.0.2.1") == "192.0.2.1"
    forwarded = {caller(callers, PROXY, 1, x_forwarded_for=f"2001:db8::{last}") for last in range(9)}
    assert forwarded == {"2001:db8::/64"}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.9"])
def test_on_loopback_a_connection_is_a_caller(host: str) -> None:
    assert caller(Callers(), host, 1) != caller(Callers(), host, 2)
    assert caller(Callers(), host, 1) == caller(Callers(), host, 1)


def test_whoever_holds_the_token_is_one_caller() -> None:
    callers = Callers(has_token=True, proxies=[PROXY])
    assert (
        len({caller(callers, host, 1, x_forwarded_for=host) for host in ("192.0.2.1", "127.0.0.1", PROXY)})
        == 1
    )


@pytest.mark.promise(
    "Access",
    "Forwarded addresses count only from a trusted proxy, and only the last one it did not add itself.",
)
@pytest.mark.parametrize(
    "headers", [{"x_forwarded_for": "192.0.2.7"}, {"forwarded": "for=192.0.2.7"}], ids=str
)
def test_only_a_trusted_proxy_says_who_asks(headers: Mapping[str, str]) -> None:
    assert caller(Callers(), PROXY, 1, **headers) == PROXY
    callers = Callers(proxies=[PROXY])
    assert caller(callers, "10.0.0.2", 1, **headers) == "10.0.0.2"
    assert caller(callers, PROXY, 1, **headers) == "192.0.2.7"
    assert caller(callers, f"::ffff:{PROXY}", 1, **headers) == "192.0.2.7"


FORWARDED = [
    ({"x_forwarded_for": "198.51.100.1, 192.0.2.7"}, "192.0.2.7"),
    ({"x_forwarded_for": "192.0.2.7, 10.0.0.9, 10.0.0.2"}, "192.0.2.7"),
    ({"x_forwarded_for": "192.0.2.7:4711"}, "192.0.2.7"),
    ({"x_forwarded_for": "2001:db8::1"}, "2001:db8::/64"),
    ({"x_forwarded_for": "[2001:db8::1]:4711"}, "2001:db8::/64"),
    ({"x_forwarded_for": "192.0.2.7, nonsense"}, PROXY),
    ({"x_forwarded_for": "nonsense, 192.0.2.7"}, "192.0.2.7"),
    ({"x_forwarded_for": ""}, PROXY),
    ({"x_forwarded_for": "10.0.0.5"}, PROXY),
    ({"x_forwarded_for": "," * 10_000}, PROXY),
    ({}, PROXY),
    ({"forwarded": 'for="[2001:db8::1]:4711";proto=https;by=203.0.113.43'}, "2001:db8::/64"),
    ({"forwarded": "for=198.51.100.1, proto=http; FOR=192.0.2.7"}, "192.0.2.7"),
    ({"forwarded": "for=unknown"}, PROXY),
    ({"forwarded": "for=192.0.2.7, by=10.0.0.9"}, PROXY),
    ({"forwarded": 'by="x;for=198.51.100.1;y";for=192.0.2.7'}, "192.0.2.7"),
    ({"forwarded": 'host=";for=198.51.100.1";for=192.0.2.7'}, "192.0.2.7"),
    ({"forwarded": 'for="a,for=198.51.100.1";by=1, for=192.0.2.7'}, "192.0.2.7"),
    ({"forwarded": r'by="\";for=198.51.100.1;\"";for="192.0.2\.7"'}, "192.0.2.7"),
    ({"forwarded": "for=198.51.100.1;for=192.0.2.7"}, PROXY),
    ({"forwarded": 'for=192.0.2.7;by="open'}, PROXY),
    ({"forwarded": "for=192.0.2.7 for=198.51.100.1"}, PROXY),
    ({"forwarded": "for=192.0.2.7, x=" + '"' * 9999}, PROXY),
    # One of the two was passed on as the client wrote it, and nobody can tell which.
    ({"x_forwarded_for": "192.0.2.7", "forwarded": "for=192.0.2.8"}, PROXY),
    ({"x_forwarded_for": "192.0.2.7", "forwarded": "for=192.0.2.7"}, "192.0.2.7"),
]


@pytest.mark.parametrize(("headers", "expected"), FORWARDED, ids=str)
def test_the_last_address_before_the_proxies_counts(headers: Mapping[str, str], expected: str) -> None:
    assert caller(Callers(proxies=["10.0.0.0/24"]), PROXY, 1, **headers) == expected


def test_a_header_may_be_sent_in_pieces() -> None:
    pieces = [(b"x-forwarded-for", b"198.51.100.1"), (b"x-forwarded-for", b"192.0.2.7")]
    assert Callers(proxies=[PROXY]).of({"client": (PROXY, 1), "headers": pieces}) == "192.0.2.7"


def test_a_proxy_on_loopback_that_forwards_nothing_is_one_caller() -> None:
    callers = Callers(proxies=["127.0.0.1"])
    assert caller(callers, "127.0.0.1", 1) == caller(callers, "127.0.0.1", 2)


async def statuses(app: Any, requests: list[tuple[tuple[str, int], str]]) -> list[bool]:
    """Which requests were within the rate limit, each given as its connection and forwarded address."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    allowed = []
    for client, forwarded in requests:
        sent: list[Any] = []
        headers = [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"accept", b"application/json"),
            (b"x-forwarded-for", forwarded.encode()),
        ]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "client": client}

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"type": "http.request", "body": body}

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        await app(scope, receive, send)
        allowed.append(b"ate limit" not in sent[-1]["body"])
    return allowed


@pytest.mark.parametrize(
    ("proxies", "connections", "expected"),
    [
        ((), [("192.0.2.1", 1), ("192.0.2.1", 2), ("192.0.2.2", 1)], [True, False, True]),
        ((), [("127.0.0.1", 1), ("127.0.0.1", 2), ("127.0.0.1", 1)], [True, False, False]),
        ((), [("127.0.0.1", 1), ("127.9.8.7", 2), ("::1", 3), ("::ffff:127.0.0.2", 4)], [True] + [False] * 3),
        (("127.0.0.1",), [("127.0.0.1", 1), ("127.0.0.1", 1), ("127.0.0.1", 1)], [True, True, True]),
    ],
    ids=["addresses", "loopback", "all-of-loopback", "proxy"],
)
async def test_the_rate_limit_counts_callers(
    proxies: tuple[str, ...], connections: list[tuple[str, int]], expected: list[bool]
) -> None:
    app = make_app(NodeOptions(sample=True), ListenOptions(rate_limit=0.5, trusted_proxy=proxies))
    requests = [(client, f"198.51.100.{number}") for number, client in enumerate(connections)]
    assert await statuses(app, requests) == expected


def test_a_trusted_proxy_is_an_address_or_a_network() -> None:
    options = read(ListenOptions, {}, {"QORTAL_MCP_TRUSTED_PROXY": "10.0.0.1,2001:db8::/32"})
    assert options.trusted_proxy == ("10.0.0.1", "2001:db8::/32")
    make_app(NodeOptions(sample=True), options)


@pytest.mark.parametrize("wrong", ["proxy.example", "10.0.0.0/99", "10.0.0", "::1::"])
def test_anything_else_stops_the_start(wrong: str) -> None:
    with pytest.raises(WrongSetting, match="--trusted-proxy must be an address or a network"):
        make_app(NodeOptions(sample=True), read(ListenOptions, {"trusted_proxy": [wrong]}, {}))
