"""The five servers of docs/bridge.md: the example file is what the page shows, and does what the page says."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from docgen.generated import ROOT
from tests.bridge.fronts import call, stdio
from tests.cli.running import run

from qortal_mcp.connect.entries import server_files

FILE = ROOT / "examples/five-servers.json"
PATH = ROOT / "docs/bridge.md"
PAGE = PATH.read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Several servers behind one front") : PAGE.index("## Tools by search")]
# As a person has it who has installed this project.
ENV = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_the_page_shows_the_file() -> None:
    shown = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)[0]
    assert json.loads(shown)["mcpServers"] == server_files.read(str(FILE))


def test_the_five_servers_answer_as_one() -> None:
    with stdio("--servers", str(FILE), env=ENV, cwd=ROOT) as front:
        names = {one["name"].partition("__")[0] for one in front.ask("tools/list", {})["result"]["tools"]}
        assert names == {"qortal", "weather", "hello"}
        answer = call(front, "weather__get_weather_forecast", {"location": "Oslo"})
        assert answer["result"]["structuredContent"]["description"] == "light snow"
        assert call(front, "hello__hello", {"name": "Ann"})["result"]["isError"] is False
        assert "NOTES_KEY is not set" in call(front, "notes__x")["result"]["content"][0]["text"]


def test_a_check_shows_the_weights_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = re.findall(r"```text\n(Tokens that .*?)```", SECTION, re.DOTALL)
    monkeypatch.chdir(ROOT)
    ended = run("bridge", "--check", "--start-timeout", "10", "--servers", str(FILE), env=ENV)
    weights = ended.out[ended.out.index("Tokens that ") :]
    if os.environ.get("UPDATE_GOLDEN"):
        PATH.write_text(PAGE.replace(shown, weights), encoding="utf-8")
    assert weights == shown, "run this test with UPDATE_GOLDEN=1 if tools have changed"
    assert ended.code == 3
