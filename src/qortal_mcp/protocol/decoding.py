"""The one place that builds readers of JSON from outside: clients, servers, nodes.

msgspec reads some floats very slowly: a megabyte of `1e300` would stop the process for seconds. So floats are read by
a hook here, which msgspec calls only where no type is declared. A type that contains a float is therefore read
without types first, and converted then.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec
from msgspec import Raw

T = TypeVar("T")
# Makes a value of a class that msgspec does not know.
Hook = Callable[[type, Any], Any]
Json = bytes | str | Raw


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):  # it would be sent on as null
        raise ValueError("Number out of range")
    return number


# Reads any JSON.
decode = msgspec.json.Decoder(float_hook=_float).decode
# The same, but numbers with a point or an exponent stay as they are written: what is written again has the same digits.
decode_exactly = msgspec.json.Decoder(float_hook=lambda text: Raw(text.encode())).decode


@overload
def decoder(kind: type[T], hook: Hook | None = None) -> Callable[[Json], T]: ...
@overload
def decoder(kind: Any, hook: Hook | None = None) -> Callable[[Json], Any]: ...
def decoder(kind: Any, hook: Hook | None = None) -> Callable[[Json], Any]:
    """Reads JSON of a type that contains no float, which a test checks. What it raises is in `jsonrpc.UNREADABLE`."""
    return msgspec.json.Decoder(kind, float_hook=_float, dec_hook=hook).decode


@overload
def decoder_of_any(kind: type[T], hook: Hook | None = None) -> Callable[[Json], T]: ...
@overload
def decoder_of_any(kind: Any, hook: Hook | None = None) -> Callable[[Json], Any]: ...
def decoder_of_any(kind: Any, hook: Hook | None = None) -> Callable[[Json], Any]:
    """The same for a type that may contain floats."""
    if not holds_float(kind):
        return decoder(kind, hook)
    return lambda data: msgspec.convert(decode(data), kind, str_keys=True, dec_hook=hook)


@overload
def decode_as(data: Json, kind: type[T]) -> T: ...
@overload
def decode_as(data: Json, kind: Any) -> Any: ...
def decode_as(data: Json, kind: Any) -> Any:
    """Reads JSON of any type, where no reader is kept."""
    return _kept(kind)(data)


@functools.cache
def _kept(kind: Any) -> Callable[[Json], Any]:
    return decoder_of_any(kind)


def holds_float(kind: Any) -> bool:
    """Whether a float is declared anywhere in a type."""
    from msgspec import inspect  # slow to import, and not needed to start

    seen: set[type] = set()

    def holds(part: Any) -> bool:
        if isinstance(part, inspect.FloatType):
            return True
        if hasattr(part, "fields"):
            if part.cls in seen:
                return False
            seen.add(part.cls)
            return any(holds(field.type) for field in part.fields)
        if isinstance(part, list | tuple):
            return any(map(holds, part))
        return isinstance(part, inspect.Type) and any(
            holds(getattr(part, name)) for name in part.__struct_fields__
        )

    return holds(inspect.type_info(kind))


def has_more_values(data: bytes | Raw, most: int) -> bool:
    """Whether a text has more commas and opening brackets outside its strings than this, without decoding it.

    Each of them stands for a Python object: a megabyte of `[],` takes longer to decode than everything else.
    """
    if len(data) <= most or _separators(data := bytes(data)) <= most:
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # A member of an object has two strings, and a comma after it.
    if data.count(b'"') > 4 * (most + 1):
        return True
    return _separators(b"".join(data.split(b'"')[::2])) > most


def _separators(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")
