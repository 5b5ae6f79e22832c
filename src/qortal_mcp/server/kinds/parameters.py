"""From a parameter of a function to a field of the Struct that its arguments are read into."""

import copy
import inspect
import typing
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ..offers.schema import schema_of
from .hooks import StandIn
from .recognising import Survey, is_pydantic_mark, survey

Field = tuple[str, Any, Any]

# What msgspec says of a type that JSON cannot carry -> what to write instead.
_INSTEAD = {
    "more than one str-like": "JSON writes all of these as text, so take a str and read it yourself",
    "more than one array-like": "JSON has one kind of list, so take a list",
    "more than one": "give Structs a tag, or use one class with optional fields",
    "must be tagged": "write Struct(tag=True)",
    "containing a custom type": "take one class, or let pydantic read the whole parameter: no Struct in it",
    "Enums must contain": "give the members of the Enum texts or whole numbers",
    "Can only set": "Meta bounds texts, numbers and lists, so use pydantic's Field here",
}


def struct_of(function: str, parameters: typing.Mapping[str, inspect.Parameter]) -> type[msgspec.Struct]:
    """The Struct that the arguments of a function are read into.

    Raises: TypeError, with the name of the parameter and what to write instead.
    """
    fields: list[Any] = []
    for name, parameter in parameters.items():
        try:
            fields.append(_field(name, parameter.annotation, parameter.default))
        except TypeError as exc:
            raise TypeError(f"{function}: the parameter {name} cannot be an argument: {exc}") from None
    return msgspec.defstruct(function, fields, forbid_unknown_fields=True, frozen=True, kw_only=True)


def advice(exc: Exception) -> str:
    """What to write instead of a type that msgspec refuses."""
    said = str(exc).splitlines()[0].partition(" - type ")[0]
    return next((f"{said}; {words}" for part, words in _INSTEAD.items() if part in said), said)


def _field(name: str, annotation: Any, default: Any) -> Any:
    field = _unchecked_field(name, annotation, default)
    try:
        schema_of(field[1], of_arguments=True)
    except TypeError as exc:
        raise TypeError(advice(exc)) from None
    return field


def _unchecked_field(name: str, annotation: Any, default: Any) -> Any:
    found = survey(annotation)
    if found.needs_pydantic or is_pydantic_mark(default):
        if found.struct is None:
            return _read_by_pydantic(name, annotation, default, found)
        _refuse_marks(found, annotation, default)
    kind = _described(annotation)
    if default is inspect.Parameter.empty:
        return name, kind
    return name, kind, _default(default)


def _refuse_marks(found: Survey, annotation: Any, default: Any) -> None:
    """A Struct may hold models of pydantic, but nothing in it is described for pydantic."""
    where = found.mixed or found.struct
    assert where is not None, "a type with a Struct in it"
    is_marked = is_pydantic_mark(default) or any(
        map(is_pydantic_mark, getattr(annotation, "__metadata__", ()))
    )
    if found.mixed or is_marked:
        raise TypeError(
            f"{where.__name__} is a Struct, which pydantic does not read; write msgspec's Meta instead of Field"
        )


def _read_by_pydantic(name: str, annotation: Any, default: Any, found: Survey) -> Any:
    from .pydantic_types import Parameter

    if found.has_inner_meta:
        raise TypeError(
            "msgspec's Meta inside a type that pydantic reads would be ignored; write Field instead"
        )
    marks = getattr(annotation, "__metadata__", ())
    metas = [mark for mark in marks if isinstance(mark, Meta)]
    if any(_bounds(meta) for meta in metas):
        raise TypeError("pydantic reads it, so write its bounds with pydantic's Field instead of Meta")
    is_bare = default is inspect.Parameter.empty
    read = Parameter(name, annotation, ... if is_bare else default)
    stand_in = StandIn(name, (), {"field": read})
    kind = Annotated[stand_in, *metas] if metas else stand_in
    if said := _description(marks):
        kind = Annotated[kind, Meta(description=said)]
    if read.is_required:
        return name, kind, msgspec.field(name=read.wire_name)
    return name, kind, msgspec.field(name=read.wire_name, default_factory=read.default)


def _bounds(meta: Meta) -> bool:
    words = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length", "tz")
    return any(getattr(meta, word) is not None for word in words)


def _described(annotation: Any) -> Any:
    said = _description(getattr(annotation, "__metadata__", ()))
    return Annotated[annotation, Meta(description=said)] if said else annotation


def _description(marks: typing.Iterable[Any]) -> str:
    """A text in `Annotated`, alone or as `Doc`, describes the parameter."""
    for mark in marks:
        said = mark if isinstance(mark, str) else getattr(mark, "documentation", None)
        if isinstance(said, str):
            return said
    return ""


def _default(default: Any) -> Any:
    if isinstance(default, list | dict | set | bytearray) and default:
        return msgspec.field(default_factory=lambda: copy.deepcopy(default))
    return default
