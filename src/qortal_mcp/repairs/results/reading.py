"""What the repairs of results ask of a result, and the parts they build."""

from collections.abc import Iterator
from typing import Any

from ...protocol.jsonrpc import UNREADABLE
from .. import values
from ..repair import ABSENT
from ..subjects import CallResult

Json = dict[str, Any]

# Lists, objects and what they hold in one result. Reading so many takes about 10 ms; a result with more is passed on as it is.
MOST_VALUES = 50_000
# Gemini CLI cuts here; other agents also cut or move longer texts. A longer text is not read as JSON either.
LARGE_CHARACTERS = 40_000

TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})
MODERN_MEMBERS = ("resultType", "ttlMs", "cacheScope")
KNOWN = frozenset({"content", "structuredContent", "isError", "_meta", "task", *MODERN_MEMBERS})


def result_of(call: CallResult) -> Json | None:
    """The result, if it is an object and the final answer."""
    value = call.value
    return value if isinstance(value, dict) and not is_unfinished(value) else None


def is_unfinished(value: Json) -> bool:
    """It asks for something first or names a task, so it needs no content."""
    task = value.get("task")
    return asks_for_input(value) or (isinstance(task, dict) and "taskId" in task)


def asks_for_input(value: Any) -> bool:
    return isinstance(value, dict) and value.get("resultType") == "input_required"


def is_error(value: Json) -> bool:
    return value.get("isError") is True


def blocks_of(call: CallResult, *types: str) -> Iterator[tuple[int, Json]]:
    """The blocks of a result that are objects, of these types or of all, each with its place."""
    for at, block in enumerate(content_of(call)):
        if isinstance(block, dict) and (not types or block.get("type") in types):
            yield at, block


def content_of(call: CallResult) -> list[Any]:
    content = call.value.get("content") if isinstance(call.value, dict) else None
    return content if isinstance(content, list) else []


def texts_of(call: CallResult) -> list[tuple[int, str]]:
    """The texts of all text blocks, each with the place of its block."""
    return [
        (at, block["text"]) for at, block in blocks_of(call, "text") if isinstance(block.get("text"), str)
    ]


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def as_text(value: Any) -> str:
    """A value for a text block: a text is itself, null is nothing, anything else is its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else values.text_of(value)


def json_in(text: str) -> Any:
    """The JSON in a text. ABSENT if it is not JSON, or too much of it."""
    data = text.strip()
    # Most texts are words, which is seen at the first character.
    if not data or data[0] not in '[{"-0123456789tfn' or len(data) > LARGE_CHARACTERS:
        return ABSENT
    try:
        return values.parsed(data)
    except UNREADABLE:
        return ABSENT
