"""Arguments that the protocol carries as texts: those of prompts, and the variables of resource templates."""

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Meta, Raw

from ..input.arguments import Arguments
from .parameters import struct_of

_encode = msgspec.json.Encoder().encode
_FLAT = ("string", "integer", "number", "boolean")


class Texts:
    """Reads texts into the types that a function declares.

    Raises: TypeError if no text could be what a parameter takes.
    """

    def __init__(self, function: str, parameters: Mapping[str, inspect.Parameter]) -> None:
        self._arguments = Arguments(struct_of(function, parameters))
        for argument in self._arguments.arguments.values():
            options = argument.schema.get("anyOf", (argument.schema,))
            if any(option.get("type") not in _FLAT for option in options):
                raise TypeError(
                    f"{function}: the parameter {argument.attribute} cannot be read from a text; take a str and read it yourself"
                )

    @property
    def names(self) -> dict[str, str]:
        """The names that callers use, and those of the parameters."""
        return {name: argument.attribute for name, argument in self._arguments.arguments.items()}

    def described(self, name: str) -> str:
        said = self._arguments.schema["properties"][name].get("description", "")
        assert isinstance(said, str), "a description is a text"
        return said

    def is_required(self, name: str) -> bool:
        return self._arguments.arguments[name].required

    def read(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The values of all parameters.

        Raises: ToolError.
        """
        value, _ = self._arguments.read(Raw(_encode(given)))
        return {name: getattr(value, name) for name in self.names.values()}


def texts_of(function: str, parameters: Mapping[str, inspect.Parameter]) -> Texts | None:
    """The reader of a function's texts; None if it takes them as they are."""
    if all(_is_text(parameter) for parameter in parameters.values()):
        return None
    return Texts(function, parameters)


def _is_text(parameter: inspect.Parameter) -> bool:
    """A text that is bounded by nothing but its length, if at all."""
    marks = getattr(parameter.annotation, "__metadata__", ())
    return (parameter.annotation.__origin__ if marks else parameter.annotation) is str and all(
        isinstance(mark, Meta) and mark.pattern is None and mark.min_length is None for mark in marks
    )
