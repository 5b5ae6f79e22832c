"""The tools as a client sees them, on the sample chain."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS, select
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller, request
from .faulty_node import FaultyNode
from .told_node import ToldNode
from .world import (
    ALICE,
    ALICE_KEY,
    BOB,
    CHLOE,
    CONTRACT,
    EMPTY,
    GOLD,
    HEIGHT,
    JUDY,
    NOBODY,
    NODE_ID,
    WRONG_CHECKSUM,
)

AS_OF = {"node": "sample", "height": HEIGHT, "time": "2026-11-15T21:05:45.315Z", "isSynchronizing": False}
SAMPLE = "Sample data from a small test chain: not the real Qortal chain."
SEED_PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
HEX_KEY = "ab" * 32

GOOD_CALLS: list[Any] = [
    ("get_node_status", {}),
    ("validate_address", {"address": ALICE}),
    ("validate_address", {"address": "bad"}),
    ("get_balance", {"address": ALICE}),
    ("get_balance", {"address": ALICE, "asset_id": GOLD}),
    ("get_balance", {"address": NOBODY}),
    ("get_balance", {"address": CONTRACT}),
    ("get_account_overview", {"address": ALICE}),
    ("get_account_overview", {"address": CHLOE}),
    ("get_account_overview", {"address": CONTRACT}),
    ("get_account_overview", {"address": EMPTY, "include_assets": False}),
    ("get_account_overview", {"address": JUDY, "asset_ids": [3, 4, 0], "include_zero": True}),
    ("list_trade_offers", {}),
    ("list_trade_offers", {"chain": "btc", "limit": 100}),
    ("list_trade_offers", {"hidden": True}),
    ("list_trade_offers", {"offset": 1000}),
    ("list_hidden_trade_offers", {"limit": 1}),
    ("search_qdn", {"name": "bob"}),
    ("search_qdn", {"address": ALICE, "limit": 20}),
    ("search_qdn", {"service": 1110, "status": "BOTH"}),
    ("search_qdn", {"service": "website", "from_height": 1, "heights": 1000}),
    ("search_qdn", {"name": "Grace & Söhne GmbH"}),
]


@pytest.mark.promise(
    "Tools and their results", "Text beyond ASCII arrives as it was written, without `\\u` escapes."
)
@pytest.mark.promise("Tools and their results", "What a tool returns fits the schema that it declares.")
@pytest.mark.promise(
    "Tools and their results", "Every answer from a node says in `asOf` which node and height it comes from."
)
@pytest.mark.parametrize(("tool", "arguments"), GOOD_CALLS)
async def test_an_answer_keeps_to_its_contract(
    server: Server, call: Call, tool: str, arguments: dict[str, Any]
) -> None:
    result = await call(tool, **arguments)
    assert result["isError"] is False, result
    (block,) = result["content"]
    answer = result["structuredContent"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == answer
    assert block["text"] == json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    assert len(block["text"].encode()) <= 64 * 1024
    if not arguments.get("limit"):
        assert len(block["text"].encode()) <= 8 * 1024
    definition = await definition_of(server, tool)
    if definition is not None:
        jsonschema_rs.validate(definition["outputSchema"], answer)
    if tool == "validate_address":
        assert set(answer) == {"isValid"}
    else:
        assert answer["asOf"] == AS_OF
        assert answer["notes"][-1] == SAMPLE
        assert "error" not in answer


async def definition_of(server: Server, tool: str) -> dict[str, Any] | None:
    listed = (await request(server, "tools/list", {}))["result"]["tools"]
    return next((definition for definition in listed if definition["name"] == tool), None)


@pytest.mark.promise(
    "Tools and their results",
    "Definitions of tools are portable: no `$ref`, no union on top, every argument described, every array with its items.",
)
async def test_definitions_are_portable(node: Node) -> None:
    server = make_server(node, toolsets="all")
    listed = (await request(server, "tools/list", {}))["result"]["tools"]
    assert [definition["name"] for definition in listed] == TOOLS
    for definition in listed:
        schema = definition["inputSchema"]
        text = json.dumps(schema)
        assert schema["type"] == "object"
        assert "$ref" not in text
        assert "anyOf" not in text
        assert "oneOf" not in text
        for name, argument in schema["properties"].items():
            assert argument["description"], name
            assert isinstance(argument["type"], str), name
            assert "items" in argument or argument["type"] != "array"
        assert definition["outputSchema"]["type"] == "object"
        assert definition["annotations"]["readOnlyHint"] is True
        assert definition["annotations"]["destructiveHint"] is False
        assert definition["annotations"]["idempotentHint"] is True


@pytest.mark.promise(
    "Tools and their results",
    "What the definitions of the tools cost a model stays within a budget of tokens.",
)
@pytest.mark.parametrize(("toolsets", "tokens"), [("default", 5000), ("all", 8000)])
async def test_what_a_model_pays_for_the_definitions_stays_small(
    node: Node, toolsets: str, tokens: int
) -> None:
    server = make_server(node, toolsets=toolsets)
    listed = (await request(server, "tools/list", {}))["result"]["tools"]
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed]
    # Counted with o200k these definitions have 4.3 characters a token.
    assert len(json.dumps(seen, separators=(",", ":"))) / 4.25 < tokens


async def answer_of(call: Call, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await call(tool, **arguments)
    assert result["isError"] is False, result
    answer: dict[str, Any] = result["structuredContent"]
    return answer


async def error_of(call: Call, tool: str, **arguments: Any) -> tuple[str, str]:
    result = await call(tool, **arguments)
    assert result["isError"] is True, result
    return result["_meta"]["qortal-mcp/error"]["code"], result["content"][0]["text"]


async def test_node_status(call: Call) -> None:
    answer = await answer_of(call, "get_node_status")
    assert answer["height"] == HEIGHT
    assert answer["syncPercent"] == 100
    assert answer["version"] == "qortal-6.1.8-bb6b1bf"
    assert answer["isSynchronizing"] is False
    assert answer["isMintingPossible"] is True
    assert answer["numberOfConnections"] == 0
    assert answer["isTestNet"] is True


async def test_a_node_that_does_not_say_whether_it_is_a_test_node_still_answers() -> None:
    about = {"buildVersion": "qortal-6.1.8", "uptime": 5}
    node = Node([ToldNode(lambda target: about if target == "/admin/info" else None)])
    answer = await answer_of(caller(make_server(node)), "get_node_status")
    await node.close()
    assert (answer["version"], answer["isTestNet"]) == ("qortal-6.1.8", None)


@pytest.mark.promise("Tools and their results", "`validate_address` checks the checksum and needs no node.")
@pytest.mark.parametrize(
    ("address", "valid"),
    [(ALICE, True), (CONTRACT, True), (WRONG_CHECKSUM, False), (NODE_ID, False), ("", False), ("bad", False)],
)
async def test_validity_is_told_without_a_node(call: Call, address: str, valid: bool) -> None:
    assert await answer_of(call, "validate_address", address=address) == {"isValid": valid}


@pytest.mark.promise(
    "Data of the chain", "Amounts are exact decimal strings with eight places, however the node writes them."
)
async def test_balances_are_exact(call: Call) -> None:
    answer = await answer_of(call, "get_balance", address=ALICE)
    assert (answer["balance"], answer["unit"], answer["assetId"]) == ("1001427.50833805", "QORT", 0)
    answer = await answer_of(call, "get_balance", address=ALICE, asset_id=GOLD)
    assert (answer["balance"], answer["unit"]) == ("998182.49999999", "GOLD")


@pytest.mark.promise(
    "Data of the chain", "An address never seen on the chain has a balance of zero and a note that says why."
)
async def test_an_unseen_address_holds_nothing_and_a_note_says_why(call: Call) -> None:
    answer = await answer_of(call, "get_balance", address=NOBODY)
    assert answer["balance"] == "0.00000000"
    assert answer["notes"] == ["This address has not appeared on the chain yet.", SAMPLE]
    assert (await answer_of(call, "get_balance", address=EMPTY))["notes"] == [SAMPLE]


@pytest.mark.promise("Errors", "What the node does not know is reported as not found.")
async def test_what_does_not_exist_is_not_found(call: Call) -> None:
    assert await error_of(call, "get_account_overview", address=NOBODY) == (
        "NOT_FOUND",
        "Address not found on chain.",
    )
    missing = ("NOT_FOUND", "Asset not found.")
    assert await error_of(call, "get_balance", address=ALICE, asset_id=99) == missing
    assert await error_of(call, "get_account_overview", address=ALICE, asset_ids=[99]) == missing


@pytest.mark.promise("Data of the chain", "An account overview lists asset balances unless told not to.")
async def test_an_account_at_a_glance(call: Call) -> None:
    answer = await answer_of(call, "get_account_overview", address=ALICE)
    assert answer["primaryName"] == "alice-test"
    assert answer["names"][:2] == ["alice-test", "Alice Renamed"]
    assert answer["balance"] == "1001427.50833805"
    assert answer["isFounder"] is True
    assert answer["assetBalances"] == [
        {"assetId": 0, "assetName": "QORT", "balance": "1001427.50833805"},
        {"assetId": 3, "assetName": "GOLD", "balance": "998182.49999999"},
        {"assetId": 5, "assetName": "TICKET", "balance": "23.00000000"},
    ]


async def test_a_lost_primary_name_is_found_among_the_names(call: Call) -> None:
    answer = await answer_of(call, "get_account_overview", address=JUDY)
    assert answer["primaryName"] == "judy"


async def test_an_account_without_names_has_none(call: Call) -> None:
    answer = await answer_of(call, "get_account_overview", address=CONTRACT)
    assert answer["primaryName"] is None
    assert answer["names"] == []


@pytest.mark.promise("Data of the chain", "An account overview lists asset balances unless told not to.")
@pytest.mark.promise(
    "Data of the chain", "An account overview lists QORT once, and assets without a balance only on request."
)
@pytest.mark.parametrize(
    ("arguments", "asset_ids"),
    [
        ({"asset_ids": [GOLD]}, [0, 3]),
        ({"asset_ids": [0, GOLD, GOLD]}, [0, 3]),
        ({"asset_ids": [GOLD, 4]}, [0, 3]),
        ({"asset_ids": [4, GOLD], "include_zero": True}, [0, 3, 4]),
        ({"include_assets": False}, []),
        ({"include_assets": False, "asset_ids": [GOLD]}, []),
    ],
)
async def test_qort_is_listed_once_beside_the_assets_asked_for(
    call: Call, arguments: dict[str, Any], asset_ids: list[int]
) -> None:
    answer = await answer_of(call, "get_account_overview", address=ALICE, **arguments)
    assert [holding["assetId"] for holding in answer["assetBalances"]] == asset_ids


@pytest.mark.promise("Data of the chain", "Prices and quantities carry their unit.")
async def test_an_offer_has_price_and_unit(call: Call) -> None:
    answer = await answer_of(call, "list_trade_offers", chain="Litecoin", limit=100)
    (offer,) = [row for row in answer["offers"] if row["tradeAddress"] == CONTRACT]
    assert offer == {
        "tradeAddress": CONTRACT,
        "creator": BOB,
        "offeringQort": "10.00000000",
        "expectedForeign": "0.00500000",
        "foreignCurrency": "LITECOIN",
        "mode": "OFFERING",
        "timestamp": 1794770291216,
        "time": "2026-11-15T19:18:11.216Z",
        "price": "0.00050000",
        "priceUnit": "LTC per QORT",
    }


@pytest.mark.parametrize("chain", ["LITECOIN", "litecoin", "LTC", "ltc", " Ltc "])
async def test_a_chain_has_a_name_and_a_ticker_in_any_case(call: Call, chain: str) -> None:
    offers = (await answer_of(call, "list_trade_offers", chain=chain))["offers"]
    assert len(offers) == 7
    assert {offer["foreignCurrency"] for offer in offers} == {"LITECOIN"}


async def test_hidden_offers_are_apart(call: Call) -> None:
    shown = (await answer_of(call, "list_trade_offers", limit=100))["offers"]
    hidden = (await answer_of(call, "list_trade_offers", hidden=True))["offers"]
    assert (len(shown), len(hidden)) == (18, 3)
    assert not {o["tradeAddress"] for o in shown} & {o["tradeAddress"] for o in hidden}


@pytest.mark.promise(
    "Data of the chain", "A QDN search needs only one filter, and takes a service by code or by name."
)
@pytest.mark.parametrize("service", [777, "777", "BLOG_POST", "blog_post", " Blog_Post "])
async def test_a_service_has_a_code_and_a_name_in_any_case(call: Call, service: Any) -> None:
    resources = (await answer_of(call, "search_qdn", service=service))["resources"]
    assert len(resources) == 4
    assert {(row["service"], row["serviceName"]) for row in resources} == {(777, "BLOG_POST")}


@pytest.mark.promise(
    "Data of the chain",
    "A QDN search says who published what, when and how big it is, and never returns content.",
)
async def test_a_publication_tells_who_what_when_and_how_big(call: Call) -> None:
    resource = (await answer_of(call, "search_qdn", service="WEBSITE"))["resources"][0]
    assert resource == {
        "signature": "5LBpKEKDsKepqtAYqF3Ae5UcHLE5RVC2n2iAps93WaZPoZjQNn6RfcVRcEttvEY8povq75J7uo3ZYtNpafrTgDqU",
        "service": 200,
        "serviceName": "WEBSITE",
        "name": "alice-test",
        "identifier": None,
        "size": 880,
        "timestamp": 1794770212644,
        "time": "2026-11-15T19:16:52.644Z",
        "publisher": ALICE,
        "blockHeight": 321,
        "title": "Alice site",
        "description": "a small website",
        "tags": ["site"],
        "versions": 1,
        "rating": {"average": "3.00", "votes": 1},
    }


async def test_the_newest_blocks_are_searched_when_no_start_is_given(call: Call) -> None:
    answer = await answer_of(call, "search_qdn", service="JSON", heights=6, limit=1)
    assert [row["blockHeight"] for row in answer["resources"]] == [594]
    assert answer["page"]["next"] == {
        "service": "JSON",
        "from_height": 591,
        "heights": 6,
        "limit": 1,
        "offset": 1,
    }


async def follow(call: Call, tool: str, noun: str, **arguments: Any) -> list[Any]:
    """Every row, page by page."""
    rows: list[Any] = []
    following = arguments
    for _ in range(100):
        answer = await answer_of(call, tool, **following)
        assert answer["page"]["returned"] == len(answer[noun])
        rows += answer[noun]
        if "next" not in answer["page"]:
            return rows
        following = answer["page"]["next"]
    raise AssertionError("pages without end")


@pytest.mark.promise("Tools and their results", "Following `page.next` reaches every record once.")
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 18, 19, 100])
@pytest.mark.parametrize("arguments", [{}, {"chain": "BTC"}, {"hidden": True}, {"reverse": False}])
async def test_following_pages_reaches_every_offer_once(
    call: Call, limit: int, arguments: dict[str, Any]
) -> None:
    everything = (await answer_of(call, "list_trade_offers", **arguments, limit=100))["offers"]
    assert await follow(call, "list_trade_offers", "offers", **arguments, limit=limit) == everything
    times = [row["timestamp"] for row in everything]
    assert times == sorted(times, reverse=arguments.get("reverse", True))


@pytest.mark.promise("Tools and their results", "Following `page.next` reaches every record once.")
@pytest.mark.parametrize("limit", [1, 3, 5, 20])
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"name": "Bob"}, 7),
        ({"name": "Bob", "history": True}, 8),
        ({"address": ALICE}, 7),
        ({"service": "JSON"}, 4),
    ],
)
async def test_following_pages_reaches_every_publication_once(
    call: Call, limit: int, arguments: dict[str, Any], count: int
) -> None:
    rows = await follow(call, "search_qdn", "resources", **arguments, limit=limit)
    assert len({row["signature"] for row in rows}) == len(rows) == count
    times = [row["timestamp"] for row in rows]
    assert times == sorted(times, reverse=True)


@pytest.mark.promise("Tools and their results", "A limit above the maximum is lowered, and a note says so.")
async def test_a_limit_above_the_most_is_lowered_and_said(call: Call) -> None:
    answer = await answer_of(call, "search_qdn", name="Bob", limit=5000)
    assert answer["notes"][0] == "limit 5000 was lowered to 20, the most this tool gives at once."


BAD_CALLS: list[Any] = [
    ("get_balance", {"address": "12345"}, "Invalid Qortal address."),
    ("get_balance", {"address": WRONG_CHECKSUM}, "Invalid Qortal address."),
    ("get_balance", {"address": NODE_ID}, "Invalid Qortal address."),
    ("get_balance", {"address": f"{ALICE}\n"}, "Invalid Qortal address."),
    ("get_balance", {"address": "../../admin/stop"}, "Invalid Qortal address."),
    ("get_balance", {}, "Missing argument address."),
    ("get_balance", {"address": ALICE, "asset_id": -1}, "Invalid asset_id."),
    ("get_balance", {"address": ALICE, "asset_id": 1.5}, "Invalid asset_id."),
    ("get_balance", {"address": ALICE, "asset_id": True}, "Invalid asset_id."),
    ("get_balance", {"address": ALICE, "asset_id": 10**30}, "Invalid asset_id."),
    ("get_balance", {"address": ALICE, "assetId": 1, "asset_id": 1}, "Invalid asset_id."),
    ("get_balance", {"address": ALICE, "apiKey": "x"}, "Unknown argument apiKey."),
    ("get_account_overview", {"address": ALICE, "asset_ids": []}, "Invalid asset_ids."),
    ("get_account_overview", {"address": ALICE, "asset_ids": list(range(21))}, "Invalid asset_ids."),
    ("get_account_overview", {"address": ALICE, "include_assets": "no"}, "Invalid include_assets."),
    ("list_trade_offers", {"chain": "MONERO"}, "Invalid chain."),
    ("list_trade_offers", {"chain": ""}, "Invalid chain."),
    ("list_trade_offers", {"limit": 0}, "Invalid limit."),
    ("list_trade_offers", {"limit": -5}, "Invalid limit."),
    ("list_trade_offers", {"offset": -1}, "Invalid offset."),
    ("search_qdn", {}, "Invalid arguments."),
    ("search_qdn", {"limit": 5}, "Invalid arguments."),
    ("search_qdn", {"service": 99}, "Invalid service."),
    ("search_qdn", {"service": "NOPE"}, "Invalid service."),
    ("search_qdn", {"service": True}, "Invalid service."),
    ("search_qdn", {"name": ""}, "Invalid name."),
    ("search_qdn", {"name": "x" * 41}, "Invalid name."),
    ("search_qdn", {"name": "Bob", "status": "MAYBE"}, "Invalid status."),
    ("search_qdn", {"name": "Bob", "status": "BOTH", "heights": 5}, "Invalid status."),
    ("search_qdn", {"address": WRONG_CHECKSUM}, "Invalid Qortal address."),
    ("validate_address", {"address": "x" * 101}, "Invalid Qortal address."),
]


@pytest.mark.promise("Tools and their results", "A limit below 1 is refused.")
@pytest.mark.promise(
    "Errors",
    "Wrong arguments of any kind never reach the node: addresses with a bad checksum, numbers out of range, unknown filters.",
)
@pytest.mark.parametrize(("tool", "arguments", "sentence"), BAD_CALLS)
async def test_bad_arguments_never_reach_the_node(
    tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        code, text = await error_of(caller(make_server(node)), tool, **arguments)
        await node.close()
    assert code == "INVALID_ARGUMENT"
    assert text.startswith(sentence)
    assert watched.asked == []


@pytest.mark.promise(
    "Read-only and secrets",
    "An argument that looks like a key, a seed phrase or another secret is refused, never sent to the node and never repeated.",
)
@pytest.mark.parametrize("secret", [SEED_PHRASE, HEX_KEY, ALICE_KEY])
@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("get_balance", "address"),
        ("validate_address", "address"),
        ("search_qdn", "name"),
        ("search_qdn", "service"),
        ("list_trade_offers", "chain"),
    ],
)
async def test_secrets_are_refused_and_not_repeated(tool: str, argument: str, secret: str) -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        code, text = await error_of(caller(make_server(node)), tool, **{argument: secret})
        await node.close()
    assert code == "REFUSED"
    assert secret not in text
    assert watched.asked == []


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
DEFAULT = {name for name, toolset in TOOLSETS.items() if toolset.is_default}
TOOLS = [tool for toolset in TOOLSETS.values() for tool in toolset.tools]
ARGUMENTS = [
    "address", "asset_id", "asset_ids", "include_assets", "include_zero", "chain", "hidden", "limit",
    "offset", "service", "name", "from_height", "heights", "status", "reverse", "tx_group_id",
]  # fmt: skip


@pytest.fixture
def call_any(node: Node) -> Call:
    return caller(make_server(node, toolsets="all"))


@pytest.mark.promise(
    "Limits and abuse", "No arguments can make a tool of the server fail in an unforeseen way."
)
@given(
    tool=st.sampled_from(TOOLS),
    arguments=st.dictionaries(st.sampled_from(ARGUMENTS) | st.text(max_size=8), ANYTHING, max_size=4),
    address=st.sampled_from([None, ALICE, NOBODY]),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_arguments_make_a_tool_stumble(
    call_any: Call, tool: str, arguments: dict[str, Any], address: str | None
) -> None:
    if address is not None:
        arguments = {**arguments, "address": address}
    reply = await call_any(tool, **arguments)
    if reply["isError"]:
        code = reply["_meta"]["qortal-mcp/error"]["code"]
        assert code in {"INVALID_ARGUMENT", "NOT_FOUND", "REFUSED", "NODE_ERROR", "NOT_SUPPORTED"}


@pytest.mark.promise(
    "Old clients", "Old names of tools and arguments still work, though they are not listed."
)
@pytest.mark.parametrize(
    ("tool", "old", "new"),
    [
        ("get_balance", {"address": ALICE, "assetId": 3}, {"address": ALICE, "asset_id": 3}),
        ("list_trade_offers", {"foreign_blockchain": "LITECOIN"}, {"chain": "LITECOIN"}),
        (
            "search_qdn",
            {"service": "JSON", "confirmation_status": "CONFIRMED", "start_block": 500, "block_limit": 90},
            {"service": "JSON", "status": "CONFIRMED", "from_height": 500, "heights": 90},
        ),
    ],
)
async def test_old_argument_names_mean_the_same(
    call: Call, tool: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert await answer_of(call, tool, **old) == await answer_of(call, tool, **new)


@pytest.mark.promise(
    "Old clients", "Old names of tools and arguments still work, though they are not listed."
)
async def test_an_old_tool_name_is_another_with_its_arguments_given(call: Call) -> None:
    hidden = await answer_of(call, "list_trade_offers", hidden=True, limit=1)
    assert await answer_of(call, "list_hidden_trade_offers", limit=1) == hidden
    assert len(await follow(call, "list_hidden_trade_offers", "offers", limit=1)) == 3


@pytest.mark.promise(
    "Old clients", "The old method names `list_tools` and `call_tool` mean `tools/list` and `tools/call`."
)
async def test_old_methods_stay_valid(server: Server) -> None:
    listed = (await request(server, "list_tools", {}))["result"]["tools"]
    assert listed == (await request(server, "tools/list", {}))["result"]["tools"]
    reply = await request(server, "call_tool", {"tool": "validate_address", "params": {"address": ALICE}})
    assert reply["result"]["structuredContent"] == {"isValid": True}


@pytest.mark.promise(
    "Tools and their results",
    "Toolsets are chosen by name, and a tool whose toolset is off cannot be called by any name.",
)
@pytest.mark.parametrize(
    ("spec", "toolsets"),
    [
        ("", DEFAULT),
        ("default", DEFAULT),
        ("all", set(TOOLSETS)),
        ("node, qdn", {"node", "qdn"}),
        ("-trades", DEFAULT - {"trades"}),
        ("+chat,-raw", DEFAULT - {"raw"} | {"chat"}),
        ("all,-qdn", set(TOOLSETS) - {"qdn"}),
        ("-trades,+trades", DEFAULT),
    ],
)
def test_toolsets_are_chosen_by_name(spec: str, toolsets: set[str]) -> None:
    assert select(spec) == tuple(name for name in TOOLSETS if name in toolsets)


@pytest.mark.parametrize("spec", ["+chat,node", "-raw,all"])
def test_a_list_of_toolsets_and_changes_to_the_default_are_not_mixed(spec: str) -> None:
    with pytest.raises(ValueError, match="give either a list, such as node,qdn, or changes with a sign"):
        select(spec)


@pytest.mark.promise("Command line", "An unknown toolset is answered with the valid ones.")
def test_an_unknown_toolset_is_answered_with_the_valid_ones() -> None:
    with pytest.raises(ValueError, match="no toolset 'strange'; valid ones are default, all, node, accounts"):
        select("+strange")


def test_a_toolset_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(
        ValueError, match=r"no toolset 'chta' \(did you mean chat\?\); valid ones are default"
    ):
        select("+chta")


@pytest.mark.promise(
    "Tools and their results",
    "Toolsets are chosen by name, and a tool whose toolset is off cannot be called by any name.",
)
async def test_a_toolset_switched_off_is_not_callable_by_any_name(node: Node) -> None:
    server = make_server(node, toolsets="-trades")
    for name in ("list_trade_offers", "list_hidden_trade_offers"):
        reply = await request(server, "tools/call", {"name": name, "arguments": {}})
        assert reply["error"]["code"] == -32602
