"""The request headers that 2026-07-28 mirrors from the body: reading, decoding and comparing them.

Shared by server and client, so that both agree by construction.
"""

import base64
import binascii
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Raw, Struct

from ..patterns import Pattern
from .decoding import decode as decode_json

PROTOCOL_VERSION = "mcp-protocol-version"
METHOD = "mcp-method"
NAME = "mcp-name"
PARAM_PREFIX = "mcp-param-"
SESSION_ID = "mcp-session-id"

_MIRRORED = frozenset({PROTOCOL_VERSION, METHOD, NAME})
_TOKEN = Pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = Pattern(r"[\x20-\x7e]*")
_SENTINEL = Pattern(r"=\?base64\?(.*)\?=", re.DOTALL)
_NUMBER = Pattern(r"-?[0-9]{1,16}(?:\.[0-9]{1,16})?")
_LARGEST_INTEGER = 2**53 - 1
_SHORT = 200


class Mirrored(Struct, frozen=True):
    """The MCP headers of one HTTP request, by lower-case name. `repeated` names those sent twice."""

    values: Mapping[str, str]
    repeated: frozenset[str] = frozenset()

    @property
    def version(self) -> str | None:
        return self.values.get(PROTOCOL_VERSION)


def pick(headers: Iterable[tuple[bytes, bytes]]) -> Mirrored:
    """The MCP headers among all headers of a request; surrounding white space is ignored (RFC 9110)."""
    ours = tuple([header for header in headers if header[0][:4] == b"mcp-"])
    # Most requests repeat the headers of the one before; only short ones are worth caching.
    if len(ours) < 4 and sum([len(value) for _, value in ours]) < _SHORT:
        return _mirrored_cached(ours)
    return _mirrored(ours)


def _mirrored(ours: tuple[tuple[bytes, bytes], ...]) -> Mirrored:
    values: dict[str, str] = {}
    repeated: set[str] = set()
    for raw_name, raw_value in ours:
        name = raw_name.decode("latin-1")
        if name in values and (name in _MIRRORED or name.startswith(PARAM_PREFIX)):
            repeated.add(name)
        values[name] = raw_value.decode("latin-1").strip(" \t")
    return Mirrored(values, frozenset(repeated))


_mirrored_cached = functools.lru_cache(maxsize=256)(_mirrored)


def encode(value: str) -> str:
    """Any text as a header value: unchanged if possible, otherwise in the Base64 form."""
    if _PLAIN.fullmatch(value) and value == value.strip(" ") and not _SENTINEL.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decode(value: str) -> str | None:
    """The text a header value stands for; None if its Base64 form is broken."""
    match = _SENTINEL.fullmatch(value) if value.startswith("=?") else None
    if match is None:
        return value if value.isascii() and value.isprintable() else None
    try:
        raw = base64.b64decode(match.group(1), validate=True)
        if base64.b64encode(raw).decode() != match.group(1):
            return None
        return raw.decode()
    except (binascii.Error, ValueError):
        return None


class HeaderParam(Struct, frozen=True):
    """An argument that HTTP clients repeat in a header: the header, its path in the arguments, its type."""

    header: str
    path: tuple[str, ...]
    type: str


def header_params(input_schema: Mapping[str, Any]) -> tuple[HeaderParam, ...]:
    """The `x-mcp-header` annotations of a tool's input schema.

    Raises: ValueError for one that would make clients drop the tool.
    """
    found = list(_walk(input_schema, ()))
    names = [param.header.lower() for param in found]
    if len(set(names)) != len(names):
        raise ValueError("two properties ask for the same x-mcp-header")
    return tuple(found)


def _walk(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterable[HeaderParam]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, property_schema in properties.items():
        if not isinstance(property_schema, Mapping):
            continue
        here = (*path, name)
        if "x-mcp-header" in property_schema:
            header, kind = property_schema["x-mcp-header"], property_schema.get("type")
            if not isinstance(header, str) or not _TOKEN.fullmatch(header):
                raise ValueError(f"x-mcp-header of {name!r} is not a header name")
            if kind not in ("string", "integer", "boolean"):
                raise ValueError(f"x-mcp-header of {name!r} needs type string, integer or boolean")
            yield HeaderParam(header, here, kind)
        yield from _walk(property_schema, here)


def param_mismatch(params: tuple[HeaderParam, ...], arguments: Raw, sent: Mirrored) -> str | None:
    """Which `Mcp-Param-*` header contradicts the arguments, in words; None when all agree."""
    values = decode_json(arguments)
    for param in params:
        name = PARAM_PREFIX + param.header.lower()
        header = sent.values.get(name)
        if name in sent.repeated:
            return f"Mcp-Param-{param.header} is given twice"
        expected = value_at(values, param.path)
        if expected is None:
            if header is not None:
                return f"Mcp-Param-{param.header} is given, but the argument is not"
            continue
        if header is None:
            return f"Mcp-Param-{param.header} is missing"
        text = decode(header)
        if text is None or not _same(text, expected, param.type):
            return f"Mcp-Param-{param.header} does not match the argument"
    return None


def value_at(values: Any, path: tuple[str, ...]) -> Any:
    """The argument at a path; None if it is absent."""
    for name in path:
        if not isinstance(values, dict):
            return None
        values = values.get(name)
    return values


def _same(text: str, value: Any, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str) and text == value
    if kind == "boolean":
        return isinstance(value, bool) and text == ("true" if value else "false")
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST_INTEGER:
        return False
    return bool(_NUMBER.fullmatch(text)) and float(text) == value
