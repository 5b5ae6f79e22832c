"""Our own server and the example with every feature, audited as a person would: by the command, with calls of all tools."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from interop.calls import ARGUMENTS
from interop.servers import SAMPLE
from tests.cli.running import COMMAND, Ended, listening, run

HERE = Path(__file__).parent
EVERYTHING = HERE.parents[1] / "examples" / "everything.py"
BASELINE = HERE / "baselines" / "everything.json"
CALLS = HERE / "baselines" / "everything_calls.txt"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
# How fast a program starts is a matter of the machine and of what else runs on it.
BY_THE_CLOCK = {"slow-start"}


def audited(*words: str) -> tuple[dict[str, Any], Ended]:
    """The report, and how the command ended."""
    # Every tool in every revision: some seconds on a machine of its own.
    ended = run("audit", "--json", *words, seconds=90)
    assert ended.code in (0, 1, 3), ended.err
    return ended.json, ended


def found(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What is not known already."""
    return [one for one in report["findings"] if not one["known"] and one["code"] not in BY_THE_CLOCK]


def check_complete(report: dict[str, Any]) -> None:
    assert report["verdict"] == "conforms", report["because"]
    assert report["revisions"] == REVISIONS
    assert report["toolsCalled"] == report["tools"] > 0
    assert report["gaps"] == []


@pytest.fixture
def calls(tmp_path: Path) -> str:
    """A file with one call of each tool of ours."""
    path = tmp_path / "calls.json"
    entries = [{"tool": tool, "arguments": arguments} for tool, arguments in ARGUMENTS.items()]
    path.write_text(json.dumps(entries))
    return str(path)


@pytest.mark.promise(
    "Audit", "The Qortal server itself conforms, with every tool called, on stdio, HTTP and WebSocket."
)
def test_nothing_is_found_in_our_server_on_stdio(calls: str) -> None:
    report, ended = audited("--calls", calls, "--", *COMMAND, "stdio", *SAMPLE)
    assert found(report) == []
    check_complete(report)
    assert ended.code == 0


@pytest.mark.promise(
    "Audit", "The Qortal server itself conforms, with every tool called, on stdio, HTTP and WebSocket."
)
@pytest.mark.parametrize("way", ["http", "websocket"])
def test_nothing_is_found_in_our_server_at_its_addresses(way: str, calls: str) -> None:
    with listening("serve", *SAMPLE) as server:
        url = server.url
        if way == "websocket":
            url = url.replace("http://", "ws://").removesuffix("/mcp") + "/ws"
        report, ended = audited("--calls", calls, url)
    assert found(report) == []
    check_complete(report)
    assert ended.code == 0


def test_the_example_with_every_feature_has_only_what_it_is_meant_to_show() -> None:
    with listening(command=(sys.executable, str(EVERYTHING))) as server:
        report, ended = audited("--calls", str(CALLS), "--baseline", str(BASELINE), server.url)
    assert found(report) == []
    check_complete(report)
    assert ended.code == 0
    # Nothing that is known has gone, and nothing that the specification demands is among it.
    assert ended.err == ""
    assert {one["severity"] for one in report["findings"]} <= {"portability", "advice"}
