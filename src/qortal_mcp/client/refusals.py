"""What the head and the body of an HTTP refusal say, for a person to read."""

import html
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from ..protocol.decoding import decode
from ..protocol.jsonrpc import UNREADABLE
from ..text import printable, shortened

_SHOWN_CHARS = 200
# The beginning of a page says enough, and the patterns below are slow on hostile ones.
_READ_BYTES = 4096
_HIDDEN_PARTS = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>?")
# Where frameworks put the reason, in the order of preference.
_REASONS = ("message", "error_description", "detail", "title", "error")
_SECONDS = re.compile(r"[0-9]{1,9}")


def challenge(headers: Iterable[tuple[str, str]]) -> str:
    """What WWW-Authenticate asks for; empty if there is none."""
    asked = [value.strip() for name, value in headers if name.lower() == "www-authenticate"]
    return shortened(printable(", ".join(filter(None, asked))), 2 * _SHOWN_CHARS)


def retry_after(headers: Iterable[tuple[str, str]], now: datetime | None = None) -> float | None:
    """The seconds that Retry-After asks for, given as a number or a date; None if it does not say."""
    value = next((value.strip() for name, value in headers if name.lower() == "retry-after"), "")
    if _SECONDS.fullmatch(value):
        return float(value)
    if not value:
        return None
    from email.utils import parsedate_to_datetime  # slow to import, and seldom needed

    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())


def readable(body: bytes) -> str:
    """One short line of a body: the message of an error object, the text of a page."""
    text = body[:_READ_BYTES].decode("utf-8", "replace").strip().removeprefix("\ufeff")
    if text[:1] in ("{", "["):
        text = _reason(text) or text
    elif text[:1] == "<":
        shown = _TAG.sub(" ", _HIDDEN_PARTS.sub(" ", text)).strip()
        title = _TITLE.search(text)
        text = html.unescape(shown or (title.group(1) if title else ""))
    return shortened(printable(" ".join(text.split())), _SHOWN_CHARS)


def _reason(text: str) -> str:
    try:
        value = decode(text)
    except UNREADABLE:
        return ""
    # {"error": {"message": "…"}} is as common as {"error": "…"}.
    for _ in range(2):
        found = _first(value)
        if isinstance(found, str):
            return found
        value = found
    return ""


def _first(value: Any) -> Any:
    if not isinstance(value, dict):
        return None
    return next((value[name] for name in _REASONS if isinstance(value.get(name), str | dict)), None)
