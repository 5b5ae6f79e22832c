"""What is said to a model and what it says, in the terms of chat completions."""

from typing import Any, Literal

from msgspec import Struct


class WantedCall(Struct, frozen=True, kw_only=True):
    """A call that the model wants made. `arguments` is JSON as the model wrote it, which may be anything."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True, kw_only=True):
    """One message of a conversation. `call_id` says which call a message of the role `tool` answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    calls: tuple[WantedCall, ...] = ()
    call_id: str = ""


class Function(Struct, frozen=True, kw_only=True):
    """A tool as a model is offered it."""

    name: str
    description: str
    parameters: dict[str, Any]


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens as the endpoint counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Completion(Struct, frozen=True, kw_only=True):
    """What a model said in one reply."""

    text: str = ""
    calls: tuple[WantedCall, ...] = ()
    # Why it stopped, in the endpoint's own word; empty if it did not say.
    finish: str = ""
    # None: the endpoint does not count.
    usage: Usage | None = None
    # False: the connection was lost in the middle of it.
    is_whole: bool = True
