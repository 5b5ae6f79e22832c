"""What an endpoint's refusal says, and what to do about it.

EndpointError       the endpoint gave no usable reply
├── PromptTooLong   it takes fewer tokens than it was sent
└── ToolsRefused    the model, or the server as it was started, takes no tools

The text is one or two sentences that a person can act on; the key never occurs in it.
"""

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ...client.refusals import readable, retry_after
from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ...text import printable, shortened
from ..secrets import HIDDEN, is_secret

_SHOWN_CHARS = 300
# Statuses of an endpoint that may answer a moment later. 529: Anthropic's for "overloaded".
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})
_BAD = (400, 413, 422)
_MEMBERS = ("message", "msg", "detail", "error", "error_description", "title")
_TOO_LONG = re.compile(
    r"context[_ -]?(length|window|size|limit)|maximum context|exceeds? .{0,40}context|too many (input )?tokens"
    r"|(prompt|input) is too long|too large for model",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|not) support.{0,20}(tool|function)|support tool use|tool.{0,40}(not supported|unsupported)"
    r"|enable-auto-tool-choice|requires? --jinja",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|insufficient (credit|balance)", re.I
)
_STREAM = re.compile(r"\bstream(ing)?\b", re.IGNORECASE)
_OPTIONS = re.compile(r"stream_options|include_usage", re.IGNORECASE)


class EndpointError(Exception):
    """`status`: the HTTP status, or the number in an error of a stream, if there was one."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class PromptTooLong(EndpointError):
    """Fewer tools or less history may fit."""


class ToolsRefused(EndpointError):
    """The same messages without tools may be answered."""


class Said(Struct, frozen=True):
    """What an error says: a message made safe to show, all of it to look at, a number if it has one."""

    message: str
    whole: str = ""
    status: int | None = None

    @property
    def sentence(self) -> str:
        return sentence(self.message or "no reason is given")


class Refusal(Struct, frozen=True, kw_only=True):
    """A reply whose status is not good."""

    status: int
    said: Said
    # What the endpoint asks to wait, in seconds.
    wait: float | None = None
    location: str = ""

    @property
    def is_busy(self) -> bool:
        return self.status in BUSY and not self.is_about_credit

    @property
    def is_about_credit(self) -> bool:
        return self.status in (402, 429) and bool(_NO_CREDIT.search(self.said.whole))

    @property
    def is_about_stream(self) -> bool:
        return self.status in _BAD and bool(_STREAM.search(self.said.whole))

    @property
    def is_about_stream_options(self) -> bool:
        return self.status in _BAD and bool(_OPTIONS.search(self.said.whole))

    @property
    def is_too_long(self) -> bool:
        return self.status == 413 or (self.status in _BAD and bool(_TOO_LONG.search(self.said.whole)))

    @property
    def is_about_tools(self) -> bool:
        return 400 <= self.status < 600 and bool(_NO_TOOLS.search(self.said.whole))


def masked(text: str, key: str | None) -> str:
    return text.replace(key, HIDDEN) if key and is_secret(key) else text


def sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", "]")) else f"{text}."


def read_refusal(status: int, headers: Iterable[tuple[str, str]], body: bytes, key: str | None) -> Refusal:
    headers = list(headers)
    location = next((value for name, value in headers if name.lower() == "location"), "")
    return Refusal(
        status=status, said=said_in(body, key), wait=_wait(headers), location=masked(location, key)
    )


def said_in(body: bytes, key: str | None) -> Said:
    """What a body says, as JSON of any shape, as a page or as plain text."""
    # Before anything is cut: a key that is cut in the middle would not be recognised.
    body = masked(body.decode("utf-8", "replace"), key).encode()
    try:
        value = decode(body)
        said = error_of(value, key)
    except UNREADABLE:
        said = Said("")
    if said.message:
        return said
    line = masked(readable(body), key)
    return Said(line, f"{line} {said.whole}", said.status)


def error_of(value: Any, key: str | None = None) -> Said:
    """The same for a decoded error."""
    if isinstance(value, list) and value:
        value = value[0]
    words: list[str] = []
    status = None
    inner = value
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        inner = value["error"]
    if isinstance(inner, dict):
        words += [str(inner[name]) for name in ("code", "type", "param") if isinstance(inner.get(name), str)]
        codes = (inner.get("code"), inner.get("status"))
        status = next((code for code in codes if isinstance(code, int) and not isinstance(code, bool)), None)
    message = masked(" ".join(_message(value, 4).split()), key)
    return Said(shortened(printable(message), _SHOWN_CHARS), " ".join([message, *words])[:4096], status)


def _message(value: Any, depth: int) -> str:
    """The words of an error that people are meant to read."""
    if isinstance(value, str):
        return value
    if not depth:
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, (_message(item, depth - 1) for item in value[:4])))
    if not isinstance(value, dict):
        return ""
    place = value.get("loc")
    where = ".".join(map(str, place[:6])) + ": " if isinstance(place, list) else ""
    for name in _MEMBERS:
        if message := _message(value.get(name), depth - 1):
            return where + message
    return ""


def _wait(headers: list[tuple[str, str]]) -> float | None:
    for name, value in headers:
        if name.lower() == "retry-after-ms" and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", value.strip()):
            return float(value) / 1000
    for name, value in headers:
        if name.lower() == "retry-after" and re.fullmatch(r"[0-9]{1,9}\.[0-9]{1,9}", value.strip()):
            return float(value)
    return retry_after(headers)
