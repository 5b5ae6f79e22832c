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
  key       True: the value is a key, hash or signature, so it is not refused for looking like one; a function: whether a text is
  own_look  True: an object in which the tool itself looks for keys, since some of its members may be one
  no_key    what to say about a key that may be a public one
  unlisted  True: accepted, but not shown in the schema

Other members are for those who define the tools.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import NODEFAULT, UNSET, Raw, Struct, structs

from ...protocol.decoding import decode, decoder, decoder_of_any
from ...protocol.jsonrpc import UNREADABLE
from ...text import printable, shortened
from ..offers.schema import schema_of, without_null
from ..tool_errors import invalid_argument, refused
from .argument import Argument
from .private_keys import holds_secret, looks_secret

if TYPE_CHECKING:
    from ..kinds.places import Fault

_decode_members = decoder(dict[str, Raw])
_EMPTY = Raw(b"{}")
_LARGEST = 2**31 - 1
# In a pattern: what stands for one character, and what makes room for any number of them, or for something else altogether.
_ONE_CHARACTER = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]")
_ANY_LENGTH = re.compile(r"[*+|]|\{\d*,\}")
# Suggestions less similar than this are not shown.
_LIKENESS = 0.75


class Arguments:
    """Reads the arguments of one tool into its Struct."""

    def __init__(self, struct: type[Struct], synonyms: Mapping[str, str] | None = None) -> None:
        from ..kinds import hooks  # what reads types is not needed to start, here and below
        from ..kinds.recognising import survey
        from ..kinds.written import needs_look

        self.struct = struct
        self._synonyms = dict(synonyms or {})
        full = schema_of(struct, of_arguments=True)
        self._decode = decoder_of_any(struct, hooks.read)
        self.arguments = {
            info.encode_name: Argument(
                info.encode_name,
                info.type,
                without_null(full["properties"][info.encode_name]),
                _takes_null(info.type),
                info.default is NODEFAULT and info.default_factory is NODEFAULT,
                extra_of(info.type),
                info.name,
            )
            for info in structs.fields(struct)
        }
        self.schema = _listed_schema(full, self.arguments)
        self._checks = [
            (argument.attribute, argument.extra["check"])
            for name, argument in self.arguments.items()
            if "check" in argument.extra
        ]
        self._texts = [
            (argument.attribute, name)
            for name, argument in self.arguments.items()
            if _may_hold_secret(argument)
        ]
        self._looked_at = [
            name
            for name, argument in self.arguments.items()
            if needs_look(argument.schema, may_be_key=_may_be_key(argument))
        ]

        # Of the types that are not looked at none is, or holds, a dataclass.
        self._completes = bool(self._looked_at) and survey(struct).has_dataclass

    def with_synonyms(self, synonyms: Mapping[str, str] | None) -> "Arguments":
        """The same, with other names that callers may use."""
        if not synonyms:
            return self
        from copy import copy

        other = copy(self)
        other._synonyms = dict(synonyms)
        return other

    def read(self, raw: Raw | None) -> tuple[Any, list[str]]:
        """The arguments, and notes about what was understood differently from how it was written.

        Raises: ToolError.
        """
        try:
            value = self._decode(_EMPTY if raw is None else raw)
        except msgspec.ValidationError:
            return self._read_slowly(raw)
        except TypeError as exc:
            if _is_unhashable(exc):
                return self._read_slowly(raw)
            raise
        for attribute, name in self._texts:
            text = getattr(value, attribute)
            if _holds_secret(self.arguments[name], text):
                raise _secret(self.arguments[name], text)
        for attribute, check in self._checks:
            if not _accepts(check, getattr(value, attribute)):
                return self._read_slowly(raw)
        if self._looked_at:
            written = {} if raw is None else decode(raw)
            for name in self._looked_at:
                self._look(self.arguments[name], written.get(name))
            self._complete(value)
        return value, []

    def _complete(self, value: Any) -> None:
        if self._completes:
            from ..kinds.completing import complete

            complete(value)

    def _look(self, argument: Argument, value: Any) -> None:
        from ..kinds.written import Secret, look

        try:
            found = look(value, argument.schema, may_be_key=_may_be_key(argument))
        except Secret:
            raise _secret() from None
        if found is not None:
            raise _refusal(argument, found, value)

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
            values[argument.attribute] = value
        try:
            value = self.struct(**values)
        except (ValueError, TypeError) as exc:
            # Each value fits on its own, so this is a rule of the Struct about several of them.
            raise invalid_argument("Invalid arguments.", str(exc)) from None
        self._complete(value)
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
        if _holds_secret(argument, value):
            raise _secret(argument, value)
        if value is None and not argument.required:
            return None
        if argument.name in self._looked_at:
            self._look(argument, value)
        written = value
        try:
            value = _convert(written, argument.type)
        except msgspec.ValidationError as exc:
            raise _misfit(argument, exc, written) from None
        except TypeError as exc:
            if _is_unhashable(exc):
                raise invalid_argument(argument.sentence, "A set holds no lists and no objects.") from None
            raise
        if (check := argument.extra.get("check")) and not _accepts(check, value):
            raise invalid_argument(argument.sentence, argument.pointer(value))
        return value


def _misfit(argument: Argument, exc: msgspec.ValidationError, value: Any) -> Exception:
    from ..kinds.places import fault

    return _refusal(argument, fault(exc, value, lambda other: _convert(other, argument.type)), value)


def _refusal(argument: Argument, found: "Fault", value: Any) -> Exception:
    from ..kinds.refusing import refusal

    return refusal(argument, found, value)


def _is_unhashable(exc: TypeError) -> bool:
    """Of a set with any items, or with several kinds of them, only the items show whether it can be."""
    return str(exc).startswith("unhashable type")


def _convert(value: Any, kind: Any) -> Any:
    from ..kinds import hooks

    return msgspec.convert(value, kind, str_keys=True, dec_hook=hooks.read)


def _accepts(check: Callable[[Any], bool], value: Any) -> bool:
    """Whether a check accepts a value that it is about: a text, a number, or a list of them."""
    if isinstance(value, str):
        return check(value)
    if isinstance(value, (list, tuple)):
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
    schema, key = argument.schema, argument.extra.get("key")
    if argument.kind == "array":
        schema = schema.get("items", {})
        if "check" in argument.extra and key is None:  # of words and addresses
            return False
    is_free = schema.get("type") == "string" and not {"pattern", "enum", "const"} & set(schema)
    return is_free and key is not True


def _may_be_key(argument: Argument) -> bool:
    return argument.extra.get("key") is True or bool(argument.extra.get("own_look"))


def _holds_secret(argument: Argument, value: Any) -> bool:
    """Whether a text or a list of texts holds a secret, perhaps in pieces. What lies deeper is looked at elsewhere."""
    is_key = argument.extra.get("key")
    if is_key is True:
        return False
    if is_key is None:
        return holds_secret(value)
    texts = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
    return holds_secret([text for text in texts if not is_key(text)])


def extra_of(kind: Any) -> Mapping[str, Any]:
    """`Meta.extra` of an annotated type, through `T | UnsetType` and `T | None`."""
    merged: dict[str, Any] = {}
    for part in (kind, *getattr(kind, "__args__", ())):
        for meta in getattr(part, "__metadata__", ()):
            merged.update(getattr(meta, "extra", None) or {})
    return merged


def _takes_null(kind: Any) -> bool:
    try:
        _convert(None, kind)
    except msgspec.ValidationError:
        return False
    return True


def _has_null_as_default(schema: Mapping[str, Any]) -> bool:
    return schema.get("default", UNSET) is None


def _listed_schema(full: dict[str, Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    properties = {
        # Where null is the default it says no more than leaving the argument out does.
        name: _without_the_obvious(
            arguments[name].schema if _has_null_as_default(schema) else schema,
            is_checked="check" in arguments[name].extra,
        )
        for name, schema in full["properties"].items()
        if not arguments[name].extra.get("unlisted")
    }
    listed = {"type": "object", "properties": properties}
    if full.get("required"):
        listed["required"] = full["required"]
    return {**listed, "additionalProperties": False}


def _without_the_obvious(schema: dict[str, Any], *, is_checked: bool) -> dict[str, Any]:
    """An argument's schema as a model reads it: every word of it is paid for in each conversation.

    Lengths say nothing new next to a pattern that bounds them, or where a check decides what the text is, and no value comes near the
    largest integer. All of them are still checked.
    """
    says_length = is_checked or ("pattern" in schema and _bounds_length(schema["pattern"]))
    left_out = {"minLength", "maxLength"} if says_length else set()
    if schema.get("maximum", 0) >= _LARGEST:
        left_out = left_out | {"maximum"}
    if schema.get("minLength") == 1:
        left_out = left_out | {"minLength"}
    if _has_null_as_default(schema):
        left_out = left_out | {"default"}
    return {key: value for key, value in schema.items() if key not in left_out}


def _bounds_length(pattern: str) -> bool:
    """Whether all texts that fit are bounded in length; no, where that is hard to tell."""
    bare = _ONE_CHARACTER.sub("x", pattern)
    return bare[:1] == "^" and bare[-1:] == "$" and _ANY_LENGTH.search(bare) is None
