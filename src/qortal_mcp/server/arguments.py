"""Read a tool's arguments: one function, strict, and helpful when it refuses.

Good arguments pass in one decoding. Anything else is looked at name by name: unknown names are refused
with the valid ones listed, `"5"` is taken for 5 and noted, a page size above its maximum is lowered and
noted, and what looks like a key is refused without being repeated.

A field's `Meta` may carry in `extra`:
  noun      what to call the thing in "Invalid <noun>."; the argument's name otherwise
  hint      what to tell whoever got it wrong; the argument's name otherwise
  check     a function that must accept the decoded value, for rules a schema cannot say
  clamp     True: a number above the maximum is lowered to it
  number    True: a text that may also be written as a whole number, such as a code
  key       True: the value is a key, hash or signature, so looking like one is no reason to refuse
  unlisted  True: accepted, but not shown in the schema
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import NODEFAULT, Raw, Struct, structs

from ..text import printable, shortened
from .private_keys import looks_secret
from .schema import schema_of
from .tool_errors import invalid_argument, refused

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_EMPTY = Raw(b"{}")
_LARGEST = 2**31 - 1


class Argument(Struct, frozen=True):
    """What is known of one argument, worked out once."""

    name: str
    type: Any
    schema: dict[str, Any]
    required: bool
    extra: Mapping[str, Any]

    @property
    def takes_integer(self) -> bool:
        return self.schema.get("type") == "integer"

    @property
    def sentence(self) -> str:
        return f"Invalid {self.extra.get('noun', self.name)}."


class Arguments:
    """Reads the arguments of one tool into its Struct."""

    def __init__(self, struct: type[Struct], synonyms: Mapping[str, str] | None = None) -> None:
        self.struct = struct
        self._synonyms = dict(synonyms or {})
        self._decode = msgspec.json.Decoder(struct).decode
        full = schema_of(struct)
        self._arguments = {
            info.encode_name: Argument(
                info.encode_name,
                info.type,
                full["properties"][info.encode_name],
                info.default is NODEFAULT and info.default_factory is NODEFAULT,
                _extra_of(info.type),
            )
            for info in structs.fields(struct)
        }
        self.schema = _listed_schema(full, self._arguments)
        self._checks = [
            (name, argument, argument.extra["check"])
            for name, argument in self._arguments.items()
            if "check" in argument.extra
        ]
        self._texts = [
            name
            for name, argument in self._arguments.items()
            if argument.schema.get("type") == "string"
            and not {"pattern", "enum", "const"} & set(argument.schema)
            and not argument.extra.get("key")
        ]

    def read(self, raw: Raw | None) -> tuple[Any, list[str]]:
        """The arguments, and notes about what was understood differently from how it was written.

        Raises: ToolError.
        """
        try:
            value = self._decode(_EMPTY if raw is None else raw)
        except msgspec.ValidationError:
            return self._read_slowly(raw)
        for name in self._texts:
            text = getattr(value, name)
            if type(text) is str and looks_secret(text):
                raise _secret()
        for name, argument, check in self._checks:
            self._check(argument, check, getattr(value, name))
        return value, []

    def _check(self, argument: Argument, check: Callable[[Any], bool], value: Any) -> None:
        values = value if isinstance(value, list | tuple) else [value]
        for each in values:
            if isinstance(each, str | int) and not check(each):
                raise invalid_argument(argument.sentence, _which(argument))

    def _read_slowly(self, raw: Raw | None) -> tuple[Any, list[str]]:
        notes: list[str] = []
        values: dict[str, Any] = {}
        written = self._canonical(_decode_members(_EMPTY if raw is None else raw))
        for name, argument in self._arguments.items():
            if name not in written:
                if argument.required:
                    raise invalid_argument(argument.sentence, f"The argument {name} is required.")
                continue
            value = self._value(argument, written[name], notes)
            if value is None and not argument.required:
                continue  # models write null for "not given"
            values[name] = value
        try:
            value = msgspec.convert(values, self.struct)
        except msgspec.ValidationError as exc:
            # Each value fits by itself, so this is a rule of the Struct over several of them.
            raise invalid_argument("Invalid arguments.", str(exc)) from None
        return value, notes

    def _canonical(self, members: Mapping[str, Raw]) -> dict[str, Raw]:
        """The arguments under their own names: synonyms replaced, unknown names refused."""
        found: dict[str, Raw] = {}
        for written, value in members.items():
            name = self._synonyms.get(written, written)
            if name not in self._arguments:
                if looks_secret(written):
                    raise _secret()
                label = shortened(printable(written), 60)
                raise invalid_argument(f"Unknown argument {label}.", self._valid_names())
            if name in found:
                raise invalid_argument(f"Invalid {name}.", f"It is given twice, once as {written}.")
            found[name] = value
        return found

    def _valid_names(self) -> str:
        names = [name for name, argument in self._arguments.items() if not argument.extra.get("unlisted")]
        return f"Valid arguments: {', '.join(names)}." if names else "This tool takes no arguments."

    def _value(self, argument: Argument, raw: Raw, notes: list[str]) -> Any:
        try:
            value = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise invalid_argument(argument.sentence, expectation(argument)) from None
        if not argument.extra.get("key") and _holds_secret(value):
            raise _secret()
        if value is None and not argument.required:
            return None
        if argument.takes_integer and isinstance(value, str) and _INTEGER.fullmatch(value):
            notes.append(f'{argument.name} "{value}" was read as the number {int(value)}.')
            value = int(value)
        if argument.extra.get("number") and type(value) is int:
            value = str(value)
        maximum = argument.schema.get("maximum")
        if argument.extra.get("clamp") and maximum is not None and type(value) is int and value > maximum:
            notes.append(
                f"{argument.name} {value} was lowered to {maximum}, the most this tool gives at once."
            )
            value = maximum
        try:
            value = msgspec.convert(value, argument.type)
        except msgspec.ValidationError:
            raise invalid_argument(argument.sentence, expectation(argument)) from None
        if "check" in argument.extra:
            self._check(argument, argument.extra["check"], value)
        return value


def _secret() -> Exception:
    return refused("An argument looks like a private key or a seed phrase. Never share those with anyone.")


def _holds_secret(value: Any) -> bool:
    if isinstance(value, str):
        return looks_secret(value)
    if isinstance(value, list):
        return any(_holds_secret(item) for item in value[:1000])
    return False


def _which(argument: Argument) -> str:
    hint = argument.extra.get("hint")
    if hint is not None:
        return str(hint)
    return "" if argument.name in argument.sentence else f"See the argument {argument.name}."


def expectation(argument: Argument) -> str:
    """What an argument takes, as one sentence for whoever got it wrong."""
    schema = argument.schema
    if "hint" in argument.extra:
        return _which(argument)
    if "enum" in schema:
        choices = ", ".join(str(choice) for choice in schema["enum"][:20])
        return f"{argument.name} takes one of: {choices}."
    kind = schema.get("type")
    if kind == "integer":
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and high is not None:
            return f"{argument.name} takes a whole number from {low} to {high}."
        return f"{argument.name} takes a whole number" + (f" from {low} up." if low is not None else ".")
    if kind == "boolean":
        return f"{argument.name} takes true or false."
    if kind == "array":
        return f"{argument.name} takes a list."
    if kind == "string" and "pattern" not in schema and "maxLength" in schema:
        return (
            f"{argument.name} takes text of {schema.get('minLength', 0)} to {schema['maxLength']} characters."
        )
    return _which(argument)


def _extra_of(kind: Any) -> Mapping[str, Any]:
    """`Meta.extra` of an annotated type, through `T | UnsetType` and `T | None`."""
    merged: dict[str, Any] = {}
    for part in (kind, *getattr(kind, "__args__", ())):
        for meta in getattr(part, "__metadata__", ()):
            merged.update(getattr(meta, "extra", None) or {})
    return merged


def _listed_schema(full: dict[str, Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    properties = {
        name: _without_the_obvious(schema)
        for name, schema in full["properties"].items()
        if not arguments[name].extra.get("unlisted")
    }
    listed = {"type": "object", "properties": properties}
    if full.get("required"):
        listed["required"] = full["required"]
    return {**listed, "additionalProperties": False}


def _without_the_obvious(schema: dict[str, Any]) -> dict[str, Any]:
    """An argument's schema as a model reads it: every word of it is paid for in each conversation.

    Lengths beside a pattern say nothing new, and nobody comes near the largest integer. Both are checked all the same.
    """
    left_out = {"minLength", "maxLength"} if "pattern" in schema else set()
    if schema.get("maximum", 0) >= _LARGEST:
        left_out = left_out | {"maximum"}
    if schema.get("minLength") == 1:
        left_out = left_out | {"minLength"}
    return {key: value for key, value in schema.items() if key not in left_out}
