"""What happens during a run, in order: shown while it happens, saved, and shown again."""

from typing import Any, TypeAlias

from msgspec import Struct

from .run import Call, Run


class Asked(Struct, frozen=True, kw_only=True, tag="asked"):
    """A question was asked."""

    question: str


class Text(Struct, frozen=True, kw_only=True, tag="text"):
    """A piece of what the model says, safe to show."""

    text: str


class Calling(Struct, frozen=True, kw_only=True, tag="calling"):
    """A tool is being called."""

    tool: str
    arguments: Any
    server: str = ""


class Called(Struct, frozen=True, kw_only=True, tag="called"):
    """A tool has answered, or failed."""

    call: Call


class Notice(Struct, frozen=True, kw_only=True, tag="notice"):
    """Something that a person should know: a limit, a server that is down, a prompt that was cut."""

    text: str


class Ended(Struct, frozen=True, kw_only=True, tag="ended"):
    """The run is over."""

    run: Run


Event: TypeAlias = Asked | Text | Calling | Called | Notice | Ended
