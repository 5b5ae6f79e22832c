"""What a prompt weighs, which tools fit into a small context window, and whether an endpoint cut what was sent."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...protocol.decoding import decode
from ...schemas.json_schema import children
from ...tokens import estimate
from ..model.messages import Function, Message

# Role and separators of a message, and what a chat template writes around all of them.
_PER_MESSAGE = 4
_PER_PROMPT = 3
# What cannot be written as JSON cannot be sent.
_NEVER_FITS = 1 << 40
# A property is described in a few words; the first sentence of a tool says what it is for.
_PROPERTY_CHARS = 80
_TOOL_CHARS = 240
_DESCRIBED = 4
_DESCRIBED_SHARE = 10
# What a schema says besides names and types.
_NOT_NEEDED = frozenset(
    [
        "description",
        "default",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]
)
_SENTENCE = re.compile(r"(?<=[.!?])\s")
# What needs no argument or finds what others need is of use for any question.
_GENERAL = {"status", "overview", "search", "find", "help"}
_MOST_GENERAL = 3
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "s", "e", "y")
_LEAST_STEM = 3
# What people say, and what tools call it.
_MEANT = {
    "bought": "buyer transaction",
    "cost": "fee price",
    "has": "balance",
    "have": "balance",
    "owner": "name account",
    "paid": "payment account name",
    "pay": "payment account name",
    "sold": "seller transaction",
    "who": "name account",
    "whose": "name account",
}
# More words than a question has.
_MOST_WORDS = 2_000

# Estimates are too high by at most two fifths: prose has up to 5 characters per token where 4 are assumed, and some
# templates write schemas shorter than JSON. Less than half can only be what is left of a prompt.
_CUT_BELOW = 0.5
# An endpoint that cuts fills its window. Just below a usual window, a smaller difference says as much: our own
# definitions have 4.2 characters per token, so that 0.95 of the estimate are expected.
_CUT_AT_WINDOW_BELOW = 0.8
_WINDOWS = tuple(1024 << power for power in range(1, 8))
_NEAR_WINDOW = 0.99
# Few prompts have by chance exactly as many tokens as a window.
_AT_WINDOW = 1
# No endpoint has a smaller window; one that counts fewer tokens counts only what it had not read before.
_NEVER_CUT = 1_000
# An estimate may be too low by this.
_TOO_LOW = 1.1


def weight(messages: Sequence[Message], functions: Sequence[Function]) -> int:
    """About how many tokens a request has."""
    return _PER_PROMPT + sum(map(_of_message, messages)) + sum(map(_of_function, functions))


def _of_message(message: Message) -> int:
    calls = sum(estimate(call.id + call.name + call.arguments) + _PER_MESSAGE for call in message.calls)
    return _PER_MESSAGE + estimate(message.content + message.call_id) + calls


def _of_function(function: Function) -> int:
    try:
        return estimate(msgspec.json.encode({"type": "function", "function": function}).decode())
    except (ValueError, RecursionError, OverflowError):
        return _NEVER_FITS


def fitting(functions: Sequence[Function], question: str, at_most_tokens: int) -> tuple[Function, ...]:
    """The functions that fit, in their order: all if possible, with shorter descriptions if necessary, and otherwise
    those that have most to do with the question."""
    if sum(map(_of_function, functions)) <= at_most_tokens:
        return tuple(functions)
    short = [_shortened(function) for function in functions]
    if sum(map(_of_function, short)) <= at_most_tokens:
        return tuple(short)
    chosen: dict[int, Function] = {}
    left = at_most_tokens
    for rank, at in enumerate(_most_useful(functions, question)):
        # More tools are worth more than more words about each, but for the most useful ones.
        is_described = rank < _DESCRIBED and _of_function(short[at]) <= at_most_tokens // _DESCRIBED_SHARE
        form = short[at] if is_described else _bare(short[at])
        if (tokens := _of_function(form)) <= left:
            chosen[at] = form
            left -= tokens
    return tuple(chosen[at] for at in sorted(chosen))


def _shortened(function: Function) -> Function:
    """With the first sentence of each description."""

    def shorten(part: dict[str, Any]) -> None:
        if isinstance(part.get("description"), str):
            part["description"] = _first_sentence(part["description"], _PROPERTY_CHARS)
        for name in ("title", "examples", "$comment"):
            part.pop(name, None)

    return Function(
        name=function.name,
        description=_first_sentence(function.description, _TOOL_CHARS),
        parameters=_changed(function.parameters, shorten),
    )


def _bare(function: Function) -> Function:
    """With the names and types of its arguments alone: a server checks the rest and says what is wrong."""

    def strip(part: dict[str, Any]) -> None:
        for name in _NOT_NEEDED & part.keys():
            del part[name]

    return replace(function, parameters=_changed(function.parameters, strip))


def _changed(schema: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """A copy of a schema, changed at every place that is a schema itself."""
    try:
        copy: dict[str, Any] = decode(msgspec.json.encode(schema))
    except (ValueError, RecursionError, OverflowError):
        return schema
    for _, part in children(copy, ""):
        change(part)
    return copy


def _first_sentence(text: str, at_most: int) -> str:
    first = _SENTENCE.split(text.strip(), maxsplit=1)[0]
    if len(first) <= at_most:
        return first
    return f"{first[:at_most].rsplit(' ', 1)[0]}…"


class _Words(Struct, frozen=True):
    name: frozenset[str]
    description: frozenset[str]


def _most_useful(functions: Sequence[Function], question: str) -> list[int]:
    """The positions of all functions, the most useful first."""
    words = [
        _Words(_stems(function.name), _stems(f"{function.description} {' '.join(_properties(function))}"))
        for function in functions
    ]
    # What many tools have in their names or descriptions says little about each of them.
    common = Counter(word for one in words for word in one.name | one.description)
    asked = _stems(question)
    asked |= _stems(" ".join(meant for word, meant in _MEANT.items() if _stem(word) in asked))

    def score(one: _Words) -> float:
        return sum(
            (3 * (word in one.name) + (word in one.description)) * log(1 + len(functions) / common[word])
            for word in sorted(asked & (one.name | one.description))
        )

    scores = [score(one) for one in words]
    general = {_stem(word) for word in _GENERAL}
    first = [at for at, one in enumerate(words) if one.name & general]
    first = sorted(first, key=lambda at: -scores[at])[:_MOST_GENERAL]
    rest = sorted(set(range(len(functions))) - set(first), key=lambda at: (-scores[at], at))
    return first + rest


def _properties(function: Function) -> list[str]:
    properties = function.parameters.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(_CAMEL.sub(" ", text[: 32 * _MOST_WORDS]))
    return frozenset(_stem(word) for word in words[:_MOST_WORDS] if len(word) >= _LEAST_STEM)


def _stem(word: str) -> str:
    word = word.casefold()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word[: -len(ending)]
    return word


def was_cut(sent_tokens: int, prompt_tokens: int) -> bool:
    """Whether an endpoint read far less than was sent: `sent_tokens` is estimated, `prompt_tokens` is its own count.

    An endpoint that counts only what it had not read before must not be judged by a later round.
    """
    if prompt_tokens < _NEVER_CUT or sent_tokens < _NEVER_CUT:
        return False
    if prompt_tokens < sent_tokens * _CUT_BELOW:
        return True
    if any(window - _AT_WINDOW <= prompt_tokens <= window for window in _WINDOWS):
        return prompt_tokens < sent_tokens * _TOO_LOW
    is_near_window = any(window * _NEAR_WINDOW <= prompt_tokens <= window for window in _WINDOWS)
    return is_near_window and prompt_tokens < sent_tokens * _CUT_AT_WINDOW_BELOW


def may_exceed_window(sent_tokens: int, read_tokens: int) -> bool:
    """Whether a prompt may be larger than the window of an endpoint that has read so many tokens before."""
    return any(read_tokens < window <= sent_tokens * _TOO_LOW for window in _WINDOWS)
