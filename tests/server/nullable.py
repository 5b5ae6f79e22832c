"""A server whose arguments and answers may be null in every way that types can say. Run as a script, on stdio."""

from typing import Annotated, Literal, Optional

from msgspec import Meta, Struct

from qortal_mcp import Server, run, tool

Text = Annotated[str, Meta(max_length=100, description="A text.")]


class Inner(Struct):
    size: int | None = None
    unit: Literal["m", "ft"] | None = None


class Everything(Struct):
    text: str | None
    number: int | None
    choice: Literal["a", "b"] | None
    inner: Inner | None
    sizes: list[int | None]


@tool
def take(
    required: str | None,
    text: str | None = None,
    described: Text | None = None,
    number: int | None = None,
    counted: int | None = 3,
    ratio: Optional[float] = None,  # noqa: UP045  # the older spelling means the same
    flag: bool | None = None,
    choice: Literal["a", "b"] | None = None,
    inner: Inner | None = None,
    sizes: list[int | None] | None = None,
    either: int | str | None = None,
) -> Everything:
    """Takes what may be null, and gives it back."""
    return Everything(text, number if counted is None else counted, choice, inner, sizes or [])


@tool
def give_text(text: str | None = None) -> str | None:
    """Gives a text or nothing."""
    return text


@tool
def give_inner(size: int | None = None) -> Inner | None:
    """Gives an object or nothing."""
    return None if size is None else Inner(size)


@tool
def give_choice(choice: Literal["a", "b"] | None = None) -> Literal["a", "b"] | None:
    """Gives a word or nothing."""
    return choice


SERVER = Server("nullable", "1.0", tools=[take, give_text, give_inner, give_choice])

if __name__ == "__main__":
    run(SERVER)
