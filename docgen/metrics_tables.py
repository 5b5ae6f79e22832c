"""The tables of metrics, from the list in `metrics/names.py`."""

from qortal_mcp.metrics import METRICS
from qortal_mcp.metrics.names import Where

from .markdown import code, table

_TITLES: dict[Where, str] = {
    "every page": "On every page:",
    "HTTP": "Of servers with HTTP:",
    "sessions": "Of servers with sessions, such as a bridge:",
    "the Qortal server": "Of the Qortal server, about its nodes:",
    "with --cache": "Of a server with `--cache`:",
    "bridge": "Of a bridge:",
    "several servers": "Of a bridge to several servers:",
    "several workers": "Of a server with several workers:",
}


def all_metrics() -> str:
    tables = [f"{title}\n\n{_table(where)}" for where, title in _TITLES.items()]
    return "\n".join([*tables, _together()])


def _together() -> str:
    """How the numbers of workers become one."""
    by_rule: dict[str, list[str]] = {"max": [], "min": []}
    for metric in METRICS:
        if metric.together != "sum":
            by_rule[metric.together].append(code(metric.name))
    return (
        "Of several workers the numbers are added up, those of the process that looks after them included, with these exceptions. "
        f"The largest counts of {', '.join(by_rule['max'])}; the smallest of {', '.join(by_rule['min'])}.\n"
    )


def _table(where: Where) -> str:
    rows = [
        (code(metric.name), metric.kind, ", ".join(code(label) for label in metric.labels), metric.meaning)
        for metric in METRICS
        if metric.where == where
    ]
    return table(["metric", "kind", "labels", "meaning"], rows)
