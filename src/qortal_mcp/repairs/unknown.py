"""Answers that say that a method does not exist, however they say it."""

import re
from typing import Any

from ..protocol.errors import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from . import spoken

_SAYS_SO = re.compile(
    r"\b(unknown|unsupported|unrecogni[sz]ed|no such)\W+(rpc\W+)?method\b"
    r"|\bmethod\b.{0,80}\b(unknown|unsupported|unrecogni[sz]ed|does not exist"
    r"|not\W+(found|supported|implemented|known|available|recogni[sz]ed|allowed))\b",
    re.IGNORECASE | re.DOTALL,
)
_MOST_CHARS = 1_000
# What may stand beside an error that is inside a result.
_BESIDE = {"error", "success", "ok", "status", "message", "code"}


def is_unknown_method(error: Any) -> bool:
    """Whether an error says that the method does not exist."""
    code = error.get("code") if isinstance(error, dict) else None
    if code in (METHOD_NOT_FOUND, INVALID_PARAMS):
        return bool(code == METHOD_NOT_FOUND)
    return _SAYS_SO.search(message_of(error)[:_MOST_CHARS]) is not None


def is_error(result: Any) -> bool:
    """Whether a result holds an error and nothing else."""
    return isinstance(result, dict) and bool(result.get("error")) and result.keys() <= _BESIDE


def message_of(error: Any) -> str:
    message = error.get("message", error) if isinstance(error, dict) else error
    return spoken.text(message)


def error_of(result: dict[str, Any]) -> dict[str, Any]:
    """The error object for a result that holds an error."""
    inner = result["error"]
    message = result.get("message")
    is_told = inner is True and isinstance(message, str)
    error: dict[str, Any] = {"code": 0, "message": message if is_told else message_of(inner)}
    code = inner.get("code", result.get("code")) if isinstance(inner, dict) else result.get("code")
    if isinstance(code, int) and not isinstance(code, bool):
        error["code"] = code
    else:
        error["code"] = METHOD_NOT_FOUND if is_unknown_method(error) else INTERNAL_ERROR
    if isinstance(inner, dict) and "data" in inner:
        error["data"] = inner["data"]
    return error
