"""`tools`: the list for people, for programs, and its weight for models."""

import json
import sys
import types

import pytest
from tests.bridge.scripts import serving
from tests.bridge.standins import Loop, program
from tests.cli.others import EVERYTHING, offering, other
from tests.cli.running import run

from qortal_mcp import settings
from qortal_mcp import tokens as weights
from qortal_mcp.cli.input.toolsets import switching_on
from qortal_mcp.cli.main import main
from qortal_mcp.qortal.tools import TOOLSETS, select

DEFAULT_TOOLS = [tool for toolset in TOOLSETS.values() if toolset.is_default for tool in toolset.tools]


@pytest.mark.promise("Command line", "`tools --json` is the result of `tools/list`.")
def test_json_is_the_tools_list_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [tool["name"] for tool in listed["tools"]] == DEFAULT_TOOLS
    assert all(tool["inputSchema"]["type"] == "object" for tool in listed["tools"])


def test_the_list_for_people_has_each_tool_and_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name}" in shown for name in DEFAULT_TOOLS)
    assert "  get_balance address [asset_id]\n" in shown


def test_the_list_for_people_has_the_toolsets_and_how_to_switch_them_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tools"]) == 0
    shown = capsys.readouterr().out.splitlines()
    for name, toolset in TOOLSETS.items():
        assert (name if toolset.is_default else f"{name} (off: --toolsets +{name})") in shown
    assert main(["tools", "--toolsets", "node"]) == 0
    assert "accounts (off: --toolsets node,accounts)" in capsys.readouterr().out.splitlines()


SWITCHED = [
    pytest.param("default", "chat", id="default"),
    pytest.param("", "chat", id="nothing-said"),
    pytest.param("node,qdn", "chat", id="list"),
    pytest.param("-raw", "chat", id="changes"),
    pytest.param("-chat", "chat", id="switched-off"),
]


@pytest.mark.parametrize(("chosen", "toolset"), SWITCHED)
def test_what_is_said_to_switch_a_toolset_on_does_so_and_keeps_the_rest(chosen: str, toolset: str) -> None:
    option, spec = switching_on(toolset, chosen).split()
    assert option == "--toolsets"
    assert set(select(spec)) == {*select(chosen), toolset}


def test_the_example_in_the_help_of_toolsets_is_a_real_choice() -> None:
    (option,) = [o for o in settings.options_of(settings.NodeOptions) if o.field == "toolsets"]
    assert "`+chat,-raw`" in option.description
    assert set(select("+chat,-raw")) ^ set(select()) == {"chat", "raw"}


def test_one_tool_is_shown_with_all_that_it_takes_and_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "search_names"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("search_names (toolset names)\n")
    assert "\n  limit  integer, 1 to 100; default 20\n" in shown
    assert "\n  owner  text\n      " in shown
    assert "\nAnswer\n" in shown
    assert "\n  names[].name  text\n" in shown
    assert shown.count("\n  page\n") == 1
    assert main(["tools", "validate_address"]) == 0
    shown = capsys.readouterr().out
    assert "address  text, at most 100 characters; required\n" in shown
    assert "asOf" not in shown


def test_a_tool_that_is_off_is_shown_with_how_to_switch_it_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "get_chat_messages"]) == 0
    assert "(toolset chat, off: --toolsets +chat)" in capsys.readouterr().out


def test_one_tool_can_be_asked_for_by_an_old_name_as_json_and_by_weight(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tools", "list_hidden_trade_offers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "list_trade_offers"
    assert main(["tools", "get_balance", "--tokens"]) == 0
    assert "total of 1 " in capsys.readouterr().out


def test_every_tool_can_be_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (tool for toolset in TOOLSETS.values() for tool in toolset.tools):
        assert main(["tools", name]) == 0
        assert capsys.readouterr().out.startswith(f"{name} (toolset ")


def test_an_unknown_tool_is_one_line_that_says_where_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "get_balanse"]) == 2
    assert capsys.readouterr().err == (
        "qortal-mcp: Unknown tool get_balanse. Did you mean get_balance? See qortal-mcp tools.\n"
    )
    assert main(["tools", "xyzzy"]) == 2
    assert capsys.readouterr().err == "qortal-mcp: Unknown tool xyzzy. See qortal-mcp tools.\n"


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
    assert "estimated at 4.0 characters" in how


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


def test_the_tools_of_another_server_are_listed_with_what_they_declare(loop: Loop) -> None:
    entries = [
        {
            "name": "wipe",
            "description": "Wipes a disk. For good.",
            "inputSchema": {"type": "object", "properties": {"disk": {}, "fast": {}}, "required": ["disk"]},
            "annotations": {"destructiveHint": True},
        },
        {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    ]
    with other(loop, program, serving({}, entries=entries)) as (target, _):
        ended = run("tools", "--server", target)
    assert ended.out == (
        "stand-in 1 (2 tools)\n"
        "  wipe disk [fast]\n"
        "      (destructive) Wipes a disk.\n"
        "  look\n"
        "      (read-only)\n"
        "\n"
        "qortal-mcp tools TOOL --server … shows one in full.\n"
    )


def test_one_tool_of_another_server_is_shown_in_full(loop: Loop) -> None:
    entry = {
        "name": "find",
        "description": "Finds.\nAnd   more.",
        "inputSchema": {
            "type": "object",
            "$defs": {"colour": {"enum": ["red", "blue"], "description": "A colour."}},
            "properties": {
                "word": {"type": "string", "maxLength": 5, "description": "What to find."},
                "colour": {"$ref": "#/$defs/colour"},
                "most": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["word"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"hits": {"type": "array", "items": {"properties": {"at": {"type": "number"}}}}},
            "required": ["hits"],
        },
    }
    with other(loop, program, serving({}, entries=[entry])) as (target, _):
        ended = run("tools", "find", "--server", target)
        assert run("tools", "find", "--json", "--server", target).json["name"] == "find"
        missing = run("tools", "fnd", "--server", target)
    assert ended.out == (
        "find\n"
        "  Finds. And more.\n"
        "\n"
        "Arguments\n"
        "  word  text, at most 5 characters; required\n"
        "      What to find.\n"
        "  colour  one of red, blue\n"
        "      A colour.\n"
        "  most  integer, 1 to 9; default 3\n"
        "  maybe  text or null\n"
        "  tags  list of text\n"
        "\n"
        "Answer\n"
        "  hits  list of object\n"
        "  hits[].at  number, optional\n"
    )
    assert missing.code == 2
    assert missing.err == (
        "qortal-mcp: Unknown tool fnd. Did you mean find? See qortal-mcp tools --server ….\n"
    )


def test_the_list_of_another_server_can_be_had_as_json_and_weighed() -> None:
    listed = run("tools", "--json", "--server", EVERYTHING).json["tools"]
    weighed = run("tools", "--tokens", "--server", EVERYTHING).out.splitlines()
    assert [line.split()[0] for line in weighed[: len(listed)]] == [tool["name"] for tool in listed]
    assert weighed[len(listed)].startswith(f"total of {len(listed)} ")


def test_a_server_without_tools_is_no_mistake(loop: Loop) -> None:
    with other(loop, program, offering(tools__list=[])) as (target, _):
        assert run("tools", "--timeout", "1", "--server", target).code == 3
    with other(loop, program, serving({}, entries=[])) as (target, _):
        assert run("tools", "--server", target).out == "stand-in 1 (0 tools)\n"
        assert "total of 0" in run("tools", "--tokens", "--server", target).out


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_our_own_list_is_given_in_the_form_of_a_revision(
    revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "--json", "--revision", revision]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert ("resultType" in listed) == (revision == "2026-07-28")
    assert listed["tools"][0]["name"] == DEFAULT_TOOLS[0]
    assert main(["tools", "--revision", revision]) == 0
