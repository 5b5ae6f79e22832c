"""JSON-RPC envelopes: bytes to messages and back. Knows no method and no revision.

Ids keep their JSON type. What cannot be read becomes an `Invalid`, with the id if one can be found,
so that a transport can always answer; no input makes anything here raise.
"""

import re

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..patterns import Pattern
from . import errors
from .decoding import decoder

RequestId = int | str
# An id is kept as long as its request and sent back with the answer: it is a name, not a place for data.
LONGEST_ID = 1024
# What msgspec raises for bytes it cannot read: bad JSON or types, bad UTF-8, endless nesting.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Request(Struct, frozen=True, gc=False):
    """A message that expects exactly one answer."""

    id: RequestId
    method: str
    params: Raw | None


class Notification(Struct, frozen=True, gc=False):
    """A message that must never be answered."""

    method: str
    params: Raw | None


class Response(Struct, frozen=True, gc=False):
    """The other side's answer to a request of ours; exactly one of `result` and `error` is set."""

    id: RequestId | None
    result: Raw | None
    error: Raw | None


class Invalid(Struct, frozen=True, gc=False):
    """Bytes that are not a message. `id` is the id to answer with, if it could be read."""

    code: int
    reason: str
    id: RequestId | None = None


Message = Request | Notification | Response | Invalid


class _Envelope(Struct):
    jsonrpc: str | UnsetType = UNSET
    id: RequestId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_decode = decoder(_Envelope)
_decode_members = decoder(dict[str, Raw])
_decode_items = decoder(list[Raw])
_decode_any = decoder(Raw)
_decode_id = decoder(RequestId)
_encode = msgspec.json.Encoder().encode

_HEAD = b'{"jsonrpc":"2.0","id":'


def read(data: bytes | Raw) -> Message:
    """One message. An array is not a message here: see `read_batch`."""
    try:
        envelope = _decode(data)
    except UNREADABLE as exc:
        return _explain(data, exc)
    method, id_ = envelope.method, envelope.id
    if envelope.jsonrpc != "2.0":
        if id_ is UNSET and method is not UNSET:
            return Notification("", None)  # never answered, whatever is wrong with it
        reason = 'the member "jsonrpc" must be "2.0"'
        return Invalid(errors.INVALID_REQUEST, reason, None if id_ is UNSET else id_)
    if method is not UNSET:
        params = None if envelope.params is UNSET else envelope.params
        if id_ is UNSET:
            return Notification(method, params)
        if envelope.result is not UNSET or envelope.error is not UNSET:
            return Invalid(errors.INVALID_REQUEST, "a message is a request or a response, not both", id_)
        if type(id_) is str and len(id_) > LONGEST_ID:
            return Invalid(errors.INVALID_REQUEST, f"an id can have at most {LONGEST_ID} characters", id_)
        return Request(id_, method, params)
    return _read_response(envelope)


def _read_response(envelope: _Envelope) -> Message:
    id_ = None if envelope.id is UNSET else envelope.id
    result, error = envelope.result, envelope.error
    if (result is UNSET) == (error is UNSET):
        return Invalid(errors.INVALID_REQUEST, 'a message needs a "method", a "result" or an "error"', id_)
    return Response(id_, None if result is UNSET else result, None if error is UNSET else error)


def is_array(data: bytes) -> bool:
    return data.lstrip(b" \t\r\n")[:1] == b"["


def read_batch(data: bytes, at_most: int) -> list[Message] | Invalid:
    """The messages of a JSON array (2025-03-26 only; the caller knows whether that applies)."""
    try:
        items = _decode_items(data)
    except UNREADABLE as exc:
        return Invalid(errors.PARSE_ERROR, _parse_reason(exc))
    if not items:
        return Invalid(errors.INVALID_REQUEST, "the batch is empty")
    if len(items) > at_most:
        return Invalid(errors.INVALID_REQUEST, f"a batch can hold at most {at_most} messages")
    return [read(item) for item in items]


def requests_in(data: bytes, at_most: int) -> int:
    """How many requests a message has: one, none, or those of a batch."""
    message = read(data)
    if type(message) is not Invalid or not is_array(data):
        return int(type(message) is Request)
    items = read_batch(data, at_most)
    return 0 if isinstance(items, Invalid) else sum(type(item) is Request for item in items)


def _explain(data: bytes | Raw, exc: Exception) -> Message:
    if isinstance(exc, RecursionError):
        # Perhaps valid JSON, but deeper than any honest message. The id may still be readable.
        return Invalid(errors.INVALID_REQUEST, "nested too deeply", _find_id(bytes(data)))
    if not isinstance(exc, msgspec.ValidationError):
        return Invalid(errors.PARSE_ERROR, _parse_reason(exc))
    # JSON, but not of the envelope's types. Look again, member by member.
    try:
        members = _decode_members(data)
    except UNREADABLE:
        return _not_an_object(data)
    if _is_error_without_id(members):
        return Response(None, None, members["error"])
    id_ = _id_of(members.get("id"))
    if "id" in members and id_ is None:
        return Invalid(errors.INVALID_REQUEST, "an id must be a string or an integer")
    if "id" not in members and _is_text(members.get("method")):
        return Notification("", None)
    return Invalid(errors.INVALID_REQUEST, '"jsonrpc" and "method" must be strings', id_)


def _not_an_object(data: bytes | Raw) -> Invalid:
    try:
        _decode_any(data)
    except msgspec.DecodeError as exc:
        return Invalid(errors.PARSE_ERROR, _parse_reason(exc))
    except RecursionError:
        pass
    return Invalid(errors.INVALID_REQUEST, "a message must be one JSON object")


def _is_error_without_id(members: dict[str, Raw]) -> bool:
    """JSON-RPC's own form of "I could not read your id": an error whose id is null."""
    kinds = {"method", "result", "error"} & members.keys()
    return kinds == {"error"} and _text(members, "jsonrpc") == b'"2.0"' and _text(members, "id") == b"null"


def _text(members: dict[str, Raw], name: str) -> bytes:
    return bytes(members.get(name, b""))


def _parse_reason(exc: Exception) -> str:
    return "not UTF-8" if isinstance(exc, UnicodeDecodeError) else "not JSON"


def _id_of(raw: Raw | None) -> RequestId | None:
    if raw is None:
        return None
    try:
        found: RequestId = _decode_id(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found


def _is_text(raw: Raw | None) -> bool:
    return raw is not None and bytes(raw)[:1] == b'"'


# Strings (an unterminated one takes the rest), and runs of brackets: each byte is scanned once.
_TOKEN = Pattern(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{]+|[\]}]+', re.DOTALL)
_ID_VALUE = Pattern(rb'\s*:\s*("(?:[^"\\]|\\.){0,1024}"|-?\d{1,40}(?![\d.eE]))')


def _find_id(data: bytes) -> RequestId | None:
    """The top-level `id` of a text too deep for the parser, by counting brackets."""
    depth = 0
    for token in _TOKEN.finditer(data):
        text = token.group()
        if text[0] in b"[{":
            depth += len(text)
        elif text[0] in b"]}":
            depth -= len(text)
        elif depth == 1 and text == b'"id"' and (found := _ID_VALUE.match(data, token.end())):
            return _id_of(Raw(found.group(1)))
    return None


def result_reply(id_: RequestId, result: bytes) -> bytes:
    """A response around a result that is already JSON."""
    return b"%b%b%b%b}" % (_HEAD, _encode(id_), b',"result":', result)


def error_reply(id_: RequestId | None, error: errors.ErrorObject) -> bytes:
    return b"%b%b%b%b}" % (_HEAD, _encode(id_), b',"error":', _encode(error))


def raw_error_reply(id_: RequestId, error: bytes) -> bytes:
    """A response around an error that is already JSON."""
    return b"%b%b%b%b}" % (_HEAD, _encode(id_), b',"error":', error)


def request(id_: RequestId, method: str, params: bytes) -> bytes:
    return b'%b%b,"method":%b,"params":%b}' % (_HEAD, _encode(id_), _encode(method), params)


def notification(method: str, params: bytes | None = None) -> bytes:
    if params is None:
        return b'{"jsonrpc":"2.0","method":%b}' % _encode(method)
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (_encode(method), params)
