"""What the bridge of each server counts, kept apart by the server's name on the one page of metrics."""

from collections.abc import Callable, Mapping

from ...metrics import Metrics


class ServerMetrics(Metrics):
    """Counts for one server. Durations and gauges are the front's: it sees every call once."""

    def __init__(self, front: Metrics, server: str) -> None:
        super().__init__()
        self._front = front
        self._server = server

    def observe(self, method: str, tool: str, error_type: str, seconds: float) -> None:
        return None

    def count(self, name: str, meaning: str, labels: Mapping[str, str]) -> None:
        self._front.count(name, meaning, {**labels, "server": self._server})

    def gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        return None
