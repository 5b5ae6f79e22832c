"""The numbers of several processes as one page, whoever writes it."""

from collections.abc import Iterable

from .names import Metric
from .page import Family, Row


def together(families: Iterable[Family]) -> list[Family]:
    """One family for each metric. Rows with the same labels become one, by the rule of the metric."""
    found: dict[str, tuple[Metric, dict[tuple[str, ...], Row]]] = {}
    for metric, rows in families:
        into = found.setdefault(metric.name, (metric, {}))[1]
        for labels, row in rows.items():
            before = into.get(labels)
            into[labels] = row if before is None else _one(metric, before, row)
    return list(found.values())


def _one(metric: Metric, first: Row, second: Row) -> Row:
    if metric.kind != "gauge" or metric.together == "sum":
        return [a + b for a, b in zip(first, second, strict=True)]
    choose = max if metric.together == "max" else min
    return [choose(a, b) for a, b in zip(first, second, strict=True)]
