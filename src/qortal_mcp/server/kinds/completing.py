"""Dataclasses as their own constructor would make them.

msgspec leaves out of an instance what the class has as a default: it reads the same, but `vars` and msgspec itself, when the instance is written
again, do not see it.
"""

import dataclasses
from typing import Any

from msgspec import Struct


def complete(value: Any) -> None:
    """Put the defaults of dataclasses into their instances, at any depth."""
    if isinstance(value, Struct):
        parts = [getattr(value, name) for name in value.__struct_fields__]
    elif dataclasses.is_dataclass(value) and hasattr(value, "__dict__"):
        members: dict[str, Any] = vars(value)
        for field in dataclasses.fields(value):
            if field.default is not dataclasses.MISSING:
                members.setdefault(field.name, field.default)
        parts = list(members.values())
    elif isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    else:
        return
    for part in parts:
        complete(part)
