"""The result of a tool that is not ours, for people."""

from typing import Any

from ....protocol.decoding import has_more_values
from ....protocol.jsonrpc import UNREADABLE
from ....repairs import values
from .. import terminal, view
from . import blocks
from .written import pretty

# What is longer is laid out as JSON: a page of columns that nobody reads to the end would take long to make.
_VIEW_BYTES = 1024 * 1024
_VIEW_VALUES = 20_000
# More than this is not compared with what else was said.
_COMPARED = 200


def text_of(result: dict[str, Any]) -> str:
    """What a result says in text, for an error."""
    content = result.get("content")
    found = content if isinstance(content, list) else []
    texts = [block["text"] for block in found if isinstance(block, dict) and type(block.get("text")) is str]
    return "\n".join(texts).strip() or "The tool failed without saying why"


def shown(result: dict[str, Any], paper: view.Paper, palette: view.Palette) -> str:
    """The structured answer, then every block that says something else; the blocks if there is no such answer."""
    content = result.get("content")
    found = content if isinstance(content, list) else []
    if "structuredContent" not in result:
        return "\n".join(blocks.shown(block, palette) for block in found)
    structured = result["structuredContent"]
    if _is_wrapped_text(structured, found):
        return "\n".join(blocks.shown(block, palette) for block in found)
    known = _said_by(structured)
    others = [blocks.shown(block, palette) for block in found if not _is_echo(block, known)]
    return "\n".join([structured_shown(structured, paper, palette), *others])


def _is_wrapped_text(structured: Any, content: list[Any]) -> bool:
    """Some libraries wrap a plain text, as in `{"result": text}`: its own lines are easier to read."""
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return isinstance(structured, dict) and len(texts) == 1 and list(structured.values()) == texts


def structured_shown(structured: Any, paper: view.Paper, palette: view.Palette) -> str:
    """Readable; laid out as JSON if it is not an object, or too long to be read."""
    encoded = values.write(structured)
    is_large = len(encoded) > _VIEW_BYTES or has_more_values(encoded, _VIEW_VALUES)
    if isinstance(structured, dict) and structured and not is_large:
        try:
            return view.of_others(structured, paper, palette)
        except RecursionError:
            pass
    return pretty(encoded) or terminal.one_line(encoded.decode())


def _said_by(structured: Any) -> list[Any]:
    """The structured answer and what is in it, as far as servers repeat it in text."""
    parts = list(structured.values())[:_COMPARED] if isinstance(structured, dict) else []
    inner = [item for part in parts if isinstance(part, list) for item in part[:_COMPARED]]
    return [structured, *parts, *inner[:_COMPARED]]


def _is_echo(block: Any, known: list[Any]) -> bool:
    if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
        return False
    text = block["text"]
    try:
        return text in known or values.parsed(text) in known
    except UNREADABLE:
        return False
