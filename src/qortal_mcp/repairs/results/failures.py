"""How the failure of a tool is reported: as a result with isError, whatever it was dressed as."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from ...protocol import errors
from ..repair import ABSENT, ALL, SAFE, Change, Repair, repair
from ..subjects import CallResult
from ..values import is_number
from .failed import error_text, looks_failed
from .reading import content_of, is_error, json_in, result_of, text_block, texts_of

_NO_MESSAGE = "The server gave no message."
_URL_FIRST = -32042  # a person has to open a page first
_OF_THE_PROTOCOL = frozenset(
    {
        errors.PARSE_ERROR,
        errors.INVALID_REQUEST,
        errors.METHOD_NOT_FOUND,
        errors.HEADER_MISMATCH,
        errors.MISSING_CAPABILITY,
        errors.UNSUPPORTED_VERSION,
        errors.REQUEST_CANCELLED,
        _URL_FIRST,
    }
)
# -32602 is also what many servers answer when a tool refuses its arguments. These speak of the request.
_OF_THE_REQUEST = re.compile(
    r"\b(unknown|no such|unrecogni[sz]ed|undefined) tool\b(?! (argument|parameter|input|option))"
    r"|\b(missing|invalid|no|empty) tool name\b|\btool name\b.{0,20}\b(required|missing|must|empty|invalid)\b"
    r"|\btool (not found|unknown)\b"
    r"|\btool:? [\"'`]?[^\s\"'`]{1,200}[\"'`]?:? (is |was |does )?"
    r"(not found|not exist|doesn't exist|unknown|not known|not registered|not available|not supported)\b"
    r"|^(mcp error -?\d{1,6}: )?invalid (request )?param(eter)?s\.?$"
    r"|^(mcp error -?\d{1,6}: )?(invalid params: )?(params (is|are|must|should)|(missing|no) params)\b",
    re.IGNORECASE,
)
_LONGEST_SEARCHED = 500
_NO = frozenset({"", "false", "no", "0", "null", "none", "off"})
_YES = frozenset({"true", "yes", "1", "on"})


@repair(
    "rpc-error-malformed",
    SAFE,
    CallResult,
    makes="An error with the code -32603 and a message; what stood there is its message or data.",
)
def error_malformed(call: CallResult) -> Iterator[Change]:
    """An error without a code or message of the right type."""
    before = call.error
    if before is ABSENT:
        return
    if not isinstance(before, dict):
        call.error = {"code": errors.INTERNAL_ERROR, "message": _message(before)}
        yield Change(path="error", before=before, after=call.error, keep=True)
        return
    code, message = before.get("code"), before.get("message")
    has_code = isinstance(code, int) and not isinstance(code, bool)
    if has_code and isinstance(message, str):
        return
    repaired = {**before, "code": code if has_code else errors.INTERNAL_ERROR, "message": _message(message)}
    if not has_code and code is not None:
        data = before.get("data")
        repaired["data"] = code if data is None else {"code": code, "data": data}
    call.error = repaired
    yield Change(path="error", before=before, after=repaired, keep=True)


def _message(value: Any) -> str:
    return _NO_MESSAGE if not value else error_text(value)


@repair(
    "tool-failure-as-protocol-error",
    SAFE,
    CallResult,
    makes="A result with isError, with message and data as text.",
)
def failure_as_protocol_error(call: CallResult) -> Iterator[Change]:
    """A failed tool, reported as a protocol error."""
    error = call.error
    if not isinstance(error, dict) or not isinstance(message := error.get("message"), str):
        return
    code = error.get("code")
    # Any JSON value can be the code, if the repair before this one is switched off.
    if not isinstance(code, int) or code in _OF_THE_PROTOCOL:
        return
    if code == errors.INVALID_PARAMS and _OF_THE_REQUEST.search(message[:_LONGEST_SEARCHED]):
        return
    data = error.get("data")
    said = {"message": message or _NO_MESSAGE, **({} if data is None else {"data": data})}
    call.error = ABSENT
    call.value = {"content": [text_block(error_text(said))], "isError": True}
    yield Change(path="error", before=error, after=call.value, keep=True)


@repair("iserror-not-boolean", SAFE, CallResult, makes="true or false, by what it says; null is left out.")
def iserror_not_boolean(call: CallResult) -> Iterator[Change]:
    """isError that is not a boolean."""
    value = result_of(call)
    flag = False if value is None else value.get("isError", False)
    if value is None or isinstance(flag, bool):
        return
    if flag is None:
        del value["isError"]
        yield Change(path="isError", before=None)
        return
    value["isError"] = _truth(flag)
    is_told = is_number(flag) or (isinstance(flag, str) and flag.strip().lower() in _NO | _YES)
    yield Change(path="isError", before=flag, after=value["isError"], keep=not is_told)


def _truth(flag: Any) -> bool:
    if isinstance(flag, str):
        return flag.strip().lower() not in _NO
    return float(bytes(flag)) != 0 if isinstance(flag, Raw) else bool(flag)


@repair("error-not-flagged", ALL, CallResult, makes="isError is set.")
def error_not_flagged(call: CallResult) -> Iterator[Change]:
    """A failure that looks like a success."""
    value = result_of(call)
    if value is None or is_error(value):
        return
    for body in _bodies(call):
        if looks_failed(body):
            value["isError"] = True
            yield Change(path="isError", after=True)
            return


def _bodies(call: CallResult) -> Iterator[Any]:
    if isinstance(structured := call.value.get("structuredContent"), dict):
        yield structured
    for _, text in texts_of(call):
        read = json_in(text)
        yield text if read is ABSENT else read


@repair("error-with-structured-content", SAFE, CallResult, makes="structuredContent is left out.")
def error_with_structured_content(call: CallResult) -> Iterator[Change]:
    """A failure with structuredContent."""
    value = result_of(call)
    if value is not None and is_error(value) and "structuredContent" in value:
        yield Change(path="structuredContent", before=value.pop("structuredContent"))


@repair("error-without-message", ALL, CallResult, makes="A text block that names the tool.")
def error_without_message(call: CallResult) -> Iterator[Change]:
    """A failure without a message."""
    value = result_of(call)
    if value is None or not is_error(value) or not isinstance(value.get("content"), list):
        return
    if any(text.strip() for _, text in texts_of(call)):
        return
    name = f"The tool {call.tool.name}" if call.tool is not None else "The tool"
    said = text_block(f"{name} failed and gave no message.")
    value["content"] = [said, *(block for block in content_of(call) if not _is_text(block))]
    yield Change(path="content", after=said)


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text"


ERRORS: tuple[Repair[Any], ...] = (error_malformed, failure_as_protocol_error)
FLAGS: tuple[Repair[Any], ...] = (iserror_not_boolean,)
FAILURES: tuple[Repair[Any], ...] = (error_not_flagged, error_with_structured_content, error_without_message)
