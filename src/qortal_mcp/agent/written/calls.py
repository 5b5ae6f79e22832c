"""Calls that a model wrote as text, as many local models do: which of them can be run."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from ...protocol.decoding import decode
from ...schemas.json_schema import can_judge, children, mismatch
from ..limits import DEFAULT
from ..model.messages import Function, WantedCall
from .forms import FENCES, Shape, shapes
from .quotes import Quotes

_OPENERS = (
    "<tool_call",
    "<toolcall",
    "<function",
    "<tools>",
    "<invoke",
    "<minimax:tool_call",
    "<|",
    "<\uff5c",
    "[TOOL_CALLS]",
    "[TOOL_REQUEST]",
    "functools[",
)
_LONGEST_OPENER = max(map(len, _OPENERS))
_FENCE = re.compile(r"```[ \t]*([\w-]*)[ \t]*(\n?)")
# What an object or a list of calls looks like after its bracket, as far as it has arrived.
_BEGINNING = re.compile(r"\{\s*(?:[\"'].*)?|\[\s*(?:\{.*|[A-Za-z_][\w.-]*(?:\(.*)?)?", re.DOTALL)
_INDEX = re.compile(r":\d{1,4}$")


class Written(Struct, frozen=True, kw_only=True):
    """The calls in a message. `is_attempt`: something in it looks like a call, and none can be run."""

    calls: tuple[WantedCall, ...] = ()
    is_attempt: bool = False


def written_calls(text: str, offers: Mapping[str, Function], results: Sequence[str]) -> Written:
    """The calls that a message of a model consists of or contains, if it made none.

    A call that stands in one of the `results` (whole, and without the lines around them) is a quote and never run:
    nothing that a tool says calls another tool by itself. The same holds for descriptions of other tools.
    """
    calls: list[WantedCall] = []
    is_attempt = False
    said = _Said(offers, results)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:7]
    for shape in shapes(text):
        name = _offered(shape.name, offers)
        written = _object(shape.arguments)
        arguments = None if name is None or written is None else _fitted(written, offers[name].parameters)
        if name is not None and written is not None and arguments is not None:
            if not said.has(name, written, shape.text):
                # Some endpoints accept only ids of nine letters and digits.
                calls.append(
                    WantedCall(id=f"{digest}{len(calls):02}", name=name, arguments=_as_json(arguments))
                )
        elif _is_attempt(shape, name is not None):
            is_attempt = True
    return Written(calls=tuple(calls), is_attempt=is_attempt and not calls)


class _Said:
    """Everything that tools said in a conversation, about themselves too."""

    def __init__(self, offers: Mapping[str, Function], results: Sequence[str]) -> None:
        self._offers = offers
        self._results = Quotes(results)
        self._others: dict[str, Quotes] = {}

    def has(self, name: str, arguments: dict[str, Any], text: str) -> bool:
        if self._results.hold(name, arguments, text):
            return True
        # Without arguments a call says no more than its name, which descriptions mention.
        return bool(arguments) and self._described(name).hold(name, arguments, text)

    def _described(self, name: str) -> Quotes:
        """What the other tools say about themselves: a tool's own description may show how it is called."""
        if name not in self._others:
            others = [offer for offer in self._offers.values() if offer.name != name]
            self._others[name] = Quotes([text for offer in others for text in _descriptions(offer)])
        return self._others[name]


def _descriptions(offer: Function) -> Iterator[str]:
    yield offer.description
    for _, part in children(offer.parameters, ""):
        yield from (text for key in ("title", "description") if isinstance(text := part.get(key), str))


def _is_attempt(shape: Shape, is_offered: bool) -> bool:
    # `{"name": "alice"}` and `print("x")` are data and code.
    return shape.form == "tagged" or is_offered or (shape.form == "json" and shape.arguments is not None)


def _offered(name: str, offers: Mapping[str, Function]) -> str | None:
    """The tool that is meant: some models write `functions.NAME:0`."""
    for one in (name, _INDEX.sub("", name.removeprefix("functions."))):
        if one in offers:
            return one
    return None


def _object(arguments: Any) -> dict[str, Any] | None:
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        try:
            arguments = decode(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, dict) else None


def _fitted(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments as the schema wants them; None if they do not fit."""
    try:
        if len(_as_json(arguments)) > DEFAULT.argument_chars or not can_judge(arguments, schema):
            return None
        if not mismatch(arguments, schema):
            return arguments
        converted = {key: _converted(value, _property(schema, key)) for key, value in arguments.items()}
        return None if not can_judge(converted, schema) or mismatch(converted, schema) else converted
    except (ValueError, RecursionError):  # half a surrogate pair cannot be sent
        return None


def _property(schema: dict[str, Any], key: str) -> dict[str, Any]:
    properties = schema.get("properties")
    found = properties.get(key) if isinstance(properties, dict) else None
    return found if isinstance(found, dict) else {}


def _converted(value: Any, schema: dict[str, Any]) -> Any:
    """A text as the type that the schema asks for: parameters written in tags are all texts."""
    types = _types(schema)
    if not isinstance(value, str) or not types or "string" in types:
        return value
    try:
        return decode(value.lower() if value in ("True", "False") else value)
    except (ValueError, RecursionError):
        return value


def _types(schema: dict[str, Any]) -> set[str]:
    found = set()
    for part in (schema, *(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        kind = part.get("type") if isinstance(part, dict) else None
        found |= {one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str)}
    return found


def _as_json(arguments: dict[str, Any]) -> str:
    return msgspec.json.encode(arguments).decode()


def may_become_call(text: str, tools: Collection[str] = ()) -> bool:
    """Whether the beginning of a message or line may still turn out to be a call. While it may, it should not be shown.

    `tools`: names that a call may begin with, as in Python.
    """
    start = text.lstrip()
    name, bracket, _ = start.removeprefix("print(").partition("(")
    if name in tools if bracket else any(tool.startswith(name) for tool in tools):
        return True
    if fence := _FENCE.match(start):
        language, newline = fence[1].lower(), fence[2]
        if fence.end() < len(start) and not newline:
            return False
        if not newline:
            return any(known.startswith(language) for known in FENCES)
        if language not in ("", "json"):
            return language in FENCES
        start = start[fence.end() :].lstrip()
    if not start or _BEGINNING.fullmatch(start):
        return True
    return "```".startswith(start) or start.startswith("```") or may_become_tag(start)


def may_become_tag(text: str) -> bool:
    """The same in the middle of a line, where only a tag begins a call."""
    if text.startswith(_OPENERS):
        return True
    return len(text) < _LONGEST_OPENER and any(opener.startswith(text) for opener in _OPENERS)
