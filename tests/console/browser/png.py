"""A screenshot as a small file: with a palette of its 256 main colours, which is all that flat pages and their letters need."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 256
# What a browser writes: eight bits each of red, green and blue.
_DEPTH, _RGB, _PALETTE = 8, 2, 3
_PIXEL_BYTES = 3
_HEAD = struct.Struct(">IIBBBBB")


def with_palette(png: bytes) -> bytes:
    """The same picture; colours beyond the 256 most frequent become the nearest of these."""
    chunks = list(_chunks(png))
    width, height, depth, kind, *_ = _HEAD.unpack(chunks[0][1])
    assert (depth, kind) == (_DEPTH, _RGB), "a screenshot without transparency"
    packed = b"".join(data for name, data in chunks if name == b"IDAT")
    rows = list(_rows(zlib.decompress(packed), width * _PIXEL_BYTES))
    used = Counter(row[at : at + _PIXEL_BYTES] for row in rows for at in range(0, len(row), _PIXEL_BYTES))
    palette = [colour for colour, _ in used.most_common(_COLOURS)]
    place = {colour: _nearest(colour, palette) for colour in used}
    lines = (
        bytes((0, *(place[row[at : at + _PIXEL_BYTES]] for at in range(0, len(row), _PIXEL_BYTES))))
        for row in rows
    )
    head = _HEAD.pack(width, height, _DEPTH, _PALETTE, 0, 0, 0)
    return _SIGNATURE + b"".join(
        _chunk(name, data)
        for name, data in (
            (b"IHDR", head),
            (b"PLTE", b"".join(palette)),
            (b"IDAT", zlib.compress(b"".join(lines), 9)),
            (b"IEND", b""),
        )
    )


def _nearest(colour: bytes, palette: list[bytes]) -> int:
    return min(
        range(len(palette)),
        key=lambda at: sum((a - b) ** 2 for a, b in zip(colour, palette[at], strict=True)),
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        at += size + 12


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _rows(packed: bytes, row_bytes: int) -> Iterator[bytes]:
    """Rows as they are seen: in a PNG each is written as its difference from a guess."""
    above = bytearray(row_bytes)
    for start in range(0, len(packed), row_bytes + 1):
        row = bytearray(packed[start + 1 : start + 1 + row_bytes])
        guess = packed[start]
        if guess:
            for at in range(row_bytes):
                left = row[at - _PIXEL_BYTES] if at >= _PIXEL_BYTES else 0
                corner = above[at - _PIXEL_BYTES] if at >= _PIXEL_BYTES else 0
                row[at] = (row[at] + _guessed(guess, left, above[at], corner)) & 255
        yield bytes(row)
        above = row


def _guessed(guess: int, left: int, above: int, corner: int) -> int:
    if guess == 1:
        return left
    if guess == 2:
        return above
    if guess == 3:
        return (left + above) // 2
    near = left + above - corner
    return min((left, above, corner), key=lambda value: abs(near - value))
