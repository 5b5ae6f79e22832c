"""How the failure of a tool is reported."""

from collections.abc import Iterator
from typing import Any

from ....repairs.results.failed import looks_failed
from ....schemas.json_schema import mismatch
from ...judging.check import MUST, PORTABILITY, SHOULD, Check, Defect, check
from ...subjects import MISSING, Called, Failed
from .structured import output_schema
from .values import json_in

_OUTPUT = "server/tools: output schema"
_ERRORS = "server/tools: error handling"


@check(
    "iserror-not-boolean",
    MUST,
    Called,
    clause="server/tools: CallToolResult.isError",
    expected="isError is true, false or absent.",
    fix="Send a boolean.",
)
def iserror_not_boolean(call: Called) -> Iterator[Defect]:
    """isError that is not a boolean."""
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
    expected="A failure says what went wrong in a text block: several clients do not pass the flag to the model.",
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
    expected="A failure has a text block and no structuredContent.",
    fix="Leave out structuredContent when isError is true.",
)
def error_with_structured_content(call: Called) -> Iterator[Defect]:
    """A failure with structuredContent."""
    value = call.structured
    if not call.is_error or value is MISSING:
        return
    schema = output_schema(call)
    wrong = mismatch(value, schema) if schema is not None else ""
    case = "err-sc" if not wrong else "modern-err-os-badsc" if call.is_modern else "err-os-badsc"
    yield Defect(
        path="result.structuredContent",
        evidence=value,
        note=wrong,
        severity=MUST if wrong else PORTABILITY,
        case=case,
    )


@check(
    "error-not-flagged",
    SHOULD,
    Called,
    clause=_ERRORS,
    expected="A failure is marked with isError: true.",
    fix="Set isError when the tool failed, and put only the message into the text.",
)
def error_not_flagged(call: Called) -> Iterator[Defect]:
    """A failure that looks like a success."""
    if call.is_error or not isinstance(call.result, dict):
        return
    for path, value in _bodies(call):
        if looks_failed(value):
            yield Defect(
                path=path, evidence=value, note="judged by its words" if isinstance(value, str) else ""
            )
            return


def _bodies(call: Called) -> Iterator[tuple[str, Any]]:
    if isinstance(structured := call.structured, dict):
        yield "result.structuredContent", structured
    for at, text in enumerate(call.texts):
        read = json_in(text)
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


@check(
    "tool-failure-as-protocol-error",
    SHOULD,
    Failed,
    clause=_ERRORS,
    expected="A tool that fails answers with a result and isError: true; the model can act on that.",
    fix="Turn exceptions of the tool into content with isError: true. JSON-RPC errors are for protocol errors.",
)
def tool_failure_as_protocol_error(failed: Failed) -> Iterator[Defect]:
    """A failed tool, reported as a protocol error."""
    error = failed.error
    if not isinstance(error, dict) or not isinstance(error.get("code"), int) or not failed.is_clear:
        return
    if not isinstance(error.get("message"), str):
        return  # reported by the check of errors
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
    """Refused with an HTTP error: the tool did not say it."""
    http = failed.step.http
    return (
        http is not None
        and (http.status or 200) in (400, 401, 403, 404, 429, 500, 502, 503)
        and not failed.is_modern
    )


CHECKS: tuple[Check[Any], ...] = (
    iserror_not_boolean,
    error_without_message,
    error_with_structured_content,
    error_not_flagged,
    tool_failure_as_protocol_error,
)
