"""What a caller is told about a value that does not fit: the sentence of its class, with the place, and what would fit there."""

from typing import Any

from ..input.argument import Argument
from ..tool_errors import ToolError, invalid_argument
from .places import Fault, place, schema_at


def refusal(argument: Argument, fault: Fault, value: Any) -> ToolError:
    """The error for a fault in the value of an argument."""
    where = place(argument.name, fault.steps)
    if fault.kind == "missing":
        return invalid_argument(f"Missing argument {where}.")
    if fault.kind == "unknown":
        return invalid_argument(f"Unknown argument {where}.", _valid_names(argument, fault))
    if not fault.steps:
        return invalid_argument(argument.sentence, fault.words or argument.expectation(value) or _said(fault))
    if _is_list_of_plain_values(argument, fault):
        # Such a list is one value to its caller; its words are about the whole of it.
        which = f"See {where}." if isinstance(value, list) and len(value) > 1 else ""
        return invalid_argument(argument.sentence, f"{argument.expectation(value)} {which}".strip())
    part = argument.inside(where, schema_at(argument.schema, fault.steps))
    return invalid_argument(part.sentence, fault.words or _expectation(part, fault))


def _expectation(part: Argument, fault: Fault) -> str:
    if said := _said(fault):
        return part.expectation(None) or said
    # Of a list whose items differ the schema says what all of them may be, so what was expected here is said first.
    expected = f"{part.name} takes {fault.otherwise}." if fault.otherwise else ""
    is_union = "anyOf" in part.schema
    return (is_union and expected) or part.expectation(None) or expected


def _said(fault: Fault) -> str:
    """A whole sentence of pydantic's."""
    return fault.otherwise if fault.otherwise.endswith(".") else ""


def _valid_names(argument: Argument, fault: Fault) -> str:
    inside = fault.steps[:-1]
    found = schema_at(argument.schema, inside)
    # What may also be null, or one of several objects, has them in its options.
    names = [name for option in (found, *found.get("anyOf", ())) for name in option.get("properties", {})]
    names = list(dict.fromkeys(names))
    return f"Valid in {place(argument.name, inside)}: {', '.join(names) or 'none'}."


def _is_list_of_plain_values(argument: Argument, fault: Fault) -> bool:
    return (
        argument.kind == "array"
        and len(fault.steps) == 1
        and argument.schema.get("items", {}).get("type") in ("string", "integer", "number", "boolean")
    )
