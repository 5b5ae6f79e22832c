"""structuredContent: its form, and whether it is what the tool's outputSchema promises."""

from collections.abc import Iterator
from typing import Any

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ...schemas.json_schema import can_judge, mismatch
from .. import values
from ..repair import ABSENT, ALL, SAFE, Change, Repair, repair
from ..subjects import CallResult
from .reading import Json, content_of, is_error, json_in, result_of, text_block, texts_of

# The largest integer up to which JavaScript has every one.
_SAFE_INTEGER = 2**53


@repair(
    "structured-content-not-object",
    SAFE,
    CallResult,
    makes='It is put under "result" if the tool is listed like that; else left out. null is left out.',
)
def not_object(call: CallResult) -> Iterator[Change]:
    """structuredContent that is not an object, for a client that expects one."""
    value = result_of(call)
    if value is None or "structuredContent" not in value:
        return
    before = value["structuredContent"]
    if call.tool is not None and call.tool.is_wrapped:
        if isinstance(before, dict) and not _fits_only_wrapped(before, _schema(call)):
            return
        value["structuredContent"] = {"result": before}
        value.setdefault("isError", False)
        yield Change(path="structuredContent", before=before, after=value["structuredContent"])
    elif not isinstance(before, dict) and not call.asked.is_modern and _stays_visible(call):
        del value["structuredContent"]
        if before is not None:
            value.setdefault("isError", False)
        yield Change(path="structuredContent", before=before)


def _stays_visible(call: CallResult) -> bool:
    """Whether the result still shows something without structuredContent, which is put into content if that is empty."""
    structured = call.value["structuredContent"]
    if not isinstance(call.value.get("content"), list):
        return structured is None
    if not content_of(call) and structured is not None:
        call.value["content"] = [text_block(values.text_of(structured))]
    return True


def _fits_only_wrapped(value: Json, schema: Json | None) -> bool:
    return schema is not None and bool(_mismatch(value, schema)) and not _mismatch({"result": value}, schema)


@repair(
    "structured-content-schema-mismatch",
    SAFE,
    CallResult,
    makes="structuredContent is left out of the result, and the outputSchema of the list.",
)
def schema_mismatch(call: CallResult) -> Iterator[Change]:
    """structuredContent does not match the outputSchema."""
    value, schema = _success(call), _schema(call)
    if value is None or schema is None or "structuredContent" not in value:
        return
    if _mismatch(value["structuredContent"], schema) and _stays_visible(call):
        call.drops_schema = True
        yield Change(path="structuredContent", before=value.pop("structuredContent"))


@repair(
    "structured-content-missing",
    SAFE,
    CallResult,
    makes="The JSON of the text, if it matches the outputSchema; else the schema is left out of the list.",
)
def missing(call: CallResult) -> Iterator[Change]:
    """An outputSchema is declared, but structuredContent is missing."""
    value, schema = _success(call), _schema(call)
    # The repair before this one has left it out already.
    if value is None or schema is None or "structuredContent" in value or call.drops_schema:
        return
    if not call.asked.reads_structured:
        return
    texts = texts_of(call)
    read = json_in(texts[0][1]) if len(texts) == 1 else ABSENT
    forms: tuple[Any, ...] = () if read is ABSENT else (read,)
    if call.tool is not None and call.tool.is_wrapped:
        forms = tuple({"result": one} for one in forms) + forms
    for form in forms:
        if (call.asked.is_modern or isinstance(form, dict)) and _fits(form, schema):
            value["structuredContent"] = form
            yield Change(path="structuredContent", after=form)
            return
    call.drops_schema = True
    yield Change(path="structuredContent")


def _success(call: CallResult) -> Json | None:
    value = result_of(call)
    return None if value is None or is_error(value) else value


def _schema(call: CallResult) -> Json | None:
    return None if call.tool is None else call.tool.output_schema


def _mismatch(value: Any, schema: Json) -> str:
    plain = _plain(value)
    return "" if plain is ABSENT else mismatch(plain, schema)


def _fits(value: Any, schema: Json) -> bool:
    """Whether it surely does."""
    plain = _plain(value)
    return plain is not ABSENT and can_judge(plain, schema) and not mismatch(plain, schema)


def _plain(value: Any) -> Any:
    """The value as a validator takes it: with its numbers read. ABSENT if one of them is out of range."""
    try:
        return decode(values.write(value))
    except UNREADABLE:
        return ABSENT


@repair("text-json-only", ALL, CallResult, makes="The object is also structuredContent.")
def text_json_only(call: CallResult) -> Iterator[Change]:
    """A single text that is a JSON object, without structuredContent."""
    value = _unstructured(call)
    texts = texts_of(call)
    if value is None or is_error(value) or len(texts) != 1 or len(content_of(call)) != 1:
        return
    read = json_in(texts[0][1])
    if isinstance(read, dict):
        value["structuredContent"] = read
        yield Change(path="structuredContent", after=read)


@repair(
    "text-json-not-object",
    ALL,
    CallResult,
    makes='structuredContent with the value under "result"; else a word before the text.',
)
def text_json_not_object(call: CallResult) -> Iterator[Change]:
    """Text that is JSON but not an object, which Gemini CLI rejects without structuredContent."""
    value = result_of(call)
    if value is None or "structuredContent" in value:
        return
    read = [(at, text, json_in(text)) for at, text in texts_of(call)]
    odd = [(at, text) for at, text, part in read if part is not ABSENT and not isinstance(part, dict)]
    if not odd:
        return
    parts = [part for _, _, part in read]
    if _unstructured(call) is not None and not is_error(value) and ABSENT not in parts:
        value["structuredContent"] = {"result": parts[0] if len(parts) == 1 else parts}
        yield Change(path="structuredContent", after=value["structuredContent"])
        return
    word = "Error" if is_error(value) else "Result"
    for at, text in odd:
        content_of(call)[at]["text"] = f"{word}: {text}"
        yield Change(path=f"content[{at}].text", before=text, after=f"{word}: {text}")


def _unstructured(call: CallResult) -> Json | None:
    """The result, if structuredContent may be added to it: the client knows it, and no schema says what it must be."""
    value = result_of(call)
    if value is None or "structuredContent" in value or not call.asked.reads_structured:
        return None
    return value if _schema(call) is None else None


@repair("integer-unsafe", ALL, CallResult, makes="The integer becomes a string with the same digits.")
def integer_unsafe(call: CallResult) -> Iterator[Change]:
    """Integers in structuredContent that JavaScript rounds."""
    value = result_of(call)
    # As a string it would contradict a schema.
    if value is None or "structuredContent" not in value or _schema(call) is not None:
        return
    holder: list[Any] = [value["structuredContent"]]
    left: list[Any] = [holder]
    first = ABSENT
    while left:
        part = left.pop()
        for place, inner in list(part.items() if isinstance(part, dict) else enumerate(part)):
            if isinstance(inner, dict | list):
                left.append(inner)
            elif isinstance(inner, int) and abs(inner) > _SAFE_INTEGER:
                part[place] = str(inner)
                first = inner if first is ABSENT else first
    if first is not ABSENT:
        value["structuredContent"] = holder[0]
        yield Change(path="structuredContent", before=first, after=str(first))


STRUCTURED: tuple[Repair[Any], ...] = (
    not_object,
    schema_mismatch,
    missing,
    text_json_only,
    text_json_not_object,
    integer_unsafe,
)
