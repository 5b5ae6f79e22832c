"""What an endpoint is sent: messages and functions as chat completions spell them. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from .messages import Function, Message, WantedCall

# Of arguments that are not valid: enough for a model to see what it did.
_SHOWN_CHARS = 1000


def body_of(
    model: str, messages: Sequence[Message], functions: Sequence[Function], *, stream: bool, counts: bool
) -> bytes:
    """The body of a request. `counts`: ask a stream for its usage."""
    body: dict[str, Any] = {
        "model": _encodable(model),
        "messages": [_message(message) for message in messages],
    }
    # An empty list is refused by some servers.
    if functions:
        body["tools"] = [_tool(function) for function in functions]
    if stream:
        body["stream"] = True
        if counts:
            body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body)


def _message(message: Message) -> dict[str, Any]:
    content = _encodable(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": _encodable(message.call_id), "content": content}
    if message.calls:
        calls = [_call(call) for call in message.calls]
        return {"role": message.role, "content": content or None, "tool_calls": calls}
    return {"role": message.role, "content": content}


def _call(call: WantedCall) -> dict[str, Any]:
    function = {"name": _encodable(call.name), "arguments": sendable(_encodable(call.arguments))}
    return {"id": _encodable(call.id), "type": "function", "function": function}


def sendable(text: str) -> str:
    """Arguments as an object in JSON, whatever the model wrote: servers refuse a conversation with anything else."""
    if not text.strip():
        return "{}"
    try:
        value = decode(text)
    except UNREADABLE:
        value = None
    if isinstance(value, dict):
        return text
    return msgspec.json.encode({"not_an_object": text[:_SHOWN_CHARS]}).decode()


def _tool(function: Function) -> dict[str, Any]:
    described = {
        "name": function.name,
        "description": _encodable(function.description),
        "parameters": function.parameters or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": described}


def _encodable(text: str) -> str:
    """Without halves of characters, such as a terminal passes on; they cannot be sent."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
