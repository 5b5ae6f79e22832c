"""JSON-RPC: from the bytes that a server sends to well-formed messages.

`reading.messages` applies what is listed here: first the JSON (`json_text`), then members (`members`) and ids (`ids`).
"""

from typing import Any

from ..repair import ALL, SAFE, Level, Repair
from .message import Message

# code, level, what is recognised, what is made of it
_ROWS: tuple[tuple[str, Level, str, str], ...] = (
    ("bom", SAFE, "A byte order mark before a message", "it is removed"),
    ("invalid-utf8", SAFE, "Bytes that are not UTF-8 inside a message", "U+FFFD in their place"),
    # Lossy, but strict readers cannot read the rest of the message either.
    ("lone-surrogate", SAFE, "Half of a surrogate pair in a string", "U+FFFD in its place"),
    ("json-nan", SAFE, "NaN or Infinity, which JSON does not have", "null in its place"),
    ("json-control-character", SAFE, "A control character in a string, not escaped", "it is escaped"),
    ("json-duplicate-member", ALL, "An object with the same member twice", "the last one is kept"),
    ("message-joined", SAFE, "Several messages in one piece", "each is a message of its own"),
    ("rpc-batch-reply", SAFE, "A reply inside an array", "it is taken out"),
    ("rpc-version-missing", SAFE, 'A reply without "jsonrpc":"2.0"', "it is added"),
    (
        "message-version-missing",
        SAFE,
        'A notification or request of the server without "jsonrpc":"2.0"',
        "it is added",
    ),
    (
        "rpc-result-and-error",
        SAFE,
        "Both result and error in one reply",
        "the one that is null or empty is removed, else the result",
    ),
    (
        "rpc-error-malformed",
        SAFE,
        "An error without a code or message of the right type",
        "code -32603 and the text it has; the code it had is kept in data",
    ),
    (
        "rpc-extra-member",
        SAFE,
        "Members other than jsonrpc, id, result and error",
        "they are moved to _meta of the result",
    ),
    ("params-null", SAFE, "A message whose params are not an object", "they are removed"),
    (
        "request-id-invalid",
        SAFE,
        "A request of the server whose id is neither a string nor a whole number",
        "a notification without an id; anything else is dropped, since it cannot be answered",
    ),
    ("notification-answered", SAFE, "A reply to a notification", "it is dropped"),
    ("rpc-duplicate-reply", SAFE, "A request answered twice", "the second reply is dropped"),
    (
        "rpc-error-id-null",
        SAFE,
        "An error that names no request",
        "the error of the request in whose own reply it came; if the server could not read the only request in "
        "flight, the error of that one, for a call a result with isError",
    ),
    (
        "rpc-id-missing",
        ALL,
        "A reply without the id of its request",
        "the id of the only request that it can belong to; without one it is dropped",
    ),
    (
        "rpc-id-type-changed",
        ALL,
        "An id that came back with a different type",
        "the id as it was sent, if no other request is in flight",
    ),
    (
        "rpc-id-wrong",
        ALL,
        "A reply with an id that no request had",
        "the id of the only request that it can belong to; without one it is dropped",
    ),
)
ENVELOPE: tuple[Repair[Any], ...] = tuple(
    Repair(code=code, level=level, about=Message, apply=None, title=title, makes=makes)
    for code, level, title, makes in _ROWS
)
