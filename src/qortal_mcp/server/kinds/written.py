"""What a caller wrote, compared with the schema where reading alone would not notice: secrets, unknown members, endless decimals.

A dataclass or a TypedDict does not mind a member that it does not know, so that a typo would go unnoticed. A decimal may be a number
that takes for ever to compute with.
"""

import re
from collections.abc import Mapping
from typing import Any

from ..input.private_keys import holds_secret, looks_secret
from .places import Fault, Steps

_DECIMAL = re.compile(r"[+-]?[0-9]{1,60}(?:\.[0-9]{0,60})?")
_FLAT = frozenset({"string", "integer", "number", "boolean", "null"})
_KNOWN_BY_FORM = frozenset({"pattern", "enum"})
# Formats that leave no room for a key or a seed phrase.
_FORMATS = frozenset({"date", "date-time", "time", "duration", "uuid", "decimal"})


class Secret(Exception):
    """Something that must not be repeated."""


def needs_look(schema: Mapping[str, Any], *, may_be_key: bool) -> bool:
    """Whether values of an argument are looked at; a text and a list of texts are judged as a whole elsewhere."""
    kind = schema.get("type")
    if schema.get("format") == "decimal":
        return True
    if kind == "array":
        items = schema.get("items", {})
        return items.get("type") not in _FLAT or needs_look(items, may_be_key=may_be_key)
    if kind == "string":
        # Read into something that is not a text any more.
        is_other = "contentEncoding" in schema or "format" in schema
        return is_other and _is_free(schema) and not may_be_key
    if kind in _FLAT:
        return False
    has_parts = any(key in schema for key in ("properties", "additionalProperties", "anyOf"))
    return has_parts or not may_be_key


def look(value: Any, schema: Mapping[str, Any], *, may_be_key: bool) -> Fault | None:
    """The first fault in what was written, if there is no secret in it.

    Raises: Secret.
    """
    # Not by recursion: what fits any type may be nested as deep as JSON can be read. The list grows while it is read.
    waiting: list[tuple[Any, Mapping[str, Any], Steps]] = [(value, schema, ())]
    fault: Fault | None = None
    for part, its_schema, steps in waiting:
        if isinstance(part, str):
            if not may_be_key and _is_free(its_schema) and looks_secret(part):
                raise Secret
            if _is_decimal(its_schema) and not _DECIMAL.fullmatch(part):
                fault = fault or Fault(steps)
        elif isinstance(part, dict):
            members = _meant(its_schema, "object")
            fault = fault or _unknown(part, members, steps)
            if not may_be_key and any(
                name not in members.get("properties", ()) and looks_secret(name) for name in part
            ):
                raise Secret
            waiting += [(each, _of_member(members, name), (*steps, name)) for name, each in part.items()]
        elif isinstance(part, list):
            items = _meant(its_schema, "array").get("items", {})
            if not may_be_key and _is_free(items) and holds_secret(part):
                raise Secret
            waiting += [(each, items, (*steps, at)) for at, each in enumerate(part)]
    return fault


def _unknown(members: Mapping[str, Any], schema: Mapping[str, Any], steps: Steps) -> Fault | None:
    if schema.get("additionalProperties") is not False:
        return None
    known = schema.get("properties", {})
    return next((Fault((*steps, name), "unknown") for name in members if name not in known), None)


def _meant(schema: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The schema of the option of this kind; empty if several could be meant."""
    options = [option for option in schema.get("anyOf", (schema,)) if option.get("type") == kind]
    return options[0] if len(options) == 1 else {}


def _of_member(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else {}


def _is_free(schema: Mapping[str, Any]) -> bool:
    """Any text fits: it is neither a choice, nor known by its form."""
    return not _KNOWN_BY_FORM & schema.keys() and schema.get("format") not in _FORMATS


def _is_decimal(schema: Mapping[str, Any]) -> bool:
    return any(option.get("format") == "decimal" for option in schema.get("anyOf", (schema,)))
