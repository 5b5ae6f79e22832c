"""Prompts, resources and completion: what reading one of them results in, and what one that does not exist gets."""

from collections.abc import Iterator
from typing import Any

from ..judging.check import IN_LEGACY, MUST, SHOULD, Check, Defect, check
from ..subjects import MISSING, Asked

_ROLES = ("user", "assistant")
_MOST_VALUES = 100


def _data(asked: Asked) -> bytes:
    return asked.reply.data if asked.reply is not None else b""


def _is_finished(result: Any) -> bool:
    return isinstance(result, dict) and result.get("resultType", "complete") == "complete"


@check(
    "prompt-result-malformed",
    MUST,
    Asked,
    only="prompts/get",
    clause="server/prompts: getting a prompt",
    expected='The result has messages; each has the role "user" or "assistant" and one content block.',
    fix='Send {"messages": [{"role": "user", "content": {"type": "text", "text": "…"}}]}.',
)
def prompt_result_malformed(asked: Asked) -> Iterator[Defect]:
    """The result of prompts/get is not a list of messages."""
    if not _is_finished(asked.result):
        return
    messages = asked.result.get("messages")
    if not isinstance(messages, list):
        yield Defect(path="result.messages", evidence=_data(asked))
        return
    for at, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            yield Defect(path=f"result.messages[{at}].role", evidence=message)
            return
        block = message.get("content")
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            yield Defect(path=f"result.messages[{at}].content", evidence=message)
            return


@check(
    "resource-contents-malformed",
    MUST,
    Asked,
    only="resources/read",
    clause="server/resources: reading resources",
    expected="The result has contents; each has a uri, and either text or blob as a string.",
    fix='Send {"contents": [{"uri": "…", "text": "…"}]}.',
)
def resource_contents_malformed(asked: Asked) -> Iterator[Defect]:
    """The result of resources/read is not a list of contents."""
    if not _is_finished(asked.result):
        return
    contents = asked.result.get("contents")
    if not isinstance(contents, list):
        yield Defect(path="result.contents", evidence=_data(asked))
        return
    for at, one in enumerate(contents):
        if not isinstance(one, dict) or not isinstance(one.get("uri"), str):
            yield Defect(path=f"result.contents[{at}].uri", evidence=one)
            return
        if not isinstance(one.get("text"), str) and not isinstance(one.get("blob"), str):
            yield Defect(
                path=f"result.contents[{at}]", evidence=one, note="neither text nor blob is a string"
            )
            return


@check(
    "completion-malformed",
    MUST,
    Asked,
    only="completion/complete",
    clause="server/utilities/completion",
    expected=f"completion holds values: at most {_MOST_VALUES} strings.",
    fix='Send {"completion": {"values": ["…"]}}, and hasMore if there are more.',
)
def completion_malformed(asked: Asked) -> Iterator[Defect]:
    """The result of completion/complete is not a list of values."""
    if not _is_finished(asked.result):
        return
    completion = asked.result.get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        yield Defect(path="result.completion.values", evidence=_data(asked))
    elif len(values) > _MOST_VALUES:
        yield Defect(path="result.completion.values", evidence=_data(asked), note=f"{len(values)} values")


@check(
    "unknown-prompt-code",
    SHOULD,
    Asked,
    only="unknown-prompt",
    clause="server/prompts: error handling",
    expected="A prompt that does not exist is answered with the error -32602.",
    fix="Look up the name first, and answer -32602 if there is no such prompt.",
)
def unknown_prompt_code(asked: Asked) -> Iterator[Defect]:
    """A prompt that does not exist does not get -32602."""
    if asked.result is not MISSING:
        yield Defect(path="result", evidence=_data(asked))
    elif not asked.is_refused and asked.code not in (None, -32602):
        yield Defect(path="error.code", evidence=_data(asked))


@check(
    "prompt-argument-not-checked",
    SHOULD,
    Asked,
    only="prompt-without-argument",
    clause="server/prompts: error handling",
    expected="A prompt without a required argument is answered with the error -32602.",
    fix="Check the arguments that you declare as required, and answer -32602.",
)
def prompt_argument_not_checked(asked: Asked) -> Iterator[Defect]:
    """A prompt without a required argument does not get -32602."""
    if asked.result is not MISSING:
        yield Defect(path="result", evidence=_data(asked))
    elif not asked.is_refused and asked.code not in (None, -32602):
        yield Defect(path="error.code", evidence=_data(asked))


@check(
    "completion-reference-code",
    SHOULD,
    Asked,
    only="unknown-reference",
    clause="server/utilities/completion: error handling",
    expected="Completion for a prompt that does not exist is answered with the error -32602.",
    fix="Look up the reference first, and answer -32602 if there is no such prompt.",
)
def completion_reference_code(asked: Asked) -> Iterator[Defect]:
    """Completion for a prompt that does not exist does not get -32602."""
    if asked.result is not MISSING:
        yield Defect(path="result", evidence=_data(asked))
    elif not asked.is_refused and asked.code not in (None, -32602):
        yield Defect(path="error.code", evidence=_data(asked))


@check(
    "unknown-resource-code",
    MUST,
    Asked,
    only="unknown-resource",
    clause="server/resources: error handling",
    expected="A resource that does not exist is answered with the error -32002; in 2026-07-28 with -32602.",
    fix="Look up the address first; never answer with empty contents.",
    departs=(
        "Until 2025-11-25 the specification says SHOULD and names only -32002; -32602 is accepted there as well, since the next "
        "revision made it the code and clients treat both alike."
    ),
)
def unknown_resource_code(asked: Asked) -> Iterator[Defect]:
    """A resource that does not exist gets the wrong error, or none."""
    is_legacy = asked.revision in IN_LEGACY
    severity = SHOULD if is_legacy else MUST
    if asked.result is not MISSING:
        yield Defect(path="result", evidence=_data(asked), severity=severity)
    elif not asked.is_refused and asked.code not in (None, -32602, *((-32002,) if is_legacy else ())):
        yield Defect(path="error.code", evidence=_data(asked), severity=severity)


CHECKS: tuple[Check[Any], ...] = (
    prompt_result_malformed,
    resource_contents_malformed,
    completion_malformed,
    unknown_prompt_code,
    prompt_argument_not_checked,
    completion_reference_code,
    unknown_resource_code,
)
