"""Recognises a failure in what a tool returned as if it were a success."""

import re
from typing import Any

from .reading import as_text

# What may stand beside an error without being the tool's data.
_COMPANIONS = frozenset(
    {
        "cause",
        "code",
        "detail",
        "details",
        "error_code",
        "errorCode",
        "hint",
        "id",
        "isError",
        "jsonrpc",
        "message",
        "name",
        "path",
        "reason",
        "requestId",
        "request_id",
        "stack",
        "status",
        "statusCode",
        "status_code",
        "suggestion",
        "timestamp",
        "trace",
        "traceback",
        "type",
    }
)
# Says only that it failed, which isError says as well.
_FLAGS = frozenset({"error", "success", "ok", "isError", "jsonrpc", "id"})
_WORDS = re.compile(
    r"(error|exception|fatal|traceback \(most recent call last\)|http error|internal server error"
    r"|(request failed with )?status( code)? [45]\d\d)\b\s*[:\d(]",
    re.IGNORECASE,
)
_MEMBERS = ("error", "errors", "exception", "errorMessage", "error_message")


def failure_text(value: Any) -> str | None:
    """What an object says that is an error and nothing else; None if it is not one.

    `error` is a text, an object, or true beside a message. Other members are empty or describe the error: with data
    of its own the object is a success that mentions an error.
    """
    if not isinstance(value, dict):
        return None
    error, message = value.get("error"), value.get("message")
    if error is True and isinstance(message, str) and message:
        error = message
        value = {name: part for name, part in value.items() if name != "message"}
    if not error or not isinstance(error, str | dict):
        return None
    for name, part in value.items():
        if name != "error" and part and (name not in _COMPANIONS or part is True):
            return None
    more = {name: part for name, part in value.items() if name not in _FLAGS and part}
    return error_text(error, more)


def error_text(error: Any, more: dict[str, Any] | None = None) -> str:
    """An error for a model: its message, and on a second line what else it says."""
    more = dict(more or {})
    if isinstance(error, dict) and isinstance(message := error.get("message"), str) and message:
        inner = {name: part for name, part in error.items() if name not in ("code", "message")}
        data = inner.pop("data", None)
        if inner or more:
            more = {**more, **inner, **({} if data is None else {"data": data})}
            return f"{message}\n{as_text(more)}"
        return message if data is None else f"{message}\n{as_text(data)}"
    text = as_text(error)
    return f"{text}\n{as_text(more)}" if more else text


def looks_failed(value: Any) -> bool:
    """Whether a text or an object reads like a failure. Less strict than `failure_text`: it may be mistaken."""
    if isinstance(value, str):
        return _WORDS.match(value.lstrip()) is not None
    if not isinstance(value, dict):
        return False
    if value.get("success") is False or value.get("ok") is False:
        return True
    # A record that merely has an error among its data is not a failure: an error stands nearly alone.
    named = [name for name in _MEMBERS if value.get(name)]
    return bool(named) and len(value) <= 4 and isinstance(value[named[0]], str | dict | list)
