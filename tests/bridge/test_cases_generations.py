"""The music tool's server in each of its generations, with 30 tools, through the real command."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audit.seeds import maxmcp
from tests.audit.seeds.dialogue import System, named
from tests.bridge.cases import failed, good
from tests.bridge.fronts import Stdio, call, stdio, without_marks
from tests.bridge.scripts import Json, Saying, Script, filled, result, tool
from tests.bridge.standins import Loop, StandIn, standing_in, websocket

GENERATIONS = {system.name: system for system in (maxmcp.EARLY, maxmcp.G0, maxmcp.G1, maxmcp.G2)}
FIRST = [name for name, _ in maxmcp.CALLS]
# All the others answer like the first one.
NAMES = [*FIRST, *(f"get_more_{number}" for number in range(30 - len(FIRST)))]
LIST = {"count": 1, "patches": ["p"]}
WHOLE = json.dumps(LIST, separators=(",", ":"))


def script_of(system: System) -> Script:
    def answer(message: Any) -> Saying:
        step, subject = named(message)
        if step == "tools/list" and isinstance(message, dict):
            entries = json.loads(system.reply(step, subject, message).body)["result"]["tools"]
            more = [tool(name) for name in NAMES[len(FIRST) :]]
            return (filled(result({"tools": [*entries, *more]}), message),)
        if subject.startswith("get_more"):
            subject = FIRST[0]
        body = system.reply(step, subject, message).body
        return (body.encode(),) if body else ()

    return answer


@pytest.fixture(scope="module", params=GENERATIONS)
def server(request: pytest.FixtureRequest, loop: Loop) -> Iterator[tuple[StandIn, str]]:
    with standing_in(loop, websocket(), script_of(GENERATIONS[request.param])) as found:
        yield found, request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def client(server: tuple[StandIn, str], folder: Path) -> Iterator[Stdio]:
    stand_in, _ = server
    words = ("--request-bytes", "4096", *stand_in.target)
    with stdio(*words, env={"TMPDIR": str(folder), "HOME": str(folder)}, cwd=folder) as front:
        yield front


def blocks(answer: Json) -> list[Json]:
    """What the client gets, once it is in the form that every client can read."""
    found = answer["result"]
    assert isinstance(found["isError"], bool)
    assert found["content"], "no result is empty although data was sent"
    assert all(block["type"] == "text" and isinstance(block["text"], str) for block in found["content"])
    content: list[Json] = found["content"]
    return content


def test_all_thirty_tools_are_listed_with_schemas_that_are_some(client: Stdio) -> None:
    listed = without_marks(client.ask("tools/list", {}))["result"]["tools"]
    assert [one["name"] for one in listed] == NAMES
    assert listed[0]["inputSchema"] == {"type": "object", "properties": {}}
    position = listed[1]["inputSchema"]["properties"]["position"]
    assert position["type"] == "array"
    assert isinstance(position["items"], dict)


@pytest.mark.promise("Bridge", "The text of a repaired result parses back to what the tool returned.")
def test_each_of_the_tools_answers_with_its_data(client: Stdio) -> None:
    for name in (FIRST[0], *NAMES[len(FIRST) :]):
        (block,) = blocks(call(client, name))
        assert json.loads(block["text"]) == LIST


def test_the_answer_of_each_generation_is_exact(client: Stdio, server: tuple[StandIn, str]) -> None:
    _, generation = server
    answer = without_marks(call(client, FIRST[0]))["result"]
    is_bare = generation in ("maxmcp-early", "maxmcp-G0")
    assert answer == (good(WHOLE, LIST) if is_bare else good(WHOLE))["result"]


@pytest.mark.promise(
    "Bridge", "A tool that fails is an `isError` result, in whatever dress the failure came."
)
def test_a_failing_tool_fails_with_its_own_words(client: Stdio, server: tuple[StandIn, str]) -> None:
    stand_in, generation = server
    answer = without_marks(call(client, "get_patch_info", {"patch_id": "x"}))
    (block,) = blocks(answer)
    assert answer["result"]["isError"] is True
    assert "Patch not found: x" in block["text"]
    if generation != "maxmcp-G1":
        assert answer["result"] == failed("Patch not found: x")["result"]
    (sent,) = stand_in.calls("get_patch_info")
    assert sent["params"] == {"name": "get_patch_info", "arguments": {"patch_id": "x"}}


def test_no_notification_is_answered(client: Stdio) -> None:
    lines = len(client.lines)
    client.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 987}},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    )
    client.ask("ping")
    call(client, FIRST[0])
    assert len(client.lines) == lines + 2


def test_nothing_is_sent_that_the_server_does_not_know(client: Stdio, server: tuple[StandIn, str]) -> None:
    stand_in, _ = server
    client.ask("ping")
    call(client, FIRST[0])
    assert set(stand_in.methods()) <= {
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
        "notifications/roots/list_changed",
        "notifications/cancelled",
    }
    assert all(len(one.data) <= 4096 for one in stand_in.heard)


@pytest.mark.promise("Bridge", "Without `--capture` the bridge writes no file.")
def test_no_file_is_written(client: Stdio, folder: Path) -> None:
    client.ask("tools/list", {})
    call(client, FIRST[0])
    assert list(folder.iterdir()) == []
