"""Where a process counts. Bounded: labels come from lists, and what strangers name becomes `other`."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from . import names
from .names import BUCKETS, FINE_BUCKETS, Metric
from .page import Family, Row, written

OTHER = "other"
# What a bridge calls a tool that its server has not listed.
UNKNOWN_TOOL = "_other"
# More than any server needs. A server behind a bridge chooses its tools' names and the codes of its errors.
_MOST_ROWS = 2000
# One row of counts serves both histograms of requests: these are the boundaries of either.
_BOUNDS = (*FINE_BUCKETS[:-1], *BUCKETS)
_COARSE_FROM = len(FINE_BUCKETS) - 1

# Method, tool, error type, code of the JSON-RPC error, transport, revision: the labels of `names.OPERATIONS`.
Operation = tuple[str, str, str, str, str, str]
Labels = tuple[str, ...]
Read = Callable[[], float]
ReadEach = Callable[[], Iterable[tuple[Labels, float]]]
# A list, or a place in memory that other processes see.
Cells: TypeAlias = "list[float] | memoryview[float]"
Labelled = Iterable[tuple[str, str]]


class Store(Protocol):
    """Where the rows of numbers are kept, if that is not the memory of this process alone."""

    def row(self, metric: str, labels: Labels, width: int) -> Cells:
        """The row of these labels, of zeros if it is new. An earlier process may have counted in it."""
        ...


class Metrics:
    """Durations of operations, counters, and what is read whenever somebody looks."""

    def __init__(self) -> None:
        # The row of each operation as it is reported: several may share one, as `other`.
        self._slots: dict[Operation, Cells] = {}
        self._operations: dict[Operation, Cells] = {}
        self._counts: dict[str, tuple[Metric, dict[Labels, Cells]]] = {}
        self._durations: dict[str, tuple[Metric, dict[Labels, Cells]]] = {}
        self._read: dict[str, tuple[Metric, list[ReadEach]]] = {}
        self._included: list[Metrics] = []
        self._store: Store | None = None
        # Who writes the page, where others count as well.
        self._write_page: Callable[[Labelled], str] | None = None

    def observe(self, operation: Operation, seconds: float) -> None:
        """One finished request. Every request comes by here: one lookup, one search, two additions."""
        row = self._slots.get(operation)
        if row is None:
            row = self._slot(operation)
        row[bisect_left(_BOUNDS, seconds)] += 1
        row[-1] += seconds

    def _slot(self, operation: Operation) -> Cells:
        method, tool, error_type, code, transport, revision = operation
        if method == "tools/call":
            tool = tool_label(tool)
        labels = (method, tool, error_type, code, transport, revision)
        if labels not in self._operations and len(self._operations) >= _MOST_ROWS:
            labels = (method, tool and OTHER, error_type and OTHER, code and OTHER, transport, "")
        row = self._operations.get(labels)
        if row is None:
            row = self._operations[labels] = self._row(names.OPERATIONS, labels, len(_BOUNDS) + 2)
        if len(self._slots) < _MOST_ROWS:
            self._slots[operation] = row
        return row

    def count(self, metric: Metric, *labels: str) -> None:
        """One more of these. Labels come from a fixed list, like all others."""
        counts = self._counts.setdefault(metric.name, (metric, {}))[1]
        if labels not in counts and len(counts) >= _MOST_ROWS:
            labels = (OTHER,) * len(labels)
        row = counts.get(labels)
        if row is None:
            row = counts[labels] = self._row(metric, labels, 1)
        row[0] += 1

    def time(self, metric: Metric, labels: Labels, seconds: float) -> None:
        """One more duration of these."""
        rows = self._durations.setdefault(metric.name, (metric, {}))[1]
        row = rows.get(labels)
        if row is None:
            row = rows[labels] = self._row(metric, labels, len(metric.buckets) + 2)
        row[bisect_left(metric.buckets, seconds)] += 1
        row[-1] += seconds

    def show(self, metric: Metric, read: Read) -> None:
        """A number that is read whenever somebody looks."""
        self._read[metric.name] = (metric, [lambda: [((), read())]])

    def show_each(self, metric: Metric, read: ReadEach) -> None:
        """The same for a metric with labels. Several places may show some of its numbers."""
        self._read.setdefault(metric.name, (metric, []))[1].append(read)

    def include(self, other: "Metrics") -> None:
        """Show what is counted there as well."""
        if other not in self._included:
            self._included.append(other)
            if self._store is not None:
                other.keep_in(self._store)

    def keep_in(self, store: Store) -> None:
        """Keep the rows there from now on, beginning with what was counted so far."""
        mine = [*self._rows()]
        self._store = store
        for rows in (self._slots, self._operations, self._counts, self._durations):
            rows.clear()
        for metric, labels, row in mine:
            into = store.row(metric.name, labels, len(row))
            self.place(metric, labels, into)
            for at, number in enumerate(row):
                into[at] += number
        for other in self._included:
            other.keep_in(store)

    def place(self, metric: Metric, labels: Labels, row: Cells) -> None:
        """Show a row that somebody else counts in."""
        if metric is names.OPERATIONS:
            method, tool, error_type, code, transport, revision = labels
            self._operations[method, tool, error_type, code, transport, revision] = row
        else:
            kind = self._durations if metric.buckets else self._counts
            kind.setdefault(metric.name, (metric, {}))[1][labels] = row

    def write_pages_with(self, write: Callable[[Labelled], str]) -> None:
        """Leave the page to somebody who knows what others have counted."""
        self._write_page = write

    def _row(self, metric: Metric, labels: Labels, width: int) -> Cells:
        return [0.0] * width if self._store is None else self._store.row(metric.name, labels, width)

    def _rows(self) -> Iterable[tuple[Metric, Labels, Cells]]:
        for operation, row in self._operations.items():
            yield names.OPERATIONS, operation, row
        for metric, rows in (*self._counts.values(), *self._durations.values()):
            for labels, row in rows.items():
                yield metric, labels, row

    def render(self, labels: Labelled = ()) -> str:
        """Everything in Prometheus' text format; these labels are added to every number."""
        if self._write_page is not None:
            return self._write_page(labels)
        found: dict[str, tuple[Metric, dict[Labels, Row]]] = {}
        for metric, rows in (*self.counted(), *self.shown()):
            found.setdefault(metric.name, (metric, {}))[1].update(rows)
        return written(found.values(), labels)

    def counted(self) -> Iterable[Family]:
        """What was counted and timed here."""
        for metrics in (self, *self._included):
            # Requests are told of before there are any: whoever sets up a dashboard looks for their name first.
            yield names.OPERATIONS, {key: _coarse(row) for key, row in metrics._operations.items()}
            yield names.FINE, metrics._fine()
            yield from metrics._durations.values()
            yield from metrics._counts.values()

    def shown(self) -> Iterable[Family]:
        """What is read now."""
        for metrics in (self, *self._included):
            for metric, readers in metrics._read.values():
                found = (sample for read in readers for sample in read())
                yield metric, {labels: [number] for labels, number in found}

    def _fine(self) -> dict[Labels, list[float]]:
        """Those that succeeded, however and in whichever revision they came."""
        found: dict[Labels, list[float]] = {}
        for (method, tool, error_type, code, _, _), row in self._operations.items():
            if error_type or code:
                continue
            total = found.setdefault((method, tool), [0.0] * (len(FINE_BUCKETS) + 2))
            for at in range(len(FINE_BUCKETS)):
                total[at] += row[at]
            total[-2] += sum(row[len(FINE_BUCKETS) : -1])
            total[-1] += row[-1]
        return found


def tool_label(tool: str) -> str:
    """A tool's name as it is counted."""
    return OTHER if tool in ("", UNKNOWN_TOOL) else tool


def _coarse(row: Cells) -> Row:
    """The row without the boundaries that only the fine histogram has."""
    return [sum(row[: _COARSE_FROM + 1]), *row[_COARSE_FROM + 1 :]]
