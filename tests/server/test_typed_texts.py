"""Arguments of prompts and variables of templates are texts, read into the types that a function declares."""

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta
from pydantic import Field

from qortal_mcp import Offer, Server, prompt, resource
from qortal_mcp.client import ServerError, connect
from qortal_mcp.protocol.messages import TextContent


class Mood(Enum):
    GLAD = "glad"
    SAD = "sad"


@prompt
def recommend(
    mood: Mood,
    pages: Annotated[int, Field(ge=1, description="At most so many.")] = 100,
    before: date | None = None,
    loud: bool = False,
    score: float = 0.5,
    kind: Annotated[Literal["novel", "poem"], Field(alias="form")] = "novel",
) -> str:
    """Asks for a book."""
    return repr((mood, pages, before, loud, score, kind))


@prompt
def greet(name: Annotated[str, Meta(description="Who.", max_length=10)], how: str = "kindly") -> str:
    """Greets somebody."""
    return f"{name} {how}"


@resource("shelf://{row}/{day}")
def row_of(row: int, day: date) -> str:
    """The books of a row."""
    return repr((row, day))


SERVER = Server("texts", offer=Offer(prompts=[recommend, greet], resources=[row_of]))

READ: list[Any] = [
    ({"mood": "glad"}, "(<Mood.GLAD: 'glad'>, 100, None, False, 0.5, 'novel')"),
    ({"mood": "SAD", "pages": "5", "loud": "true"}, "(<Mood.SAD: 'sad'>, 5, None, True, 0.5, 'novel')"),
    (
        {"mood": "sad", "before": "2026-11-18", "score": "0.25", "form": "poem"},
        "(<Mood.SAD: 'sad'>, 100, datetime.date(2026, 11, 18), False, 0.25, 'poem')",
    ),
]


@pytest.mark.parametrize(("given", "expected"), READ)
async def test_a_prompt_gets_the_types_that_it_declares(given: dict[str, str], expected: str) -> None:
    async with connect(SERVER) as client:
        written = await client.get_prompt("recommend", given)
    content = written.messages[0].content
    assert isinstance(content, TextContent)
    assert content.text == expected


REFUSED: list[Any] = [
    ({}, "Missing argument mood."),
    ({"mood": "angry"}, "Invalid mood. mood takes one of: glad, sad."),
    ({"mood": "sad", "pages": "0"}, "Invalid pages. pages takes a whole number from 1 up."),
    ({"mood": "sad", "pages": "many"}, "Invalid pages. pages takes a whole number from 1 up."),
    ({"mood": "sad", "before": "soon"}, "Invalid before. before takes a date, such as 2026-11-18."),
    ({"mood": "sad", "kind": "poem"}, "Unknown argument kind."),
    ({"mood": "abandon " * 12}, "Refused."),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
async def test_a_text_that_does_not_fit_is_refused(given: dict[str, str], words: str) -> None:
    async with connect(SERVER) as client:
        with pytest.raises(ServerError) as caught:
            await client.get_prompt("recommend", given)
    assert words in str(caught.value)
    assert caught.value.code == -32602


async def test_a_prompt_lists_what_it_takes() -> None:
    async with connect(SERVER) as client:
        typed, plain = (await client.list_prompts()).items
    assert [(each.name, each.required) for each in typed.arguments or ()] == [
        ("mood", True),
        ("pages", False),
        ("before", False),
        ("loud", False),
        ("score", False),
        ("form", False),
    ]
    assert typed.arguments is not None
    assert plain.arguments is not None
    assert typed.arguments[1].description == "At most so many."
    assert plain.arguments[0].description == "Who."


async def test_a_template_gets_the_types_that_it_declares() -> None:
    async with connect(SERVER) as client:
        read = await client.read_resource("shelf://5/2026-11-18")
        assert read.contents[0].text == "(5, datetime.date(2026, 11, 18))"
        with pytest.raises(ServerError, match=r"Invalid row\. row takes a whole number\."):
            await client.read_resource("shelf://first/2026-11-18")
