"""The structured half of a result, and the text beside it."""

from collections.abc import Iterator
from typing import Any

from ....schemas.json_schema import mismatch
from ...judging.check import IN_LEGACY, MUST, PORTABILITY, SHOULD, Check, Defect, Severity, check, since
from ...subjects import MISSING, Called
from .values import json_in, numbers

_STRUCTURED = "server/tools: structured content"
_OUTPUT = "server/tools: output schema"
_STRUCTURED_SINCE = since("2025-06-18")


def output_schema(call: Called) -> dict[str, Any] | None:
    schema = call.tool.get("outputSchema")
    if not isinstance(schema, dict):
        return None
    # With a root that legacy clients refuse, the schema is the defect and not the value.
    return schema if call.is_modern or schema.get("type") == "object" else None


def _severity(call: Called) -> Severity:
    """Older revisions have no structured content, but their clients check it against its schema all the same."""
    return MUST if call.revision in _STRUCTURED_SINCE else PORTABILITY


def _has_bad_schema(call: Called) -> bool:
    schema = call.tool.get("outputSchema")
    return isinstance(schema, dict) and not call.is_modern and schema.get("type") != "object"


@check(
    "structured-content-not-object",
    MUST,
    Called,
    revisions=IN_LEGACY,
    clause="server/tools: CallToolResult.structuredContent (until 2025-11-25)",
    expected="structuredContent is an object.",
    fix='Leave it out, or wrap it: {"result": <value>}, with a matching outputSchema.',
)
def structured_content_not_object(call: Called) -> Iterator[Defect]:
    """structuredContent that is not an object."""
    value = call.structured
    if value is MISSING or isinstance(value, dict) or _has_bad_schema(call):
        return
    yield Defect(
        path="result.structuredContent",
        evidence=value,
        severity=_severity(call),
        case="sc-null" if value is None else "sc-array",
    )


@check(
    "structured-content-missing",
    MUST,
    Called,
    clause=_OUTPUT,
    expected="A tool with an outputSchema sends structuredContent with every successful result.",
    fix="Send the value as structuredContent as well, or remove the outputSchema.",
)
def structured_content_missing(call: Called) -> Iterator[Defect]:
    """An outputSchema is declared, but structuredContent is missing."""
    if output_schema(call) is None or call.is_error or call.is_unfinished:
        return
    if isinstance(call.result, dict) and "content" in call.result and call.structured is MISSING:
        case = "modern-os-sc-missing" if call.is_modern else "os-sc-missing"
        yield Defect(path="result.structuredContent", evidence=call.data, severity=_severity(call), case=case)


@check(
    "structured-content-schema-mismatch",
    MUST,
    Called,
    clause=_OUTPUT,
    expected="structuredContent matches the tool's outputSchema.",
    fix="Fix the value or the schema; check every result against its schema before you send it.",
)
def structured_content_schema_mismatch(call: Called) -> Iterator[Defect]:
    """structuredContent does not match the outputSchema."""
    schema, value = output_schema(call), call.structured
    if schema is None or value is MISSING or call.is_error:
        return
    if not call.is_modern and not isinstance(value, dict):
        return  # reported by the check above
    if wrong := mismatch(value, schema):
        case = "modern-os-mismatch" if call.is_modern else "os-mismatch"
        yield Defect(
            path="result.structuredContent", evidence=value, note=wrong, severity=_severity(call), case=case
        )


@check(
    "structured-text-differ",
    SHOULD,
    Called,
    clause=_STRUCTURED,
    expected="The text holds the same JSON as structuredContent: clients show one of the two.",
    fix="Create the text from the same value, as one block.",
)
def structured_text_differ(call: Called) -> Iterator[Defect]:
    """Text and structuredContent differ."""
    value = call.structured
    if not isinstance(value, dict) or call.is_error:
        return
    texts = call.texts
    if len(texts) > 1:
        if not _is_whole(texts, value):
            yield Defect(
                path="result.content",
                evidence=call.data,
                severity=PORTABILITY,
                note=f"{len(texts)} text blocks beside structuredContent",
                case="several-text-sc",
            )
        return
    read = json_in(texts[0]) if texts else MISSING
    if isinstance(read, dict | list) and not _same(read, value) and texts[0] not in value.values():
        yield Defect(path="result.content[0].text", evidence=call.data, case="text-json-sc-differs")


def _is_whole(texts: list[str], value: dict[str, Any]) -> bool:
    """Whether one of the blocks alone says it all, or all together are the list under `result`."""
    parts = [json_in(text) for text in texts]
    if any(part is not MISSING and _same(part, value) for part in parts):
        return True
    items = value.get("result")
    if len(value) != 1 or not isinstance(items, list):
        return False
    # One block for each item is how the Python SDK writes lists.
    return len(items) == len(texts) and all(
        text == item if isinstance(item, str) else part is not MISSING and part == item
        for text, part, item in zip(texts, parts, items, strict=True)
    )


def _same(read: Any, value: dict[str, Any]) -> bool:
    """Equal, or the one value that structuredContent wraps: under `result`, or under a name of the tool's own."""
    return bool(read == value) or (len(value) == 1 and read in value.values())


@check(
    "text-json-not-object",
    PORTABILITY,
    Called,
    clause=_STRUCTURED,
    expected="Text that is JSON is an object, or comes with structuredContent: Gemini CLI rejects anything else.",
    fix='Add "structuredContent": {"result": <value>}, or put words before the value.',
)
def text_json_not_object(call: Called) -> Iterator[Defect]:
    """Text that is JSON but not an object."""
    if call.structured is not MISSING:
        return
    for at, text in enumerate(call.texts):
        read = json_in(text)
        if read is not MISSING and not isinstance(read, dict) and not _is_double(read):
            case = "err-text-json-array" if call.is_error else "text-json-array"
            yield Defect(path=f"result.content[{at}].text", evidence=text, case=case)
            return


@check(
    "json-double-encoded",
    SHOULD,
    Called,
    clause=_STRUCTURED,
    expected="JSON is encoded once.",
    fix="Do not serialise a string that is already JSON.",
)
def json_double_encoded(call: Called) -> Iterator[Defect]:
    """JSON inside a JSON string."""
    for at, text in enumerate(call.texts):
        if _is_double(json_in(text)):
            yield Defect(path=f"result.content[{at}].text", evidence=text)


def _is_double(read: Any) -> bool:
    return isinstance(read, str) and isinstance(json_in(read), dict | list)


@check(
    "integer-unsafe",
    PORTABILITY,
    Called,
    expected="Integers are at most 2^53: JavaScript clients round larger ones.",
    fix="Send large numbers as strings.",
)
def integer_unsafe(call: Called) -> Iterator[Defect]:
    """An integer that JavaScript rounds."""
    for path, value in numbers(call.structured):
        if abs(value) > 2**53:
            yield Defect(path=f"result.structuredContent{path}", evidence=value)
            return


CHECKS: tuple[Check[Any], ...] = (
    structured_content_not_object,
    structured_content_missing,
    structured_content_schema_mismatch,
    structured_text_differ,
    text_json_not_object,
    json_double_encoded,
    integer_unsafe,
)
