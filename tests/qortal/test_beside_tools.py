"""Resources, prompts, completion and the live tip of the Qortal server."""

import asyncio
import datetime
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.qortal.conftest import request

from qortal_mcp.qortal import watching
from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample import reader
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server import Server
from qortal_mcp.transports.memory import MemoryConnection

ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"


async def read(server: Server, uri: str) -> dict[str, Any]:
    reply = await request(server, "resources/read", {"uri": uri})
    (contents,) = reply["result"]["contents"]
    assert contents["uri"] == uri
    found: dict[str, Any] = contents
    return found


@pytest.mark.promise("Tools and their results", "A resource reads as the tool of the same subject answers.")
@pytest.mark.parametrize(
    ("uri", "member", "value"),
    [
        ("qortal://node", "height", 596),
        ("qortal://block/100", "height", 100),
        (f"qortal://account/{ALICE}", "primaryName", "alice-test"),
        ("qortal://account/%40alice-test", "address", ALICE),
        ("qortal://name/alice-test", "owner", ALICE),
        ("qortal://trade/AYSdZDKhkpafRVm1YzDcrGMo5hBd9qK8uZ", "mode", "OFFERING"),
        ("qortal://name/Rocket%20%F0%9F%9A%80%20Team", "name", "Rocket 🚀 Team"),
    ],
)
async def test_a_resource_reads_as_the_tool_answers(
    server: Server, uri: str, member: str, value: Any
) -> None:
    contents = await read(server, uri)
    answer = json.loads(contents["text"])
    assert contents["mimeType"] == "application/json"
    assert answer[member] == value
    assert answer["asOf"]["node"] == "sample"


async def test_the_guide_and_the_raw_templates_can_be_read(server: Server) -> None:
    guide = await read(server, "qortal://guide")
    assert guide["mimeType"] == "text/markdown"
    assert "page.next" in guide["text"]
    rows = json.loads((await read(server, "qortal://endpoints"))["text"])
    assert {"endpoint", "values", "returns"} == set(rows[0])
    assert "/blocks/last" in {row["endpoint"] for row in rows}


@pytest.mark.parametrize(
    "uri",
    [
        "qortal://nothing",
        "qortal://block/0",
        "qortal://block/99999",
        "qortal://account/nobody",
        "qortal://trade/nobody",
        f"qortal://trade/{ALICE}",
        "qortal://name/no-such-name",
    ],
)
async def test_what_is_not_there_is_not_found(server: Server, uri: str) -> None:
    error = (await request(server, "resources/read", {"uri": uri}))["error"]
    assert error["code"] == -32002
    assert error["data"] == {"uri": uri}


async def test_a_resource_of_a_toolset_that_is_off_is_not_found(node: Node) -> None:
    server = make_server(node, toolsets="-names")
    assert (await request(server, "resources/read", {"uri": "qortal://name/alice-test"}))["error"][
        "code"
    ] == -32002


@pytest.mark.promise("Tools and their results", "Every prompt names only tools that exist.")
async def test_every_prompt_names_tools_that_exist(server: Server) -> None:
    listed = (await request(server, "prompts/list", {}))["result"]["prompts"]
    tools = {tool["name"] for tool in (await request(server, "tools/list", {}))["result"]["tools"]}
    usual = {"account_report", "node_health", "explain_transaction", "trade_scan"}
    reports = {"my_week", "my_taxes", "node_check_up", "market_report"}
    assert usual | reports <= {p["name"] for p in listed}
    for prompt in listed:
        arguments = {argument["name"]: "X" for argument in prompt.get("arguments", [])}
        got = (await request(server, "prompts/get", {"name": prompt["name"], "arguments": arguments}))[
            "result"
        ]
        text = got["messages"][0]["content"]["text"]
        named = {word.strip(".,:") for word in text.split() if "_" in word}
        assert named
        assert named <= tools, prompt["name"]


async def complete(server: Server, ref: dict[str, str], argument: str, typed: str) -> list[str]:
    params = {"ref": ref, "argument": {"name": argument, "value": typed}}
    found: list[str] = (await request(server, "completion/complete", params))["result"]["completion"][
        "values"
    ]
    return found


@pytest.mark.promise(
    "Tools and their results", "Names, chains, services and transaction types are completed."
)
@pytest.mark.parametrize(
    ("prompt", "argument", "typed", "first"),
    [
        ("trade_scan", "chain", "lit", "LITECOIN"),
        ("trade_scan", "chain", "BTC", "BITCOIN"),
        ("find_publications", "service", "WEB", "WEBSITE"),
        ("fee_check", "type", "register", "REGISTER_NAME"),
        ("name_report", "name", "alice-t", "alice-test"),
        ("account_report", "address", "@alice-t", "@alice-test"),
        ("my_week", "address", "@alice-t", "@alice-test"),
        ("my_taxes", "address", "@alice-t", "@alice-test"),
        ("my_taxes", "year", "202", str(datetime.datetime.now(datetime.UTC).year)),
        ("my_taxes", "year", "2020", "2020"),
        ("market_report", "chain", "ltc", "LITECOIN"),
    ],
)
async def test_arguments_are_completed(
    server: Server, prompt: str, argument: str, typed: str, first: str
) -> None:
    values = await complete(server, {"type": "ref/prompt", "name": prompt}, argument, typed)
    assert values[0] == first


async def test_nobody_is_helped_with_what_may_be_an_address_or_a_key(server: Server) -> None:
    ref = {"type": "ref/prompt", "name": "my_week"}
    assert await complete(server, ref, "address", "alice") == []
    assert await complete(server, ref, "address", "@") == []


async def test_names_of_a_resource_template_are_completed(server: Server) -> None:
    ref = {"type": "ref/resource", "uri": "qortal://name/{name}"}
    assert "alice-test" in await complete(server, ref, "name", "alice")


class GrowingChain:
    """The sample chain, to which blocks are added by hand."""

    origin = "growing"

    def __init__(self) -> None:
        self.height = 596
        self.asked = asyncio.Event()

    async def fetch(self, request: Request) -> RawReply:
        reply = reader.answer(request.target)
        if request.target == "/blocks/last":
            self.asked.set()
            block = json.loads(reply.body) | {"height": self.height, "signature": f"block{self.height}"}
            return RawReply(200, "application/json", json.dumps(block).encode())
        return reply

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
async def growing(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[GrowingChain, Server]]:
    monkeypatch.setattr(watching, "_LOOK_SECONDS", 0.01)
    chain = GrowingChain()
    clock = iter(range(0, 10**9, 3))  # every look at the clock is three seconds later: no tip is young enough
    node = Node([chain], now=lambda: float(next(clock)))
    yield chain, make_server(node)
    await node.close()


@pytest.mark.promise("Tools and their results", "Who subscribes to `qortal://node` hears of each new block.")
async def test_a_new_block_is_told_to_a_subscriber_of_the_node(growing: tuple[GrowingChain, Server]) -> None:
    chain, server = growing
    async with MemoryConnection(server) as connection, asyncio.timeout(30):

        async def ask(id_: int, method: str, params: dict[str, Any]) -> Any:
            message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
            await connection.send(json.dumps(message).encode())
            return json.loads(await connection.receive())

        handshake = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"},
        }
        shaken = await ask(1, "initialize", handshake)
        assert shaken["result"]["capabilities"]["resources"]["subscribe"] is True
        assert (await ask(2, "resources/subscribe", {"uri": "qortal://node"}))["result"] == {}
        for height in (597, 598):
            chain.asked.clear()
            await chain.asked.wait()
            await asyncio.sleep(0)
            chain.height = height
            notice = json.loads(await connection.receive())
            assert notice["method"] == "notifications/resources/updated"
            assert notice["params"] == {"uri": "qortal://node"}
    server.close()


async def test_prompts_say_how_to_get_from_a_name_to_an_address_and_to_prices_of_one_kind(
    server: Server,
) -> None:
    async def text(name: str, **arguments: str) -> str:
        got = await request(server, "prompts/get", {"name": name, "arguments": arguments})
        return str(got["result"]["messages"][0]["content"]["text"])

    assert "or a registered name with @ before it" in await text("account_report", address="bob")
    assert "get_trade_price (with inverse true" in await text("trade_scan", chain="LTC")


async def test_the_reports_name_their_subject_and_what_they_leave_out(server: Server) -> None:
    async def text(name: str, **arguments: str) -> str:
        got = await request(server, "prompts/get", {"name": name, "arguments": arguments})
        return str(got["result"]["messages"][0]["content"]["text"])

    assert "since 7d" in await text("my_week", address="@alice-test")
    taxes = await text("my_taxes", address=ALICE, year="2026")
    assert f"account {ALICE}" in taxes
    assert "calendar year 2026" in taxes
    assert "give no tax advice" in taxes
    assert "against LITECOIN" in await text("market_report", chain="LITECOIN")
    assert "Begin with the verdict" in await text("node_check_up")
    assert "\\u{202E}" in await text("my_week", address="\u202e")


async def test_nothing_promises_more_than_every_client_gets(server: Server) -> None:
    told = (await request(server, "initialize", INITIALIZE))["result"]["instructions"]
    assert "Answers from a node say in asOf" in told
    listed = (await request(server, "resources/list", {}))["result"]["resources"]
    node = next(one for one in listed if one["uri"] == "qortal://node")
    assert "Connections that can subscribe" in node["description"]


INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "0"},
}
