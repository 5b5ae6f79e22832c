"""An option: spelt once, as a field of a group. Flags, variables and documents are derived from it."""

import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from .variables import PREFIX


class WrongSetting(Exception):
    """A setting that cannot be used."""


class Options(Struct, frozen=True, kw_only=True):
    """A group of options. `title` is its heading wherever options are listed."""

    title: ClassVar[str]


class Option(Struct, frozen=True):
    """One field of a group, as flags, variables and documents need it."""

    field: str
    kind: Any
    default: Any
    description: str
    metavar: str
    expected: str
    default_text: str
    choices: tuple[str, ...] = ()
    # What is refused with its own message, by pattern.
    refused: Mapping[str, str] = {}
    repeatable: bool = False
    is_switch: bool = False

    @property
    def flag(self) -> str:
        return "--" + self.field.replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + self.field.upper()


@functools.cache
def options_of(group: type[Options]) -> tuple[Option, ...]:
    """The options of a group, in the order of its fields."""
    return tuple(_option(field) for field in msgspec.structs.fields(group))


def _option(field: msgspec.structs.FieldInfo) -> Option:
    plain, *_, meta = typing.get_args(
        field.type
    )  # if there are several annotations, the last one is the option's own
    extra = meta.extra or {}
    choices = _choices(plain)
    return Option(
        field=field.name,
        kind=field.type,
        default=field.default,
        description=meta.description,
        metavar=extra.get("metavar") or "|".join(choices),
        expected=extra.get("expected") or _expected(plain, choices),
        default_text=extra.get("default") or _default_text(field.default),
        choices=choices,
        refused=extra.get("refused", {}),
        repeatable=typing.get_origin(plain) is tuple,
        is_switch=plain is bool,
    )


def _choices(plain: Any) -> tuple[str, ...]:
    """The words that an option takes, whether it has to have one or not."""
    is_union = typing.get_origin(plain) in (types.UnionType, typing.Union)
    parts = typing.get_args(plain) if is_union else (plain,)
    return next((typing.get_args(part) for part in parts if typing.get_origin(part) is Literal), ())


def _expected(plain: Any, choices: tuple[str, ...]) -> str:
    if choices:
        return "one of " + ", ".join(choices)
    if plain is bool:
        return "true or false"
    assert plain is str or typing.get_origin(plain) in (tuple, types.UnionType), (
        "other types must give `expected`"
    )
    return "text"


def _default_text(default: Any) -> str:
    if default is None or default is False or default == ():
        return ""
    if isinstance(default, float):
        return f"{default:g}"
    return ", ".join(default) if isinstance(default, tuple) else str(default)
