"""$ref in schemas: those that point nowhere, and those that not every client follows."""

from collections.abc import Iterator
from typing import Any

from ...protocol.jsonrpc import UNREADABLE
from ...schemas.cost import at_pointer, size_of
from ...schemas.json_schema import children, refs, resolves
from .. import values
from ..repair import ALL, SAFE, Change, repair
from ..subjects import ToolEntry
from .listed import schema_of

_REFS = ("$ref", "$dynamicRef")
_DEFINITIONS = ("$defs", "definitions")
# What a part calls itself, which must not be there twice.
_NAMES = ("$id", "$anchor", "$dynamicAnchor")
# Schemas of real tools have some hundred parts. One that is larger when it is written out stays as it is.
_MOST_PARTS = 2_000
_MOST_COPIED = 200_000
_MOST_LEVELS = 100


@repair(
    "schema-ref-unresolvable",
    SAFE,
    ToolEntry,
    makes="{} in inputSchema; an outputSchema is left out.",
)
def ref_unresolvable(entry: ToolEntry) -> Iterator[Change]:
    """A $ref that points nowhere, or to another document."""
    schema = schema_of(entry, "inputSchema")
    for place, part in [] if schema is None else list(children(schema, "inputSchema")):
        for name in _REFS:
            ref = part.get(name)
            if isinstance(ref, str) and not resolves(ref, schema or {}):
                yield Change(path=f"{place}.{name}", before=part.pop(name))
    output = schema_of(entry, "outputSchema")
    if output is not None and not all(resolves(ref, output) for _, ref in refs(output, "")):
        yield Change(path="outputSchema", before=entry.value.pop("outputSchema"))


@repair(
    "schema-has-refs",
    ALL,
    ToolEntry,
    makes="The definitions are written where they are used; one that uses itself ends with {}.",
)
def has_refs(entry: ToolEntry) -> Iterator[Change]:
    """An inputSchema with $ref."""
    schema = schema_of(entry, "inputSchema")
    if schema is None or next(refs(schema, ""), None) is None:
        return
    try:
        inlined, changes = _inlined(schema)
    except (_TooLarge, *UNREADABLE):
        return
    entry.value["inputSchema"] = inlined
    yield from changes


class _TooLarge(Exception):
    pass


def target_of(schema: dict[str, Any], ref: str) -> Any:
    """What a reference finds in its schema; {} if it finds nothing."""
    if not resolves(ref, schema):
        return {}
    if ref == "#":
        return schema
    if ref.startswith("#/"):
        return at_pointer(schema, ref[2:])
    return named(schema).get(ref, {})


def named(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of a schema that call themselves something, by how a reference writes it."""
    found: dict[str, dict[str, Any]] = {}
    for _, part in children(schema, ""):
        for name, sign in zip(_NAMES, ("", "#", "#"), strict=True):
            if isinstance(given := part.get(name), str):
                found.setdefault(sign + given, part)
    return found


def _copy(value: Any) -> Any:
    return values.read(values.write(value))


def _inlined(schema: dict[str, Any]) -> tuple[dict[str, Any], list[Change]]:
    """The schema with its references written out. Raises: _TooLarge, or one of UNREADABLE."""
    inlined: dict[str, Any] = {
        name: value for name, value in _copy(schema).items() if name not in _DEFINITIONS
    }
    changes: list[Change] = []
    # By part: the references that led to it. One that comes again would never end.
    led_to: dict[int, frozenset[str]] = {}
    by_name = named(schema)
    is_cut = False
    parts = copied = 0
    for place, part in children(inlined, "inputSchema"):
        parts += 1
        while ref := next((part.pop(name) for name in _REFS if isinstance(part.get(name), str)), ""):
            trail = led_to.get(id(part), frozenset("#"))
            changes.append(Change(path=f"{place}.$ref", before=ref))
            if ref in trail:
                is_cut = True
                continue
            target = by_name[ref] if ref in by_name else target_of(schema, ref)
            size = size_of(target)
            copied += size.values + size.chars
            if parts + len(changes) > _MOST_PARTS or copied > _MOST_COPIED:
                raise _TooLarge
            _write_in(part, target)
            inside = [id(inner) for _, inner in children(part, "")]
            copied += len(inside)
            led_to.update(dict.fromkeys(inside, trail | {ref}))
        if parts > _MOST_PARTS:
            raise _TooLarge
    if size_of(inlined).levels > _MOST_LEVELS:
        raise _TooLarge
    for name in _DEFINITIONS:
        if is_cut and name in schema:
            changes.append(Change(path=f"inputSchema.{name}", before=schema[name]))
    return inlined, changes


def _write_in(part: dict[str, Any], target: Any) -> None:
    """What a part says itself goes before what it refers to."""
    copy = _copy(target) if isinstance(target, dict) else {"not": {}} if target is False else {}
    for name in (*_DEFINITIONS, *_NAMES):
        copy.pop(name, None)
    own = dict(part)
    part.clear()
    part.update(copy)
    part.update(own)
