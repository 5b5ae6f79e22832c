"""Messages in the standard output of a program that also prints other things, or prints messages in another form."""

import re
from collections.abc import Iterator, Set
from typing import Any

from msgspec import Raw, Struct

from ..protocol.decoding import decoder, has_more_values
from ..protocol.framing import TooLong, too_long
from ..protocol.jsonrpc import UNREADABLE
from .envelope.message import dropped
from .repair import ALL, SAFE, Change, Level, Repair


class Piece(Struct, frozen=True):
    """The bytes of one message, to be read by `envelope`. Without data: they were skipped, `changes` say why."""

    # Exactly as they came.
    raw: bytes
    data: bytes
    changes: tuple[Change, ...] = ()


_ROWS: tuple[tuple[str, Level, str, str], ...] = (
    (
        "stdout-pollution",
        SAFE,
        "Text that is not a message where only messages belong",
        "it is skipped",
    ),
    ("blank-line", SAFE, "A blank line, or an empty frame", "it is skipped"),
    ("line-ending-crlf", ALL, "Lines that end with carriage return and line feed", "a line feed alone"),
    (
        "message-multi-line",
        SAFE,
        "A message spread over several lines",
        "the lines are joined until it is complete",
    ),
    ("lsp-framing", SAFE, "Content-Length headers as in the Language Server Protocol", "they are removed"),
)
FRAMING: tuple[Repair[Any], ...] = tuple(
    Repair(code=code, level=level, about=Piece, apply=None, title=title, makes=makes)
    for code, level, title, makes in _ROWS
)

_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_CONTENT_LENGTH = re.compile(rb"content-length:\s*(\d{1,12})", re.IGNORECASE)
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]*:.*")
_HEADERS_BYTES = 4096
# Brackets are counted one by one: a line with more of them than this is not part of a longer message.
_MOST_VALUES = 100_000
# How a message begins, whole or not. Not `{'a': 1}` or `[INFO] ready`.
_OPENING = re.compile(rb'\{\s*(?:["}]|\Z)|\[\s*(?:\{|\Z)')
# Strings as far as they go, and brackets: each byte is scanned once.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:(")|\\?\Z)|[\[{]+|[\]}]+', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*(?:(")|\\?\Z)', re.DOTALL)
_decode_raw = decoder(Raw)
_decode_members = decoder(dict[str, Raw])


class _Unfinished:
    """A message whose end is on a later line."""

    def __init__(self, line: bytes) -> None:
        self.raw = bytearray()
        self._is_array = line.lstrip(_BLANK)[:1] == b"["
        self._depth = 0
        self._in_string = False
        self.add(line)

    def add(self, line: bytes) -> None:
        self.raw += line
        if has_more_values(line, _MOST_VALUES):
            self._depth, self._in_string = 0, False
            return
        at = 0
        if self._in_string:
            rest = _REST_OF_STRING.match(line)
            assert rest is not None, "it matches anything"
            if rest.group(1) is None:
                return
            at, self._in_string = rest.end(), False
        for token in _TOKEN.finditer(line, at):
            text = token.group()
            if text[0] in b"[{":
                self._depth += len(text)
            elif text[0] in b"]}":
                self._depth -= len(text)
            else:
                self._in_string = token.group(1) is None

    @property
    def is_over(self) -> bool:
        return self._depth <= 0 and not self._in_string

    @property
    def expects_message(self) -> bool:
        """It is an array of messages, one of which can be a line."""
        return self._is_array and self._depth == 1 and not self._in_string


class LooseLines:
    """Splits bytes, in any pieces, into messages, and skips the rest. What is over the limit is dropped and reported.

    `on` are the codes of what is accepted. A line that is not accepted is handed over as it is.
    """

    def __init__(self, limit: int, on: Set[str]) -> None:
        self._limit = limit
        self._on = on
        self._held = bytearray()
        # The rest of a line that is too long.
        self._is_dropping = False
        self._unfinished: _Unfinished | None = None
        # Content-Length: the header lines so far, and what they announce; the size of the body that comes next.
        self._headers = b""
        self._announced = 0
        self._body_bytes = 0
        # Bytes that were taken for a body and were none: headers are believed up to a limit.
        self._misread_bytes = 0

    def feed(self, data: bytes) -> list[Piece | TooLong]:
        """The messages that end in `data`, and what was skipped."""
        found: list[Piece | TooLong] = []
        # Whatever is held is looked at again only when something ends.
        if (not self._body_bytes and b"\n" not in data) or len(self._held) + len(data) < self._body_bytes:
            self._held += data
        else:
            self._split(bytes(self._held) + data if self._held else data, found)
        if not self._body_bytes and len(self._held) > self._limit:
            if not self._is_dropping:
                found.append(too_long(self._limit, self._held))
            self._held.clear()
            self._is_dropping = True
        return found

    def close(self) -> list[Piece | TooLong]:
        """What came after the last message."""
        found: list[Piece | TooLong] = []
        rest = bytes(self._held)
        self._held.clear()
        self._body_bytes = 0
        if rest and not self._is_dropping:
            self._take_line(rest, found)
        self._give_up(found)
        return found

    def _split(self, data: bytes, found: list[Piece | TooLong]) -> None:
        self._held.clear()
        at = 0
        while at < len(data):
            if self._body_bytes:
                end = at + self._body_bytes
                is_body = data[at : at + 1] in (b"{", b"[")
                if is_body and end > len(data):
                    break
                if not is_body or not self._take_body(data[at:end], found):
                    # It only looked like a header, or counts something else than bytes.
                    self._body_bytes = 0
                    self._give_up(found)
                    continue
            else:
                end = data.find(b"\n", at) + 1
                if not end:
                    break
                self._take_ended(data[at:end], found)
            at = end
        self._held += data[at:]

    def _take_body(self, body: bytes, found: list[Piece | TooLong]) -> bool:
        if not _is_whole(body) and not _Unfinished(body).is_over:
            self._misread_bytes += len(body)
            return False
        found.append(Piece(self._headers + body, body, (Change(code="lsp-framing"),)))
        self._headers = b""
        self._body_bytes = 0
        return True

    def _take_ended(self, line: bytes, found: list[Piece | TooLong]) -> None:
        if self._is_dropping:
            self._is_dropping = False
        elif len(line) > self._limit:
            found.append(too_long(self._limit, line))
        else:
            self._take_line(line, found)

    def _take_line(self, line: bytes, found: list[Piece | TooLong]) -> None:
        text = line.strip(_BLANK)
        core = text[len(_BOM) :].lstrip(_BLANK) if text.startswith(_BOM) else text
        if self._headers:
            if not core:
                self._headers += line
                self._body_bytes = self._announced
                return
            if _HEADER.fullmatch(core) and len(self._headers) + len(line) <= _HEADERS_BYTES:
                self._headers += line
                return
            self._give_up(found)
        if self._unfinished is not None:
            self._go_on(self._unfinished, line, core, found)
        elif not core:
            found.append(self._skipped("blank-line", line))
        elif _OPENING.match(core):
            self._open(line, text, core, found)
        elif (header := _CONTENT_LENGTH.fullmatch(core)) and self._accepts(int(header.group(1))):
            self._headers, self._announced = line, int(header.group(1))
        else:
            found.append(self._without_text(line, core))

    def _accepts(self, body_bytes: int) -> bool:
        is_sensible = 0 < body_bytes <= self._limit and self._misread_bytes <= self._limit
        return "lsp-framing" in self._on and is_sensible

    def _open(self, line: bytes, text: bytes, core: bytes, found: list[Piece | TooLong]) -> None:
        if "message-multi-line" in self._on and not _is_whole(core):
            unfinished = _Unfinished(line)
            if not unfinished.is_over:
                self._unfinished = unfinished
                return
        found.append(Piece(line, text, tuple(self._ending(line))))

    def _go_on(self, unfinished: _Unfinished, line: bytes, core: bytes, found: list[Piece | TooLong]) -> None:
        if core[:1] == b"{" and core[-1:] == b"}" and not unfinished.expects_message and _is_message(core):
            # What came before was never finished.
            self._give_up(found)
            found.append(Piece(line, core, tuple(self._ending(line))))
            return
        unfinished.add(line)
        if len(unfinished.raw) > self._limit:
            self._unfinished = None
            found.append(too_long(self._limit, unfinished.raw))
        elif unfinished.is_over:
            self._unfinished = None
            raw = bytes(unfinished.raw)
            found.append(
                Piece(raw, raw.strip(_BLANK), (Change(code="message-multi-line"), *self._ending(line)))
            )

    def _give_up(self, found: list[Piece | TooLong]) -> None:
        """What has begun is not a message after all."""
        if self._headers:
            found.append(self._skipped("stdout-pollution", self._headers))
            self._headers = b""
        if self._unfinished is not None:
            found.append(self._skipped("stdout-pollution", bytes(self._unfinished.raw)))
            self._unfinished = None

    def _without_text(self, line: bytes, core: bytes) -> Piece:
        """A line of text; what was printed without a line feed may have a message after it."""
        at = core.find(b'{"')
        if at > 0 and "stdout-pollution" in self._on and _is_message(core[at:]):
            change = Change(code="stdout-pollution", before=core[:at].decode("utf-8", "replace"))
            return Piece(line, core[at:], (change,))
        return self._skipped("stdout-pollution", line)

    def _skipped(self, code: str, raw: bytes) -> Piece:
        if code not in self._on:
            return Piece(raw, raw.strip(_BLANK))
        return Piece(raw, b"", dropped(code, raw).changes)

    def _ending(self, line: bytes) -> Iterator[Change]:
        if "line-ending-crlf" in self._on and line.endswith(b"\r\n"):
            yield Change(code="line-ending-crlf")


def _is_whole(text: bytes) -> bool:
    try:
        _decode_raw(text)
    except UNREADABLE:
        return False
    return True


def _is_message(text: bytes) -> bool:
    try:
        members = _decode_members(text)
    except UNREADABLE:
        return False
    return "jsonrpc" in members or ("id" in members and ("result" in members or "error" in members))
