"""What an HTTP reply means that is not as it should be. Pure: nothing is read or sent here."""

from ...protocol import jsonrpc
from ...protocol.jsonrpc import RequestId
from ..forgiving import Code
from .media import is_message


def answers(body: bytes, id_: RequestId | None) -> bool:
    """Whether a body is the JSON-RPC answer to this request."""
    message = jsonrpc.read(body)
    return isinstance(message, jsonrpc.Response) and message.id is not None and message.id == id_


def addressed(body: bytes, id_: RequestId) -> bytes | None:
    """The error that a refusal consists of, with the id of the request it refuses; None: it is not JSON-RPC.

    Servers that refuse before they read leave the id out, or make one up.
    """
    message = jsonrpc.read(body)
    if not isinstance(message, jsonrpc.Response) or message.error is None:
        return None
    return body if message.id == id_ else jsonrpc.raw_error_reply(id_, bytes(message.error))


def mistake_of_notice(status: int, body: bytes) -> Code | None:
    """What is wrong with a reply to a notification other than 202; None: it is a message of its own."""
    if not 200 <= status < 300:
        return "notification-refused"
    message = jsonrpc.read(body)
    if isinstance(message, jsonrpc.Response):
        return "notification-answered"
    if isinstance(message, jsonrpc.Invalid):
        return "notification-answered" if is_message(body) else "notification-status"
    return None
