"""What becomes of everything a node can do wrong."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from docgen.examples import EXAMPLES

from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.http_source import HttpSource
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.origin import origin_of
from qortal_mcp.qortal.server import Readiness, make_server, readiness
from qortal_mcp.qortal.tools import TOOLSETS

from .conftest import Call, caller
from .faulty_node import Behaviour, FaultyNode, hangs, replies, resets, sends
from .world import ALICE, BOB, HEIGHT

LIMITS = NodeLimits(
    reply_seconds=1.5, connect_seconds=1.5, tip_seconds=1.5, reply_bytes=20_000, rest_seconds=0.001
)
BALANCE = f"/addresses/balance/{ALICE}"
PAGE = "<html><body><h1>secret-internals</h1></body></html>"


@pytest.fixture
async def faulty() -> AsyncIterator[FaultyNode]:
    async with FaultyNode() as node:
        yield node


@pytest.fixture
async def http_node(faulty: FaultyNode) -> AsyncIterator[Node]:
    node = Node.at([faulty.url], LIMITS)
    await node.warm()
    yield node
    await node.close()


@pytest.fixture
def call(http_node: Node) -> Call:
    return caller(make_server(http_node, toolsets="all"))


def code_of(result: dict[str, Any]) -> tuple[str, bool]:
    assert result["isError"] is True
    assert "structuredContent" not in result
    error = result["_meta"]["qortal-mcp/error"]
    return error["code"], error["retryable"]


FAULTS: list[Any] = [
    pytest.param(resets, "NODE_UNREACHABLE", True, "Node unreachable.", id="reset"),
    pytest.param(sends(b""), "NODE_UNREACHABLE", True, "Node unreachable.", id="closed"),
    pytest.param(
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n12."),
        "NODE_UNREACHABLE",
        True,
        "Node unreachable.",
        id="half-a-body",
    ),
    pytest.param(hangs, "NODE_TIMEOUT", True, "Node did not answer in time.", id="silent"),
    pytest.param(sends(b"SSH-2.0-OpenSSH\r\n\r\n"), "NODE_ERROR", False, "Node error.", id="not-http"),
    pytest.param(replies(PAGE, 200, "text/html"), "NODE_ERROR", False, "Node error.", id="html"),
    pytest.param(replies("many"), "NODE_ERROR", False, "Node error.", id="no-number"),
    pytest.param(replies("0.123456789"), "NODE_ERROR", False, "Node error.", id="too-fine"),
    pytest.param(replies(b"\xff\xfe"), "NODE_ERROR", False, "Node error.", id="not-utf-8"),
    pytest.param(replies("", 204), "NOT_FOUND", False, "Record not found.", id="204"),
    pytest.param(replies("1" * 30_000), "TOO_LARGE", False, "Answer too large.", id="too-big"),
    pytest.param(
        sends(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"1" * 30_000),
        "TOO_LARGE",
        False,
        "Answer too large.",
        id="too-big-and-did-not-say-so",
    ),
    pytest.param(
        replies("", 302, "text/html", "Location: /admin/stop"),
        "NODE_ERROR",
        False,
        "Node error.",
        id="redirect",
    ),
    pytest.param(
        replies(PAGE, 401, "text/html"), "NODE_REFUSED", False, "Node refused this client.", id="401"
    ),
    pytest.param(
        replies(PAGE, 403, "text/html"), "NODE_REFUSED", False, "Node refused this client.", id="403"
    ),
    pytest.param(
        replies('{"error":4,"message":"Missing key"}', 403),
        "NODE_REFUSED",
        False,
        "Node refused this client.",
        id="key-wanted",
    ),
    pytest.param(
        replies(PAGE, 404, "text/html"), "NOT_SUPPORTED", False, "Not supported by this node.", id="404"
    ),
    pytest.param(
        replies('{"error":6,"message":"x"}', 403),
        "NOT_SUPPORTED",
        False,
        "Not supported by this node.",
        id="off",
    ),
    pytest.param(
        replies('{"error":7,"message":"x"}', 503),
        "NODE_SYNCING",
        True,
        "Node is synchronizing.",
        id="syncing",
    ),
    pytest.param(
        replies('{"error":8,"message":"x"}', 503),
        "NODE_SYNCING",
        True,
        "Node is synchronizing.",
        id="no-clock",
    ),
    pytest.param(
        replies('{"error":124,"message":"unbekannt"}', 404),
        "NOT_FOUND",
        False,
        "Address not found on chain.",
        id="address",
    ),
    pytest.param(replies('{"error":401}', 404), "NOT_FOUND", False, "Name not found.", id="name"),
    pytest.param(replies('{"error":601}', 400), "NOT_FOUND", False, "Asset not found.", id="asset"),
    pytest.param(replies(PAGE, 500, "text/html"), "NODE_ERROR", True, "Node error.", id="500"),
    pytest.param(replies(PAGE, 503, "text/html"), "NODE_ERROR", True, "Node error.", id="503-page"),
    pytest.param(
        replies('{"error":5,"message":"repository error"}', 500),
        "NODE_ERROR",
        True,
        "Node error. Code 5: repository error",
        id="repository",
    ),
    pytest.param(
        replies('Bad parameter "assetId"', 400, "text/plain"),
        "NODE_ERROR",
        False,
        'Node error. HTTP 400: Bad parameter "assetId"',
        id="bad-parameter",
    ),
    pytest.param(
        replies('{"error":999,"message":"\\u202e<b>x</b>"}', 400),
        "NODE_ERROR",
        False,
        "Node error.",
        id="markup",
    ),
    pytest.param(
        replies('{"error":999,"message":"\\u202eolleh"}', 400),
        "NODE_ERROR",
        False,
        "Node error. Code 999: \\u{202E}olleh",
        id="hidden-characters",
    ),
]


@pytest.mark.promise(
    "Errors", "Each kind of failure at the node has one code and one sentence, and no success hides one."
)
@pytest.mark.parametrize(("behaviour", "code", "retryable", "sentence"), FAULTS)
async def test_a_fault_has_one_name_and_one_sentence(
    faulty: FaultyNode, call: Call, behaviour: Behaviour, code: str, retryable: bool, sentence: str
) -> None:
    faulty.behaviours[BALANCE] = behaviour
    async with asyncio.timeout(30):
        result = await call("get_balance", address=ALICE)
    assert code_of(result) == (code, retryable)
    text = result["content"][0]["text"]
    assert text.startswith(sentence)
    assert "<" not in text
    assert "secret-internals" not in text
    assert not any(target.startswith("/admin/stop") for target in faulty.asked)


WRONG_KINDS: list[Any] = [
    pytest.param("null", id="null"),
    pytest.param("[]", id="list"),
    pytest.param('{"address":5,"level":1,"blocksMinted":2}', id="wrong-type"),
    pytest.param('{"level":1}', id="missing-member"),
    pytest.param("{", id="cut"),
    pytest.param("[" * 5_000, id="deep"),
    pytest.param('{"address":"\\ud800"}', id="half-a-character"),
]


@pytest.mark.parametrize("body", WRONG_KINDS)
async def test_json_of_another_kind_is_a_node_error(faulty: FaultyNode, call: Call, body: str) -> None:
    faulty.behaviours[f"/addresses/{ALICE}"] = replies(body)
    assert code_of(await call("get_account_overview", address=ALICE)) == ("NODE_ERROR", False)


@pytest.mark.promise("Errors", "A node that is not there is reported as unreachable by every tool.")
async def test_a_node_that_is_not_there_is_unreachable(faulty: FaultyNode, call: Call) -> None:
    await faulty.stop()
    for tool in [tool for toolset in TOOLSETS.values() for tool in toolset.tools]:
        if tool == "validate_address":  # it asks no node
            continue
        result = await call(tool, **EXAMPLES.get(tool, {}))
        assert code_of(result) == ("NODE_UNREACHABLE", True), tool
        assert result["content"][0]["text"] == (
            f"Node unreachable. Tried {faulty.url}. Is Qortal Core running there? "
            "Use --node for another node, or --sample for none."
        )


@pytest.mark.promise("Read-only and secrets", "No API key is read, held or sent to a node.")
async def test_requests_are_plain_gets_without_anything_of_ours(faulty: FaultyNode, call: Call) -> None:
    result = await call("get_balance", address=ALICE)
    assert result["structuredContent"]["asOf"]["node"] == faulty.url
    assert "notes" not in result["structuredContent"]
    for head in faulty.heads:
        lines = head.lower().split("\r\n")
        assert lines[0].startswith("get /")
        assert "accept: */*" in lines
        assert "accept-language: en" in lines
        assert not [line for line in lines if line.startswith(("cookie", "authorization", "x-api-key"))]


@pytest.mark.promise(
    "Read-only and secrets", "Requests to a node carry no cookies and use no proxy from the environment."
)
async def test_cookies_of_a_node_are_not_given_back(faulty: FaultyNode, call: Call) -> None:
    faulty.behaviours["*"] = replies("1.00000000", 200, "text/plain", "Set-Cookie: a=b")
    await call("get_balance", address=ALICE)
    await call("get_balance", address=BOB)
    assert not any("cookie" in head.lower() for head in faulty.heads)


@pytest.mark.promise(
    "Read-only and secrets", "Requests to a node carry no cookies and use no proxy from the environment."
)
async def test_a_proxy_in_the_environment_is_ignored(
    faulty: FaultyNode, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert (await call("get_balance", address=ALICE))["isError"] is False


async def test_an_answer_without_a_height_says_so(faulty: FaultyNode, call: Call) -> None:
    faulty.behaviours["/blocks/last"] = replies(PAGE, 500, "text/html")
    answer = (await call("get_balance", address=ALICE))["structuredContent"]
    assert answer["balance"] == "1001427.50833805"
    assert answer["asOf"] == {"node": faulty.url, "height": None, "time": None, "isSynchronizing": None}
    assert answer["notes"] == ["The node did not report its height."]


async def test_the_height_is_asked_for_once_for_many_calls(faulty: FaultyNode, call: Call) -> None:
    await asyncio.gather(*(call("get_balance", address=address) for address in (ALICE, BOB) * 10))
    await call("get_account_overview", address=ALICE)
    assert faulty.asked.count("/blocks/last") == 1
    assert faulty.asked.count("/admin/status") == 1


@pytest.mark.promise("Nodes", "The same question asked several times at once reaches the node once.")
async def test_the_same_question_at_the_same_time_is_asked_once(faulty: FaultyNode, call: Call) -> None:
    results = await asyncio.gather(*(call("get_balance", address=ALICE) for _ in range(50)))
    assert len({result["structuredContent"]["balance"] for result in results}) == 1
    assert faulty.asked.count(f"{BALANCE}?assetId=0") == 1


@pytest.mark.promise(
    "Nodes", "At most a bounded number of requests wait for a node; more are told to come back."
)
async def test_more_than_can_wait_is_told_to_come_back(faulty: FaultyNode) -> None:
    node = Node.at([faulty.url], NodeLimits(requests=1, waiting_requests=2, reply_seconds=5))
    call = caller(make_server(node))
    try:
        searches = [call("search_qdn", service=200, offset=offset) for offset in range(30)]
        results = await asyncio.gather(*searches)
    finally:
        await node.close()
    refused = [result for result in results if result["isError"]]
    assert refused
    assert len(refused) < len(results)
    assert {code_of(result) for result in refused} == {("RATE_LIMITED", True)}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def last_block(height: int, signature: str) -> Behaviour:
    return replies(f'{{"signature":"{signature}","height":{height},"timestamp":1794776745315}}')


@pytest.mark.promise("Nodes", "What depends on the chain is kept until the next block.")
async def test_a_balance_is_kept_until_the_newest_block_is_another(faulty: FaultyNode) -> None:
    clock = Clock()
    node = Node([HttpSource(faulty.url, LIMITS)], LIMITS, now=clock)
    call = caller(make_server(node))
    try:
        faulty.behaviours["/blocks/last"] = last_block(600, "first")
        await call("get_node_status")
        faulty.behaviours[BALANCE] = replies("1.00000000")
        await call("get_balance", address=ALICE)
        faulty.behaviours[BALANCE] = replies("2.00000000")
        clock.now += 60
        same_block = (await call("get_balance", address=ALICE))["structuredContent"]
        assert same_block["balance"] == "1.00000000"
        assert same_block["asOf"]["height"] == 600
        faulty.behaviours["/blocks/last"] = last_block(600, "another block of the same height")
        clock.now += 3
        assert (await call("get_balance", address=ALICE))["structuredContent"]["balance"] == "2.00000000"
    finally:
        await node.close()


async def test_what_was_read_while_the_height_was_unknown_is_not_kept_long(
    faulty: FaultyNode, call: Call
) -> None:
    await call("get_balance", address=ALICE)
    await call("get_balance", address=ALICE)
    # Between the two questions the first time, a block may have come: only the second answer is kept.
    await call("get_balance", address=ALICE)
    assert faulty.asked.count(f"{BALANCE}?assetId=0") == 2


@pytest.mark.promise("Nodes", "When a node fails, the next one in the list answers until it is back.")
async def test_the_next_node_answers_while_the_first_rests(faulty: FaultyNode) -> None:
    async with FaultyNode() as second:
        node = Node.at([faulty.url, second.url], LIMITS)
        call = caller(make_server(node))
        try:
            faulty.behaviours["*"] = resets
            answer = (await call("get_balance", address=ALICE))["structuredContent"]
            assert answer["asOf"]["node"] == second.url
            assert node.origin == second.url
            del faulty.behaviours["*"]
            # Every question finds out whether the first is back, and is answered by the second meanwhile.
            nodes = [
                (await call("search_qdn", service=200, offset=offset))["structuredContent"]["asOf"]["node"]
                for offset in range(200)
            ]
            assert nodes[0] == second.url
            assert nodes[-1] == faulty.url
        finally:
            await node.close()


@pytest.mark.promise("Nodes", "An error about one question does not put a node aside.")
async def test_an_error_about_one_question_does_not_rest_the_node(faulty: FaultyNode) -> None:
    async with FaultyNode() as second:
        node = Node.at([faulty.url, second.url], LIMITS)
        call = caller(make_server(node))
        try:
            faulty.behaviours[BALANCE] = replies(PAGE, 500, "text/html")
            assert code_of(await call("get_balance", address=ALICE)) == ("NODE_ERROR", True)
            assert second.asked == []
            assert node.origin == faulty.url
        finally:
            await node.close()


async def test_when_all_nodes_fail_the_first_one_speaks(faulty: FaultyNode) -> None:
    async with FaultyNode() as second:
        faulty.behaviours["*"] = replies(PAGE, 403, "text/html")
        second.behaviours["*"] = resets
        node = Node.at([faulty.url, second.url], LIMITS)
        try:
            result = await caller(make_server(node))("get_balance", address=ALICE)
            assert code_of(result) == ("NODE_REFUSED", False)
        finally:
            await node.close()


@pytest.mark.promise(
    "Read-only and secrets", "The user name and password in a node's address are never shown."
)
@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:12391", "http://127.0.0.1:12391"),
        ("http://127.0.0.1:12391/", "http://127.0.0.1:12391"),
        ("HTTPS://Node.Example", "https://node.example"),
        ("http://[::1]:12391", "http://[::1]:12391"),
        ("http://user:hunter2@node.example:1", "http://node.example:1"),
    ],
)
def test_an_origin_shows_no_user_info(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:12391",
        "ftp://127.0.0.1",
        "http://",
        "http://host/path",
        "http://host?x=1",
        "http://host#x",
        "http://host:99999",
        "http://ho st",
        "http://host\r\nX: y",
        "http://höst",
        "file:///etc/passwd",
    ],
)
def test_anything_but_an_origin_stops_the_start(url: str) -> None:
    with pytest.raises(ValueError, match="node's"):
        Node.at([url])


async def test_readiness_tells_height_or_null(faulty: FaultyNode, http_node: Node) -> None:
    facts, is_ready = await readiness(http_node)
    assert (facts.node, facts.height, facts.isSynchronizing, is_ready) == (faulty.url, HEIGHT, False, True)
    assert isinstance(facts.tipAgeSeconds, int)
    assert 0 <= facts.tipAgeSeconds < 60
    await faulty.stop()
    other = Node.at([faulty.url], LIMITS)
    assert await readiness(other) == (Readiness(faulty.url), False)
    await other.close()


async def test_warming_asks_nothing(faulty: FaultyNode, http_node: Node) -> None:
    await http_node.warm()
    assert faulty.asked == []
