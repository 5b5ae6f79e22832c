"""Prompts, and the completion of what is typed into them."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from ...protocol import errors, messages, results
from ...protocol.decoding import decoder
from .. import tool_errors
from ..context import Context
from ..outcomes import outcome_of
from .call import Running, ServerCall, encode, repeated

_decode_prompt = decoder(messages.GetPromptParams)
_decode_complete = decoder(messages.CompleteParams)


def get_prompt(call: ServerCall) -> Running:
    params = call.params(_decode_prompt)
    bound = call.server.catalogue.prompts.get(params.name)
    if bound is None:
        raise errors.ProtocolError(errors.INVALID_PARAMS, f"Unknown prompt: {repeated(params.name, 60)}")
    arguments = {} if params.arguments is UNSET else params.arguments
    values = bound.prompt.read(arguments)
    call.may_ask([params.name, arguments], params)
    threads = call.server.threads if bound.prompt.blocks else None

    async def run(context: Context) -> bytes:
        try:
            value = await outcome_of(bound.call, values, context, threads)
        except tool_errors.ToolError as exc:
            mine = exc.code in ("INVALID_ARGUMENT", "NOT_FOUND", "REFUSED")
            code = errors.INVALID_PARAMS if mine else errors.INTERNAL_ERROR
            raise errors.ProtocolError(code, str(exc)) from None
        result = bound.prompt.result(value)
        known = [
            msgspec.structs.replace(
                message, content=results.known_block(message.content, call.route.revision)
            )
            for message in result.messages
        ]
        return call.shape.complete(encode(msgspec.structs.replace(result, messages=known)))

    return run


def complete(call: ServerCall) -> bytes | Running:
    params = call.params(_decode_complete)
    of = params.ref.name if params.ref.type == "ref/prompt" else params.ref.uri
    try:
        if of is UNSET:
            raise KeyError
        found = call.server.catalogue.completer(of, params.argument.name)
    except KeyError:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Nothing of that name can be completed") from None
    if found is None:
        return _completion(call, [])
    typed = (params.argument.value, params.context.arguments)
    threads = call.server.threads if found.blocks else None

    async def run(context: Context) -> bytes:
        values = await outcome_of(found.suggested, typed, None, threads)
        return _completion(call, list(values))

    return run


def _completion(call: ServerCall, values: list[str]) -> bytes:
    limits = call.server.limits
    shown = values[: limits.completion_values]
    while len(encode(shown)) > limits.result_bytes:
        shown = shown[: len(shown) // 2]
    completion = messages.Completion(values=shown, total=len(values), hasMore=len(values) > len(shown))
    return call.shape.complete(encode(messages.CompleteResult(completion=completion)))
