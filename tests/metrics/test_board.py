"""Numbers that several processes count in one memory: nothing is lost with a process, and any of them shows all."""

import os
import tempfile
from collections.abc import Iterator

import pytest

from qortal_mcp.metrics import Metrics, names
from qortal_mcp.metrics.board import Board, bytes_for

from .prometheus import number

CALL = ("tools/call", "look", "", "", "tcp", "2025-11-25")
NODE = ("http://node",)


@pytest.fixture
def file() -> Iterator[int]:
    with tempfile.TemporaryFile() as made:
        os.truncate(made.fileno(), bytes_for(3))
        yield made.fileno()


def worker(file: int, number: int) -> Metrics:
    """As a process of that number begins."""
    metrics = Metrics()
    Board(file, 0, 3).join(metrics, number)
    return metrics


def calls(metrics: Metrics) -> float | None:
    return number(
        metrics.render(),
        "mcp_server_operation_duration_seconds_count",
        mcp_method_name="tools/call",
        gen_ai_tool_name="look",
        network_transport="tcp",
        mcp_protocol_version="2025-11-25",
    )


def test_what_others_count_is_added(file: int) -> None:
    first, second = worker(file, 1), worker(file, 2)
    for metrics, times in ((first, 3), (second, 4)):
        for _ in range(times):
            metrics.observe(CALL, 0.02)
        metrics.count(names.TOOL_FAILURES, "look", "NOT_FOUND")
        metrics.time(names.NODE_REQUESTS, NODE, 0.5)
    assert calls(first) == calls(second) == 7
    page = second.render()
    assert number(page, names.TOOL_FAILURES.name, gen_ai_tool_name="look", code="NOT_FOUND") == 2
    assert number(page, f"{names.NODE_REQUESTS.name}_bucket", node=NODE[0], le="0.5") == 2
    assert (
        number(page, f"{names.FINE.name}_count", mcp_method_name="tools/call", gen_ai_tool_name="look") == 7
    )


def test_a_process_goes_on_where_the_one_before_it_stopped(file: int) -> None:
    before, other = worker(file, 1), worker(file, 2)
    before.observe(CALL, 0.02)
    before.show(names.CPU_SECONDS, lambda: 5.0)
    before.show(names.HTTP_CONNECTIONS, lambda: 9.0)
    before.render()
    del before  # whatever else it had is gone
    Board(file, 0, 3).parts[1].show_no_gauges()
    assert number(other.render(), names.HTTP_CONNECTIONS.name) is None
    after = worker(file, 1)
    after.observe(CALL, 0.02)
    after.show(names.CPU_SECONDS, lambda: 2.0)
    after.render()
    assert calls(other) == 2
    assert number(other.render(), names.CPU_SECONDS.name) == 7.0


def test_what_was_counted_before_it_joined_counts(file: int) -> None:
    metrics, node = Metrics(), Metrics()
    metrics.observe(CALL, 0.02)
    node.time(names.NODE_REQUESTS, NODE, 0.5)
    Board(file, 0, 3).join(metrics, 1)
    metrics.include(node)
    node.time(names.NODE_REQUESTS, NODE, 0.5)
    page = worker(file, 2).render()
    assert number(page, f"{names.NODE_REQUESTS.name}_count", node=NODE[0]) == 2


RULES = [
    pytest.param(names.NODE_HEIGHT, NODE, 9, id="the-newest-block"),
    pytest.param(names.NODE_TIP_AGE, NODE, 4, id="the-newest-block's-age"),
    pytest.param(names.NODE_WAITING, NODE, 13, id="added-up"),
    pytest.param(names.NODE_READS, ("node",), 13, id="counters-always"),
]


@pytest.mark.parametrize(("metric", "labels", "expected"), RULES)
def test_each_number_has_its_rule(
    file: int, metric: names.Metric, labels: tuple[str, ...], expected: float
) -> None:
    for at, value in ((1, 4.0), (2, 9.0)):
        metrics = worker(file, at)
        metrics.show_each(metric, lambda value=value: [(labels, value)])  # type: ignore[misc]
        page = metrics.render()
    assert number(page, metric.name, **dict(zip(metric.labels, labels, strict=True))) == expected


def test_half_of_what_is_being_written_is_not_shown(file: int) -> None:
    first, second = worker(file, 1), worker(file, 2)
    first.show(names.HTTP_CONNECTIONS, lambda: 9.0)
    first.render()
    page = os.pread(file, bytes_for(3), 0)
    at = page.index(b'"qortal_mcp_http_connections"')
    os.pwrite(file, b"rubbish", at)
    assert number(second.render(), names.HTTP_CONNECTIONS.name) is None


def test_labels_without_end_do_not_break_it(file: int) -> None:
    metrics = worker(file, 1)
    for code in range(3000):
        metrics.observe(("tools/call", "x" * 2000, "", str(code), "tcp", ""), 0.01)
    assert "mcp_server_operation_duration_seconds_count" in worker(file, 2).render()
