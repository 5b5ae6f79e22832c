"""Content blocks as text: texts as they are, everything else described in a line."""

from typing import Any

from msgspec import Struct

from ....text import visible
from .. import view
from .written import label, pretty, prose

# How to get at what is only described.
RAW = "--raw shows it"
SAVE = "--output FILE saves it"


class Part(Struct, frozen=True):
    """The contents of a resource."""

    uri: str
    mime_type: str
    text: str | None
    blob: str | None

    @property
    def is_json(self) -> bool:
        kind = self.mime_type.partition(";")[0].strip().lower()
        return kind == "application/json" or kind.endswith("+json")


def part_of(value: Any) -> Part | None:
    """The contents of a resource; None if nobody could read them."""
    if not isinstance(value, dict):
        return None
    texts = {
        name: value[name] for name in ("uri", "mimeType", "text", "blob") if type(value.get(name)) is str
    }
    if "text" not in texts and "blob" not in texts:
        return None
    return Part(texts.get("uri", ""), texts.get("mimeType", ""), texts.get("text"), texts.get("blob"))


def shown(block: Any, palette: view.Palette) -> str:
    """One block."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return _lines(block["text"])
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        return palette.quiet(described(block.get("mimeType") or kind, block["data"], RAW))
    if kind == "resource_link":
        return _link(block, palette)
    if kind == "resource" and (part := part_of(block.get("resource"))) is not None:
        return f"{heading(part, palette)}\n{part_shown(part, palette, RAW)}"
    return palette.quiet(f"a block of the type {label(kind, 40)}; {RAW}")


def part_shown(part: Part, palette: view.Palette, how: str) -> str:
    """The contents of a resource: text, JSON laid out, or what it is and how to get it."""
    if part.text is None:
        assert part.blob is not None, "it has one of the two"
        return palette.quiet(described(part.mime_type or "unknown type", part.blob, how))
    if part.is_json and (laid_out := pretty(part.text.encode(errors="replace"))) is not None:
        return laid_out
    return _lines(part.text)


def _lines(text: str) -> str:
    """A text with nothing hidden in it. The end of its last line is written with it."""
    return visible(text.removesuffix("\n"))


def heading(part: Part, palette: view.Palette) -> str:
    kind = f" ({label(part.mime_type, 80)})" if part.mime_type else ""
    return f"{palette.heading(label(part.uri, 1000))}{palette.quiet(kind)}"


def described(kind: object, data: str, how: str) -> str:
    """Data that a terminal cannot show, in one line."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"{label(kind, 80)}, {max(size, 0):,} bytes; {how}"


def _link(block: dict[str, Any], palette: view.Palette) -> str:
    uri, name = label(block.get("uri"), 1000), label(block.get("title") or block.get("name"), 200)
    facts = [label(block["mimeType"], 80)] if isinstance(block.get("mimeType"), str) else []
    size = block.get("size")
    if isinstance(size, int) and 0 <= size < 2**63:
        facts.append(f"{size:,} bytes")
    about = prose(block.get("description"), 500)
    remark = palette.quiet(f" ({', '.join(facts)})") if facts else ""
    line = f"{palette.name(name)}  {uri}{remark}"
    return f"{line}\n  {about}" if about else line
