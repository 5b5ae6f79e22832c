"""Numbers in memory that several processes see: each counts in a part of its own, and any of them reads them all.

Nobody has to be asked, so that one that hangs or has died holds up nobody, and what it counted is not lost: whoever takes its
place goes on counting in the same part.
"""

import mmap
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator

import msgspec

from .counting import Cells, Labelled, Labels, Metrics
from .names import METRICS
from .page import Family, written
from .together import together

# What is counted: a row is some 300 bytes, and there are never more than a few thousand. Only what is used takes memory.
_ROWS_BYTES = 4 * 1024 * 1024
# What is read now and then, such as how many connections are open.
_SHOWN_BYTES = 256 * 1024
# Where the rows end; connections taken, and open ones; the beat; then, behind its own checksum, what was read last.
_HEAD_BYTES = 64
PART_BYTES = _HEAD_BYTES + _ROWS_BYTES + _SHOWN_BYTES
# Of a row: its length in all, that of its name, how many numbers it has.
_ROW_HEAD = struct.Struct("<III4x")
_SHOWN_HEAD = struct.Struct("<II")
_BY_NAME = {metric.name: metric for metric in METRICS}
# Whoever reads while another writes sees neither the old nor the new, and looks again.
_LOOKS = 5

_Shown = dict[str, list[tuple[Labels, float]]]
_encode = msgspec.json.Encoder().encode
_decode_name = msgspec.json.Decoder(tuple[str, Labels]).decode
_decode_shown = msgspec.json.Decoder(_Shown).decode


class Part:
    """Where one process counts. Only that process writes, or whoever has seen its end."""

    def __init__(self, memory: memoryview) -> None:
        self._memory = memory
        self._end = memory[:8].cast("Q")
        self._connections = memory[8:24].cast("Q")
        self._beat = memory[24:32].cast("Q")
        self._known: dict[tuple[str, Labels], Cells] = {}
        # What earlier processes of this part had reached in counters that are read: the next one begins at 0.
        self._before: dict[tuple[str, Labels], float] = {}

    def take_over(self) -> None:
        """Begin to count here, where an earlier process may have counted."""
        self._known = {(name, labels): row for name, labels, row in self.rows()}
        self._before = {
            (name, labels): number
            for name, found in self._last_shown().items()
            if _BY_NAME[name].kind == "counter"
            for labels, number in found
        }

    def row(self, metric: str, labels: Labels, width: int) -> Cells:
        row = self._known.get((metric, labels))
        if row is None:
            row = self._known[metric, labels] = self._new_row(metric, labels, width)
        return row

    def _new_row(self, metric: str, labels: Labels, width: int) -> Cells:
        name = _encode((metric, labels))
        at = _HEAD_BYTES + self._end[0]
        begin = at + _ROW_HEAD.size + _padded(len(name))
        length = begin + 8 * width - at
        if self._end[0] + length > _ROWS_BYTES:
            return [
                0.0
            ] * width  # more labels than any server has: they are not shown, and nothing else is lost
        _ROW_HEAD.pack_into(self._memory, at, length, len(name), width)
        self._memory[at + _ROW_HEAD.size : at + _ROW_HEAD.size + len(name)] = name
        self._end[0] += length  # last: readers go as far as this
        return self._memory[begin : begin + 8 * width].cast("d")

    def rows(self) -> Iterator[tuple[str, Labels, Cells]]:
        at, end = _HEAD_BYTES, _HEAD_BYTES + self._end[0]
        while at < end:
            length, name_bytes, width = _ROW_HEAD.unpack_from(self._memory, at)
            begin = at + _ROW_HEAD.size
            name, labels = _decode_name(self._memory[begin : begin + name_bytes])
            begin += _padded(name_bytes)
            yield name, labels, self._memory[begin : begin + 8 * width].cast("d")
            at += length

    def show(self, families: Iterable[Family]) -> None:
        """Leave what is read now for others to read."""
        found: _Shown = {}
        for metric, rows in families:
            before = self._before if metric.kind == "counter" else {}
            found.setdefault(metric.name, []).extend(
                (labels, row[0] + before.get((metric.name, labels), 0)) for labels, row in rows.items()
            )
        self._write_shown(found)

    def show_no_gauges(self) -> None:
        """The process has ended: what it had open is gone, what it has counted stays."""
        kept = {name: rows for name, rows in self._last_shown().items() if _BY_NAME[name].kind == "counter"}
        self._write_shown(kept)
        self.count_connections(0, 0)

    def families(self) -> Iterable[Family]:
        counted = Metrics()
        for name, labels, row in self.rows():
            counted.place(_BY_NAME[name], labels, row)
        yield from counted.counted()
        for name, rows in self._last_shown().items():
            yield _BY_NAME[name], {labels: [number] for labels, number in rows}

    def _write_shown(self, found: _Shown) -> None:
        text = _encode(found)
        if len(text) > _SHOWN_BYTES - _SHOWN_HEAD.size:
            return
        at = _HEAD_BYTES + _ROWS_BYTES
        _SHOWN_HEAD.pack_into(self._memory, at, len(text), zlib.crc32(text))
        at += _SHOWN_HEAD.size
        self._memory[at : at + len(text)] = text

    def _last_shown(self) -> _Shown:
        at = _HEAD_BYTES + _ROWS_BYTES
        for _ in range(_LOOKS):
            length, checksum = _SHOWN_HEAD.unpack_from(self._memory, at)
            begin = at + _SHOWN_HEAD.size
            text = bytes(self._memory[begin : begin + min(length, _SHOWN_BYTES)])
            if length and zlib.crc32(text) == checksum:
                return _decode_shown(text)
        return {}

    def count_connections(self, taken: int, open_: int) -> None:
        self._connections[0], self._connections[1] = taken, open_

    def count_beat(self) -> None:
        """Its process is at work: whoever looks twice sees whether it was in between."""
        self._beat[0] += 1

    @property
    def beat(self) -> int:
        return self._beat[0]

    @property
    def connections(self) -> tuple[int, int]:
        """How many were taken so far, and how many are open."""
        return self._connections[0], self._connections[1]


class Board:
    """All parts: that of the process that looks after the others, number 0, and one for each of those."""

    def __init__(self, file: int, begin: int, parts: int) -> None:
        memory = memoryview(mmap.mmap(file, begin + parts * PART_BYTES))
        self.parts = [Part(memory[at : at + PART_BYTES]) for at in range(begin, len(memory), PART_BYTES)]

    def page(self, labels: Labelled = ()) -> str:
        """The numbers of all of them, in Prometheus' text format."""
        return written(together(family for part in self.parts for family in part.families()), labels)

    def join(self, metrics: Metrics, number: int) -> Callable[[], None]:
        """Count in this part from now on, and show all parts. Returns what brings up to date what others see of this one."""
        part = self.parts[number]
        part.take_over()
        metrics.keep_in(part)

        def show() -> None:
            part.show(metrics.shown())

        def page(labels: Labelled) -> str:
            show()
            return self.page(labels)

        metrics.write_pages_with(page)
        return show


def bytes_for(parts: int) -> int:
    return parts * PART_BYTES


def _padded(length: int) -> int:
    """Numbers begin at multiples of 8: each is written at once, and nobody sees half of one."""
    return -(-length // 8) * 8
