"""Read a tool's arguments: one function, strict, and helpful when it refuses.

Good arguments pass in one decoding. Anything else is looked at name by name: unknown names are refused
with the valid ones listed, a value that can only mean one thing is accepted with a note (see `argument`), a page
size above its maximum is lowered with a note, and what looks like a key is refused without being repeated.

A field's `Meta` may carry in `extra`:
  noun      what to call the thing in "Invalid <noun>."; the argument's name otherwise
  hint      what to say about a wrong value, or a function that says it, given the value
  items     what to call the items of a list
  check     a function that must accept the decoded value, for rules a schema cannot say
  clamp     True: a number above the maximum is lowered to it
  number    True: a text that may also be written as a whole number, such as a code
  key       True: the value is a key, hash or signature, so it is not refused for looking like one
  no_key    what to say about a key that may be a public one
  unlisted  True: accepted, but not shown in the schema
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET, Raw, Struct, structs

from ..protocol.decoding import decode, decoder, decoder_of_any
from ..protocol.jsonrpc import UNREADABLE
from ..text import printable, shortened
from .argument import Argument
from .offers.schema import schema_of, without_null
from .private_keys import looks_secret
from .tool_errors import invalid_argument, refused

_decode_members = decoder(dict[str, Raw])
_EMPTY = Raw(b"{}")
_LARGEST = 2**31 - 1
# Suggestions less similar than this are not shown.
_LIKENESS = 0.75


class Arguments:
    """Reads the arguments of one tool into its Struct."""

    def __init__(self, struct: type[Struct], synonyms: Mapping[str, str] | None = None) -> None:
        self.struct = struct
        self._synonyms = dict(synonyms or {})
        self._decode = decoder_of_any(struct)
        full = schema_of(struct, joins_types=False)
        self.arguments = {
            info.encode_name: Argument(
                info.encode_name,
                info.type,
                without_null(full["properties"][info.encode_name]),
                _takes_null(info.type),
                info.default is NODEFAULT and info.default_factory is NODEFAULT,
                _extra_of(info.type),
            )
            for info in structs.fields(struct)
        }
        self.schema = _listed_schema(full, self.arguments)
        self._checks = [
            (name, argument.extra["check"])
            for name, argument in self.arguments.items()
            if "check" in argument.extra
        ]
        self._texts = [name for name, argument in self.arguments.items() if _may_hold_secret(argument)]

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
            if looks_secret(text) if type(text) is str else _holds_secret(text):
                raise _secret(self.arguments[name], text)
        for name, check in self._checks:
            if not _accepts(check, getattr(value, name)):
                return self._read_slowly(raw)
        return value, []

    def _read_slowly(self, raw: Raw | None) -> tuple[Any, list[str]]:
        notes: list[str] = []
        values: dict[str, Any] = {}
        written = self._canonical(_decode_members(_EMPTY if raw is None else raw))
        for name, argument in self.arguments.items():
            if name not in written:
                if argument.required:
                    raise invalid_argument(f"Missing argument {name}.")
                continue
            value = self._value(argument, written[name], notes)
            if value is None and not argument.takes_null:
                continue  # models write null for "not given"
            values[name] = value
        try:
            value = msgspec.convert(values, self.struct)
        except msgspec.ValidationError as exc:
            # Each value fits on its own, so this is a rule of the Struct about several of them.
            raise invalid_argument("Invalid arguments.", str(exc)) from None
        return value, notes

    def _canonical(self, members: Mapping[str, Raw]) -> dict[str, Raw]:
        """The arguments under their own names: synonyms replaced, unknown names refused."""
        found: dict[str, Raw] = {}
        for written, value in members.items():
            name = self._synonyms.get(written, written)
            if name not in self.arguments:
                if looks_secret(written):
                    raise _secret()
                label = printable(shortened(written, 60))
                raise invalid_argument(f"Unknown argument {label}.", self._instead_of(label))
            if name in found:
                raise invalid_argument(f"Invalid {name}.", f"It is given twice, once as {written}.")
            found[name] = value
        return found

    def _instead_of(self, written: str) -> str:
        """The valid names, and the nearest one if any is similar."""
        import difflib  # slow to import, and only needed for a mistake

        names = [name for name, argument in self.arguments.items() if not argument.extra.get("unlisted")]
        if not names:
            return "This tool takes no arguments."
        near = difflib.get_close_matches(written.lower(), names, n=1, cutoff=_LIKENESS)
        meant = f"Did you mean {near[0]}? " if near else ""
        return f"{meant}Valid arguments: {', '.join(names)}."

    def _value(self, argument: Argument, raw: Raw, notes: list[str]) -> Any:
        try:
            value = decode(raw)
        except UNREADABLE:
            raise invalid_argument(argument.sentence, argument.expectation(None)) from None
        if value is not None:
            value = argument.meant(value, notes)
        if not argument.extra.get("key") and _holds_secret(value):
            raise _secret(argument, value)
        if value is None and not argument.required:
            return None
        try:
            value = msgspec.convert(value, argument.type)
        except msgspec.ValidationError:
            raise invalid_argument(argument.sentence, argument.expectation(value)) from None
        if (check := argument.extra.get("check")) and not _accepts(check, value):
            raise invalid_argument(argument.sentence, argument.pointer(value))
        return value


def _accepts(check: Callable[[Any], bool], value: Any) -> bool:
    """Whether a check accepts a value that it is about: a text, a number, or a list of them."""
    if isinstance(value, list | tuple):
        return all(_accepts(check, each) for each in value)
    return not isinstance(value, str | int) or check(value)


def _secret(argument: Argument | None = None, value: Any = None) -> Exception:
    is_key = isinstance(value, str) and value.strip().isalnum()
    if argument is None or not is_key:
        return refused(
            "An argument looks like a private key or a seed phrase. Never share those with anyone."
        )
    words = f"The argument {argument.name} looks like a public or private key. Never share a private key with anyone."
    return refused(f"{words} {argument.extra['no_key']}" if "no_key" in argument.extra else words)


def _may_hold_secret(argument: Argument) -> bool:
    """Whether any text fits: neither a choice of words, nor something that is known by its form."""
    schema = argument.schema
    if argument.kind == "array":
        schema = schema.get("items", {})
        if "check" in argument.extra:  # of words and addresses
            return False
    is_free = schema.get("type") == "string" and not {"pattern", "enum", "const"} & set(schema)
    return is_free and not argument.extra.get("key")


def _holds_secret(value: Any) -> bool:
    """Whether a text or a list of texts holds a secret, perhaps in pieces. Lists in lists fit no argument."""
    if isinstance(value, str):
        return looks_secret(value)
    if not isinstance(value, list):
        return False
    texts = [item for item in value if isinstance(item, str)]
    return any(map(looks_secret, texts)) or looks_secret(" ".join(texts)) or looks_secret("".join(texts))


def _extra_of(kind: Any) -> Mapping[str, Any]:
    """`Meta.extra` of an annotated type, through `T | UnsetType` and `T | None`."""
    merged: dict[str, Any] = {}
    for part in (kind, *getattr(kind, "__args__", ())):
        for meta in getattr(part, "__metadata__", ()):
            merged.update(getattr(meta, "extra", None) or {})
    return merged


def _takes_null(kind: Any) -> bool:
    try:
        msgspec.convert(None, kind)
    except msgspec.ValidationError:
        return False
    return True


def _has_null_as_default(schema: Mapping[str, Any]) -> bool:
    return schema.get("default", UNSET) is None


def _listed_schema(full: dict[str, Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    properties = {
        # Where null is the default it says no more than leaving the argument out does.
        name: _without_the_obvious(arguments[name].schema if _has_null_as_default(schema) else schema)
        for name, schema in full["properties"].items()
        if not arguments[name].extra.get("unlisted")
    }
    listed = {"type": "object", "properties": properties}
    if full.get("required"):
        listed["required"] = full["required"]
    return {**listed, "additionalProperties": False}


def _without_the_obvious(schema: dict[str, Any]) -> dict[str, Any]:
    """An argument's schema as a model reads it: every word of it is paid for in each conversation.

    Lengths next to a pattern say nothing new, and no value comes near the largest integer. Both are still checked.
    """
    left_out = {"minLength", "maxLength"} if "pattern" in schema else set()
    if schema.get("maximum", 0) >= _LARGEST:
        left_out = left_out | {"maximum"}
    if schema.get("minLength") == 1:
        left_out = left_out | {"minLength"}
    if _has_null_as_default(schema):
        left_out = left_out | {"default"}
    return {key: value for key, value in schema.items() if key not in left_out}
