"""Contracts, as a client sees them."""

import base64
import json
from typing import Any

import jsonschema_rs
import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import select
from qortal_mcp.qortal.words.contract_templates import TEMPLATES
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .test_tools import AS_OF, SAMPLE, answer_of, definition_of, error_of, follow
from .world import ALICE, BOB, CONTRACT, WRONG_CHECKSUM

LITECOIN = "LitecoinACCTv3"
# A program that trades nothing.
OTHER = "AQs84NgDLgJEALtywqx5k8cXf1Qv5NNXPq"
UNKNOWN = "AQCLV5km8AkHt17zk6oxX71AhQB1vqtLGn"
REDEEMED = "AHadU5FrtT8TjVt9ymRZc3bCJww47NXjSb"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="contracts")


async def test_a_contract_tells_whose_it_is_and_what_it_holds(call: Call) -> None:
    contract = await answer_of(call, "get_contract", address=CONTRACT)
    assert contract["template"] == LITECOIN
    assert contract["codeHash"] == TEMPLATES[LITECOIN]
    assert contract["creator"] == BOB
    assert (contract["balance"], contract["unit"], contract["assetId"]) == ("10.49999959", "QORT", 0)
    assert (contract["timestamp"], contract["time"]) == (1794770291216, "2026-11-15T19:18:11.216Z")
    assert contract["state"] == {"isRunning": True, "isSleeping": True}
    assert "dataBase64" not in contract


async def test_a_finished_contract_does_not_run(call: Call) -> None:
    assert (await answer_of(call, "get_contract", address=REDEEMED))["state"] == {"isRunning": False}


async def test_code_that_nobody_knows_has_no_name(call: Call) -> None:
    contract = await answer_of(call, "get_contract", address=OTHER, include_data=True)
    assert contract["template"] is None
    assert contract["dataBytes"] == 8
    assert base64.b64decode(contract["dataBase64"]) == bytes(8)


@pytest.mark.parametrize("address", [ALICE, UNKNOWN])
async def test_what_is_no_contract_is_not_found(call: Call, address: str) -> None:
    assert await error_of(call, "get_contract", address=address) == ("NOT_FOUND", "Contract not found.")


async def test_a_large_memory_is_shown_in_part_and_odd_states_are_told() -> None:
    row = {
        **sample_chain()["contracts"][CONTRACT],
        "assetId": 3,
        "isFrozen": True,
        "hadFatalError": True,
        "frozenBalance": "0E-8",
        "sleepUntilHeight": 700,
        "creatorPublicKey": "broken\u202e",
    }
    async with FaultyNode() as odd:
        odd.behaviours[f"/at/{CONTRACT}"] = replies(json.dumps(row))
        odd.behaviours[f"/at/{CONTRACT}/data"] = replies(b"\xff" * 5000, 200, "application/octet-stream")
        node = Node.at([odd.url])
        call = caller(make_server(node, toolsets="contracts"))
        contract = await answer_of(call, "get_contract", address=CONTRACT, include_data=True)
        await node.close()
    assert contract["state"] == {
        "isRunning": True,
        "isSleeping": True,
        "isFrozen": True,
        "hadFatalError": True,
        "sleepUntilHeight": 700,
        "frozenBalance": "0.00000000",
    }
    assert contract["unit"] == "GOLD"
    assert (contract["creator"], contract["creatorPublicKey"]) == (None, "broken\\u{202E}")
    assert len(base64.b64decode(contract["dataBase64"])) == 4096
    assert contract["notes"] == ["dataBase64 has the first 4096 of 5000 bytes."]


def of_code(code_hash: str, is_finished: bool | None = None) -> set[str]:
    return {
        address
        for address, row in sample_chain()["contracts"].items()
        if row["codeHash"] == code_hash and is_finished in (None, row["isFinished"])
    }


@pytest.mark.parametrize("limit", [1, 5, 20, 100])
@pytest.mark.parametrize("running", [None, True, False])
async def test_following_pages_reaches_every_contract_of_a_template(
    call: Call, limit: int, running: bool | None
) -> None:
    arguments = {} if running is None else {"running": running}
    rows = await follow(
        call, "list_contracts", "contracts", template="litecoinacctv3", limit=limit, **arguments
    )
    wanted = of_code(TEMPLATES[LITECOIN], None if running is None else not running)
    assert len(rows) == len(wanted)
    assert {row["address"] for row in rows} == wanted
    assert {row["template"] for row in rows} == {LITECOIN}
    times = [row["timestamp"] for row in rows]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("limit", [1, 7, 22, 100])
async def test_following_pages_reaches_every_running_contract(call: Call, limit: int) -> None:
    rows = await follow(call, "list_contracts", "contracts", limit=limit)
    wanted = {address for address, row in sample_chain()["contracts"].items() if not row["isFinished"]}
    assert len(rows) == len(wanted) == 22
    assert {row["address"] for row in rows} == wanted
    assert all(row["state"]["isRunning"] for row in rows)


async def test_a_code_hash_finds_contracts_without_a_name(call: Call) -> None:
    code_hash = sample_chain()["contracts"][OTHER]["codeHash"]
    rows = (await answer_of(call, "list_contracts", template=code_hash))["contracts"]
    assert {row["address"] for row in rows} == of_code(code_hash)
    assert {row["template"] for row in rows} == {None}


async def test_a_name_that_only_the_node_knows_is_found() -> None:
    rows = sample_chain()["executables"]
    unnamed = next(row for row in rows if row["atName"] == "-")
    rows = [{**row, "atName": "lottery"} if row is unnamed else row for row in rows]
    async with FaultyNode() as newer:
        newer.behaviours["/at/executables"] = replies(json.dumps(rows))
        node = Node.at([newer.url])
        call = caller(make_server(node, toolsets="contracts"))
        found = (await answer_of(call, "list_contracts", template="Lottery"))["contracts"]
        running = (await answer_of(call, "list_contracts", limit=100))["contracts"]
        await node.close()
    assert {row["codeHash"] for row in found} == {unnamed["codeHash58"]}
    assert [row["address"] for row in running if row["template"] == "lottery"] == [unnamed["ATAddress"]]


async def test_without_a_template_it_says_that_finished_ones_are_left_out(call: Call) -> None:
    notes = (await answer_of(call, "list_contracts"))["notes"]
    assert notes[0] == "Only contracts that still run are listed; give a template for finished ones."
    assert len((await answer_of(call, "list_contracts", running=True))["notes"]) == 1


BAD_CALLS: list[Any] = [
    ("get_contract", {}, "Missing argument address."),
    ("get_contract", {"address": WRONG_CHECKSUM}, "Invalid Qortal address."),
    (
        "list_contracts",
        {"running": False},
        "Invalid template. Finished contracts can only be listed by template.",
    ),
    ("list_contracts", {"template": ""}, "Invalid template."),
    ("list_contracts", {"limit": 0}, "Invalid limit."),
]


@pytest.mark.parametrize(("tool", "arguments", "sentence"), BAD_CALLS)
async def test_bad_arguments_are_refused(
    call: Call, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    code, text = await error_of(call, tool, **arguments)
    assert code == "INVALID_ARGUMENT"
    assert text.startswith(sentence)


@pytest.mark.parametrize("template", ["NopeACCTv9", "-", "../admin/stop"])
async def test_an_unknown_template_is_not_found(call: Call, template: str) -> None:
    code, text = await error_of(call, "list_contracts", template=template)
    assert code == "NOT_FOUND"
    assert text.startswith("Template not found. Known templates: BitcoinACCTv1, ")


async def test_a_node_too_old_to_list_running_contracts_says_so() -> None:
    async with FaultyNode() as old:
        old.behaviours["/at/executables"] = replies("<html>", 404, "text/html")
        node = Node.at([old.url])
        call = caller(make_server(node, toolsets="contracts"))
        code, _ = await error_of(call, "list_contracts")
        named = await answer_of(call, "list_contracts", template=LITECOIN)
        await node.close()
    assert code == "NOT_SUPPORTED"
    assert named["page"]["returned"] == 20


def test_contracts_are_off_by_default() -> None:
    assert "contracts" not in select()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_contract", {"address": CONTRACT, "include_data": True}),
        ("get_contract", {"address": OTHER}),
        ("list_contracts", {}),
        ("list_contracts", {"template": LITECOIN, "running": False}),
    ],
)
async def test_an_answer_keeps_to_its_schema(node: Node, tool: str, arguments: dict[str, Any]) -> None:
    server = make_server(node, toolsets="contracts")
    answer = await answer_of(caller(server), tool, **arguments)
    definition = await definition_of(server, tool)
    assert definition is not None
    jsonschema_rs.validate(definition["outputSchema"], answer)
    assert answer["asOf"] == AS_OF
    assert answer["notes"][-1] == SAMPLE
