"""What holds for every tool there is, by one call of each on the sample chain."""

import json
from typing import Any

import jsonschema_rs
import pytest
from docgen.examples import EXAMPLES
from tests.qortal.conftest import caller

from qortal_mcp.qortal.node.node import Node
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
