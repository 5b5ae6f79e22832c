"""Bytes before they are messages: lines, frames and what JSON they hold."""

import re
from collections.abc import Iterator

from ..judging.check import ADVICE, MUST, SHOULD, Check, Defect, check
from ..subjects import Piece

_CONTENT_LENGTH = re.compile(rb"content-length:\s*\d+", re.IGNORECASE)
_STDIO = "basic/transports: stdio"
_JSON = "RFC 8259; basic: messages are UTF-8 encoded JSON-RPC"


def _is_lsp(piece: Piece) -> bool:
    return bool(_CONTENT_LENGTH.search(piece.data[:200]) or _CONTENT_LENGTH.search(piece.before[:200]))


def _is_message(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_message(part) for part in value)
    return isinstance(value, dict) and bool({"jsonrpc", "method", "result", "error"} & value.keys())


@check(
    "stdout-pollution",
    MUST,
    Piece,
    only=("stdio", "websocket"),
    clause=_STDIO,
    expected="Standard output, and a WebSocket, carry MCP messages and nothing else.",
    fix="Send banners and logs to standard error; redirect the standard output of libraries before they are loaded.",
)
def stdout_pollution(piece: Piece) -> Iterator[Defect]:
    """Text that is not a message where only messages belong."""
    if piece.heard.too_long or not piece.data.strip() or _is_lsp(piece):
        return
    if not piece.values or not all(_is_message(value) for value in piece.values):
        yield Defect(evidence=piece.data)


@check(
    "line-ending-crlf",
    SHOULD,
    Piece,
    only="stdio",
    clause=_STDIO,
    expected="Each message ends with a single line feed.",
    fix="Write bytes, or open standard output with newline='\\n'.",
    departs="A message MUST end with a newline; every measured client takes the carriage return for white space, so it is a SHOULD.",
)
def line_ending_crlf(piece: Piece) -> Iterator[Defect]:
    """Lines end with carriage return and line feed."""
    if piece.data.endswith(b"\r\n") and piece.values and not _is_lsp(piece):
        yield Defect(evidence=piece.data[-40:])


@check(
    "bom",
    MUST,
    Piece,
    clause=_JSON,
    expected="A message has no byte order mark before it.",
    fix="Write with the encoding utf-8, not utf-8-sig.",
)
def bom(piece: Piece) -> Iterator[Defect]:
    """A byte order mark before a message."""
    if "bom" in piece.slips:
        yield Defect(evidence=piece.data[:40])


@check(
    "blank-line",
    SHOULD,
    Piece,
    only="stdio",
    clause=_STDIO,
    expected="Each line is a message.",
    fix="Write one line feed after each message, and none elsewhere.",
    departs="Standard output MUST carry nothing but messages; a blank line holds nothing and stops one measured client, so it is a SHOULD.",
)
def blank_line(piece: Piece) -> Iterator[Defect]:
    """A blank line on standard output."""
    if not piece.data.strip() and not piece.heard.too_long and not _is_lsp(piece):
        yield Defect(evidence=piece.data)


@check(
    "message-multi-line",
    MUST,
    Piece,
    only="stdio",
    clause=_STDIO,
    expected="A message is one line, without line feeds inside.",
    fix="Serialise without indentation.",
)
def message_multi_line(piece: Piece) -> Iterator[Defect]:
    """A message spread over several lines."""
    if piece.lines > 1:
        init = piece.step.name in ("initialize", "server/discover")
        yield Defect(evidence=piece.data, case="pretty-init" if init else "pretty-call")


@check(
    "lsp-framing",
    MUST,
    Piece,
    only="stdio",
    clause=_STDIO,
    expected="Messages are lines; there are no headers before them.",
    fix="Drop the Content-Length header of the Language Server Protocol and end each message with a line feed.",
)
def lsp_framing(piece: Piece) -> Iterator[Defect]:
    """Content-Length headers as in the Language Server Protocol."""
    if _CONTENT_LENGTH.search(piece.data[:200]):
        yield Defect(evidence=piece.data)


@check(
    "message-joined",
    MUST,
    Piece,
    clause=_STDIO,
    expected="One message per line, frame, body or event.",
    fix="End each message with a line feed, and let only one writer write at a time.",
)
def message_joined(piece: Piece) -> Iterator[Defect]:
    """Several messages in one piece."""
    if "joined" in piece.slips and not _is_lsp(piece):
        yield Defect(evidence=piece.data)


@check(
    "invalid-utf8",
    MUST,
    Piece,
    clause=_JSON,
    expected="Messages are UTF-8.",
    fix="Decode data from elsewhere with replacement characters before it goes into a result.",
)
def invalid_utf8(piece: Piece) -> Iterator[Defect]:
    """Bytes that are not UTF-8 inside a message."""
    if "invalid-utf8" in piece.slips and piece.values:
        yield Defect(evidence=piece.data)


@check(
    "json-nan",
    MUST,
    Piece,
    clause=_JSON,
    expected="JSON has no NaN and no Infinity.",
    fix="Send null or a string instead; in Python, json.dumps(allow_nan=False) finds the place.",
)
def json_nan(piece: Piece) -> Iterator[Defect]:
    """NaN or Infinity, which JSON does not have."""
    if "nan" in piece.slips and any(_is_message(value) for value in piece.values):
        yield Defect(evidence=piece.data)


@check(
    "lone-surrogate",
    SHOULD,
    Piece,
    clause=_JSON,
    expected="Strings can be written as UTF-8: they hold no half of a surrogate pair.",
    fix="Replace lone surrogates by U+FFFD before sending.",
)
def lone_surrogate(piece: Piece) -> Iterator[Defect]:
    """Half of a surrogate pair in a string."""
    if "surrogate" in piece.slips:
        yield Defect(evidence=piece.data)


@check(
    "json-duplicate-member",
    SHOULD,
    Piece,
    clause="RFC 8259 §4",
    expected="The names of an object's members are unique.",
    fix="Build the object as a map, so that each name occurs once.",
)
def json_duplicate_member(piece: Piece) -> Iterator[Defect]:
    """An object with the same member twice."""
    if "duplicate-key" in piece.slips and any(_is_message(value) for value in piece.values):
        yield Defect(evidence=piece.data)


@check(
    "message-too-large",
    ADVICE,
    Piece,
    expected="A message is small enough for a client to hold.",
    fix="Split long answers into pages, or give a link to the data.",
)
def message_too_large(piece: Piece) -> Iterator[Defect]:
    """A message larger than this audit reads."""
    if piece.heard.too_long:
        yield Defect(note="it was not kept")


@check(
    "websocket-binary-frame",
    ADVICE,
    Piece,
    only="websocket",
    expected="One message per text frame, as the known WebSocket clients expect.",
    fix="Send text frames.",
)
def websocket_binary_frame(piece: Piece) -> Iterator[Defect]:
    """A message in a binary frame."""
    if piece.heard.binary:
        yield Defect(evidence=piece.data)


CHECKS: tuple[Check[Piece], ...] = (
    stdout_pollution,
    line_ending_crlf,
    bom,
    blank_line,
    message_multi_line,
    lsp_framing,
    message_joined,
    invalid_utf8,
    json_nan,
    lone_surrogate,
    json_duplicate_member,
    message_too_large,
    websocket_binary_frame,
)
