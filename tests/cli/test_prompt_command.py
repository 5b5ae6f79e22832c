"""`prompt`: prompts of our own server and of others, listed and filled in."""

import json
from typing import Any

import pytest
from tests.bridge.scripts import error, result
from tests.bridge.standins import Loop, program
from tests.cli.others import EVERYTHING, offering, other
from tests.cli.running import run

from qortal_mcp.cli.main import main
from qortal_mcp.protocol.versions import REVISIONS


@pytest.mark.promise("Command line", "`prompt` shows a prompt filled in, and lists them without a name.")
def test_without_a_name_every_prompt_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", "--sample"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Prompts\n  account_report address\n      A short report about one account.\n")
    assert "\n  node_health\n" in shown
    assert shown.endswith("\nqortal-mcp prompt NAME KEY=VALUE… shows one.\n")
    assert main(["prompt", "--sample", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["prompts"][0]["name"] == "account_report"


@pytest.mark.promise("Command line", "`prompt` shows a prompt filled in, and lists them without a name.")
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_prompt_is_shown_with_its_roles(revision: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prompt", "name_report", "name=123", "--sample", "--revision", revision]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("user\n  Find out who owns the Qortal name '123' ")
    assert main([*words, "--json"]) == 0
    messages = json.loads(capsys.readouterr().out)
    assert main([*words, "--raw"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == messages


WRONG = [
    pytest.param(["none"], "Unknown prompt none. See qortal-mcp prompt.", id="unknown"),
    pytest.param(["name_report"], "The prompt needs the argument name.", id="missing"),
    pytest.param(["name_report", "name"], 'Arguments must be KEY=VALUE, not "name".', id="no-value"),
    pytest.param(["name_report", "name=a", "name=b"], 'The argument "name" is given twice.', id="twice"),
    pytest.param(["name_report", "name=a", "--json", "--raw"], "cannot be combined", id="two-forms"),
]


@pytest.mark.parametrize(("words", "line"), WRONG)
def test_wrong_usage_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", *words, "--sample"]) == 2
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)
    assert line in shown.err


def test_every_kind_of_message_of_another_server_is_shown() -> None:
    spoken = ("--server", EVERYTHING)
    assert run("prompt", "test_prompt_with_arguments", "arg1=1", "arg2=[x]", *spoken).out == (
        "user\n  Prompt with arguments: arg1='1', arg2='[x]'\n"
    )
    assert run("prompt", "test_prompt_with_embedded_resource", "resourceUri=a:b", *spoken).out == (
        "user\n  a:b (text/plain)\n  Embedded resource content for testing.\n\n"
        "user\n  Please process the embedded resource above.\n"
    )
    assert run("prompt", "test_prompt_with_image", *spoken).out.startswith(
        "user\n  image/png, 70 bytes; --raw shows it\n"
    )
    ended = run("prompt", "test_prompt_with_arguments", *spoken)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "qortal-mcp: The server answered with error -32602: The prompt needs the argument arg1.\n"
    )


ODD: list[Any] = [
    pytest.param({}, "The prompt has no messages.\n", id="nothing"),
    pytest.param({"messages": 5}, "The prompt has no messages.\n", id="not-a-list"),
    pytest.param({"messages": [5, {}]}, "–\n  a block of the type –; --raw shows it\n", id="not-messages"),
    pytest.param(
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}] * 2}]},
        "user\n  a\n  a\n",
        id="several-blocks",
    ),
]


@pytest.mark.parametrize(("value", "shown"), ODD)
def test_a_prompt_of_any_shape_is_shown(value: Any, shown: str, loop: Loop) -> None:
    with other(loop, program, offering(prompts__get=[result(value)])) as (target, _):
        ended = run("prompt", "ask", "--repair", "none", "--server", target)
    assert (ended.code, ended.out) == (0, shown)


def test_a_server_without_prompts_says_so(loop: Loop) -> None:
    with other(loop, program, offering(prompts__list=[error(-32601, "no")])) as (target, _):
        assert run("prompt", "--server", target).out == "The server offers no prompts.\n"


def test_a_shell_is_told_our_prompts() -> None:
    env = {"_QORTAL_MCP_COMPLETE": "bash_complete", "COMP_WORDS": "qortal-mcp prompt na", "COMP_CWORD": "2"}
    assert run(env=env).out.split() == ["plain,name_report"]
