"""The tables of metrics, from the list in `metrics/names.py`."""

from qortal_mcp.metrics import METRICS
from qortal_mcp.metrics.names import Where

from .markdown import code, table

_TITLES: dict[Where, str] = {
    "every page": "On every page:",
    "HTTP": "Of servers with HTTP:",
    "sessions": "Of servers with sessions, such as a bridge:",
    "the Qortal server": "Of the Qortal server, about its nodes:",
    "bridge": "Of a bridge:",
    "several servers": "Of a bridge to several servers:",
}


def all_metrics() -> str:
    return "\n".join(f"{title}\n\n{_table(where)}" for where, title in _TITLES.items())


def _table(where: Where) -> str:
    rows = [
        (code(metric.name), metric.kind, ", ".join(code(label) for label in metric.labels), metric.meaning)
        for metric in METRICS
        if metric.where == where
    ]
    return table(["metric", "kind", "labels", "meaning"], rows)
