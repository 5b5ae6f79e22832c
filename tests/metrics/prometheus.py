"""Pages of metrics as a client library of Prometheus reads them."""

from collections.abc import Iterator

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(page: str) -> Iterator[tuple[str, Sample]]:
    """Every number, with the name of its family as we spell it: the library cuts `_total` from counters."""
    for family in text_string_to_metric_families(page):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        for sample in family.samples:
            yield name, sample


def numbers(page: str) -> Numbers:
    """Numbers by name and labels; fails where one is given twice, as Prometheus does."""
    found: Numbers = {}
    for _, sample in samples(page):
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in found, f"given twice: {key}"
        found[key] = sample.value
    return found


def number(page: str, name: str, **labels: str) -> float | None:
    """The number with exactly these labels; None if there is none."""
    return numbers(page).get((name, tuple(sorted(labels.items()))))
