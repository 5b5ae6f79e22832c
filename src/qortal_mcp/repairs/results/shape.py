"""Results as a whole: where the value of the tool is, and the content it must have."""

from collections.abc import Iterator
from typing import Any

from ..repair import ABSENT, ALL, SAFE, Change, Repair, repair
from ..subjects import CallResult
from .failed import failure_text
from .reading import (
    KNOWN,
    MODERN_MEMBERS,
    TYPES,
    Json,
    as_text,
    content_of,
    is_error,
    result_of,
    text_block,
)

_NO_OUTPUT = "The tool returned nothing."


@repair(
    "result-nested-toolresult", SAFE, CallResult, makes="What is under toolResult becomes the result itself."
)
def nested_tool_result(call: CallResult) -> Iterator[Change]:
    """The real result is nested under toolResult."""
    value = call.value
    if not isinstance(value, dict) or "toolResult" not in value or "content" in value:
        return
    rest = {name: part for name, part in value.items() if name != "toolResult"}
    inner = value["toolResult"]
    if not rest:
        call.value = inner
    elif isinstance(inner, dict):
        call.value = {**rest, **inner}
    elif rest.keys() <= KNOWN:
        call.value = {**rest, "content": _content_of_value(inner)}
    else:
        return  # the tool's own value has a member of that name
    yield Change(path="toolResult", before=inner, after=call.value)


@repair(
    "result-double-wrapped",
    ALL,
    CallResult,
    makes='The object under the only member "result" becomes the result.',
)
def double_wrapped(call: CallResult) -> Iterator[Change]:
    """The result is wrapped into another one: {"result": {…}}."""
    value = call.value
    if not isinstance(value, dict) or value.keys() - {"jsonrpc", "id"} != {"result"}:
        return
    # A tool with a schema may well return an object with one member of that name.
    if isinstance(value["result"], dict) and (call.tool is None or call.tool.output_schema is None):
        call.value = value["result"]
        yield Change(path="result", before=value, after=call.value)


@repair(
    "result-not-object",
    SAFE,
    CallResult,
    makes="The value becomes content: blocks as they are, all else as text.",
)
def not_object(call: CallResult) -> Iterator[Change]:
    """A result that is not an object."""
    value = call.value
    if value is not ABSENT and not isinstance(value, dict):
        call.value = {"content": _content_of_value(value)}
        yield Change(path="result", before=value, after=call.value)


def _content_of_value(value: Any) -> list[Any]:
    if isinstance(value, list) and value and all(map(_is_block, value)):
        return value
    return [] if value is None else [text_block(as_text(value))]


def _is_block(value: Any) -> bool:
    """A block, or one with a wrong type that names the member with its value."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind in TYPES or kind in value)


@repair(
    "result-bare-payload",
    SAFE,
    CallResult,
    makes="The value becomes text and structuredContent; an object that only describes an error becomes isError.",
)
def bare_payload(call: CallResult) -> Iterator[Change]:
    """The bare value of the tool as the result."""
    value = result_of(call)
    if value is None or not _is_bare(value):
        return
    around = {name for name, part in value.items() if _belongs(name, part)}
    if value.get("resultType") == "complete":
        around.update(MODERN_MEMBERS)
    kept = {name: part for name, part in value.items() if name in around}
    payload = {name: part for name, part in value.items() if name not in around}
    text = None if kept.get("isError") is False else failure_text(payload)
    if text is not None:
        call.value = {"content": [text_block(text)], **kept, "isError": True}
        yield Change(path="result", before=payload, after=call.value, keep=True)
        return
    call.value = {"content": [text_block(as_text(payload))], "isError": False, **kept}
    if call.asked.reads_structured and not is_error(call.value):
        call.value["structuredContent"] = payload
    yield Change(path="result", before=payload, after=call.value)


def _is_bare(value: Json) -> bool:
    return "content" not in value and "structuredContent" not in value and bool(value.keys() - KNOWN)


def _belongs(name: str, part: Any) -> bool:
    """Whether a member of a bare value is the protocol's and not the tool's."""
    return (name == "_meta" and isinstance(part, dict)) or (name == "isError" and isinstance(part, bool))


@repair(
    "content-missing",
    SAFE,
    CallResult,
    makes="content is added: the JSON of structuredContent as text, or nothing.",
)
def content_missing(call: CallResult) -> Iterator[Change]:
    """A result without content."""
    value = result_of(call)
    # A bare value is repaired by another code or not at all: content would make it look empty.
    if value is None or value.get("content") is not None or _is_bare(value):
        return
    structured = value.get("structuredContent")
    value["content"] = [] if structured is None else [text_block(as_text(structured))]
    yield Change(path="content", after=value["content"])


@repair("content-not-array", SAFE, CallResult, makes="The block or text becomes the only item of an array.")
def content_not_array(call: CallResult) -> Iterator[Change]:
    """content that is not an array."""
    value = result_of(call)
    if value is None or isinstance(before := value.get("content"), list) or before is None:
        return
    value["content"] = [before if isinstance(before, dict) else text_block(as_text(before))]
    yield Change(path="content", before=before, after=value["content"])


@repair("optional-null", SAFE, CallResult, makes="The member is left out.")
def meta_null(call: CallResult) -> Iterator[Change]:
    """_meta of a result is null."""
    if isinstance(call.value, dict) and call.value.get("_meta", ABSENT) is None:
        del call.value["_meta"]
        yield Change(path="_meta", before=None)


@repair(
    "meta-not-object", SAFE, CallResult, makes="The member is left out, and kept among what was taken out."
)
def meta_not_object(call: CallResult) -> Iterator[Change]:
    """_meta of a result is not an object."""
    meta = call.value.get("_meta") if isinstance(call.value, dict) else None
    if meta is not None and not isinstance(meta, dict):
        del call.value["_meta"]
        yield Change(path="_meta", before=meta)


@repair(
    "content-empty",
    ALL,
    CallResult,
    makes="A text is added: the JSON of structuredContent, or that there is nothing.",
)
def content_empty(call: CallResult) -> Iterator[Change]:
    """A result that shows nothing."""
    value = result_of(call)
    # Any other isError than a boolean may mean a failure.
    if value is None or value.get("isError") or not isinstance(value.get("content"), list):
        return
    if not all(_is_blank(block) for block in content_of(call)):
        return
    structured = value.get("structuredContent")
    value["content"] = [text_block(_NO_OUTPUT if structured is None else as_text(structured))]
    yield Change(path="content", after=value["content"])


def _is_blank(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and block.get("text") == ""


SHAPE: tuple[Repair[Any], ...] = (
    nested_tool_result,
    double_wrapped,
    not_object,
    bare_payload,
    content_missing,
    content_not_array,
    meta_null,
    meta_not_object,
)
# When everything that could be shown is there.
LAST: tuple[Repair[Any], ...] = (content_empty,)
