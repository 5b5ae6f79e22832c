"""Tools as people write them: plain functions, each with a call and the structured answer that any library should give.

Nothing here knows a library, so that the same functions can be offered by ours and by others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Union
from uuid import UUID

from pydantic import BaseModel, Field, computed_field
from typing_extensions import TypedDict  # pydantic refuses the one of typing before Python 3.12


class Colour(Enum):
    RED = "red"
    SEA_GREEN = "sea-green"


class Urgency(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Parcel:
    """Something to send."""

    weight: float
    to: str
    fragile: bool = False
    labels: list[str] = field(default_factory=list)


class Route(TypedDict):
    start: str
    end: str
    via: NotRequired[list[str]]


class Spot(NamedTuple):
    lat: float
    lon: float


class Address(BaseModel):
    street: str
    zip_code: str = Field(alias="zip", pattern="^[0-9]{5}$")


class Customer(BaseModel):
    """Somebody who buys."""

    name: str = Field(min_length=1, description="Their full name.")
    since: date | None = None
    address: Address | None = None
    parcels: list[Parcel] = []


class Report(BaseModel):
    city: str
    celsius: float

    @computed_field
    def freezing(self) -> bool:
        return self.celsius < 0


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


class Branch(BaseModel):
    name: str
    children: list["Branch"] = []


@dataclass
class Metres:
    metres: float


@dataclass
class Feet:
    feet: float


def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


def summarise(text: str, words: int = 3, language: str | None = None) -> dict[str, Any]:
    """The first words of a text."""
    return {"summary": " ".join(text.split()[:words]), "language": language}


def thumbnail(
    address: Annotated[str, Field(description="Where the picture is.")],
    width: Annotated[int, Field(description="In pixels.", ge=1, le=2000)] = 800,
    kind: Annotated[Literal["jpeg", "png"], Field(description="File format.")] = "jpeg",
) -> str:
    """The name of a smaller copy of a picture."""
    return f"{address}-{width}.{kind}"


def look_up(
    query: str = Field(description="What to look for."),
    limit: int = Field(default=2, ge=1, le=50, description="How many at most."),
) -> list[str]:
    """Finds entries."""
    return [f"{query} {number}" for number in range(1, limit + 1)]


def paint(wall: Annotated[str, "Which wall."], colour: Colour = Colour.RED) -> Colour:
    """Paints a wall."""
    return colour


def escalate(urgency: Urgency) -> Urgency:
    """Makes something urgent."""
    return Urgency.HIGH


def meet(day: date, at: time, length: timedelta = timedelta(hours=1)) -> datetime:
    """When a meeting ends."""
    return datetime.combine(day, at) + length


def total(price: Decimal, tax: Decimal = Decimal("0.20")) -> Decimal:
    """A price with tax, exact."""
    return price + price * tax


def invoice(number: UUID) -> UUID:
    """Finds an invoice."""
    return number


def backup(source: Path, target: Path = Path("/backup")) -> Path:
    """Where the copy of a file goes."""
    return target / source.name


def measure(data: bytes) -> int:
    """How many bytes were given."""
    return len(data)


def register(customer: Customer) -> Customer:
    """Adds a customer."""
    return customer


def import_customers(
    customers: list[Customer], by: Literal["name", "street"] = "name"
) -> dict[str, Customer]:
    """Adds customers, and gives them by name."""
    return {customer.name: customer for customer in customers}


def send(parcel: Parcel) -> Parcel:
    """Sends a parcel."""
    return parcel


def weigh(parcels: list[Parcel], limits: dict[str, float]) -> dict[str, bool]:
    """Whether parcels stay within the limit of their receiver."""
    return {parcel.to: parcel.weight <= limits[parcel.to] for parcel in parcels}


def plan_route(route: Route) -> Route:
    """Plans a journey."""
    return route


def distance(start: Spot, bounds: tuple[int, int]) -> Spot:
    """A spot moved by some degrees."""
    return Spot(start.lat + bounds[0], start.lon + bounds[1])


def tag(words: set[str], more: Optional[list[str]] = None) -> list[str]:  # noqa: UP045  # as many still write it
    """Words in order."""
    return sorted(words | set(more or ()))


def remember(value: Union[int, str], times: int = 1) -> str:  # noqa: UP007
    """Remembers a number or a text."""
    return f"{type(value).__name__} {value}"


def area(shape: Annotated[Circle | Square, Field(discriminator="kind")]) -> float:
    """The size of a shape."""
    return shape.side**2 if isinstance(shape, Square) else 3 * shape.radius**2


async def forecast(city: str, days: Annotated[int, Field(gt=0, lt=8)] = 1) -> Report:
    """The weather in a city."""
    return Report(city=city, celsius=-1.5)


def pack(parcels: dict[str, list[Parcel]], spots: list[Spot] | None = None) -> list[tuple[str, int]]:
    """How many parcels go where."""
    return [(place, len(some)) for place, some in parcels.items()]


def plant(tree: Branch) -> str:
    """Plants a tree."""
    return tree.name


def convert(length: Metres | Feet) -> float:
    """A length in metres."""
    return length.metres if isinstance(length, Metres) else length.feet * 0.3048


def collect(*numbers: int) -> int:
    """Adds numbers."""
    return sum(numbers)


@dataclass(frozen=True)
class Signature:
    """A function, a call of it, and the structured answer. `refused`: what our library says instead of taking the function."""

    function: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    answer: Any = None
    refused: str = ""
    # The answer of FastMCP, where it is another one.
    of_fastmcp: Any = None


_EVE = {"name": "Eve", "since": "2026-11-18", "address": {"street": "Elm 1", "zip": "12345"}}
_WHOLE_EVE = {**_EVE, "parcels": []}
_EVE_UNALIASED = {**_WHOLE_EVE, "address": {"street": "Elm 1", "zip_code": "12345"}}
_BOX = {"weight": 1.5, "to": "Eve"}
_WHOLE_BOX = {"weight": 1.5, "to": "Eve", "fragile": False, "labels": []}

SIGNATURES = [
    Signature(add, {"a": 1, "b": 2}, {"result": 3}),
    Signature(summarise, {"text": "one two three four"}, {"summary": "one two three", "language": None}),
    Signature(thumbnail, {"address": "cat", "width": 40}, {"result": "cat-40.jpeg"}),
    Signature(look_up, {"query": "cat"}, {"result": ["cat 1", "cat 2"]}),
    Signature(paint, {"wall": "north", "colour": "sea-green"}, {"result": "sea-green"}),
    Signature(escalate, {"urgency": 1}, {"result": 2}),
    Signature(meet, {"day": "2026-11-18", "at": "09:30:00"}, {"result": "2026-11-18T10:30:00"}),
    Signature(total, {"price": "12.50"}, {"result": "15.0000"}),
    Signature(
        invoice,
        {"number": "123e4567-e89b-42d3-a456-426614174000"},
        {"result": "123e4567-e89b-42d3-a456-426614174000"},
    ),
    Signature(backup, {"source": "/home/eve/cat.png"}, {"result": "/backup/cat.png"}),
    # Bytes are Base64 here, as in the rest of MCP, and the text itself there.
    Signature(measure, {"data": "aGVsbG8="}, {"result": 5}, of_fastmcp={"result": 8}),
    # An alias holds for answers too here, as in the official SDK, and for arguments alone there.
    Signature(register, {"customer": _EVE}, _WHOLE_EVE, of_fastmcp=_EVE_UNALIASED),
    Signature(
        import_customers, {"customers": [_EVE]}, {"Eve": _WHOLE_EVE}, of_fastmcp={"Eve": _EVE_UNALIASED}
    ),
    Signature(send, {"parcel": _BOX}, _WHOLE_BOX),
    Signature(weigh, {"parcels": [_BOX], "limits": {"Eve": 2}}, {"Eve": True}),
    Signature(plan_route, {"route": {"start": "A", "end": "B"}}, {"start": "A", "end": "B"}),
    Signature(distance, {"start": [1.5, 2], "bounds": [1, 2]}, {"result": [2.5, 4.0]}),
    Signature(tag, {"words": ["b", "a"]}, {"result": ["a", "b"]}),
    Signature(remember, {"value": "x"}, {"result": "str x"}),
    Signature(area, {"shape": {"kind": "square", "side": 3}}, {"result": 9.0}),
    Signature(forecast, {"city": "Oslo", "days": 2}, {"city": "Oslo", "celsius": -1.5, "freezing": True}),
    Signature(pack, {"parcels": {"Oslo": [_BOX]}}, {"result": [["Oslo", 1]]}),
    Signature(plant, refused="Branch contains itself; a portable schema cannot say that"),
    Signature(convert, refused="give Structs a tag, or use one class with optional fields"),
    Signature(collect, refused="callers give each argument by its name, so name each parameter"),
]
