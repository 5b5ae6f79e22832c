"""The resources and prompts of any server, and what a prompt says."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from .. import terminal
from ..view import Palette
from . import blocks
from .written import first_sentence, label

_MOST_ARGUMENTS = 30


def resources(
    found: Sequence[dict[str, Any]], templates: Sequence[dict[str, Any]], width: int, palette: Palette
) -> str:
    """Resources, then templates, each with its name and type and the first sentence about it."""
    if not found and not templates:
        return "The server offers no resources."
    lines: list[str] = []
    for title, member, entries in (("Resources", "uri", found), ("Templates", "uriTemplate", templates)):
        if entries:
            lines += ([""] if lines else []) + [palette.heading(title)]
            for entry in entries:
                lines += _resource(entry, member, width, palette)
    return "\n".join(lines)


def _resource(entry: dict[str, Any], member: str, width: int, palette: Palette) -> list[str]:
    facts = [label(entry[name], 100) for name in ("title", "mimeType") if isinstance(entry.get(name), str)]
    if not isinstance(entry.get("title"), str) and isinstance(entry.get("name"), str):
        facts.insert(0, label(entry["name"], 100))
    remark = palette.quiet(f" ({', '.join(facts)})") if facts else ""
    about = first_sentence(entry.get("description"))
    return [
        f"  {palette.name(label(entry.get(member), 1000))}{remark}",
        *(f"      {line}" for line in (terminal.wrapped(about, width - 6) if about else [])),
    ]


def prompts(found: Sequence[dict[str, Any]], width: int, palette: Palette) -> str:
    """Each prompt with its arguments and the first sentence about it."""
    if not found:
        return "The server offers no prompts."
    lines = [palette.heading("Prompts")]
    for prompt in found:
        listed = prompt.get("arguments")
        entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        words = [_argument(one) for one in islice(entries, _MOST_ARGUMENTS)]
        about = first_sentence(prompt.get("description")) or first_sentence(prompt.get("title"))
        lines += signature(label(prompt.get("name")), words, width, palette)
        lines += [f"      {line}" for line in (terminal.wrapped(about, width - 6) if about else [])]
    return "\n".join(lines)


def _argument(argument: dict[str, Any]) -> str:
    name = label(argument.get("name"), 60)
    return name if argument.get("required") is True else f"[{name}]"


def signature(name: str, arguments: Sequence[str], width: int, palette: Palette) -> list[str]:
    """The name of something that is called, and what it takes; what follows on further lines stands further right."""
    first, *more = terminal.wrapped(" ".join([name, *arguments]), max(width - 6, 20))
    called, _, rest = first.partition(" ")
    return [f"  {called} {palette.name(rest)}".rstrip(), *(f"      {palette.name(line)}" for line in more)]


def messages(result: dict[str, Any], palette: Palette, width: int | None = None) -> str:
    """What a prompt says, message by message, each below its role. Without a width its lines stay as they are."""
    found = result.get("messages")
    lines: list[str] = []
    for message in found if isinstance(found, list) else []:
        if not isinstance(message, dict):
            continue
        content = message.get("content")
        texts = [
            blocks.shown(block, palette) for block in (content if isinstance(content, list) else [content])
        ]
        said = "\n".join(texts).splitlines()
        lines += ([""] if lines else []) + [palette.heading(label(message.get("role"), 40))]
        for line in said:
            folded = [line] if width is None else terminal.hanging(line, width - 2)
            lines += [f"  {each}".rstrip() for each in folded]
    return "\n".join(lines) or "The prompt has no messages."
