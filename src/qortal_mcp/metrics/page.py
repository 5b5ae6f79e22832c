"""Numbers as Prometheus reads them: the text format, version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .names import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

# One number; of a histogram how many fell into each bucket, those beyond the last boundary, and the sum of all.
Row = Sequence[float]
Family = tuple[Metric, Mapping[tuple[str, ...], Row]]


def written(families: Iterable[Family], more: Iterable[tuple[str, str]] = ()) -> str:
    """The page, in the order of names. `more` are labels of every number."""
    lines: list[str] = []
    extra = tuple(more)
    for metric, rows in sorted(families, key=lambda family: family[0].name):
        lines += [f"# HELP {metric.name} {metric.meaning}", f"# TYPE {metric.name} {metric.kind}"]
        for values, row in sorted(rows.items()):
            labels = _labels([*zip(metric.labels, values, strict=False), *extra])
            lines += (
                _histogram(metric, labels, row) if metric.buckets else [_line(metric.name, labels, row[0])]
            )
    return "\n".join(lines) + "\n"


def _histogram(metric: Metric, labels: str, row: Row) -> Iterator[str]:
    total = 0.0
    for bound, count in zip((*metric.buckets, "+Inf"), row[:-1], strict=True):
        total += count
        yield _line(f"{metric.name}_bucket", f'{labels}{"," if labels else ""}le="{bound}"', total)
    yield _line(f"{metric.name}_sum", labels, row[-1])
    yield _line(f"{metric.name}_count", labels, total)


def _line(name: str, labels: str, number: float) -> str:
    return f"{name}{{{labels}}} {number:.15g}" if labels else f"{name} {number:.15g}"


def _labels(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels as Prometheus reads them, without those that are empty. A tool of another server may have any name."""
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs if value)
