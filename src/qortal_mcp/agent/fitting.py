"""What a prompt weighs, which tools fit into a small context window, and whether an endpoint cut what was sent."""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

import msgspec
from msgspec import Struct

from ..protocol.decoding import decode
from ..schemas.json_schema import children
from ..tokens import estimate
from .model.messages import Function, Message

# Role and separators of a message, and what a chat template writes around all of them.
_PER_MESSAGE = 4
_PER_PROMPT = 3
# What cannot be written as JSON cannot be sent.
_NEVER_FITS = 1 << 40
# A property is described in a few words; the first sentence of a tool says what it is for.
_PROPERTY_CHARS = 80
_TOOL_CHARS = 240
_SENTENCE = re.compile(r"(?<=[.!?])\s")
# What needs no argument or finds what others need is of use for any question.
_GENERAL = {"status", "overview", "search", "find", "help"}
_MOST_GENERAL = 3
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "s", "e", "y")
_LEAST_STEM = 3
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
# No endpoint has a smaller window.
_NEVER_CUT = 1_000


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
    weights = [_of_function(function) for function in short]
    left = at_most_tokens
    chosen = set()
    for at in _most_useful(functions, question):
        if weights[at] <= left:
            chosen.add(at)
            left -= weights[at]
    return tuple(short[at] for at in sorted(chosen))


def _shortened(function: Function) -> Function:
    try:
        parameters = decode(msgspec.json.encode(function.parameters))
    except (ValueError, RecursionError, OverflowError):
        parameters = function.parameters
    else:
        for _, part in children(parameters, ""):
            if isinstance(part.get("description"), str):
                part["description"] = _first_sentence(part["description"], _PROPERTY_CHARS)
            for name in ("title", "examples", "$comment"):
                part.pop(name, None)
    return Function(
        name=function.name,
        description=_first_sentence(function.description, _TOOL_CHARS),
        parameters=parameters,
    )


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
    # Zero: it does not count.
    if prompt_tokens <= 0 or sent_tokens < _NEVER_CUT:
        return False
    if prompt_tokens < sent_tokens * _CUT_BELOW:
        return True
    is_at_window = any(window * _NEAR_WINDOW <= prompt_tokens <= window for window in _WINDOWS)
    return is_at_window and prompt_tokens < sent_tokens * _CUT_AT_WINDOW_BELOW
