"""Callers that give secrets, or more than anybody needs: nothing of it leaves, comes back, is kept or breaks anything."""

import json
import re
from typing import Any
from urllib.parse import quote, unquote

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.words.transaction_types import TRANSACTION_TYPES
from qortal_mcp.server.dispatch import Server

from .conftest import caller, request
from .outcomes import answer_of, code_of, text_of
from .told_node import ToldNode
from .world import ALICE, ALICE_KEY

SEED = "legal winner thank year wave sausage worth useful legal winner thank yellow"
WIF = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
SECRETS = [
    pytest.param(SEED, id="seed"),
    pytest.param(WIF, id="wif"),
    pytest.param("ab" * 32, id="hex"),
    pytest.param("-----BEGIN PRIVATE KEY----- MC4CAQAwBQYDK2VwBCIEIHab", id="pem"),
]
SEARCH = "/arbitrary/resources/search"


@pytest.fixture
def source() -> ToldNode:
    return ToldNode()


@pytest.fixture
def server(source: ToldNode) -> Server:
    return make_server(Node([source]), toolsets="all")


def doors(secret: str) -> list[tuple[str, dict[str, Any]]]:
    """Every way in that takes text."""
    escaped = f"\\u{{{ord(secret[0]):04X}}}{secret[1:]}"
    arguments: list[tuple[str, dict[str, Any]]] = [
        ("get_name", {"name": escaped}),
        ("search_names", {"query": escaped}),
        ("get_poll", {"name": escaped}),
        ("get_poll", {"name": f"my secret: {secret}"}),
        ("get_poll", {"name": f"What is {secret} for?"}),
        ("get_qdn_resource", {"service": "JSON", "name": "a", "identifier": escaped}),
        ("read_core", {"endpoint": SEARCH, "values": {"keywords": [secret]}}),
        ("read_core", {"endpoint": SEARCH, "values": {"keywords": ["a", "b", secret]}}),
        ("read_core", {"endpoint": SEARCH, "values": {"keywords": [secret[:30], secret[30:]]}}),
        ("read_core", {"endpoint": SEARCH, "values": {"keywords": secret.split()}}),
        ("read_core", {"endpoint": SEARCH, "values": {"query": secret}}),
        ("search_transactions", {"types": [secret]}),
    ]
    name_report = {"type": "ref/prompt", "name": "name_report"}
    template = {"type": "ref/resource", "uri": "qortal://name/{name}"}
    return [
        *(("tools/call", {"name": tool, "arguments": given}) for tool, given in arguments),
        ("completion/complete", {"ref": name_report, "argument": {"name": "name", "value": secret}}),
        ("completion/complete", {"ref": template, "argument": {"name": "name", "value": secret}}),
        ("prompts/get", {"name": secret}),
        ("prompts/get", {"name": "account_report", "arguments": {"address": secret}}),
        ("prompts/get", {"name": "account_report", "arguments": {"address": f"it is {secret}"}}),
        ("resources/read", {"uri": secret}),
        ("resources/read", {"uri": f"qortal://account/{quote(secret)}"}),
        ("resources/read", {"uri": f"qortal://name/{secret}"}),
        ("resources/subscribe", {"uri": secret}),
    ]


@pytest.mark.promise(
    "Read-only and secrets",
    "An argument that looks like a key, a seed phrase or another secret is refused, never sent to the node and never repeated.",
)
@pytest.mark.parametrize("secret", SECRETS)
async def test_a_secret_is_neither_sent_nor_repeated_through_any_door(
    server: Server, source: ToldNode, secret: str
) -> None:
    for method, params in doors(secret):
        reply = unquote(json.dumps(await request(server, method, params)))
        assert secret[:20] not in reply, (method, params)
        assert not [target for target in source.asked if secret[:20] in unquote(target)], (method, params)


@pytest.mark.promise("Read-only and secrets", "A seed phrase is recognised in any spelling.")
@pytest.mark.parametrize("phrase", [SEED.title(), SEED.upper(), SEED.replace(" ", " - "), f"1. {SEED}"])
async def test_a_seed_phrase_is_known_however_it_is_written(
    server: Server, source: ToldNode, phrase: str
) -> None:
    result = await caller(server)("get_poll", name=phrase)
    assert code_of(result) == "REFUSED"
    assert not source.asked


async def test_as_much_as_a_suggestion_needs_is_sent_and_no_more(server: Server, source: ToldNode) -> None:
    ref = {"type": "ref/prompt", "name": "name_report"}
    for typed in ("alice", SEED[:21], WIF[:39]):
        argument = {"name": "name", "value": typed}
        await request(server, "completion/complete", {"ref": ref, "argument": argument})
    assert [target for target in source.asked if "search" in target] == [
        "/names/search?limit=20&query=alice&prefix=true"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Should Qortal change minting rules for new founders next year, and which ones would you like most?",
        "A long question about trading fees that nobody ever answered with more than a word",
        f"Do you trust {ALICE}?",
        "SupercalifragilisticexpialidociousIsQuiteALongWordIndeed",
    ],
)
async def test_honest_names_of_polls_are_asked_for(server: Server, source: ToldNode, name: str) -> None:
    assert code_of(await caller(server)("get_poll", name=name)) == "NOT_FOUND"
    assert any(target.startswith("/polls/") for target in source.asked)


@pytest.mark.promise("Read-only and secrets", "Public keys and signatures are accepted where they belong.")
async def test_keys_and_signatures_are_taken_where_they_belong(server: Server) -> None:
    call = caller(server)
    await answer_of(call, "search_transactions", creator=ALICE_KEY)
    await answer_of(call, "get_trade_ledger", account=ALICE_KEY)
    listed = await answer_of(call, "search_transactions", types=["PAYMENT"], limit=1)
    signature = listed["transactions"][0]["signature"]
    await answer_of(call, "get_transaction", signature=signature)
    await answer_of(
        call, "read_core", endpoint="/transactions/signature/{signature}", values={"signature": signature}
    )
    asked = {"name": "explain_transaction", "arguments": {"signature": signature}}
    reply = await request(server, "prompts/get", asked)
    assert signature in reply["result"]["messages"][0]["content"]["text"]


async def test_a_public_key_for_an_address_is_told_what_to_do(server: Server) -> None:
    said = text_of(await caller(server)("get_balance", address=ALICE_KEY))
    assert said.startswith("Refused. The argument address looks like a public or private key.")
    assert said.endswith("If this is a public key: this argument takes an address.")


async def test_a_text_for_a_prompt_has_an_end_and_hides_nothing(server: Server) -> None:
    long = {"name": "account_report", "arguments": {"address": "x" * 201}}
    reply = await request(server, "prompts/get", long)
    assert reply["error"]["message"] == "The argument address takes at most 200 characters"
    hidden = {"name": "account_report", "arguments": {"address": "a\u202eb"}}
    reply = await request(server, "prompts/get", hidden)
    assert "a\\u{202E}b" in reply["result"]["messages"][0]["content"]["text"]


async def test_a_list_of_types_is_no_longer_than_there_are_types(server: Server, source: ToldNode) -> None:
    call = caller(server)
    asked = {"endpoint": "/transactions/unconfirmed"}
    await answer_of(call, "read_core", **asked, values={"txType": list(TRANSACTION_TYPES)})
    source.asked.clear()
    result = await call("read_core", **asked, values={"txType": ["AT"] * (len(TRANSACTION_TYPES) + 1)})
    assert code_of(result) == "INVALID_ARGUMENT"
    assert not source.asked


@pytest.mark.promise("Limits and abuse", "A question that is longer than a node takes is not sent.")
async def test_a_question_longer_than_a_node_takes_is_not_sent(server: Server, source: ToldNode) -> None:
    values = {"keywords": ["😀" * 200] * 20}
    said = text_of(await caller(server)("read_core", endpoint=SEARCH, values=values))
    assert said == "Invalid arguments. Together they are longer than a node accepts."
    assert not source.asked


@pytest.mark.promise(
    "Limits and abuse", "What is kept in memory is counted in bytes together with its question."
)
async def test_what_is_kept_counts_with_its_question(server: Server) -> None:
    async def kept_after(**values: Any) -> int:
        await caller(server)("read_core", endpoint=SEARCH, values=values)
        found = re.search(r"^qortal_node_cache_bytes (\d+)$", server.metrics.render(), re.MULTILINE)
        assert found is not None
        return int(found.group(1))

    short = await kept_after(query="a")
    assert await kept_after(query="b", keywords=["c" * 200] * 20) > short + 4000


@pytest.mark.parametrize("name", ["\\u{110000}", "\\u{FFFFFF}", "\\u{D800}", "a\\u{0000}b", "a\0b"])
@pytest.mark.parametrize(
    ("tool", "argument", "others"),
    [
        ("get_name", "name", {}),
        ("search_names", "query", {}),
        ("get_poll", "name", {}),
        ("get_qdn_resource", "name", {"service": "JSON"}),
        ("read_qdn", "name", {"service": "JSON"}),
    ],
)
async def test_characters_that_are_none_break_nothing(
    server: Server, tool: str, argument: str, others: dict[str, str], name: str
) -> None:
    result = await caller(server)(tool, **{argument: name}, **others)
    assert not result["isError"] or code_of(result) in ("INVALID_ARGUMENT", "NOT_FOUND")


@pytest.mark.promise(
    "Limits and abuse", "No arguments can make a tool of the server fail in an unforeseen way."
)
@pytest.mark.parametrize("depth", [50, 330, 700, 900])
async def test_a_value_nested_however_deep_breaks_nothing(server: Server, depth: int) -> None:
    nested: Any = "x"
    for _ in range(depth):
        nested = [nested]
    result = await caller(server)("read_core", endpoint="/names/{name}", values={"name": nested})
    assert code_of(result) == "INVALID_ARGUMENT"


async def test_a_limit_of_any_length_is_not_repeated(server: Server) -> None:
    answer = await answer_of(caller(server), "list_polls", limit=10**4000)
    assert "limit was lowered to 100, the most this tool gives at once." in answer["notes"]
