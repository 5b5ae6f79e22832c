"""What the bridge of each server counts, kept apart by the server's name on the one page of metrics."""

from ...metrics import Metric, Metrics, names
from ...metrics.counting import Operation, Read, ReadEach


class ServerMetrics(Metrics):
    """Counts the repairs of one server. All the rest is the front's: it sees every call once."""

    def __init__(self, front: Metrics, server: str) -> None:
        super().__init__()
        self._front = front
        self._server = server

    def observe(self, operation: Operation, seconds: float) -> None:
        return None

    def count(self, metric: Metric, *labels: str) -> None:
        if metric is names.BRIDGE_REPAIRS:
            self._front.count(metric, *labels, self._server)

    def show(self, metric: Metric, read: Read) -> None:
        return None

    def show_each(self, metric: Metric, read: ReadEach) -> None:
        return None
