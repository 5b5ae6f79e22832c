"""Values of types that msgspec does not know: paths, and whatever pydantic declares.

`read` and `write` are msgspec's hooks for such values, `describe` and `describe_answer` are those for schemas.
"""

from pathlib import PurePath
from typing import Any

from .recognising import is_pydantic_class


class StandIn(type):
    """The class that stands for a type which pydantic reads. Whatever its reader returns is an instance of it."""

    field: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return True


def read(kind: type, value: Any) -> Any:
    """Raises: ValueError or TypeError if the value does not fit."""
    if isinstance(kind, StandIn):
        return kind.field.read(value)
    if issubclass(kind, PurePath):
        if not isinstance(value, str) or "\0" in value:
            raise TypeError("Expected a path")
        return kind(value)
    if is_pydantic_class(kind):
        from .pydantic_types import read_class

        return read_class(kind, value)
    raise TypeError(f"{kind.__name__} cannot be read from JSON")


def write(value: Any) -> Any:
    """What a value becomes in JSON.

    Raises: NotImplementedError if it has no form there.
    """
    if isinstance(value, PurePath):
        return str(value)
    if is_pydantic_class(type(value)):
        from .pydantic_types import write_value

        return write_value(value)
    name = type(value).__name__
    from ..offers.content import Audio, File, Image, Link  # only to say what is wrong

    if isinstance(value, Image | Audio | File | Link):
        raise NotImplementedError(
            f"{name} is no data: return it alone or in a list, and declare {name}, list[str | {name}] or nothing"
        )
    raise NotImplementedError(f"{name} is not a type that JSON can carry")


def describe(kind: type) -> dict[str, Any]:
    """The schema of an argument."""
    if isinstance(kind, StandIn):
        schema: dict[str, Any] = kind.field.schema
        return schema
    return _describe(kind, "validation")


def describe_answer(kind: type) -> dict[str, Any]:
    """The schema of a part of an answer."""
    return _describe(kind, "serialization")


def _describe(kind: type, mode: str) -> dict[str, Any]:
    if issubclass(kind, PurePath):
        return {"type": "string", "format": "path"}
    if is_pydantic_class(kind):
        from .pydantic_types import schema_of_class

        return schema_of_class(kind, mode)
    raise TypeError(f"{kind.__name__} is not a type that JSON can carry")
