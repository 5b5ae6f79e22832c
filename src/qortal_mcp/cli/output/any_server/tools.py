"""The tools of any server: all of them in short, or one in full."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from .. import terminal
from ..view import Palette
from . import schemas
from .offers import signature
from .written import first_sentence, label, prose

_INDENT = "  "
_MOST_ARGUMENTS = 30


def listed(server: str, tools: Sequence[dict[str, Any]], width: int, palette: Palette) -> str:
    """Each tool with its arguments, what it declares itself to be, and the first sentence about it."""
    count = f"{len(tools)} tool{'' if len(tools) == 1 else 's'}"
    lines = [f"{palette.heading(server)} {palette.quiet(f'({count})')}"]
    for tool in tools:
        lines += _in_short(tool, width, palette)
    return "\n".join(lines)


def _in_short(tool: dict[str, Any], width: int, palette: Palette) -> list[str]:
    schema = schemas.schema_of(tool, "inputSchema")
    required = schema.required
    names = [
        label(name, 60) if name in required else f"[{label(name, 60)}]"
        for name in islice(schema.properties, _MOST_ARGUMENTS)
    ]
    names += ["…"] if len(schema.properties) > _MOST_ARGUMENTS else []
    return [
        *signature(label(tool.get("name")), names, width, palette),
        *(f"      {line}" for line in _about(tool, declared(tool), width)),
    ]


def _about(tool: dict[str, Any], mark: str, width: int) -> list[str]:
    about = first_sentence(tool.get("description"))
    text = " ".join(part for part in (f"({mark})" if mark else "", about) if part)
    return terminal.wrapped(text, width - 6) if text else []


def declared(tool: dict[str, Any]) -> str:
    """What a tool says that it does to the world. Nobody has checked it."""
    found = tool.get("annotations")
    hints = found if isinstance(found, dict) else {}
    if hints.get("readOnlyHint") is True:
        return "read-only"
    return "destructive" if hints.get("destructiveHint") is True else ""


def detail(tool: dict[str, Any], width: int, palette: Palette) -> str:
    """One tool: what it is for, its arguments, the fields of its answer if it declares them."""
    mark = declared(tool)
    remark = f" {palette.quiet(f'(declares itself {mark})')}" if mark else ""
    lines = [f"{palette.heading(label(tool.get('name')))}{remark}"]
    lines += _indented(prose(tool.get("description"), 10_000), width)
    lines += ["", palette.heading("Arguments")]
    lines += _arguments(schemas.schema_of(tool, "inputSchema"), width, palette)
    answer = list(_answer(schemas.schema_of(tool, "outputSchema"), width, palette))
    return "\n".join([*lines, *(["", palette.heading("Answer"), *answer] if answer else [])])


def _arguments(schema: schemas.Schema, width: int, palette: Palette) -> Iterator[str]:
    rows = list(schemas.arguments(schema))
    if not rows:
        yield f"{_INDENT}none"
    for name, kind, default, meaning, inside in rows:
        extra = default if default in ("", "required") else f"default {default}"
        yield _INDENT + palette.name(name) + _INDENT + kind + (f"; {extra}" if extra else "")
        yield from _indented(meaning, width, 3)
        yield from _fields(inside, width, palette)
    if (more := len(schema.properties) - len(rows)) > 0:
        yield f"{_INDENT}and {more:,} more; --json shows them"


def _answer(schema: schemas.Schema, width: int, palette: Palette) -> Iterator[str]:
    yield from _fields(schemas.all_fields(schema), width, palette)


def _fields(rows: Sequence[schemas.Field], width: int, palette: Palette) -> Iterator[str]:
    for path, kind, meaning in rows:
        yield _INDENT + palette.name(path) + _INDENT + kind
        yield from _indented(meaning, width, 3)


def _indented(text: str, width: int, steps: int = 1) -> list[str]:
    margin = _INDENT * steps
    return [margin + line for line in terminal.wrapped(text, width - len(margin))] if text else []
