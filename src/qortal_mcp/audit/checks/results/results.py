"""Results of tools as a whole: what surrounds their value."""

from collections.abc import Iterator
from typing import Any

from ...judging.check import ADVICE, MUST, PORTABILITY, SHOULD, Check, Defect, check
from ...subjects import Called
from .values import compact

_RESULT = "server/tools: CallToolResult.content"
_KNOWN = frozenset(
    {"content", "structuredContent", "isError", "_meta", "resultType", "ttlMs", "cacheScope", "task"}
)
# Gemini CLI cuts here; Codex and Claude Code also cut or move longer texts.
_LARGE_CHARACTERS = 40_000


@check(
    "content-missing",
    MUST,
    Called,
    clause=_RESULT,
    expected="A result always has content, an array that may be empty.",
    fix='Add content: one text block with the JSON of structuredContent; {"content": []} if there is nothing.',
)
def content_missing(call: Called) -> Iterator[Defect]:
    """A result without content."""
    result = call.result
    if not isinstance(result, dict) or result.get("content") is not None or call.is_unfinished:
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
    expected="The value of a tool is inside content (and structuredContent), never the result itself.",
    fix='Wrap it: {"content": [{"type": "text", "text": <its JSON>}], "structuredContent": <it, if an object>}.',
)
def result_bare_payload(call: Called) -> Iterator[Defect]:
    """The bare value of the tool as the result."""
    result = call.result
    if not isinstance(result, dict) or "content" in result or "toolResult" in result:
        return
    if result.keys() - _KNOWN and not call.is_unfinished:
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
    expected="content is a member of the result itself.",
    fix="Move what is under toolResult to the top; the name comes from a draft.",
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
    expected="A result has only content, structuredContent, isError and _meta: clients drop the rest.",
    fix="Move the members into structuredContent.",
)
def result_extra_member(call: Called) -> Iterator[Defect]:
    """Additional members that no client reads."""
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
    """content that is not an array."""
    content = call.result.get("content") if isinstance(call.result, dict) else None
    if content is not None and not isinstance(content, list):
        yield Defect(path="result.content", evidence=content)


@check(
    "content-empty",
    ADVICE,
    Called,
    clause=_RESULT,
    expected="There is text, even for an empty result: several clients show only the text.",
    fix="Put the JSON of structuredContent into a text block, or say that nothing was found.",
)
def content_empty(call: Called) -> Iterator[Defect]:
    """A result that shows nothing."""
    content = call.result.get("content") if isinstance(call.result, dict) else None
    if not isinstance(content, list) or call.is_error or call.is_unfinished:
        return
    is_blank = all(
        isinstance(block, dict) and block.get("type") == "text" and block.get("text") == ""
        for block in content
    )
    if is_blank:
        shown = isinstance(call.structured, dict)
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
    expected=f"A result has at most {_LARGE_CHARACTERS:,} characters: longer texts are truncated before the model sees them.",
    fix="Split the answer into pages, shorten it with a note, or give a link.",
)
def result_too_large(call: Called) -> Iterator[Defect]:
    """A result that agents truncate."""
    size = max([sum(len(text) for text in call.texts), len(compact(call.structured))])
    if size > _LARGE_CHARACTERS:
        yield Defect(path="result", evidence=call.data, note=f"{size:,} characters")


CHECKS: tuple[Check[Any], ...] = (
    content_missing,
    result_bare_payload,
    result_nested_toolresult,
    result_extra_member,
    content_not_array,
    content_empty,
    result_too_large,
)
