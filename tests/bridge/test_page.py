"""docs/bridge.md: what its stories show is what the real command does with stand-ins of the two servers."""

import json
import re
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import pytest
from docgen.generated import ROOT
from tests.bridge.stories import answer_of_workshop, answers_of_music_tool, music_tool, workshop
from tests.cli.running import run

PAGE = (ROOT / "docs/bridge.md").read_text()
STORIES = re.findall(r"<!-- story:(\w+) -->\n```sh\n(.*?)\n```\n```text\n(.*?)```", PAGE, re.DOTALL)
TALKS = re.findall(r"<!-- talk:(\w+) -->\n```text\nasked   (.*)\nbefore  (.*)\nafter   (.*)\n```", PAGE)
SERVERS: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "G0": partial(music_tool, "G0"),
    "G2": partial(music_tool, "G2"),
    "workshop": workshop,
}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}


def test_each_story_is_told_in_both_ways() -> None:
    assert [name for name, *_ in STORIES] == [name for name, *_ in TALKS] == list(SERVERS)


@pytest.mark.promise("Bridge", "The stories of docs/bridge.md are what the command does.")
@pytest.mark.parametrize(("name", "command", "shown"), STORIES, ids=list(SERVERS))
def test_a_check_shows_what_the_page_shows(name: str, command: str, shown: str) -> None:
    program, *words, address = shlex.split(command)
    assert program == "qortal-mcp"
    with SERVERS[name]() as url:
        ended = run(*words, url)
    assert ended.out.replace(url, address) == shown
    assert (ended.code, ended.err) == (1, "")


@pytest.mark.parametrize(("name", "asked", "before", "after"), TALKS, ids=list(SERVERS))
def test_a_call_is_answered_as_the_page_shows(name: str, asked: str, before: str, after: str) -> None:
    said = answer_of_workshop(asked) if name == "workshop" else next(answers_of_music_tool(name, asked))
    assert said == before
    with SERVERS[name]() as url:
        ended = run("bridge", url, stdin=f"{json.dumps(HELLO)}\n{asked}\n".encode())
    assert ended.out.splitlines()[1] == after


def test_the_second_generation_of_the_music_tool_needs_no_repair() -> None:
    words = ("--call", 'get_console_log {"lines": 1}', "--call", 'get_patch_info {"patch_id": "x"}')
    with music_tool("G1") as url:
        assert run("bridge", "--check", *words, url).code == 0


def test_a_request_that_the_music_tool_cannot_take_fails_with_both_sizes() -> None:
    asked = json.loads(TALKS[1][1])
    asked["params"]["arguments"]["patch_id"] = "x" * 5000
    with music_tool("G2") as url:
        ended = run(
            *("bridge", "--request-bytes", "4096", url),
            stdin=f"{json.dumps(HELLO)}\n{json.dumps(asked)}\n".encode(),
        )
    answers = {one["id"]: one for one in map(json.loads, ended.out.splitlines())}
    result = answers[2]["result"]
    assert result["isError"] is True
    assert re.search(r"has 5\d\d\d bytes; the server takes at most 4096", result["content"][0]["text"])


@pytest.mark.parametrize(
    "snippet", re.findall(r"```json\n(.*?)```", PAGE.partition("## Several servers")[0], re.DOTALL)
)
def test_a_configuration_on_the_page_is_json_that_starts_a_bridge(snippet: str) -> None:
    (servers,) = json.loads(snippet).values()
    entry = servers["music"]
    assert (entry["command"], entry["args"][:2]) == ("qortal-mcp", ["bridge", "ws://127.0.0.1:7400"])
