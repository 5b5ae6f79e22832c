"""JSON Schemas of strangers: walked with a limit, judged without following anything out of them."""

import importlib.util
from collections.abc import Iterator
from typing import Any

# Schemas of real tools have some hundred parts; a hostile one has no end.
_MOST_PARTS = 5_000
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = (
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
IS_INSTALLED = importlib.util.find_spec("jsonschema_rs") is not None
NOT_INSTALLED = "jsonschema-rs is not installed (it comes with the extra: pip install '.[audit]')"


def children(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and every schema inside it that is an object, with its place."""
    left: list[tuple[str, Any]] = [(path, schema)]
    for _ in range(_MOST_PARTS):
        if not left:
            return
        place, part = left.pop()
        if not isinstance(part, dict):
            continue
        yield place, part
        for name in _MAPS:
            if isinstance(inner := part.get(name), dict):
                left += [(f"{place}.{name}.{key}", value) for key, value in inner.items()]
        for name in _LISTS:
            if isinstance(inner := part.get(name), list):
                left += [(f"{place}.{name}[{at}]", value) for at, value in enumerate(inner)]
        left += [(f"{place}.{name}", part[name]) for name in _SINGLE if name in part]


def refs(schema: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for place, part in children(schema, path):
        for name in ("$ref", "$dynamicRef"):
            if isinstance(ref := part.get(name), str):
                yield place, ref


def resolves(ref: str, schema: dict[str, Any]) -> bool:
    """Whether a reference stays inside the schema and finds something there."""
    if ref == "#":
        return True
    if ref.startswith("#/"):
        return _at_pointer(schema, ref[2:])
    if ref.startswith("#"):
        anchors = {
            str(part.get(name)) for _, part in children(schema, "") for name in ("$anchor", "$dynamicAnchor")
        }
        return ref[1:] in anchors
    return any(part.get("$id") == ref for _, part in children(schema, ""))


def _at_pointer(schema: Any, pointer: str) -> bool:
    from urllib.parse import unquote

    at = schema
    for step in unquote(pointer).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and key.isdigit() and len(key) < 6 and int(key) < len(at):
            at = at[int(key)]
        else:
            return False
    return True


class _Refused(Exception):
    pass


def _refuse(uri: str) -> Any:
    # Otherwise a schema of the server under audit could make this machine fetch addresses and files.
    raise _Refused(f"not fetched: {uri}")


def _validator(schema: dict[str, Any]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(schema, retriever=_refuse)


def is_valid(schema: dict[str, Any]) -> str:
    """What is wrong with a schema; empty where nothing is, or where nobody can tell."""
    if not IS_INSTALLED or any(not resolves(ref, schema) for _, ref in refs(schema, "")):
        return ""
    try:
        _validator(schema)
    except Exception as exc:  # the library has no common base for what schemas can do wrong
        return str(exc).splitlines()[0][:200]
    return ""


def mismatch(value: Any, schema: dict[str, Any]) -> str:
    """Where a value does not fit its schema; empty where it does, or where nobody can tell."""
    if not IS_INSTALLED:
        return ""
    try:
        error = next(iter(_validator(schema).iter_errors(value)), None)
    except Exception:
        return ""  # the schema itself is wrong: another check says so
    if error is None:
        return ""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return f"structuredContent{place}: {str(error.message)[:200]}"
