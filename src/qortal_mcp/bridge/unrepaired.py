"""What a server sends when nothing is repaired: passed on as it came, if a client can receive it at all."""

from collections.abc import Container, Mapping

from ..protocol import errors, jsonrpc
from ..protocol.jsonrpc import RequestId
from ..repairs.envelope import json_text
from ..repairs.envelope.message import Message


def as_it_came(
    data: bytes,
    waiting: Mapping[RequestId, str],
    via: RequestId | None = None,
    latest: int = 0,
    lasting: bool = True,
    given_up: Container[RequestId] = (),
) -> list[Message]:
    """The same message on one line: line breaks between values would end it too early on the client's side."""
    if json_text.is_json(data):
        return [Message(json_text.one_line(data))]
    message = jsonrpc.read(data)
    if json_text.is_utf8(data) or not isinstance(message, jsonrpc.Response):
        return [Message(data)]
    return [Message(b"", (), jsonrpc.Invalid(errors.PARSE_ERROR, "it is not UTF-8", message.id))]
