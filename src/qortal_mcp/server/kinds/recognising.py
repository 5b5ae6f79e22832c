"""Tells types that JSON can carry from classes that only a server can supply, and finds pydantic in a type.

Nothing is imported to find out: a type whose module was never loaded cannot stand in a signature.
"""

import inspect
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Meta, Struct

_PLAIN = (str, int, float, bool, bytes, bytearray, list, tuple, set, frozenset, dict, Struct, types.NoneType)
# Module and class: a subclass of one of these is a value, too.
_VALUES = (
    ("enum", "Enum"),
    ("datetime", "date"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("decimal", "Decimal"),
    ("uuid", "UUID"),
    ("pathlib", "PurePath"),
)
# Where what stands in `Annotated` for pydantic comes from.
_PYDANTIC = frozenset({"pydantic", "pydantic_core", "pydantic_extra_types", "annotated_types"})


class Survey:
    """What stands in a type, at any depth."""

    def __init__(self) -> None:
        # Anything that only pydantic understands.
        self.needs_pydantic = False
        # A Struct, which pydantic does not understand.
        self.struct: type | None = None
        # A Struct with a field that is described for pydantic.
        self.mixed: type | None = None
        # A dataclass, which msgspec reads incompletely.
        self.has_dataclass = False
        # A `Meta` below the top, which pydantic does not understand.
        self.has_inner_meta = False


def survey(kind: Any) -> Survey:
    """Look for pydantic and Structs in a type."""
    found = Survey()
    _look(kind, found, None, set(), is_top=True)
    return found


def pydantic_in(kind: Any) -> Survey:
    """The same for those who look for pydantic alone: nothing is searched where nobody could have written any of it."""
    return Survey() if _PYDANTIC.isdisjoint(sys.modules) else survey(kind)


def _look(kind: Any, found: Survey, inside: type | None, seen: set[Any], *, is_top: bool = False) -> None:
    for mark in getattr(kind, "__metadata__", ()):
        if is_pydantic_mark(mark):
            found.needs_pydantic = True
            found.mixed = found.mixed or inside
        elif isinstance(mark, Meta) and not is_top:
            found.has_inner_meta = True
    if typing.get_origin(kind) is typing.Annotated:
        _look(kind.__origin__, found, inside, seen)
        return
    for alias in ("__value__", "__supertype__"):  # of `type X = …` and of NewType
        if (meant := getattr(kind, alias, None)) is not None and not inspect.isclass(kind):
            _look(meant, found, inside, seen)
    for part in typing.get_args(kind):
        if not isinstance(part, str | int | list):  # values of a Literal, parameters of a Callable
            _look(part, found, inside, seen)
    cls = typing.get_origin(kind) or kind
    if not inspect.isclass(cls) or cls in seen:
        return
    seen.add(cls)
    if is_pydantic_class(cls):
        found.needs_pydantic = True
        return
    if issubclass(cls, Struct):
        found.struct, inside = found.struct or cls, cls
    found.has_dataclass = found.has_dataclass or hasattr(cls, "__dataclass_fields__")
    for default, part in _fields(cls):
        if is_pydantic_mark(default):
            found.needs_pydantic = True
            found.mixed = found.mixed or inside
        _look(part, found, inside, seen)


def _fields(cls: type) -> Iterator[tuple[Any, Any]]:
    """Default and type of each field of a class that has any."""
    if not has_fields(cls):
        return
    defaults: Mapping[str, Any] = getattr(cls, "__dataclass_fields__", {})
    for name, part in typing.get_type_hints(cls, include_extras=True).items():
        yield getattr(defaults.get(name), "default", None), part


def has_fields(cls: type) -> bool:
    """A Struct, dataclass, TypedDict, NamedTuple or class of attrs."""
    return (
        issubclass(cls, Struct)
        or hasattr(cls, "__dataclass_fields__")
        or hasattr(cls, "__attrs_attrs__")
        or hasattr(cls, "__required_keys__")  # a TypedDict, of the standard library or of typing_extensions
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def is_pydantic_class(cls: type) -> bool:
    return hasattr(cls, "__get_pydantic_core_schema__") or hasattr(cls, "__pydantic_fields__")


def is_pydantic_mark(mark: Any) -> bool:
    """Something in `Annotated`, or a default value, that is meant for pydantic."""
    cls = mark if inspect.isclass(mark) else type(mark)
    return cls.__module__.partition(".")[0] in _PYDANTIC or hasattr(cls, "__get_pydantic_core_schema__")


def is_service(annotation: Any) -> bool:
    """A class that no JSON value could be: only the server can supply one."""
    return inspect.isclass(annotation) and annotation is not Any and not _is_value(annotation, set())


def _is_value(cls: type, seen: set[type]) -> bool:
    if issubclass(cls, _PLAIN) or is_pydantic_class(cls) or cls in seen:
        return True
    if any(issubclass(cls, known) for known in _known_values()):
        return True
    # A dataclass may also be what a server keeps, such as a connection beside its settings.
    seen.add(cls)
    return has_fields(cls) and all(
        not inspect.isclass(part) or part is Any or _is_value(part, seen)
        for _, field in _fields(cls)
        for part in _classes(field)
    )


def _classes(kind: Any) -> Iterator[Any]:
    parts = () if typing.get_origin(kind) is typing.Literal else typing.get_args(kind)
    if not parts:
        yield kind
    for part in parts:
        yield from _classes(part)


def _known_values() -> Iterator[type]:
    for module, name in _VALUES:
        if module in sys.modules:
            yield getattr(sys.modules[module], name)
