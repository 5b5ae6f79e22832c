"""What holds for every tool there is, by one call of each on the sample chain."""

import json
from typing import Any

import jsonschema_rs
import pytest
from docgen.examples import EXAMPLES
from tests.qortal.conftest import caller
from tests.qortal.told_node import ToldNode

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS, definitions

DEFINITIONS = {definition["name"]: definition for definition in definitions(tuple(TOOLSETS))}
# Tools that ask no node, and so have nothing to say about one.
LOCAL = {"validate_address"}


@pytest.mark.promise(
    "Tools and their results",
    "A result has exactly one text block, which holds the same JSON as `structuredContent`, and `isError: false`.",
)
@pytest.mark.promise("Tools and their results", "What a tool returns fits the schema that it declares.")
@pytest.mark.promise(
    "Limits and abuse", "An answer stays within its budget of bytes, however large the node's data are."
)
@pytest.mark.promise(
    "Operations", "Sample data are never given for real ones: the start and the answers say what they are."
)
@pytest.mark.parametrize("tool", DEFINITIONS)
@pytest.mark.parametrize("page", ["example", "default"])
async def test_an_answer_fits_its_schema_its_text_and_its_budget(node: Node, tool: str, page: str) -> None:
    arguments: dict[str, Any] = dict(EXAMPLES.get(tool, {}))
    if page == "default":
        arguments.pop("limit", None)
    result = await caller(make_server(node, toolsets="all"))(tool, **arguments)
    assert result["isError"] is False, result
    (block,) = result["content"]
    answer = result["structuredContent"]
    assert json.loads(block["text"]) == answer
    assert len(block["text"].encode()) <= (8_192 if page == "default" else 65_536)
    jsonschema_rs.Draft202012Validator(DEFINITIONS[tool]["outputSchema"]).validate(answer)
    if tool not in LOCAL:
        assert set(answer["asOf"]) == {"node", "height", "time", "isSynchronizing"}
        assert any("Sample data" in note for note in answer["notes"])
    if "page" in answer and "next" in answer["page"]:
        following = await caller(make_server(node, toolsets="all"))(tool, **answer["page"]["next"])
        assert following["isError"] is False, following


# Lists whose pages are pinned to a time need more than their example to go on.
LONG_LISTS: dict[str, dict[str, Any]] = {
    "get_cash_flow": {"by": "counterparty", "limit": 1},
    "get_chat_digest": {"limit": 1},
}


@pytest.mark.promise(
    "Tools and their results",
    "`page.next` holds only arguments that the tool lists, so that every client can send it.",
)
@pytest.mark.parametrize("tool", DEFINITIONS)
async def test_the_next_call_fits_the_schema_that_clients_check_arguments_with(node: Node, tool: str) -> None:
    call = caller(make_server(node, toolsets="all"))
    schema = DEFINITIONS[tool]["inputSchema"]
    for more in ({}, {"limit": 1} if "limit" in schema["properties"] else {}, LONG_LISTS.get(tool, {})):
        answer = (await call(tool, **{**EXAMPLES.get(tool, {}), **more}))["structuredContent"]
        following = answer.get("page", {}).get("next", {})
        assert following.keys() <= schema["properties"].keys() | more.keys()
        assert following or tool not in LONG_LISTS or not more


# What a node may reply to everything, and what each tool then says.
FAULTS = [
    pytest.param(RawReply(500, "text/html", b"<h1>secret</h1>"), "NODE_ERROR", True, id="error-page"),
    pytest.param(RawReply(200, "text/html", b"<html>secret</html>"), "NODE_ERROR", False, id="a-website"),
    pytest.param(RawReply(403, "text/html", b"<h1>secret</h1>"), "NODE_REFUSED", False, id="whitelist"),
    pytest.param(RawReply(503, "application/json", b'{"error":7}'), "NODE_SYNCING", True, id="synchronizing"),
    pytest.param(RawReply(200, "application/json", b'{"secret":'), "NODE_ERROR", False, id="cut-off"),
    pytest.param(RawReply(200, "application/json", b'{"secret":1}'), "NODE_ERROR", False, id="other-json"),
]


@pytest.mark.promise(
    "Errors", "Every tool reports a failure of the node as such, in one code and one sentence."
)
@pytest.mark.parametrize("tool", [tool for tool in DEFINITIONS if tool not in LOCAL])
@pytest.mark.parametrize(("reply", "code", "retryable"), FAULTS)
async def test_a_failure_of_the_node_is_said_to_be_one(
    tool: str, reply: RawReply, code: str, retryable: bool
) -> None:
    node = Node([ToldNode(lambda target: reply)])
    result = await caller(make_server(node, toolsets="all"))(tool, **EXAMPLES.get(tool, {}))
    await node.close()
    assert result["isError"] is True, result
    assert result["_meta"]["qortal-mcp/error"] == {"code": code, "retryable": retryable}, result
    assert "secret" not in json.dumps(result)
    assert "structuredContent" not in result
