"""Answers in the shapes that Core gives them: JSON, plain text, its errors, and the pages of its web server."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec

from ...node.source import RawReply

# Template of an endpoint -> the function that answers it: (chain, parameters, **parts of the path).
Routes = dict[str, Callable[..., RawReply]]

_encode = msgspec.json.Encoder().encode

# number: status and words.
_ERRORS = {
    5: (500, "repository error"),
    101: (400, "invalid signature"),
    102: (400, "invalid address"),
    112: (400, "invalid public key"),
    124: (404, "account address unknown"),
    125: (400, "invalid search criteria"),
    126: (400, "invalid reference"),
    301: (404, "block unknown"),
    304: (404, "public key not found"),
    311: (404, "transaction unknown"),
    401: (404, "name unknown"),
    # Core has no message for this one, and says so.
    501: (404, "!!en:ApiError.POLL_NO_EXISTS!!"),
    601: (400, "invalid asset ID"),
    602: (400, "invalid asset order ID"),
    603: (404, "unknown asset order ID"),
    1101: (404, "group unknown"),
    1201: (500, "foreign blockchain or ElectrumX network issue"),
    1401: (404, "file not found"),
}


class Refusal(Exception):
    """An answer that ends the handling of a request."""

    def __init__(self, reply: RawReply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def as_json(value: Any) -> RawReply:
    return RawReply(200, "application/json", _encode(value))


def as_text(value: str) -> RawReply:
    return RawReply(200, "text/plain", value.encode())


def as_bytes(value: bytes) -> RawReply:
    return RawReply(200, "application/octet-stream", value)


def nothing() -> RawReply:
    """What Core sends for a null: no body and no type."""
    return RawReply(204, "", b"")


def core_error(number: int, words: str | None = None) -> Refusal:
    """One of Core's errors; a few places use their own words."""
    status, message = _ERRORS[number]
    return Refusal(
        RawReply(status, "application/json", _encode({"error": number, "message": words or message}))
    )


def bad_parameter(name: str) -> Refusal:
    return Refusal(RawReply(400, "text/plain", f'Bad parameter "{name}"'.encode()))


def page(status: int) -> Refusal:
    """The web server's own error page, for errors that Core does not handle."""
    title = f"{status} {HTTPStatus(status).phrase}"
    body = f"<html><head><title>Error {title}</title></head><body><h2>HTTP ERROR {title}</h2></body></html>\n"
    return Refusal(RawReply(status, "text/html", body.encode()))
