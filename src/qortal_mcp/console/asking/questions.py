"""What a question arrives as. The page sends its earlier questions with it: this server remembers none."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ...agent.limits import DEFAULT as AGENT
from ...limits import Limits
from ...protocol.decoding import decoder, has_more_values
from ...protocol.jsonrpc import UNREADABLE
from ...text import printable, shortened
from .limits import DEFAULT as CONSOLE

_SHOWN_CHARS = 200


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """An earlier question, its answer, and the texts of its calls: what the next answer may rest on."""

    question: str
    answer: str
    results: tuple[str, ...] = ()


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A question, and what was asked before it, oldest first."""

    question: Annotated[str, Meta(max_length=AGENT.question_chars)]
    conversation: Annotated[tuple[Turn, ...], Meta(max_length=CONSOLE.turns)] = ()


_MEMBERS = (
    f"It takes {' and '.join(Question.__struct_fields__)}; each item of the conversation has "
    f"{', '.join(Turn.__struct_fields__)}."
)
_read = decoder(Question)


class NotAQuestion(Exception):
    """A body that cannot be used, and why."""


def read_question(body: bytes, limits: Limits) -> Question:
    """Raises: NotAQuestion."""
    if has_more_values(body, limits.message_values):
        raise NotAQuestion(f"The body holds more than {limits.message_values:,} values.")
    try:
        found = _read(body)
    except msgspec.ValidationError as exc:
        raise NotAQuestion(f"{shortened(printable(str(exc)), _SHOWN_CHARS)}. {_MEMBERS}") from None
    except UNREADABLE as exc:
        raise NotAQuestion(
            f"The body is not JSON: {shortened(printable(str(exc)), _SHOWN_CHARS)}. {_MEMBERS}"
        ) from None
    if not found.question.strip():
        raise NotAQuestion(f"There is no question. {_MEMBERS}")
    return found
