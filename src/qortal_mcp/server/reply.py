"""What goes back to a peer: bytes, and how HTTP sends them."""

from msgspec import Struct

from ..protocol import errors, jsonrpc


class Reply(Struct, frozen=True, gc=False):
    """Bytes to send back, and how HTTP should send them."""

    body: bytes
    status: int = 200
    retry_after: float | None = None


class Failure(Struct, frozen=True, gc=False):
    """A reply that is an error, with the kind that logs and metrics name."""

    kind: str
    reply: Reply


def refusal(
    code: int, message: str, id_: jsonrpc.RequestId | None, status: int, retry_after: float | None = None
) -> Reply:
    """An error reply for what never became a call."""
    return Reply(jsonrpc.error_reply(id_, errors.ErrorObject(code, message)), status, retry_after)
