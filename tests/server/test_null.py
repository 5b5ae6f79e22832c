"""Arguments and answers that may be null: what their schemas say, and how they are read."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.server.nullable import SERVER

from qortal_mcp.client import connect

PROGRAM = Path(__file__).with_name("nullable.py")
# How fast a program starts is a matter of the machine and of what else runs on it.
BY_THE_CLOCK = {"slow-start"}
CALLS = [
    {"tool": "take", "arguments": {"required": None, "inner": {"size": None}, "sizes": [1, None]}},
    {"tool": "take", "arguments": {"required": "x", "text": "y", "inner": {"unit": "m"}, "choice": "a"}},
    # No call here answers null alone: before 2025-06-18 that is the text "null", which the audit reports.
    {"tool": "give_text", "arguments": {"text": "x"}},
    {"tool": "give_inner", "arguments": {"size": 1}},
    {"tool": "give_choice", "arguments": {"choice": "a"}},
]


def test_the_audit_finds_nothing_in_a_server_with_nulls(tmp_path: Path) -> None:
    calls = tmp_path / "calls.json"
    calls.write_text(json.dumps(CALLS))
    ended = run("audit", "--json", "--calls", str(calls), "--", sys.executable, str(PROGRAM))
    assert [one for one in ended.json["findings"] if one["code"] not in BY_THE_CLOCK] == []
    assert ended.json["verdict"] == "conforms", ended.json["because"]
    assert ended.json["toolsCalled"] == ended.json["tools"] == 4
    assert ended.json["gaps"] == []


async def test_an_argument_that_is_none_by_default_has_one_type() -> None:
    async with connect(SERVER) as client:
        (take, *_) = (await client.list_tools()).items
    schema = take.inputSchema
    assert schema["required"] == ["required"]
    assert schema["properties"] == {
        # Null means something else than leaving these two out.
        "required": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "counted": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
        "text": {"type": "string"},
        "described": {"type": "string", "maxLength": 100, "description": "A text."},
        "number": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "choice": {"type": "string", "enum": ["a", "b"]},
        "inner": {
            "type": "object",
            "properties": {
                "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                "unit": {
                    "anyOf": [{"type": "string", "enum": ["ft", "m"]}, {"type": "null"}],
                    "default": None,
                },
            },
            "required": [],
        },
        "sizes": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    }


READ: list[Any] = [
    ({"required": None}, {"number": 3}),
    ({"required": None, "counted": None, "number": 5}, {"number": 5}),
    # Read slowly, since a number is written as a text: null stays null.
    ({"required": None, "counted": None, "number": "5"}, {"number": 5}),
    ({"required": None, "text": None, "choice": None, "sizes": None}, {"text": None, "choice": None}),
    ({"required": "x", "choice": "A", "sizes": [1, None]}, {"choice": "a", "sizes": [1, None]}),
]


@pytest.mark.parametrize(("arguments", "expected"), READ)
async def test_null_is_read_as_none(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool("take", arguments)
    assert not answer.is_error, answer.text
    assert isinstance(answer.structured, dict)
    assert expected.items() <= answer.structured.items()


async def test_a_text_that_may_be_null_is_searched_for_secrets() -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool("give_text", {"text": "ab" * 32})
    assert answer.is_error
    assert answer.text.startswith("Refused.")
