"""`tools`: the list for people, for programs, and its weight for models."""

import json
import sys
import types

import pytest

from qortal_mcp.cli import weights
from qortal_mcp.cli.main import main
from qortal_mcp.qortal.tools import TOOLSETS

DEFAULT_TOOLS = [tool for toolset in TOOLSETS.values() if toolset.is_default for tool in toolset.tools]


def test_json_is_the_tools_list_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [tool["name"] for tool in listed["tools"]] == DEFAULT_TOOLS
    assert all(tool["inputSchema"]["type"] == "object" for tool in listed["tools"])


def test_the_list_for_people_has_each_tool_and_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{name}" in f"\n{shown}" for name in DEFAULT_TOOLS)
    assert "get_balance address [asset_id]" in shown


def test_toolsets_choose_what_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--json", "--toolsets", "-node,-trades"]) == 0
    names = [tool["name"] for tool in json.loads(capsys.readouterr().out)["tools"]]
    assert "get_node_status" not in names
    assert "get_balance" in names


def test_tokens_without_a_tokenizer_are_an_estimate_and_say_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert main(["tools", "--tokens"]) == 0
    *rows, how = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[:-1]] == DEFAULT_TOOLS
    figures = [int(row.split()[-1].removeprefix("~")) for row in rows]
    assert all("~" in row for row in rows)
    assert figures[-1] == sum(figures[:-1])
    assert "estimated at 3.6 characters" in how


def test_a_tokenizer_at_hand_is_used_but_may_not_download(monkeypatch: pytest.MonkeyPatch) -> None:
    class Words:
        def encode_ordinary(self, text: str) -> list[str]:
            return text.split()

    package, loading = types.ModuleType("tiktoken"), types.ModuleType("tiktoken.load")
    has_table = True

    def get_encoding(name: str) -> Words:
        assert name == "o200k_base"
        if not has_table:
            loading.read_file("https://127.0.0.1/")
        return Words()

    def download(path: str) -> bytes:
        raise AssertionError("a download was tried")

    vars(package)["get_encoding"] = get_encoding
    vars(loading)["read_file"] = download
    monkeypatch.setitem(sys.modules, "tiktoken", package)
    monkeypatch.setitem(sys.modules, "tiktoken.load", loading)
    counter = weights.best_counter()
    assert (counter.is_exact, counter.count("a b c"), counter.written(3)) == (True, 3, "3")
    has_table = False
    counter = weights.best_counter()
    assert (counter.is_exact, counter.written(3)) == (False, "~3")
    assert loading.read_file is download
