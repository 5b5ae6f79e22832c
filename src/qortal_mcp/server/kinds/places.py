"""Where in a value a reader stumbled: `a.x`, `items[2].name`. From what msgspec and pydantic say of it."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...text import printable, shortened

Steps = tuple[str | int, ...]
_AT = re.compile(r" - at (`key` in )?`\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]+|\.\.\.)\]")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]+)`")
_EXPECTED = re.compile(r"Expected `([a-z]+)`")
_KINDS = {
    "int": "a whole number",
    "str": "text",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}")
# A member of a dict, whose name msgspec does not say.
_SOME = "..."
# What pydantic calls an error whose words are the author's.
_AUTHORS = frozenset({"value_error", "assertion_error"})


class Fault(Struct, frozen=True):
    """One thing that is wrong with a value."""

    steps: Steps
    kind: Literal["invalid", "missing", "unknown"] = "invalid"
    # What the author of a type says about it.
    words: str = ""
    # What a reader says, where the schema says nothing or too much.
    otherwise: str = ""


def fault(exc: msgspec.ValidationError, value: Any, again: Callable[[Any], Any]) -> Fault:
    """The fault that an error is about. `again` reads a value once more, to find the member of a dict that fails."""
    steps = _members_named(_written_steps(exc), value, again)
    errors = getattr(exc.__cause__, "errors", None)
    if errors is not None:
        return _of_pydantic(
            steps, errors(include_url=False, include_input=False, include_context=False), _at(value, steps)
        )
    text = str(exc)
    if found := _MISSING.match(text):
        return Fault((*steps, found[1]), "missing")
    if found := _UNKNOWN.match(text):
        return Fault((*steps, found[1]), "unknown")
    at = _AT.search(text)
    if at is not None and at[1] is not None:
        return Fault(steps, words="The name of a member does not fit.")
    if type(exc.__cause__) is ValueError:
        return Fault(steps, words=_sentence(_AT.sub("", text)))
    expected = _EXPECTED.match(text)
    return Fault(steps, otherwise=_KINDS.get(expected[1], "") if expected else "")


def _written_steps(exc: msgspec.ValidationError) -> Steps:
    found = _AT.search(str(exc))
    if found is None:
        return ()
    return tuple(
        step[1] if step[1] is not None else int(step[2]) if step[2] != _SOME else _SOME
        for step in _STEP.finditer(found[2])
    )


def _members_named(steps: Steps, value: Any, again: Callable[[Any], Any]) -> Steps:
    """The same with the names of dict members. A dict is halved until one is left: each half is read as the whole would be."""
    while _SOME in steps:
        at = steps.index(_SOME)
        members = _at(value, steps[:at])
        if not isinstance(members, dict) or not members:
            return steps[:at]
        names = list(members)
        while len(names) > 1:
            half = names[: len(names) // 2]
            fewer = _with(value, steps[:at], {name: members[name] for name in half})
            names = half if _fails_at(fewer, steps[:at], again) else names[len(half) :]
        value = _with(value, steps[:at], {names[0]: members[names[0]]})
        steps = (*steps[:at], names[0], *steps[at + 1 :])
    return steps


def _fails_at(value: Any, before: Steps, again: Callable[[Any], Any]) -> bool:
    try:
        again(value)
    except msgspec.ValidationError as exc:
        return _written_steps(exc)[: len(before) + 1] == (*before, _SOME)
    return False


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _with(value: Any, steps: Steps, part: Any) -> Any:
    """A copy of a value with another part at a place."""
    if not steps:
        return part
    first, *rest = steps
    copy = value.copy()
    copy[first] = _with(value[first], tuple(rest), part)
    return copy


def _of_pydantic(before: Steps, errors: list[dict[str, Any]], value: Any) -> Fault:
    """Of several errors the one farthest inside: of the options of a union it is the one that was meant."""
    best: tuple[Steps, dict[str, Any]] | None = None
    for error in errors:
        steps = _followed(error, value)
        if best is None or len(steps) > len(best[0]):
            best = steps, error
    assert best is not None, "pydantic names at least one error"
    steps, error = best
    kind: Literal["invalid", "missing", "unknown"] = "invalid"
    if error["type"] == "missing":
        kind = "missing"
    elif error["type"] == "extra_forbidden":
        kind = "unknown"
    said = _sentence(str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, "))
    is_authors = error["type"] in _AUTHORS
    return Fault((*before, *steps), kind, said if is_authors else "", said)


def _followed(error: Mapping[str, Any], value: Any) -> Steps:
    """Those steps of pydantic's that lead somewhere: it also names the options of unions, and its own validators."""
    steps: list[str | int] = []
    last = error["loc"][-1] if error["loc"] else None
    for step in error["loc"]:
        inside = isinstance(value, dict) and step in value
        if inside or (isinstance(value, list) and isinstance(step, int) and step < len(value)):
            value = value[step]
            steps.append(step)
    if error["type"] == "missing" and last is not None:
        steps.append(last)
    return tuple(steps)


def _sentence(text: str) -> str:
    said = printable(shortened(text.strip(), 200))
    return said if said.endswith((".", "!", "?")) or not said else f"{said}."


def place(name: str, steps: Steps) -> str:
    """The place in words that a caller knows from JSON."""
    for step in steps:
        if isinstance(step, int):
            name += f"[{step}]"
        elif _NAME.fullmatch(step):
            name += f".{step}"
        else:
            name += f'["{printable(shortened(step, 60))}"]'
    return name


def schema_at(schema: Mapping[str, Any], steps: Steps) -> Mapping[str, Any]:
    """The schema of a place; empty if none describes it."""
    if not steps:
        return schema
    for option in (schema, *schema.get("anyOf", ())):
        inner = _inner(option, steps[0])
        if inner is not None and (found := schema_at(inner, steps[1:])):
            return found
    return {}


def _inner(schema: Mapping[str, Any], step: str | int) -> Mapping[str, Any] | None:
    if isinstance(step, int):
        found = schema.get("items")
    else:
        found = schema.get("properties", {}).get(step) or schema.get("additionalProperties")
    return found if isinstance(found, dict) else None
