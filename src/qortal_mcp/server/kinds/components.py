"""The schemas that msgspec makes of types, with what it leaves unsaid and a writer of arguments has to know.

It derives from a class that msgspec does not publish: the schemas of times, of named tuples and of closed objects cannot be reached otherwise.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import NODEFAULT, _json_schema, inspect, structs

from . import hooks

_SIMPLE = (str, int, float, bool, type(None), msgspec.UnsetType)
_UNHASHABLE = (
    inspect.ListType,
    inspect.SetType,
    inspect.DictType,
    inspect.TypedDictType,
    inspect.ByteArrayType,
)


class _Generator(_json_schema._SchemaGenerator):
    def __init__(self, names: dict[Any, str], hook: Any, template: str, *, of_arguments: bool) -> None:
        super().__init__(names, hook, template)
        self._of_arguments = of_arguments

    def to_schema(self, t: Any, check_ref: bool = True) -> dict[str, Any]:
        schema = super().to_schema(_with_plain_defaults(t), check_ref)
        while isinstance(t, inspect.Metadata):
            t = t.type
        # A name of ours that msgspec repeats as the title: a model would pay for it in each conversation.
        if hasattr(t, "cls") and schema.get("title") == _json_schema._get_class_name(t.cls):
            del schema["title"]
        if "$ref" in schema:
            return schema
        if isinstance(t, inspect.EnumType):
            # msgspec sorts them, and `low, medium, high` says more than the alphabet.
            schema["enum"] = [choice.value for choice in t.cls]
        if isinstance(t, inspect.NamedTupleType):
            schema.setdefault("description", f"In this order: {', '.join(each.name for each in t.fields)}.")
        if self._of_arguments:
            _refuse_unhashable(t)
            _say_more(t, schema)
        return schema


def _refuse_unhashable(t: Any) -> None:
    """Raises: TypeError for a set whose items Python cannot keep in one: no caller could fill it."""
    item = t.item_type if isinstance(t, inspect.SetType | inspect.FrozenSetType) else None
    while isinstance(item, inspect.Metadata):
        item = item.type
    is_open = isinstance(item, inspect.StructType) and not item.cls.__struct_config__.frozen
    if isinstance(item, _UNHASHABLE) or is_open or getattr(getattr(item, "cls", int), "__hash__", 1) is None:
        raise TypeError(
            f"a {'set' if isinstance(t, inspect.SetType) else 'frozenset'} cannot hold its items; take a list"
        )


def _say_more(t: Any, schema: dict[str, Any]) -> None:
    # An answer may have a time without a zone, which these formats do not allow. A writer shall give one.
    if isinstance(t, inspect.DateTimeType):
        schema.setdefault("format", "date-time")
    elif isinstance(t, inspect.TimeType):
        schema.setdefault("format", "time")
    elif isinstance(t, inspect.DataclassType | inspect.TypedDictType):
        schema.setdefault("additionalProperties", False)


def _with_plain_defaults(t: Any) -> Any:
    """msgspec writes defaults into a schema without asking the hooks."""
    fields = getattr(t, "fields", ())
    if all(each.default is NODEFAULT or isinstance(each.default, _SIMPLE) for each in fields):
        return t
    return structs.replace(
        t,
        fields=tuple(
            each
            if each.default is NODEFAULT or isinstance(each.default, _SIMPLE)
            else structs.replace(
                each, default=msgspec.to_builtins(each.default, enc_hook=hooks.write, str_keys=True)
            )
            for each in fields
        ),
    )


def components(
    kind: Any, template: str, hook: Callable[[type], dict[str, Any]], *, of_arguments: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a type, and the definitions that it refers to.

    Raises: TypeError if JSON cannot carry it.
    """
    (info,) = inspect.multi_type_info([kind])
    found = _json_schema._collect_component_types([info])
    names = _json_schema._build_name_map(found)
    generator = _Generator(names, hook, template, of_arguments=of_arguments)
    return generator.to_schema(info), {
        names[cls]: generator.to_schema(part, False) for cls, part in found.items()
    }
