"""Counts and durations of this process, and their Prometheus text. Bounded: labels come from lists, not from requests."""

from bisect import bisect_left
from collections.abc import Callable, Mapping

# The buckets that the MCP semantic conventions recommend for operation durations.
BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
# More than any server needs. A server behind a bridge chooses its tools' names and the codes of its errors.
_MOST_ROWS = 5000
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_OPERATION = "mcp_server_operation_duration_seconds"


class Metrics:
    """Durations per operation, counters, and gauges read on each request."""

    def __init__(self) -> None:
        self._durations: dict[tuple[str, str, str], list[float]] = {}
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._counters: dict[str, tuple[str, dict[str, int]]] = {}

    def observe(self, method: str, tool: str, error_type: str, seconds: float) -> None:
        """One finished operation. `error_type` is empty for a success."""
        key = (method, tool, error_type)
        row = self._durations.get(key)
        if row is None and len(self._durations) >= _MOST_ROWS:
            key = (method, "", "_other") if error_type else (method, "", "")
            row = self._durations.get(key)
        if row is None:
            row = self._durations[key] = [0.0] * (len(BUCKETS) + 2)
        row[bisect_left(BUCKETS, seconds)] += 1
        row[-1] += seconds

    def count(self, name: str, meaning: str, labels: Mapping[str, str]) -> None:
        """One more of these. Labels come from a fixed list, like all others."""
        written = _written(labels)
        counts = self._counters.setdefault(name, (meaning, {}))[1]
        counts[written] = counts.get(written, 0) + 1

    def gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        self._gauges[name] = (meaning, read)

    def render(self) -> str:
        """Everything in Prometheus' text format."""
        lines = [
            f"# HELP {_OPERATION} Duration of MCP requests and notifications as seen by the server.",
            f"# TYPE {_OPERATION} histogram",
        ]
        for (method, tool, error_type), row in sorted(self._durations.items()):
            labels = _written({"mcp_method_name": method, "gen_ai_tool_name": tool, "error_type": error_type})
            total = 0.0
            for bound, count in zip((*BUCKETS, "+Inf"), row[:-1], strict=True):
                total += count
                lines.append(f'{_OPERATION}_bucket{{{labels},le="{bound}"}} {total:g}')
            lines.append(f"{_OPERATION}_sum{{{labels}}} {row[-1]:.9g}")
            lines.append(f"{_OPERATION}_count{{{labels}}} {total:g}")
        for name, (meaning, counts) in sorted(self._counters.items()):
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} counter"]
            lines += [f"{name}{{{labels}}} {count}" for labels, count in sorted(counts.items())]
        for name, (meaning, read) in sorted(self._gauges.items()):
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", f"{name} {read():g}"]
        return "\n".join(lines) + "\n"


def _written(labels: Mapping[str, str]) -> str:
    """Labels as Prometheus reads them, without those that are empty. A tool of another server may have any name."""
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items() if value)
