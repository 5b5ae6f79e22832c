"""Every metric of the list is on a real page, and every metric on a real page is on the list."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.bridge.behind import NOTING
from tests.cli.running import Listening, listening
from tests.store.tiny_store import tiny_store

from qortal_mcp.metrics import METRICS
from qortal_mcp.metrics.names import Where

from .live_node import live_node
from .prometheus import numbers, samples

BY_NAME = {metric.name: metric for metric in METRICS}
BROKEN = Path(__file__).with_name("bare_server.py")
SERVED: set[Where] = {"every page", "HTTP", "the Qortal server", "with --cache"}
BRIDGED: set[Where] = {"every page", "HTTP", "sessions", "bridge"}


def call(server: Listening, tool: str, **arguments: object) -> None:
    params = {"name": tool, "arguments": arguments}
    server.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The page of `serve` after some traffic: successes, failures, refusals."""
    with (
        live_node() as node,
        tiny_store() as store,
        listening("serve", "--node", node, "--rate-limit", "4", "--cache", store.url) as server,
    ):
        server.wait_for(lambda said: "the shared store answers" in said)
        call(server, "get_node_status")
        call(server, "unheard-of")
        call(server, "get_name", name="nobody-has-this-name")
        for _ in range(12):
            call(server, "validate_address", address="x")
        assert server.ask("/nowhere", {"a": 1}, {"host": "evil.example"})[0] == 421
        yield server.ask("/metrics")[1].decode()


@pytest.fixture(scope="module")
def bridged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of `bridge` in front of two servers, one of which answers wrongly."""
    folder = tmp_path_factory.mktemp("bridged")
    servers = {
        "ann": {"command": sys.executable, "args": [str(NOTING), str(folder / "ann.log")]},
        "bare": {"command": sys.executable, "args": [str(BROKEN)]},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    with listening("bridge", "--servers", str(folder / "mcp.json"), "--rate-limit", "2") as front:
        front.wait_for(lambda said: said.count("connected") >= 2)
        call(front, "bare__fail")
        for _ in range(8):
            call(front, "bare__look")
        assert front.ask("/nowhere", {"a": 1}, {"host": "evil.example"})[0] == 421
        yield front.ask("/metrics")[1].decode()


def expected(where: set[Where]) -> set[str]:
    return {metric.name for metric in METRICS if metric.where in where}


@pytest.mark.promise("Operations", "Every metric is documented, and every documented metric exists.")
def test_the_page_of_serve_has_what_is_listed_for_it(served: str) -> None:
    assert {name for name, _ in samples(served)} == expected(SERVED)


@pytest.mark.promise("Operations", "Every metric is documented, and every documented metric exists.")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot hand over connections")
def test_the_page_of_several_workers_has_what_is_listed_for_it() -> None:
    with (
        live_node() as node,
        tiny_store() as store,
        listening("serve", "--node", node, "--workers", "2", "--cache", store.url) as server,
    ):
        server.wait_for(lambda said: said.count("the shared store answers") == 2)
        for _ in range(2):
            call(server, "get_node_status")
            call(server, "unheard-of")
            call(server, "get_block", height=3)
        page = server.ask("/metrics")[1].decode()
    usual = expected({*SERVED, "several workers"})
    # Nothing was refused, and no node has failed.
    assert {name for name, _ in samples(page)} == usual - {
        "qortal_mcp_limit_reached_total",
        "qortal_mcp_http_refused_total",
        "qortal_node_failures_total",
        "qortal_mcp_tool_failures_total",
    }


@pytest.mark.promise("Operations", "Every metric is documented, and every documented metric exists.")
def test_the_page_of_a_bridge_has_what_is_listed_for_it(bridged: str) -> None:
    assert {name for name, _ in samples(bridged)} == expected({*BRIDGED, "several servers"})


@pytest.mark.parametrize("page", ["served", "bridged"])
def test_kinds_meanings_and_labels_are_those_of_the_list(page: str, request: pytest.FixtureRequest) -> None:
    text = request.getfixturevalue(page)
    for family in text_string_to_metric_families(text):
        metric = BY_NAME[f"{family.name}_total" if family.type == "counter" else family.name]
        assert (family.type, family.documentation) == (metric.kind, metric.meaning)
        for sample in family.samples:
            assert set(sample.labels) <= {*metric.labels, "le"}
            assert "" not in sample.labels.values()
    assert numbers(text)


def test_every_label_of_the_list_is_used_somewhere(served: str, bridged: str) -> None:
    used = {(name, label) for page in (served, bridged) for name, s in samples(page) for label in s.labels}
    assert {(metric.name, label) for metric in METRICS for label in metric.labels} <= used


def test_names_are_listed_once() -> None:
    assert len(BY_NAME) == len(METRICS)
