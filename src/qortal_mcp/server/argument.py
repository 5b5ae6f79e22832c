"""One argument of a tool: what it takes, in words, and how values that are written differently are understood.

A value that can only mean one thing is accepted, with a note if another value was written: `"5"` for 5, `"true"` for true, one
value for a list of one, `both` for BOTH. Nothing is guessed: `5.0`, `1e2` and `true` are not whole numbers.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_ITEMS = {"integer": "whole numbers", "string": "texts", "boolean": "true or false"}
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
            return f"{self.name} takes a whole number" + (f" from {low} up." if low is not None else ".")
        if self.kind == "boolean":
            return f"{self.name} takes true or false."
        if self.kind == "array":
            return f"{self.name} takes {self._list_in_words()}."
        if self.kind == "string" and "pattern" not in schema and "maxLength" in schema:
            return (
                f"{self.name} takes text of {schema.get('minLength', 0)} to {schema['maxLength']} characters."
            )
        return self.pointer(value)

    def _list_in_words(self) -> str:
        item = self.schema.get("items", {}).get("type")
        what = self.extra.get("items") or (_ITEMS.get(item, "values") if isinstance(item, str) else "values")
        low, high = self.schema.get("minItems", 0), self.schema.get("maxItems")
        if high is None:
            return f"a list of {what}"
        return f"a list of {low if low == high else f'{low} to {high}'} {what}"

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

    def _one_of_a_list(self, value: Any, notes: list[str]) -> Any:
        if self.kind != "array":
            return value
        notes.append(f"{self.name} was read as a list of one.")
        return [value]
