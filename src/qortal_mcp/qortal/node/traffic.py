"""What is counted about the nodes, for operators."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ...metrics import Metric, Metrics, names
from ...metrics.counting import Labels
from ..limits import NodeLimits

if TYPE_CHECKING:
    from .upstream import Upstream

_Number = float | None


class Traffic:
    """The traffic with all nodes of one server."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        # Answers that tools got from memory, from the shared store, and from a node.
        self.from_cache = 0
        self.from_store = 0
        self.from_node = 0
        self.has_store = False

    def read(self, *, is_shared: bool) -> None:
        """A tool got an answer that was not in memory."""
        if is_shared:
            self.from_store += 1
        else:
            self.from_node += 1

    def answered(self, node: str, seconds: float) -> None:
        self.metrics.time(names.NODE_REQUESTS, (node,), seconds)

    def failed(self, node: str, code: str) -> None:
        self.metrics.count(names.NODE_FAILURES, node, code)

    def show(
        self,
        upstreams: "Sequence[Upstream]",
        limits: NodeLimits,
        cache_bytes: Callable[[], int],
        clock: Callable[[], float],
    ) -> None:
        """What is known about these nodes at any time."""

        def tip_age(upstream: "Upstream") -> _Number:
            tip = upstream.last_tip
            # The clock of the sample chain stands still.
            return None if tip is None or upstream.is_sample else max(0.0, clock() - tip.timestamp / 1000)

        def each(read: "Callable[[Upstream], _Number]") -> Callable[[], Iterable[tuple[Labels, float]]]:
            return lambda: [
                ((upstream.source.origin,), number)
                for upstream in upstreams
                if (number := read(upstream)) is not None
            ]

        def height(upstream: "Upstream") -> _Number:
            return None if upstream.last_tip is None else upstream.last_tip.height

        def synchronizing(upstream: "Upstream") -> _Number:
            tip = upstream.last_tip
            return None if tip is None else bool(tip.seen.as_of.isSynchronizing)

        numbers: tuple[tuple[Metric, Callable[[Upstream], _Number]], ...] = (
            (names.NODE_IN_FLIGHT, lambda upstream: upstream.gate.inside),
            (names.NODE_WAITING, lambda upstream: upstream.gate.waiting),
            (names.NODE_UP, lambda upstream: not upstream.is_resting if upstream.is_met else None),
            (names.NODE_HEIGHT, height),
            (names.NODE_TIP_AGE, tip_age),
            (names.NODE_SYNCHRONIZING, synchronizing),
        )
        for metric, read in numbers:
            self.metrics.show_each(metric, each(read))
        self.metrics.show(names.NODE_MOST_TIP_AGE, lambda: limits.max_tip_age_seconds)
        self.metrics.show(names.CACHE_BYTES, cache_bytes)
        self.metrics.show_each(
            names.NODE_READS,
            lambda: [
                (("cache",), self.from_cache),
                (("node",), self.from_node),
                *([(("store",), self.from_store)] if self.has_store else ()),
            ],
        )
        self.metrics.show_each(
            names.LIMIT_USAGE,
            lambda: [
                (
                    ("node_waiting_requests",),
                    max(upstream.gate.waiting for upstream in upstreams) / limits.waiting_requests / 2,
                ),
                (("node_cache_bytes",), cache_bytes() / limits.cache_bytes),
            ],
        )
