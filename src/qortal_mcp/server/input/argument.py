"""One argument of a tool: what it takes, in words, and how values that are written differently are understood.

A value that can only mean one thing is accepted, with a note if another value was written: `"5"` for 5, `"true"` for true, one
value for a list of one, `both` for BOTH. Nothing is guessed: `5.0`, `1e2` and `true` are not whole numbers.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_PLAIN = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
}
_BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to", "exclusiveMaximum": "below"}
_ITEMS = {"integer": "whole numbers", "number": "numbers", "string": "texts", "boolean": "true or false"}
_FORMATS = {
    "date": "a date, such as 2026-11-18",
    "date-time": "a date and time, such as 2026-11-18T09:30:00Z",
    "time": "a time, such as 09:30:00Z",
    "duration": "a length of time, such as PT1H30M or P2D",
    "uuid": "a UUID, such as 123e4567-e89b-42d3-a456-426614174000",
    "decimal": 'a decimal number, such as "12.50"',
    "path": "a path of a file or folder",
    "uri": "an address, such as https://example.org",
    "email": "an e-mail address",
}
_TRUTH = {"true": True, "false": False}
# A number of any length is not repeated.
_LONGEST = 2**63 - 1


class Argument(Struct, frozen=True):
    """What is known of one argument, worked out once."""

    name: str
    type: Any
    # Of its values other than null.
    schema: dict[str, Any]
    takes_null: bool
    required: bool
    extra: Mapping[str, Any]
    # Its name in the function, if callers use another one.
    attribute: str = ""

    @property
    def kind(self) -> Any:
        return self.schema.get("type")

    @property
    def sentence(self) -> str:
        return f"Invalid {self.extra.get('noun', self.name)}."

    def pointer(self, value: Any) -> str:
        """Which argument is meant, and a hint about this value."""
        where = "" if self.name in self.sentence else f"See the argument {self.name}."
        hint = self.extra.get("hint", "")
        return f"{where} {hint(value) if callable(hint) else hint}".strip()

    def expectation(self, value: Any) -> str:
        """What it takes, as one sentence for a caller who got it wrong."""
        schema = self.schema
        if "hint" in self.extra:
            return self.pointer(value)
        if "enum" in schema:
            choices = ", ".join(str(choice) for choice in schema["enum"][:20])
            return f"{self.name} takes one of: {choices}."
        if self.kind == "integer":
            low, high = schema.get("minimum"), schema.get("maximum")
            if low is not None and high is not None:
                return f"{self.name} takes a whole number from {low} to {high}."
            if high is not None or "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
                return f"{self.name} takes {_bounded('a whole number', schema)}."
            return f"{self.name} takes a whole number" + (f" from {low} up." if low is not None else ".")
        if self.kind == "boolean":
            return f"{self.name} takes true or false."
        if self.kind == "array":
            return f"{self.name} takes {self._list_in_words()}."
        if self.kind == "string" and "maxLength" in schema and not _is_known_by_form(schema):
            return (
                f"{self.name} takes text of {schema.get('minLength', 0)} to {schema['maxLength']} characters."
            )
        rest = _in_words(schema)
        return f"{self.name} takes {rest}." if rest else self.pointer(value)

    def _list_in_words(self) -> str:
        item = self.schema.get("items", {}).get("type")
        what = self.extra.get("items") or (_ITEMS.get(item, "values") if isinstance(item, str) else "values")
        low, high = self.schema.get("minItems", 0), self.schema.get("maxItems")
        if high is None:
            return f"a list of {what}"
        return f"a list of {low if low == high else f'{low} to {high}'} {what}"

    def inside(self, place: str, schema: Mapping[str, Any]) -> "Argument":
        """A part of its value as an argument, to say what it takes."""
        return Argument(place, None, dict(schema), False, False, {})

    def meant(self, value: Any, notes: list[str]) -> Any:
        """What a caller means by a value; adds to `notes` if that is another value."""
        if isinstance(value, str):
            return self._meant_by_text(value, notes)
        if type(value) is not int:
            return value
        if self.extra.get("number"):
            return str(value)
        maximum = self.schema.get("maximum")
        if self.extra.get("clamp") and maximum is not None and value > maximum:
            written = f" {value}" if value <= _LONGEST else ""
            notes.append(f"{self.name}{written} was lowered to {maximum}, the most this tool gives at once.")
            return maximum
        return self._one_of_a_list(value, notes)

    def _meant_by_text(self, value: str, notes: list[str]) -> Any:
        if self.kind == "integer" and _INTEGER.fullmatch(value):
            notes.append(f'{self.name} "{value}" was read as the number {int(value)}.')
            return self.meant(int(value), notes)
        if self.kind == "number" and _NUMBER.fullmatch(value):
            notes.append(f'{self.name} "{value}" was read as the number {value}.')
            return float(value)
        if self._takes_parts and (parts := _parts_in(value)) is not None:
            notes.append(f"{self.name} was read from JSON in a text.")
            return parts
        if self.kind == "boolean" and value.lower() in _TRUTH:
            truth = _TRUTH[value.lower()]
            notes.append(f'{self.name} "{value}" was read as {str(truth).lower()}.')
            return truth
        if "enum" in self.schema and value not in self.schema["enum"]:
            alike = [
                choice for choice in self.schema["enum"] if str(choice).lower() == value.strip(" ").lower()
            ]
            return alike[0] if alike else value
        if value != value.strip(" ") and ("pattern" in self.schema or "check" in self.extra):
            notes.append(f"Blanks around {self.name} were left out.")
            return value.strip(" ")
        return self._one_of_a_list(value, notes)

    @property
    def _takes_parts(self) -> bool:
        """An object, or a list of what is not text: no text fits by itself."""
        if self.kind == "array":
            return self.schema.get("items", {}).get("type") in ("object", "array", "integer", "number")
        return bool(self.kind == "object")

    def _one_of_a_list(self, value: Any, notes: list[str]) -> Any:
        if self.kind != "array":
            return value
        notes.append(f"{self.name} was read as a list of one.")
        return [value]


def _parts_in(text: str) -> Any:
    """The list or object that a text holds as JSON; None if it holds neither."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return decode(text)
    except UNREADABLE:
        return None


def _is_known_by_form(schema: Mapping[str, Any]) -> bool:
    return "pattern" in schema or "contentEncoding" in schema or bool(schema.get("format") in _FORMATS)


def _in_words(schema: Mapping[str, Any]) -> str:
    """What fits a schema, where the rest of this file says nothing; empty if that cannot be said shortly."""
    if "contentEncoding" in schema:
        return "bytes in Base64"
    if "pattern" in schema:
        return ""
    if schema.get("type") == "object":
        names = ", ".join(list(schema.get("properties", ()))[:20])
        return f"an object with {names}" if names else "an object"
    if schema.get("type") == "number":
        return _bounded("a number", schema)
    if "anyOf" in schema:
        options = [_in_words(option) or _PLAIN.get(option.get("type"), "") for option in schema["anyOf"]]
        return _one_or_another(options) if all(options) else ""
    return _FORMATS.get(schema.get("format", ""), "")


def _one_or_another(options: list[str]) -> str:
    """Joined with `or`, after a comma where one stands in what comes before: `a date, such as 2026-11-18, or null`."""
    joined = options[0]
    for option in options[1:]:
        joined += f", or {option}" if "," in joined else f" or {option}"
    return joined


def _bounded(what: str, schema: Mapping[str, Any]) -> str:
    bounds = [f"{words} {schema[key]}" for key, words in _BOUNDS.items() if key in schema]
    return f"{what} {' and '.join(bounds)}" if bounds else what
