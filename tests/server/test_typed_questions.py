"""Questions to a person whose form is a type: what is asked, and what the function gets back. In both eras."""

from dataclasses import dataclass
from datetime import date
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

import pytest
from msgspec import Meta, Struct
from pydantic import BaseModel, Field

from qortal_mcp import Context, Server, elicit, tool
from qortal_mcp.client import ElicitRequest, Options, connect, elicitation
from qortal_mcp.protocol.messages import ElicitResult

ERAS = ["modern", "legacy"]


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Trip(Struct):
    city: Annotated[str, Meta(min_length=2, max_length=20, description="Where to.")]
    day: date
    size: Size = Size.SMALL
    seats: Annotated[int, Meta(ge=1, le=9)] = 1
    note: str | None = None


@dataclass
class Account:
    name: str
    age: int | None
    ready: bool = True
    share: float = 0.5


class Form(TypedDict):
    colour: Literal["red", "blue"]
    more: NotRequired[str]


class Ticket(Struct):
    number: UUID


class Model(BaseModel):
    code: str = Field(pattern="^[A-Z]{3}$", title="Code")
    rank: int = Field(gt=0, lt=10)


@tool
async def ask_trip(ctx: Context) -> str:
    """Asks for a Struct."""
    return repr(await ctx.ask("Where to?", Trip))


@tool
async def ask_account(ctx: Context) -> str:
    """Asks for a dataclass."""
    return repr(await ctx.ask("Who?", Account))


@tool
async def ask_form(ctx: Context) -> str:
    """Asks for a TypedDict."""
    return repr(await ctx.ask("Which?", Form))


@tool
async def ask_model(ctx: Context) -> str:
    """Asks for a model of pydantic."""
    return repr(await ctx.ask("Which?", Model))


@tool
async def ask_truth(ctx: Context) -> str:
    """Asks for one value."""
    return repr(await ctx.ask("Sure?", bool))


@tool
async def ask_twice(ctx: Context) -> str:
    """Asks one thing after another."""
    trip = await ctx.ask("Where to?", Trip)
    account = await ctx.ask("Who?", Account)
    both = await ctx.ask({"one": elicit("One?", Form), "two": elicit("Two?", Form)})
    return repr((trip, account, both["one"].content, both["two"].action))


SERVER = Server("asking", tools=[ask_trip, ask_account, ask_form, ask_model, ask_truth, ask_twice])


class Person:
    """Answers each question with what is given for its message, and remembers what was asked."""

    def __init__(self, answers: dict[str, list[ElicitResult]]) -> None:
        self.answers = answers
        self.asked: list[Any] = []

    async def answer(self, question: ElicitRequest) -> ElicitResult:
        self.asked.append(question.requestedSchema)
        return self.answers[question.message].pop(0)


def yes(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


async def call(name: str, person: Person, era: Any) -> Any:
    async with connect(SERVER, era=era, options=Options(handlers=elicitation(person.answer))) as client:
        return await client.call_tool(name)


READ_TRIP = (
    "Trip(city='Oslo', day=datetime.date(2026, 11, 18), size=<Size.SMALL: 'small'>, seats=1, note=None)"
)
ANSWERED: list[Any] = [
    ("ask_trip", "Where to?", {"city": "Oslo", "day": "2026-11-18"}, READ_TRIP),
    ("ask_account", "Who?", {"name": "Eve"}, "Account(name='Eve', age=None, ready=True, share=0.5)"),
    (
        "ask_account",
        "Who?",
        {"name": "Eve", "age": 5, "share": 1},
        "Account(name='Eve', age=5, ready=True, share=1.0)",
    ),
    ("ask_form", "Which?", {"colour": "red"}, "{'colour': 'red'}"),
    ("ask_model", "Which?", {"code": "ABC", "rank": 9}, "Model(code='ABC', rank=9)"),
    ("ask_truth", "Sure?", {"value": True}, "True"),
]


@pytest.mark.promise(
    "Library",
    "A tool asks a person with a type instead of a schema, and gets an instance of it, in both eras.",
)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("name", "message", "content", "expected"), ANSWERED)
async def test_a_persons_answers_are_an_instance_of_the_type(
    name: str, message: str, content: dict[str, Any], expected: str, era: str
) -> None:
    answer = await call(name, Person({message: [yes(**content)]}), era)
    assert not answer.is_error, answer.text
    assert answer.structured == {"result": expected}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_who_does_not_answer_is_none(action: Any, era: str) -> None:
    answer = await call("ask_trip", Person({"Where to?": [ElicitResult(action=action)]}), era)
    assert answer.structured == {"result": "None"}


@pytest.mark.parametrize("era", ERAS)
async def test_several_questions_keep_their_answers_apart(era: str) -> None:
    person = Person(
        {
            "Where to?": [yes(city="Oslo", day="2026-11-18")],
            "Who?": [yes(name="Eve")],
            "One?": [yes(colour="red")],
            "Two?": [ElicitResult(action="decline")],
        }
    )
    answer = await call("ask_twice", person, era)
    account = "Account(name='Eve', age=None, ready=True, share=0.5)"
    assert answer.structured == {"result": f"({READ_TRIP}, {account}, {{'colour': 'red'}}, 'decline')"}


MISFITS: list[Any] = [
    ("ask_trip", "Where to?", {"city": "O", "day": "2026-11-18"}, {"city": "Oslo", "day": "2026-11-18"}),
    ("ask_trip", "Where to?", {"city": "Oslo", "day": "soon"}, {"city": "Oslo", "day": "2026-11-18"}),
    ("ask_trip", "Where to?", {"city": "Oslo"}, {"city": "Oslo", "day": "2026-11-18"}),
    ("ask_model", "Which?", {"code": "abc", "rank": 1}, {"code": "ABC", "rank": 1}),
    ("ask_model", "Which?", {"code": "ABC", "rank": 10}, {"code": "ABC", "rank": 1}),
    ("ask_truth", "Sure?", {}, {"value": False}),
    ("ask_truth", "Sure?", {"value": "maybe"}, {"value": False}),
]


@pytest.mark.parametrize(("name", "message", "wrong", "right"), MISFITS)
async def test_an_answer_that_does_not_fit_never_reaches_the_function(
    name: str, message: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    legacy = await call(name, Person({message: [yes(**wrong)]}), "legacy")
    assert legacy.is_error
    assert legacy.text == "The client's answer is malformed."
    # There the call is repeated with the answers, so that the question can be asked again.
    person = Person({message: [yes(**wrong), yes(**right)]})
    modern = await call(name, person, "modern")
    assert not modern.is_error, modern.text
    assert len(person.asked) == 2


ASKED: list[Any] = [
    (
        Trip,
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 2, "maxLength": 20, "description": "Where to."},
                "day": {"type": "string", "format": "date"},
                "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
                "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
                "note": {"type": "string"},
            },
            "required": ["city", "day"],
        },
    ),
    (
        Account,
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer"},
                "ready": {"type": "boolean", "default": True},
                "share": {"type": "number", "default": 0.5},
            },
            "required": ["name"],
        },
    ),
    (
        Model,
        {
            "type": "object",
            # The pattern is no part of a form; the answer is checked by it.
            "properties": {
                "code": {"type": "string", "title": "Code"},
                "rank": {"type": "integer", "minimum": 1, "maximum": 9},
            },
            "required": ["code", "rank"],
        },
    ),
    # MCP has no format for these; the answer is checked all the same.
    (Ticket, {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]}),
    (bool, {"type": "object", "properties": {"value": {"type": "boolean"}}, "required": ["value"]}),
    (
        Size,
        {
            "type": "object",
            "properties": {"value": {"type": "string", "enum": ["small", "large"]}},
            "required": ["value"],
        },
    ),
]


@pytest.mark.parametrize(("kind", "schema"), ASKED)
def test_a_form_has_only_what_mcp_allows(kind: Any, schema: dict[str, Any]) -> None:
    assert elicit("?", kind).params.requestedSchema == schema


class Nested(Struct):
    trip: Trip


class Listed(BaseModel):
    names: list[str]


class Level(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    x: int


REFUSED: list[Any] = [
    (Nested, "Nested cannot be asked of a person: its field trip is neither"),
    (Listed, "Listed cannot be asked of a person: its field names is neither"),
    (Level, "Level cannot be asked of a person: Level is neither"),
    (Pair, "Pair cannot be asked of a person: Pair is neither"),
    (list[str], "cannot be asked of a person"),
    (Person, "Person cannot be asked of a person: Person is not a type that JSON can carry"),
]


@pytest.mark.parametrize(("kind", "words"), REFUSED)
def test_a_type_that_no_form_can_ask_for_is_refused(kind: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        elicit("?", kind)
    assert words in str(caught.value)


def test_a_schema_written_by_hand_is_asked_as_it_is() -> None:
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
    question = elicit("?", schema)
    assert question.params.requestedSchema is schema
    assert question.read is None
