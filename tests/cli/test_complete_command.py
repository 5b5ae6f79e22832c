"""`complete`: what servers suggest, one value per line."""

import json
from typing import Any

import pytest
from tests.bridge.scripts import result
from tests.bridge.standins import Loop, program
from tests.cli.others import offering, other
from tests.cli.running import run
from tests.cli.terminals import terminal

from qortal_mcp.cli.main import main
from qortal_mcp.protocol.versions import REVISIONS


@pytest.mark.promise("Command line", "`complete` shows what a server suggests, one value per line.")
def test_suggestions_come_one_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["complete", "prompt", "fee_check", "type", "REG", "--sample"]) == 0
    assert capsys.readouterr().out == "REGISTER_NAME\n"
    assert main(["complete", "prompt", "trade_scan", "chain", "--sample"]) == 0
    assert "LITECOIN" in capsys.readouterr().out.splitlines()
    assert main(["complete", "resource", "qortal://name/{name}", "name", "al", "--sample"]) == 0
    assert "alice-test" in capsys.readouterr().out.splitlines()
    assert main(["complete", "prompt", "fee_check", "type", "XYZ", "--sample"]) == 0
    assert capsys.readouterr().out == ""


def test_as_json_it_is_the_completion_and_raw_is_the_whole_result(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["complete", "prompt", "fee_check", "type", "REG", "--sample"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"values": ["REGISTER_NAME"], "total": 1, "hasMore": False}
    assert main([*words, "--raw"]) == 0
    assert json.loads(capsys.readouterr().out) == {"completion": found}


@pytest.mark.parametrize("revision", REVISIONS[1:])
def test_it_is_asked_in_any_revision_that_has_it(revision: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["complete", "prompt", "fee_check", "type", "REG", "--sample", "--revision", revision]
    assert main(words) == 0
    assert capsys.readouterr().out == "REGISTER_NAME\n"


WRONG = [
    pytest.param(["tool", "x", "y"], "tool", id="kind"),
    pytest.param(["prompt", "fee_check"], "Missing argument", id="no-argument"),
    pytest.param(["prompt", "none", "type"], "Nothing of that name can be completed", id="unknown"),
    pytest.param(["prompt", "fee_check", "type", "R", "--with", "x"], "KEY=VALUE", id="with"),
    pytest.param(["prompt", "fee_check", "type", "--json", "--raw"], "cannot be combined", id="forms"),
]


@pytest.mark.parametrize(("words", "line"), WRONG)
def test_wrong_usage_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["complete", *words, "--sample"]) == 2
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)
    assert line in shown.err


def test_another_server_is_told_what_is_chosen_already(loop: Loop) -> None:
    with other(loop, program, offering()) as (target, server):
        words = ("complete", "resource", "memo:{a}/{b}", "b", "x", "--with", "a=5", "--server", target)
        assert run(*words).out == "Ada\nBob\n"
        (asked,) = server.messages("completion/complete")
    assert asked["params"] == {
        "ref": {"type": "ref/resource", "uri": "memo:{a}/{b}"},
        "argument": {"name": "b", "value": "x"},
        "context": {"arguments": {"a": "5"}},
    }


ODD: list[Any] = [
    pytest.param({"values": ["a\nb", 5, "", "c"]}, "a b\n\nc\n", id="lines"),
    pytest.param({"values": 5}, "", id="not-a-list"),
    pytest.param([], "", id="not-an-object"),
    pytest.param({"values": ["x"] * 5000}, "x\n" * 1000, id="too-many"),
]


@pytest.mark.parametrize(("value", "shown"), ODD)
def test_suggestions_of_any_shape_are_shown(value: Any, shown: str, loop: Loop) -> None:
    script = offering(completion__complete=[result({"completion": value})])
    with other(loop, program, script) as (target, _):
        ended = run("complete", "prompt", "ask", "whom", "--repair", "none", "--server", target)
    assert (ended.code, ended.out) == (0, shown)


def test_a_person_is_told_that_there_are_more(loop: Loop) -> None:
    script = offering(completion__complete=[result({"completion": {"values": ["x"], "total": 1234}})])
    with (
        other(loop, program, script) as (target, _),
        terminal("complete", "prompt", "ask", "whom", "--server", target) as shown,
    ):
        shown.until("1 of 1,234 shown.")
        assert shown.ended() == 0
