"""A server whose tools take and give values of every kind of type. Run as a script, on stdio."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict
from uuid import UUID

from msgspec import Meta, Struct
from pydantic import BaseModel, Field, HttpUrl, PositiveInt, field_validator

from qortal_mcp import Server, run, tool


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Spot(NamedTuple):
    lat: float
    lon: float = 0.0


class Shelf(TypedDict):
    name: str
    rows: NotRequired[int]


@dataclass(frozen=True)
class Event:
    title: str
    start: datetime
    where: Spot | None = None
    folder: Path = Path("events")
    fee: Decimal = Decimal("0.00")


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def must_be_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("an even number is needed")
        return number


class Person(BaseModel):
    model_config = {"extra": "forbid"}

    full_name: str = Field(alias="fullName", min_length=2, title="Name", examples=["Eve"])
    lucky: Even | None = None
    events: dict[str, list[Event]] = {}


@dataclass
class Team:
    lead: Person
    size: Annotated[int, Field(ge=1)] = 1


class Record(Struct, forbid_unknown_fields=True):
    """A Struct may hold models of pydantic, and everything else."""

    person: Person
    at: date | None = None
    shelves: dict[str, Shelf] = {}


@tool
def keep(
    colour: Colour = Colour.RED,
    level: Level = Level.LOW,
    spot: Spot | None = None,
    pair: tuple[int, str] = (1, "a"),
    many: tuple[float, ...] = (),
    words: frozenset[str] = frozenset(),
    shelf: Shelf | None = None,
    event: Event | None = None,
    events: list[Event] = [],  # noqa: B006  # as people write it
    by_name: dict[str, Event] = {},  # noqa: B006
    by_number: dict[int, str] = {},  # noqa: B006
    day: date | None = None,
    clock: time | None = None,
    length: timedelta | None = None,
    price: Decimal = Decimal("1.50"),
    number: UUID | None = None,
    folder: Path = Path("here"),
    data: bytes = b"",
    either: int | list[str] | None = None,
    ratio: float = 0.5,
) -> dict[str, Any]:
    """Shows what a function gets, as Python writes it."""
    return {name: repr(value) for name, value in locals().items()}


@tool
def meet(
    person: Person | None = None,
    people: list[Person] = [],  # noqa: B006
    team: Team | None = None,
    record: Record | None = None,
    size: Annotated[
        int,
        Field(
            ge=1,
            le=5,
            alias="howMany",
            title="Size",
            description="How many.",
            examples=[2],
            json_schema_extra={"x-unit": "heads"},
        ),
    ] = 2,
    limit: int = Field(default=3, gt=0, description="At most."),
    site: HttpUrl | None = None,
    rank: PositiveInt = 1,
    name: Annotated[str, Field(pattern="^[a-z]+$", max_length=5)] = "a",
    note: Annotated[Person | None, Meta(description="Somebody else.")] = None,
    short: Annotated[str, "A few words."] = "",
    choices: list[str] = Field(default_factory=lambda: ["a"]),  # noqa: B008
) -> dict[str, Any]:
    """Shows what a function gets, as Python writes it."""
    return {name: repr(value) for name, value in locals().items()}


@tool
def echo_person(person: Person) -> Person:
    """Gives a model back."""
    return person


@tool
def echo_team(team: Team) -> list[Team]:
    """Gives a dataclass with a model back, in a list."""
    return [team]


@tool
def echo_record(record: Record) -> Record:
    """Gives a Struct with a model back."""
    return record


@tool
def echo_event(event: Event) -> Event:
    """Gives a dataclass back."""
    return event


SERVER = Server("types", "1.0", tools=[keep, meet, echo_person, echo_team, echo_record, echo_event])

if __name__ == "__main__":
    run(SERVER)
