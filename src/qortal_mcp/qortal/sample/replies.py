"""Answers in the shapes that Core gives them: JSON, plain text, its errors, and the pages of its web server."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec

from ..source import RawReply

# Template of an address -> who answers for it: (chain, parameters, **parts of the path).
Routes = dict[str, Callable[..., RawReply]]

_encode = msgspec.json.Encoder().encode

# number: status and words.
_ERRORS = {
    5: (500, "repository error"),
    102: (400, "invalid address"),
    124: (404, "account address unknown"),
    125: (400, "invalid search criteria"),
    601: (400, "invalid asset ID"),
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


def core_error(number: int) -> Refusal:
    status, message = _ERRORS[number]
    return Refusal(RawReply(status, "application/json", _encode({"error": number, "message": message})))


def bad_parameter(name: str) -> Refusal:
    return Refusal(RawReply(400, "text/plain", f'Bad parameter "{name}"'.encode()))


def page(status: int) -> Refusal:
    """The web server's own page, for whatever Core itself has no words for."""
    title = f"{status} {HTTPStatus(status).phrase}"
    body = f"<html><head><title>Error {title}</title></head><body><h2>HTTP ERROR {title}</h2></body></html>\n"
    return Refusal(RawReply(status, "text/html", body.encode()))
