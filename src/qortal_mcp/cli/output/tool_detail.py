"""One tool in full, for people: what it is for, its arguments, the fields of its answer. Pure."""

from collections.abc import Iterator
from typing import Any

from . import schemas, terminal
from .view import Palette

_INDENT = "  "


def detail(tool: dict[str, Any], remark: str, width: int, palette: Palette) -> str:
    """The text about a tool, from its definition; the remark comes after its name."""
    lines = [f"{palette.heading(tool['name'])} {palette.quiet(f'({remark})')}"]
    lines += _indented(" ".join(tool["description"].split()), width)
    lines += ["", palette.heading("Arguments"), *_arguments(tool["inputSchema"], width, palette)]
    lines += ["", palette.heading("Answer"), *_answer(tool["outputSchema"], width, palette)]
    return "\n".join(lines)


def usage(tool: dict[str, Any]) -> str:
    """The arguments in one line; optional ones in brackets."""
    required = tool["inputSchema"].get("required", ())
    words = (f"{name}=…" if name in required else f"[{name}=…]" for name in tool["inputSchema"]["properties"])
    return " ".join((tool["name"], *words))


def _arguments(schema: dict[str, Any], width: int, palette: Palette) -> Iterator[str]:
    rows = list(schemas.arguments(schema))
    if not rows:
        yield f"{_INDENT}none"
    for name, kind, default, meaning in rows:
        extra = default if default in ("", "required") else f"default {default}"
        yield _INDENT + palette.name(name) + _INDENT + kind + (f"; {extra}" if extra else "")
        yield from _indented(meaning, width, 3)


def _answer(schema: dict[str, Any], width: int, palette: Palette) -> Iterator[str]:
    common = [name for name in schemas.COMMON if name in schema["properties"]]
    for path, kind, meaning in schemas.fields(schemas.without_common(schema)):
        yield _INDENT + palette.name(path) + _INDENT + kind
        yield from _indented(meaning, width, 3)
    for name in common:
        yield _INDENT + palette.name(name)
        yield from _indented(schemas.COMMON[name], width, 3)


def _indented(text: str, width: int, steps: int = 1) -> list[str]:
    margin = _INDENT * steps
    return [margin + line for line in terminal.wrapped(text, width - len(margin))] if text else []
