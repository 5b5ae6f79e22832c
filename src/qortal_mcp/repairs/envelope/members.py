"""The members of a message, put right in place. Values stay as they were written."""

from collections.abc import Iterator, Set
from typing import Any

from msgspec import Raw

from ...protocol.errors import INTERNAL_ERROR
from ...protocol.jsonrpc import UNREADABLE
from .. import values
from ..repair import ABSENT, Change

Members = dict[str, Raw]

REPLY = ("jsonrpc", "id", "result", "error")
_VERSION = Raw(b'"2.0"')
_NULL = b"null"
# Where servers put what belongs into the message of an error.
_MESSAGE_MEMBERS = ("error", "detail", "details", "description", "reason", "msg", "text", "title")


def tree(members: Members, name: str) -> Any:
    """A member as a tree; ABSENT if there is none."""
    raw = members.get(name)
    if raw is None:
        return ABSENT
    try:
        return values.read(raw)
    except UNREADABLE:  # an integer beyond all bounds
        return bytes(raw).decode("utf-8", "replace")


def is_null(members: Members, name: str) -> bool:
    return name in members and bytes(members[name]) == _NULL


def put(members: Members, name: str, value: Any) -> None:
    members[name] = Raw(values.write(value))


def version(members: Members, code: str, on: Set[str]) -> Iterator[Change]:
    before = tree(members, "jsonrpc")
    if before != "2.0" and code in on:
        members["jsonrpc"] = _VERSION
        yield Change(code=code, path="jsonrpc", before=before, after="2.0")


def reply(members: Members, on: Set[str]) -> Iterator[Change]:
    """A reply, except for its id."""
    yield from version(members, "rpc-version-missing", on)
    if "result" in members and "error" in members and "rpc-result-and-error" in on:
        yield _take_out(members, _superfluous(members), "rpc-result-and-error")
    if "error" in members and "result" not in members and "rpc-error-malformed" in on:
        before = tree(members, "error")
        after = _right_error(before)
        if after is not None:
            put(members, "error", after)
            yield Change(code="rpc-error-malformed", path="error", before=before, after=after)
    if "rpc-extra-member" in on:
        for name in [name for name in members if name not in REPLY]:
            yield _take_out(members, name, "rpc-extra-member")


def said(members: Members, on: Set[str]) -> Iterator[Change]:
    """A notification or request of the server, except for its id."""
    yield from version(members, "message-version-missing", on)
    if "params-null" in on and "params" in members and bytes(members["params"])[:1] != b"{":
        yield _take_out(members, "params", "params-null")


def _take_out(members: Members, name: str, code: str) -> Change:
    before = tree(members, name)
    del members[name]
    return Change(code=code, path=name, before=before)


def _superfluous(members: Members) -> str:
    """An error that says nothing yields to a result; any other error says that there is no result."""
    error = tree(members, "error")
    return "error" if error in (None, False, "", [], {}) or error == 0 else "result"


def _right_error(error: Any) -> dict[str, Any] | None:
    """None if it is right already."""
    if not isinstance(error, dict):
        return {"code": INTERNAL_ERROR, "message": _words(error)}
    code, message = error.get("code"), error.get("message")
    is_right_code = isinstance(code, int) and not isinstance(code, bool)
    if is_right_code and isinstance(message, str):
        return None
    right = dict(error)
    right["code"] = code if is_right_code else _number_in(code)
    right["message"] = message if isinstance(message, str) else _message_in(error)
    if not is_right_code and code is not None and right["code"] == INTERNAL_ERROR:
        _keep_code(right, code)
    return right


def _number_in(code: Any) -> int:
    text = code.strip() if isinstance(code, str) else ""
    return (
        int(text)
        if text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 10
        else INTERNAL_ERROR
    )


def _keep_code(error: dict[str, Any], code: Any) -> None:
    """The code that the server meant, in `data`: a client sees nothing else of an error."""
    data = error.get("data")
    if data is None:
        error["data"] = {"code": code}
    elif isinstance(data, dict):
        data.setdefault("code", code)


def _message_in(error: dict[str, Any]) -> str:
    message = error.get("message")
    if message is not None:
        return _words(message)
    for name in (*_MESSAGE_MEMBERS, "data"):
        text = error.get(name)
        if isinstance(text, str) and text:
            return text
    return f"Error {error['code']}" if "code" in error else _words(error or None)


def _words(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    return "The server gave no reason" if value in (None, "") else values.text_of(value)
