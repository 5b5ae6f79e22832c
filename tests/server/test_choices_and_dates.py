"""Inside an object: choices are listed as they were defined, and what would fit is said in whole phrases."""

from dataclasses import dataclass
from datetime import date
from enum import Enum

from qortal_mcp import Server
from qortal_mcp.client import connect


class Urgency(Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass
class Todo:
    title: str
    urgency: Urgency = Urgency.LOW
    due: date | None = None


SERVER = Server("todo")


@SERVER.tool
def add(todo: Todo, urgency: Urgency = Urgency.HIGH) -> Todo:
    """Adds something to do."""
    return todo


def test_choices_keep_the_order_in_which_they_were_defined() -> None:
    arguments, answer = add.definition.inputSchema, add.definition.outputSchema
    assert isinstance(answer, dict)
    fields = (
        arguments["properties"]["urgency"],
        arguments["properties"]["todo"]["properties"]["urgency"],
        answer["properties"]["urgency"],
    )
    assert [field["enum"] for field in fields] == [["low", "medium", "high"]] * 3


async def test_a_comma_ends_an_example() -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool("add", {"todo": {"title": "Tea", "due": "soon"}})
    assert answer.text == "Invalid todo.due. todo.due takes a date, such as 2026-11-18, or null."
