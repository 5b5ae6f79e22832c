"""From the bytes that a server sends to well-formed messages.

Correct messages are recognised by one decoding and passed on as they are. Everything else is taken apart.
"""

from collections.abc import Container, Iterator, Mapping, Set
from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from ...protocol import errors, jsonrpc
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE, RequestId
from .. import values
from ..repair import ABSENT, Change
from . import json_text, members
from .ids import InFlight, is_id
from .json_text import Piece, Unreadable
from .members import Members
from .message import Message, dropped


class _Right(Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: RequestId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Error(Struct):
    code: int
    message: str


_decode = decoder(_Right)
_decode_error = decoder(_Error)
_decode_members = decoder(dict[str, Raw])

_CALL = "tools/call"
# Methods whose result is empty. For any other request an empty result without an id is the reply to a notification.
_EMPTY_RESULTS = frozenset({"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
_NOTHING: tuple[Any, ...] = (None, {}, [], "", True, "ok")
_UNREAD = (errors.PARSE_ERROR, errors.INVALID_REQUEST)


def messages(
    on: Set[str],
    data: bytes,
    waiting: Mapping[RequestId, str],
    via: RequestId | None = None,
    latest: int = 0,
    lasting: bool = True,
    given_up: Container[RequestId] = (),
) -> list[Message]:
    """The messages in these bytes. `on` are the codes of what may be put right; for the rest see `ids.InFlight`."""
    right = _right(data, waiting)
    # A typed reader does not see members that occur twice.
    if right is not None and not ("json-duplicate-member" in on and json_text.has_repeated_members(data)):
        return [right]
    flying = InFlight(
        waiting=waiting, via=via, latest=latest, lasting=lasting, given_up=given_up, answered=set()
    )
    return list(_Pieces(on, flying).read(data))


def _right(data: bytes, waiting: Mapping[RequestId, str]) -> Message | None:
    """A correct message that is expected; None for everything else."""
    try:
        found = _decode(data)
    except UNREADABLE:
        return None
    result, error = found.result, found.error
    parsed: jsonrpc.Message | None
    if found.method is UNSET:
        id_ = found.id
        if id_ is UNSET or id_ not in waiting or found.params is not UNSET:
            return None
        if error is UNSET:
            if result is UNSET:
                return None
            parsed = jsonrpc.Response(id_, result, None)
        elif result is UNSET and _is_right_error(error):
            parsed = jsonrpc.Response(id_, None, error)
        else:
            return None
    elif result is not UNSET or error is not UNSET or not _is_object(found.params):
        return None
    else:
        parsed = None
    if not json_text.is_utf8(data):
        return None
    if b"\n" in data or b"\r" in data:
        # What has been read refers to the bytes as they came.
        return Message(json_text.one_line(data))
    return Message(data, (), parsed)


def _is_right_error(raw: Raw) -> bool:
    try:
        _decode_error(raw)
    except UNREADABLE:
        return False
    return True


def _is_object(params: Raw | UnsetType) -> bool:
    return isinstance(params, UnsetType) or bytes(memoryview(params)[:1]) == b"{"


class _Pieces:
    """One reading of bytes that are not a correct message."""

    def __init__(self, on: Set[str], flying: InFlight) -> None:
        self._on = on
        self._flying = flying

    def read(self, data: bytes) -> Iterator[Message]:
        found = json_text.pieces(data, self._on)
        if isinstance(found, Unreadable):
            yield self._unreadable(data, found.code)
            return
        for piece in found:
            if piece.data.lstrip()[:1] == b"[" and "rpc-batch-reply" in self._on:
                yield from self._batch(piece)
            else:
                yield self._one(piece)

    def _unreadable(self, data: bytes, code: str) -> Message:
        lost = dropped(code, data)
        message = jsonrpc.read(data)
        if isinstance(message, jsonrpc.Response) and not json_text.is_utf8(data):
            message = jsonrpc.Invalid(errors.PARSE_ERROR, "it is not UTF-8", message.id)
        if isinstance(message, jsonrpc.Invalid) and self._flying.waits(message.id):
            # It cannot be read, but whose reply it is can be seen.
            return Message(b"", lost.changes, message)
        return lost

    def _batch(self, piece: Piece) -> Iterator[Message]:
        parts = json_text.items(piece.data)
        if not parts:
            yield dropped("stdout-pollution", piece.data)
        for part in parts:
            yield self._one(Piece(part, piece.changes), is_batched=True)

    def _one(self, piece: Piece, *, is_batched: bool = False) -> Message:
        try:
            found: Members = _decode_members(piece.data)
        except UNREADABLE:
            return self._no_object(piece)
        if "result" in found or "error" in found:
            batched = (Change(code="rpc-batch-reply"),) if is_batched else ()
            return self._reply(found, Piece(piece.data, (*piece.changes, *batched)))
        if isinstance(members.tree(found, "method"), str):
            return self._said(found, piece)
        if self._flying.waits(members.tree(found, "id")):
            return Message(
                piece.data, piece.changes
            )  # refused at once by the client, which knows whose it is
        return dropped("stdout-pollution", piece.data)

    def _no_object(self, piece: Piece) -> Message:
        if piece.data.lstrip()[:1] == b"[" and "rpc-batch-reply" not in self._on:
            return Message(piece.data, piece.changes)  # the client reads arrays by itself
        return dropped("stdout-pollution", piece.data)

    def _said(self, found: Members, piece: Piece) -> Message:
        changes = [*piece.changes, *members.said(found, self._on)]
        id_ = members.tree(found, "id")
        if id_ is not ABSENT and not is_id(id_) and "request-id-invalid" in self._on:
            if not str(members.tree(found, "method")).startswith("notifications/"):
                return dropped("request-id-invalid", piece.data)
            del found["id"]
            changes.append(Change(code="request-id-invalid", path="id", before=id_))
        if not changes:
            return Message(piece.data)
        return Message(values.write(found), tuple(changes))

    def _reply(self, found: Members, piece: Piece) -> Message:
        changes = [*piece.changes, *members.reply(found, self._on)]
        id_ = members.tree(found, "id")
        id_ = None if id_ is ABSENT else id_
        if not self._flying.waits(id_):
            if self._flying.is_late(id_):
                return Message(b"")
            owner, code = self._owner(id_, found)
            if owner is None and code == "rpc-error-id-null" and self._flying.waits(self._flying.via):
                return Message(piece.data, piece.changes)  # the client knows whose reply it came in
            if owner is None:
                return dropped(code, piece.data)
            before = members.tree(found, "id")
            if code == "rpc-error-id-null":
                changes += self._could_not_read(found, owner)
            members.put(found, "id", owner)
            changes.append(Change(code=code, path="id", before=before, after=owner))
            id_ = owner
        self._flying.answered.add(id_)
        if not changes:
            return Message(piece.data)
        in_order = {name: found.pop(name) for name in members.REPLY if name in found}
        return Message(values.write({**in_order, **found}), tuple(changes))

    def _owner(self, id_: Any, found: Members) -> tuple[RequestId | None, str]:
        """Whose reply it is, and the code for what is wrong with its id. None: it is dropped under that code."""
        code = self._flying.slip_of(id_)
        if code == "rpc-duplicate-reply":
            return None, code
        owner = self._flying.owner_of(id_)
        if code == "rpc-id-missing":
            code = self._unaddressed(found, owner)
        return (owner if code in self._on and code != "notification-answered" else None), code

    def _unaddressed(self, found: Members, owner: RequestId | None) -> str:
        """What a reply without an id is: the answer to a notification, or to a request that was not read."""
        is_own = self._flying.via is not None
        method = "" if owner is None else self._flying.waiting[owner]
        if "error" not in found:
            is_empty = members.tree(found, "result") in _NOTHING
            is_notice = (is_empty and method not in _EMPTY_RESULTS) or owner is None
            return "notification-answered" if is_notice and not is_own else "rpc-id-missing"
        error = members.tree(found, "error")
        error = error if isinstance(error, dict) else {}
        number, words = error.get("code"), str(error.get("message"))
        if is_own or (number in _UNREAD and "notifications/" not in words):
            return "rpc-error-id-null"
        if method and method in words:
            return "rpc-id-missing"
        is_notice = number == errors.METHOD_NOT_FOUND or "notifications/" in words
        return "notification-answered" if is_notice else "rpc-id-missing"

    def _could_not_read(self, found: Members, owner: RequestId) -> Iterator[Change]:
        """The server could not read the request: said in a way that fits the request."""
        error = members.tree(found, "error")
        number = error.get("code") if isinstance(error, dict) else None
        # In its own HTTP reply any other error is the reply itself, such as a session that is gone.
        if number != errors.PARSE_ERROR and (self._flying.via is not None or number not in _UNREAD):
            return
        words = str(error.get("message"))
        if self._flying.waiting[owner] == _CALL:
            del found["error"]
            block = {"type": "text", "text": f"The server could not read the request: {words}"}
            members.put(found, "result", {"content": [block], "isError": True})
            yield Change(code="rpc-error-id-null", path="error", before=error)
        else:
            after = {"code": errors.INTERNAL_ERROR, "message": f"upstream: {words}"}
            members.put(found, "error", after)
            yield Change(code="rpc-error-id-null", path="error", before=error, after=after)
