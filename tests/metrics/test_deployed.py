"""The dashboard and the alerts ask for metrics and labels that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qortal_mcp.metrics import METRICS

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = DEPLOY / "grafana" / "qortal-mcp.json"
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
BY_NAME = {metric.name: metric for metric in METRICS}
# Labels that Prometheus adds, that histograms have, and that `--metrics-file` adds.
GIVEN = {"job", "instance", "le", "file"}
# The only metric that is Prometheus' own: whether it can read the page.
UP = "up"


def panels() -> list[tuple[str, str]]:
    """Title and query of everything that the dashboard shows."""
    board = json.loads(DASHBOARD.read_text())
    return [(panel["title"], t["expr"]) for panel in board["panels"] for t in panel.get("targets", ())]


def alerts() -> list[tuple[str, str]]:
    """Name and expression of each alert, read by the shape that the file has."""
    pieces = re.split(r"- alert: (\w+)\n", ALERTS.read_text())[1:]
    found = []
    for name, rest in zip(pieces[::2], pieces[1::2], strict=True):
        expression = re.search(r"^ +expr: (.*?)\n +for: ", rest, re.DOTALL | re.MULTILINE)
        assert expression is not None, name
        found.append((name, expression[1]))
    return found


def families(query: str) -> set[str]:
    bare = re.sub(r"\{[^}]*\}|\b(?:by|on) \([^)]*\)", "", query)
    return {
        re.sub(r"_(bucket|count|sum)$", "", name) for name in re.findall(r"\b(?:up|(?:mcp|qortal)_\w+)", bare)
    }


def labels(query: str) -> Iterator[str]:
    for selector in re.findall(r"\{([^}]*)\}", query):
        yield from re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector)
    for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", query):
        yield from re.findall(r"\w+", group)


QUERIES = [pytest.param(query, id=f"{name}-{at}") for at, (name, query) in enumerate([*panels(), *alerts()])]


@pytest.mark.promise(
    "Operations", "The dashboard and the alerts that come with it ask only for metrics that exist."
)
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_metrics_and_labels_of_ours(query: str) -> None:
    asked = families(query)
    assert asked
    assert asked - {UP} <= BY_NAME.keys()
    assert set(labels(query)) <= GIVEN.union(*(BY_NAME[name].labels for name in asked - {UP}))


def test_the_document_has_a_line_for_every_metric() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (DEPLOY.parent / "docs/watching.md").read_text(), re.M)
    assert sorted(listed) == sorted(BY_NAME)


def test_every_kind_of_trouble_has_an_alert() -> None:
    watched = set().union(*(families(query) for _, query in alerts()))
    assert watched >= {
        UP,
        "qortal_node_up",
        "qortal_node_tip_age_seconds",
        "mcp_server_operation_duration_seconds",
        "qortal_mcp_limit_usage_ratio",
    }


def test_the_dashboard_leaves_out_only_what_is_a_constant_or_a_bridges() -> None:
    shown = set().union(*(families(query) for _, query in panels()))
    elsewhere = ("sessions", "bridge", "several servers")
    unshown = {metric.name for metric in METRICS if metric.where not in elsewhere} - shown
    assert unshown == {"qortal_mcp_info", "qortal_mcp_process_start_time_seconds"}


def test_panels_have_numbers_and_places_of_their_own() -> None:
    board = json.loads(DASHBOARD.read_text())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]}
    assert len(places) == len(board["panels"])
