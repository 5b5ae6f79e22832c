"""Results of tools as a whole: the wrapper, the structured half, and how failures are told."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ..check import ADVICE, IN_LEGACY, MUST, PORTABILITY, SHOULD, Check, Defect, check, since
from ..json_schema import mismatch
from ..subjects import MISSING, Called, Failed

_RESULT = "server/tools: CallToolResult.content"
_STRUCTURED = "server/tools: structured content"
_OUTPUT = "server/tools: output schema"
_ERRORS = "server/tools: error handling"
_KNOWN = frozenset(
    {"content", "structuredContent", "isError", "_meta", "resultType", "ttlMs", "cacheScope", "task"}
)
# A result that is no answer yet: it has no content.
_UNFINISHED = frozenset({"input_required", "task"})
_STRUCTURED_SINCE = since("2025-06-18")
# Gemini CLI cuts here; Codex and Claude Code cut or move longer texts, too.
_LARGE_CHARACTERS = 40_000


def _is_unfinished(call: Called) -> bool:
    result = call.result
    return isinstance(result, dict) and (result.get("resultType") in _UNFINISHED or "task" in result)


def _structured(call: Called) -> Any:
    return call.result.get("structuredContent", MISSING) if isinstance(call.result, dict) else MISSING


def _output_schema(call: Called) -> dict[str, Any] | None:
    schema = call.tool.get("outputSchema")
    if not isinstance(schema, dict) or call.revision not in _STRUCTURED_SINCE:
        return None
    # With a root that legacy clients refuse, the schema is the defect and not the value.
    return schema if call.is_modern or schema.get("type") == "object" else None


def _has_bad_schema(call: Called) -> bool:
    schema = call.tool.get("outputSchema")
    return isinstance(schema, dict) and not call.is_modern and schema.get("type") != "object"


# -- the wrapper --------------------------------------------------------------------------------------


@check(
    "content-missing",
    MUST,
    Called,
    clause=_RESULT,
    expected="A result always has content, an array that may be empty.",
    fix='Add content: one text block with the JSON of structuredContent; {"content": []} for nothing.',
)
def content_missing(call: Called) -> Iterator[Defect]:
    """A result without content."""
    result = call.result
    if not isinstance(result, dict) or result.get("content") is not None or _is_unfinished(call):
        return
    if result.keys() <= _KNOWN:
        if "content" in result:
            case = "content-null-sc"
        elif "structuredContent" in result:
            case = "modern-content-missing-sc" if call.is_modern else "content-missing-sc"
        else:
            case = "empty-result"
        yield Defect(path="result.content", evidence=call.data, case=case)


@check(
    "result-bare-payload",
    MUST,
    Called,
    clause=_RESULT,
    expected="The value of a tool travels inside content (and structuredContent), never as the result itself.",
    fix='Wrap it: {"content": [{"type": "text", "text": <its JSON>}], "structuredContent": <it, if an object>}.',
)
def result_bare_payload(call: Called) -> Iterator[Defect]:
    """The bare value of the tool as result."""
    result = call.result
    if not isinstance(result, dict) or "content" in result or "toolResult" in result:
        return
    if result.keys() - _KNOWN and not _is_unfinished(call):
        yield Defect(
            path="result",
            evidence=call.data,
            case="modern-bare-payload" if call.is_modern else "bare-payload",
        )


@check(
    "result-nested-toolresult",
    MUST,
    Called,
    clause=_RESULT,
    expected="content stands in the result itself.",
    fix="Lift what is under toolResult to the top; it was a draft's name.",
)
def result_nested_toolresult(call: Called) -> Iterator[Defect]:
    """The real result is nested under toolResult."""
    if isinstance(call.result, dict) and "toolResult" in call.result and "content" not in call.result:
        yield Defect(path="result.toolResult", evidence=call.data)


@check(
    "result-extra-member",
    ADVICE,
    Called,
    clause=_RESULT,
    expected="Only content, structuredContent, isError and _meta: clients drop the rest.",
    fix="Move the members into structuredContent.",
)
def result_extra_member(call: Called) -> Iterator[Defect]:
    """Members beside content that no client reads."""
    if not isinstance(call.result, dict) or not isinstance(call.result.get("content"), list):
        return
    if extra := sorted(call.result.keys() - _KNOWN):
        yield Defect(path=f"result.{extra[0]}", evidence=call.data)


@check(
    "content-not-array",
    MUST,
    Called,
    clause=_RESULT,
    expected="content is an array of blocks.",
    fix='Wrap it: [{"type": "text", "text": ...}].',
)
def content_not_array(call: Called) -> Iterator[Defect]:
    """content that is no array."""
    content = call.result.get("content") if isinstance(call.result, dict) else None
    if content is not None and not isinstance(content, list):
        yield Defect(path="result.content", evidence=content)


@check(
    "content-empty",
    ADVICE,
    Called,
    clause=_RESULT,
    expected="A text that says something, also for no result: several clients show only the text.",
    fix="Put the JSON of structuredContent into a text block, or say that there is nothing.",
)
def content_empty(call: Called) -> Iterator[Defect]:
    """A result that shows nothing."""
    content = call.result.get("content") if isinstance(call.result, dict) else None
    if not isinstance(content, list) or call.is_error or _is_unfinished(call):
        return
    is_blank = all(
        isinstance(block, dict) and block.get("type") == "text" and block.get("text") == ""
        for block in content
    )
    if is_blank:
        shown = isinstance(_structured(call), dict)
        yield Defect(
            path="result.content",
            evidence=call.data,
            severity=SHOULD if shown else ADVICE,
            case="empty-content-sc" if shown else "empty-content",
        )


@check(
    "result-too-large",
    PORTABILITY,
    Called,
    expected=f"At most {_LARGE_CHARACTERS:,} characters: longer texts are cut before the model sees them.",
    fix="Page the answer, shorten it with a note, or give a link.",
)
def result_too_large(call: Called) -> Iterator[Defect]:
    """A result that agents cut."""
    size = max([sum(len(text) for text in call.texts), len(_compact(_structured(call)))])
    if size > _LARGE_CHARACTERS:
        yield Defect(path="result", evidence=call.data, note=f"{size:,} characters")


# -- the structured half ------------------------------------------------------------------------------


@check(
    "structured-content-not-object",
    MUST,
    Called,
    revisions=IN_LEGACY,
    clause="server/tools: CallToolResult.structuredContent (until 2025-11-25)",
    expected="structuredContent is an object.",
    fix='Leave it out, or wrap it: {"result": <value>}, with an outputSchema to match.',
)
def structured_content_not_object(call: Called) -> Iterator[Defect]:
    """structuredContent that is no object."""
    value = _structured(call)
    if value is MISSING or isinstance(value, dict) or _has_bad_schema(call):
        return
    known = call.revision in _STRUCTURED_SINCE
    yield Defect(
        path="result.structuredContent",
        evidence=value,
        severity=MUST if known else PORTABILITY,
        case="sc-null" if value is None else "sc-array",
    )


@check(
    "structured-content-missing",
    MUST,
    Called,
    revisions=_STRUCTURED_SINCE,
    clause=_OUTPUT,
    expected="A tool with an outputSchema sends structuredContent with every success.",
    fix="Send the value as structuredContent, too, or drop the outputSchema.",
)
def structured_content_missing(call: Called) -> Iterator[Defect]:
    """An outputSchema is declared, but structuredContent is missing."""
    if _output_schema(call) is None or call.is_error or _is_unfinished(call):
        return
    if isinstance(call.result, dict) and "content" in call.result and _structured(call) is MISSING:
        case = "modern-os-sc-missing" if call.is_modern else "os-sc-missing"
        yield Defect(path="result.structuredContent", evidence=call.data, case=case)


@check(
    "structured-content-schema-mismatch",
    MUST,
    Called,
    revisions=_STRUCTURED_SINCE,
    clause=_OUTPUT,
    expected="structuredContent fits the tool's outputSchema.",
    fix="Mend the value or the schema; check every result against its schema before it is sent.",
)
def structured_content_schema_mismatch(call: Called) -> Iterator[Defect]:
    """structuredContent does not fit the outputSchema."""
    schema, value = _output_schema(call), _structured(call)
    if schema is None or value is MISSING or call.is_error:
        return
    if not call.is_modern and not isinstance(value, dict):
        return  # said already
    if wrong := mismatch(value, schema):
        case = "modern-os-mismatch" if call.is_modern else "os-mismatch"
        yield Defect(path="result.structuredContent", evidence=value, note=wrong, case=case)


@check(
    "structured-text-differ",
    SHOULD,
    Called,
    clause=_STRUCTURED,
    expected="The text holds the same JSON as structuredContent: clients show one of the two.",
    fix="Make the text from the same value, as one block.",
)
def structured_text_differ(call: Called) -> Iterator[Defect]:
    """Text and structuredContent say different things."""
    value = _structured(call)
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
    read = _json(texts[0]) if texts else MISSING
    if isinstance(read, dict | list) and not _same(read, value):
        yield Defect(path="result.content[0].text", evidence=call.data, case="text-json-sc-differs")


def _is_whole(texts: list[str], value: dict[str, Any]) -> bool:
    """Whether one of the blocks alone says it all, or all together are the list under `result`."""
    parts = [_json(text) for text in texts]
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
    """Equal, or the value that structuredContent wraps under `result`."""
    return bool(read == value) or (value.keys() == {"result"} and bool(read == value["result"]))


@check(
    "text-json-not-object",
    PORTABILITY,
    Called,
    clause=_STRUCTURED,
    expected="A text that is JSON is an object, or comes with structuredContent: Gemini CLI rejects the others.",
    fix='Add "structuredContent": {"result": <value>}, or words before the value.',
)
def text_json_not_object(call: Called) -> Iterator[Defect]:
    """A text that is JSON but no object."""
    if _structured(call) is not MISSING:
        return
    for at, text in enumerate(call.texts):
        read = _json(text)
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
    fix="Do not serialise what is a text of JSON already.",
)
def json_double_encoded(call: Called) -> Iterator[Defect]:
    """JSON inside a JSON text."""
    for at, text in enumerate(call.texts):
        if _is_double(_json(text)):
            yield Defect(path=f"result.content[{at}].text", evidence=text)


def _is_double(read: Any) -> bool:
    return isinstance(read, str) and isinstance(_json(read), dict | list)


@check(
    "integer-unsafe",
    PORTABILITY,
    Called,
    expected="Whole numbers up to 2^53: clients in JavaScript round larger ones.",
    fix="Send large numbers as text.",
)
def integer_unsafe(call: Called) -> Iterator[Defect]:
    """A whole number that JavaScript rounds."""
    for path, value in _numbers(_structured(call)):
        if abs(value) > 2**53:
            yield Defect(path=f"result.structuredContent{path}", evidence=value)
            return


# -- failures -----------------------------------------------------------------------------------------


@check(
    "iserror-not-boolean",
    MUST,
    Called,
    clause="server/tools: CallToolResult.isError",
    expected="isError is true, false or absent.",
    fix="Send a boolean.",
)
def iserror_not_boolean(call: Called) -> Iterator[Defect]:
    """isError that is no boolean."""
    flag = call.result.get("isError", False) if isinstance(call.result, dict) else False
    if not isinstance(flag, bool):
        yield Defect(
            path="result.isError",
            evidence=call.data,
            case="iserror-null" if flag is None else "iserror-string",
        )


@check(
    "error-without-message",
    SHOULD,
    Called,
    clause=_ERRORS,
    expected="A failure says in a text what went wrong: several clients pass no flag to the model.",
    fix="Add a text block with the message.",
)
def error_without_message(call: Called) -> Iterator[Defect]:
    """A failure without a message."""
    if call.is_error and not any(text.strip() for text in call.texts):
        yield Defect(path="result.content", evidence=call.data)


@check(
    "error-with-structured-content",
    PORTABILITY,
    Called,
    clause=_OUTPUT,
    expected="A failure has a text and no structuredContent.",
    fix="Leave structuredContent out where isError is true.",
)
def error_with_structured_content(call: Called) -> Iterator[Defect]:
    """A failure with structuredContent."""
    value = _structured(call)
    if not call.is_error or value is MISSING:
        return
    schema = _output_schema(call)
    wrong = mismatch(value, schema) if schema is not None else ""
    case = "err-sc" if not wrong else "modern-err-os-badsc" if call.is_modern else "err-os-badsc"
    yield Defect(
        path="result.structuredContent",
        evidence=value,
        note=wrong,
        severity=MUST if wrong else PORTABILITY,
        case=case,
    )


_ERROR_WORDS = re.compile(
    r"(error|exception|fatal|traceback \(most recent call last\)|http error|internal server error"
    r"|(request failed with )?status( code)? [45]\d\d)\b\s*[:\d(]",
    re.IGNORECASE,
)
_ERROR_MEMBERS = ("error", "errors", "exception", "errorMessage", "error_message")


@check(
    "error-not-flagged",
    SHOULD,
    Called,
    clause=_ERRORS,
    expected="A failure is marked with isError: true.",
    fix="Set isError where the tool failed, and put the message alone into the text.",
)
def error_not_flagged(call: Called) -> Iterator[Defect]:
    """A failure that looks like a success."""
    if call.is_error or not isinstance(call.result, dict):
        return
    for path, value in _bodies(call):
        if _looks_failed(value):
            yield Defect(path=path, evidence=value)
            return


def _bodies(call: Called) -> Iterator[tuple[str, Any]]:
    if isinstance(structured := _structured(call), dict):
        yield "result.structuredContent", structured
    for at, text in enumerate(call.texts):
        read = _json(text)
        yield f"result.content[{at}].text", text if read is MISSING else read
    for at, block in enumerate(call.blocks):
        if (
            isinstance(block, dict)
            and isinstance(block.get("type"), str)
            and isinstance(block.get(block["type"]), dict)
        ):
            yield f"result.content[{at}]", block[block["type"]]
    if "content" not in call.result:
        yield "result", call.result


def _looks_failed(value: Any) -> bool:
    if isinstance(value, str):
        return _ERROR_WORDS.match(value.lstrip()) is not None
    if not isinstance(value, dict):
        return False
    if value.get("success") is False or value.get("ok") is False:
        return True
    # A record that merely has an error among its data is not a failure: an error stands nearly alone.
    told = [name for name in _ERROR_MEMBERS if value.get(name)]
    return bool(told) and len(value) <= 4 and isinstance(value[told[0]], str | dict | list)


@check(
    "tool-failure-as-protocol-error",
    SHOULD,
    Failed,
    clause=_ERRORS,
    expected="A tool that fails answers with a result and isError: true; the model can act on that.",
    fix="Turn what the tool raises into content with isError: true. JSON-RPC errors are for the protocol.",
)
def tool_failure_as_protocol_error(failed: Failed) -> Iterator[Defect]:
    """A tool that failed, told as an error of the protocol."""
    error = failed.error
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return
    if error["code"] in _NOT_OF_THE_TOOL or _is_unsaid(failed):
        return
    legal = error["code"] == -32602
    yield Defect(
        path="error",
        evidence=failed.data,
        severity=PORTABILITY if legal else SHOULD,
        case="modern-rpc-error" if failed.is_modern else "rpc-error-32602" if legal else "rpc-error",
    )


# Method unknown, header mismatch, missing capability, version, and the page a person has to open first.
_NOT_OF_THE_TOOL = frozenset({-32601, -32020, -32021, -32022, -32042})


def _is_unsaid(failed: Failed) -> bool:
    """Refused by HTTP: not the tool's words."""
    http = failed.step.http
    return (
        http is not None
        and (http.status or 200) in (400, 401, 403, 404, 429, 500, 502, 503)
        and not failed.is_modern
    )


# -- values -------------------------------------------------------------------------------------------


def _json(text: str) -> Any:
    """The JSON in a text; MISSING where it is none. Numbers in words are no JSON either."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def _compact(value: Any) -> str:
    try:
        return "" if value is MISSING else json.dumps(value, separators=(",", ":"))
    except (ValueError, RecursionError, TypeError):
        return ""


def _numbers(value: Any) -> Iterator[tuple[str, int]]:
    left = [("", value)]
    while left:
        path, part = left.pop()
        if isinstance(part, int) and not isinstance(part, bool):
            yield path, part
        elif isinstance(part, dict):
            left += [(f"{path}.{key}", inner) for key, inner in part.items()]
        elif isinstance(part, list):
            left += [(f"{path}[{at}]", inner) for at, inner in enumerate(part)]


CHECKS: tuple[Check[Any], ...] = (
    content_missing,
    result_bare_payload,
    result_nested_toolresult,
    result_extra_member,
    content_not_array,
    content_empty,
    result_too_large,
    structured_content_not_object,
    structured_content_missing,
    structured_content_schema_mismatch,
    structured_text_differ,
    text_json_not_object,
    json_double_encoded,
    integer_unsafe,
    iserror_not_boolean,
    error_without_message,
    error_with_structured_content,
    error_not_flagged,
    tool_failure_as_protocol_error,
)
