"""What cannot be a parameter or a result is refused when it is decorated, with what to write instead. Nothing is dropped."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
from annotated_types import Gt
from msgspec import Meta, Struct
from pydantic import AliasChoices, BaseModel, Field
from typing_extensions import TypeAliasType

from qortal_mcp import Offer, Provided, Server, prompt, resource, tool
from qortal_mcp.client import connect


class Model(BaseModel):
    x: int = 1


class Mixed(Struct, forbid_unknown_fields=True):
    x: Annotated[int, Field(ge=1)]


class Plain(Struct):
    x: int


@dataclass
class Loop:
    inner: "Loop | None" = None


class Odd(Enum):
    HALF = 0.5


class Connection:
    """Something that no JSON value could be."""


@dataclass
class Settings:
    verbose: bool


@dataclass
class Kept:
    connection: Connection
    verbose: bool


def two_texts(x: date | str) -> None:
    """Does nothing."""


def two_lists(x: list[int] | set[int]) -> None:
    """Does nothing."""


def a_loop(x: Loop) -> None:
    """Does nothing."""


def odd_choices(x: Odd) -> None:
    """Does nothing."""


def bounds_on_a_decimal(x: Annotated[Decimal, Meta(gt=0)]) -> None:
    """Does nothing."""


def field_in_a_struct(x: Mixed) -> None:
    """Does nothing."""


def field_in_the_struct(args: Mixed) -> None:
    """Does nothing."""


def field_on_a_struct(x: Annotated[Plain, Field(description="A thing.")]) -> None:
    """Does nothing."""


def field_as_default_of_a_struct(x: Plain = Field(description="A thing.")) -> None:  # noqa: B008
    """Does nothing."""


def meta_bounds_on_a_model(x: Annotated[list[Model], Meta(max_length=3)]) -> None:
    """Does nothing."""


def meta_inside_a_model(x: list[Annotated[Model, Meta(description="A thing.")]]) -> None:
    """Does nothing."""


def two_aliases(x: Annotated[int, Field(validation_alias=AliasChoices("y", "z"))]) -> None:
    """Does nothing."""


def excluded(x: Annotated[int, Field(exclude=True)]) -> None:
    """Does nothing."""


def a_service_inside(x: list[Connection]) -> None:
    """Does nothing."""


def a_service_for_pydantic(x: dict[str, tuple[Model, Connection]]) -> None:
    """Does nothing."""


def any_names(**x: int) -> None:
    """Does nothing."""


def no_names(x: int, /) -> None:
    """Does nothing."""


def a_set_of_lists(x: set[list[int]]) -> None:
    """Does nothing."""


def a_set_of_objects(x: frozenset[Plain]) -> None:
    """Does nothing."""


def a_loop_returned() -> Loop:
    """Does nothing."""
    return Loop()


def a_service_returned() -> Connection:
    """Does nothing."""
    return Connection()


def a_mixed_struct_returned() -> list[Mixed]:
    """Does nothing."""
    return []


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (
        two_texts,
        "the parameter x cannot be an argument: Type unions may not contain more than one str-like type",
    ),
    (two_texts, "so take a str and read it yourself"),
    (two_lists, "JSON has one kind of list, so take a list"),
    (a_loop, "Loop contains itself; a portable schema cannot say that"),
    (odd_choices, "give the members of the Enum texts or whole numbers"),
    (bounds_on_a_decimal, "so use pydantic's Field here"),
    (
        field_in_a_struct,
        "Mixed is a Struct, which pydantic does not read; write msgspec's Meta instead of Field",
    ),
    (field_in_the_struct, "Mixed is a Struct, so write msgspec's Meta instead of pydantic's Field"),
    (
        field_on_a_struct,
        "Plain is a Struct, which pydantic does not read; write msgspec's Meta instead of Field",
    ),
    (field_as_default_of_a_struct, "Plain is a Struct, which pydantic does not read"),
    (meta_bounds_on_a_model, "write its bounds with pydantic's Field instead of Meta"),
    (meta_inside_a_model, "would be ignored; write Field instead"),
    (two_aliases, "an alias of a parameter is one text; write alias='name'"),
    (excluded, "Field(exclude=…) means nothing for a parameter; leave it out"),
    (a_service_inside, "Connection is not a type that JSON can carry"),
    (a_service_for_pydantic, "pydantic cannot read it: "),
    (any_names, "cannot take **x: int: callers give each argument by its name, so name each parameter"),
    (no_names, "callers give each argument by its name, so name each parameter"),
    (a_set_of_lists, "a set cannot hold its items; take a list"),
    (a_set_of_objects, "a frozenset cannot hold its items; take a list"),
    (a_loop_returned, "what it returns cannot be written as JSON: Loop contains itself"),
    (a_service_returned, "Connection is not a type that JSON can carry"),
    (a_mixed_struct_returned, "Mixed is a Struct, so write msgspec's Meta instead of pydantic's Field"),
]


@pytest.mark.promise(
    "Library",
    "A type that cannot be a tool's parameter or result is refused when the tool is defined, with what to write instead.",
)
@pytest.mark.parametrize(("function", "words"), REFUSED)
def test_a_type_that_cannot_be_carried_is_refused_when_the_tool_is_defined(
    function: Callable[..., Any], words: str
) -> None:
    with pytest.raises(TypeError) as caught:
        tool(function)
    assert words in str(caught.value)
    assert function.__name__ in str(caught.value)


@pytest.mark.parametrize(
    "thing",
    ["get_book", None, functools.partial(no_names, 1), Plain],
    ids=["text", "nothing", "partial", "class"],
)
def test_what_is_not_a_function_is_called_that(thing: Any) -> None:
    with pytest.raises(TypeError, match="is not a function: write one with def, and use it there"):
        Server("things", tools=[thing])


async def test_a_set_of_anything_refuses_what_no_set_can_hold() -> None:
    def count(x: set[Any]) -> int:
        """Counts different things."""
        return len(x)

    async with connect(Server("sets", tools=[count])) as client:
        assert (await client.call_tool("count", {"x": [1, "a", 1]})).text == "2"
        for item in ({"a": 1}, [1]):
            answer = await client.call_tool("count", {"x": [1, item]})
            assert answer.text == "Invalid x. A set holds no lists and no objects."


Positive = TypeAliasType("Positive", Annotated[int, Gt(3)])


async def test_a_bound_of_annotated_types_is_kept_under_another_name_too() -> None:
    @tool
    def take(x: Annotated[int, Gt(3)], y: Positive = 4) -> int:
        """Takes numbers."""
        return x + y

    async with connect(Server("bounds", tools=[take])) as client:
        for name in ("x", "y"):
            answer = await client.call_tool("take", {"x": 4, "y": 4, name: 3})
            assert answer.text == f"Invalid {name}. {name} takes a whole number above 3."


async def test_a_dataclass_that_holds_more_than_json_is_the_servers() -> None:
    @tool
    def show(kept: Kept, settings: Annotated[Settings, Provided]) -> list[bool]:
        """Shows what the server keeps."""
        return [kept.verbose, settings.verbose]

    offer = Offer(tools=[show], provide=[Kept(Connection(), True), Settings(False)])
    async with connect(Server("kept", offer=offer)) as client:
        assert (await client.list_tools()).items[0].inputSchema["properties"] == {}
        assert (await client.call_tool("show")).structured == {"result": [True, False]}


def test_a_parameter_that_could_be_the_callers_or_the_servers_is_refused() -> None:
    @tool
    def show(settings: Settings) -> bool:
        """Shows a setting."""
        return settings.verbose

    with pytest.raises(TypeError, match=r"write Annotated\[Settings, Provided\] if the server's is meant"):
        Server("doubt", offer=Offer(tools=[show], provide=[Settings(True)]))


def test_a_prompt_or_a_template_that_takes_more_than_a_text_is_refused() -> None:
    def compare(books: list[str]) -> str:
        """Compares books."""
        return ""

    words = "compare: the parameter books cannot be read from a text; take a str and read it yourself"
    with pytest.raises(TypeError, match=words):
        prompt(compare)
    with pytest.raises(TypeError, match=words):
        resource("shelf://{books}")(compare)


def test_a_variable_of_a_template_has_no_other_name() -> None:
    def book(number: Annotated[int, Field(alias="no")]) -> str:
        """A book."""
        return ""

    with pytest.raises(TypeError, match="a variable of a template has no alias"):
        resource("shelf://{number}")(book)


BROKEN: list[Any] = [
    pytest.param(lambda: Model.model_construct(x="five"), id="made-without-validation"),
    pytest.param(lambda: {"x": "five"}, id="a-dict-that-does-not-fit"),
    pytest.param(lambda: None, id="nothing"),
]


@pytest.mark.parametrize("give", BROKEN)
async def test_a_result_that_does_not_fit_its_type_is_an_internal_error(
    give: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    @tool
    def broken() -> Model:
        """Gives something else than it declares."""
        return give()  # type: ignore[no-any-return]

    async with connect(Server("broken", tools=[broken])) as client:
        answer = await client.call_tool("broken")
    assert answer.is_error
    assert answer.text == "Internal error."
    assert "the answer does not fit its declared type" in caplog.text
    assert "five" not in caplog.text


async def test_a_model_is_written_although_no_type_is_declared() -> None:
    @tool
    def undeclared():  # type: ignore[no-untyped-def]
        """Gives a model."""
        return {"models": [Model(x=5)]}

    async with connect(Server("undeclared", tools=[undeclared])) as client:
        answer = await client.call_tool("undeclared")
    assert answer.structured == {"models": [{"x": 5}]}
