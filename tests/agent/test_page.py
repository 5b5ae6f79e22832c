"""docs/ask.md: its sessions are what the real command shows, and it explains every option, member, ending and limit."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from docgen.generated import ROOT
from msgspec import Struct, structs
from tests.agent.asked import then
from tests.agent.scripted_endpoint import Said, Script, ScriptedEndpoint, calls, refuses, says
from tests.agent.sessions import ADDRESS, on_terminal, sessions_of
from tests.cli.running import COMMAND, SECONDS, Listening, environment, listening

from qortal_mcp.agent.evaluation import Verdict
from qortal_mcp.agent.events import Event
from qortal_mcp.agent.grounding.check import ground
from qortal_mcp.agent.run import Call, Claim, Ending, Grounding, Run, ServerSeen, Source, Spent, TracedClaim
from qortal_mcp.cli.ask import command as ask_command
from qortal_mcp.cli.running.ask.evaluating import Evaluated
from qortal_mcp.console.asking.limits import ConsoleLimits

PAGE = (ROOT / "docs/ask.md").read_text()
SESSIONS = sessions_of(PAGE)
JUDY = "QMrqHEmPJQVUH789zNeuFk7d5UBeskEbSc"
# As an endpoint counts that reads everything it is sent.
READ: dict[str, Any] = {"usage": (5104, 38)}
FEE = calls(("get_fee", {"type": "PAYMENT"}), **READ)
TRADES = f"""\
judy belongs to {JUDY}, who sold QORT four times on 15 November 2026:

- 45 QORT for 0.0265 LTC
- 28 QORT for 13.08 DOGE
- 22.5 QORT for 0.00019463 BTC
- 30 QORT for 3.054 RVN

Together that is 125.5 QORT."""
SCRIPTS: dict[str, Script] = {
    "first": [
        calls(("get_name", {"name": "judy"}), **READ),
        calls(("get_trade_ledger", {"account": JUDY}), **READ),
        says(TRADES, **READ),
    ],
    "failed": [
        calls(("get_account_overview", {"address": "12345"}), **READ),
        says("There is no such account.", **READ),
    ],
    "trace": [
        calls(("get_balance", {"address": "12345"}), **READ),
        says("The address is not valid.", **READ),
    ],
    "weight": [],
    "comparison": [
        FEE,
        says("A payment costs 0.01 QORT.", **READ),
        says("I think it was QixP1234567890abcdefghijkmnopqrstu.", **READ),
    ],
}


def block(mark: str, kind: str) -> str:
    found = re.search(
        rf"<!-- {re.escape(mark)} -->\n(?:```sh\n.*?\n```\n)?```{kind}\n(.*?)```", PAGE, re.DOTALL
    )
    assert found, f"the page has no block {mark}"
    return found[1]


def test_every_session_of_the_page_has_a_script() -> None:
    assert list(SESSIONS) == list(SCRIPTS)


@pytest.mark.promise("Asking a model", "The sessions of docs/ask.md are what the command shows.")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_session_shows_what_the_page_shows(name: str, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(block("file:questions.jsonl", "json"))
    shown, told = SESSIONS[name].shows(SCRIPTS[name], tmp_path)
    assert shown == told


def without_times(run: dict[str, Any]) -> dict[str, Any]:
    for part in (*run["calls"], run["spent"]):
        part.pop("ms")
    for source in run["sources"]:
        source.pop("time")
    return run


def test_the_json_of_the_page_is_what_the_command_prints(tmp_path: Path) -> None:
    found = re.search(r"<!-- json -->\n```sh\n(.*)\n", PAGE)
    assert found
    with ScriptedEndpoint([FEE, says("A payment costs 0.01 QORT, about 7 cents.", **READ)]) as endpoint:
        printed = on_terminal(found[1], endpoint, tmp_path).replace(endpoint.base_url, ADDRESS)
    assert without_times(json.loads(printed)) == without_times(json.loads(block("json", "json")))


@pytest.fixture(scope="module")
def console() -> Iterator[tuple[Listening, str]]:
    """A server whose model answers the question of the page, and the address of the model."""
    script = then(FEE, says("A payment costs 0.01 QORT, about 7 cents.", **READ))
    with ScriptedEndpoint(script) as endpoint:
        named = ("--base-url", endpoint.base_url, "--model", "qwen3:8b")
        with listening("serve", "--sample", *named, env={"NO_PROXY": "*"}) as server:
            yield server, endpoint.base_url


def test_the_console_says_of_its_model_what_the_page_shows(console: tuple[Listening, str]) -> None:
    server, address = console
    status, body = server.ask("/ask")
    assert status == 200
    assert json.loads(body.decode().replace(address, ADDRESS)) == json.loads(block("available", "json"))


def test_the_console_answers_what_the_page_asks_as_the_command_does(console: tuple[Listening, str]) -> None:
    server, address = console
    asked = re.search(r"<!-- asked -->\n```sh\n.* -d '(.*)'; echo\n", PAGE)
    assert asked
    status, body = server.ask("/ask", json.loads(asked[1]))
    assert status == 200
    told = without_times(json.loads(body.decode().replace(address, ADDRESS)))
    assert told == without_times(json.loads(block("json", "json")))


def test_every_event_of_the_console_is_explained_with_its_members() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (.*) \|$", PAGE.partition("| `type` | members |")[2].partition("\n\n")[0], re.M
    )
    explained = {kind: set(re.findall(r"`(\w+)`", told)) for kind, told in rows}
    kinds = {kind.__struct_config__.tag: kind for kind in get_args(Event)}
    assert set(explained) == set(kinds)
    for tag, kind in kinds.items():
        assert set(kind.__struct_fields__) <= explained[str(tag)]


def test_what_a_caller_of_the_console_may_take_is_on_the_page() -> None:
    limits = ConsoleLimits()
    assert limits.period_seconds == 3600
    assert (
        f"In an hour, one caller's questions may take {limits.caller_calls} calls of tools, {limits.caller_tokens:,} tokens and "
        f"{limits.caller_seconds:,.0f} seconds, {limits.caller_questions} at the same time; all callers together have "
        f"{limits.all_questions} at the same time." in PAGE
    )


@pytest.mark.parametrize("kind", [Run, Call, Source, Grounding, Claim, TracedClaim, ServerSeen, Spent])
def test_every_member_of_the_json_is_explained(kind: type[Struct]) -> None:
    explained = set(re.findall(r"`(\w+)`", PAGE.partition("| member | meaning |")[2].partition("\n## ")[0]))
    assert {field.encode_name for field in structs.fields(kind)} <= explained


def test_every_ending_is_explained() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `ended` |"))
    assert set(re.findall(r"`([\w-]+)`", row)) - {"ended"} == set(get_args(Ending))


def test_every_option_of_the_page_exists_and_every_option_of_the_command_is_on_the_page() -> None:
    own = {name for one in ask_command.params if isinstance(one, click.Option) for name in one.opts}
    words = [
        word
        for line in re.findall(r"^(?:echo .*\| )?qortal-mcp ask (.*?)(?: #.*)?$", PAGE, re.MULTILINE)
        for word in re.sub(r'"[^"]*"', "", line).split()
        if word.startswith("--")
    ]
    assert words
    assert set(words) <= own
    shared = {"--help", "-h", "--config", "--log-level", "--log-format", "--max-tip-age", "--subprotocol"}
    assert [name for name in own - shared if name not in PAGE] == []


# What the page says of numbers: an answer, a result, and whether something in the answer is not from a tool.
CHECKED = [
    ("It has 499,791 QORT.", '{"balance":"499790.72495548"}', ""),
    ("It has 499,790.7 QORT.", '{"balance":"499790.72495548"}', ""),
    ("It has 499,780 QORT.", '{"balance":"499790.72495548"}', "499,780"),
    ("It has about 500,000 QORT.", '{"balance":"499790.72495548"}', ""),
    ("There are 4 members.", '{"members":["a","b","c","d"]}', ""),
    ("There are 5 members.", '{"members":["a","b","c","d"]}', "5"),
    ("There are five members.", '{"members":["a","b","c","d"]}', ""),
    ("Together that is 7.", '{"amounts":["3","4"]}', "7"),
]


@pytest.mark.parametrize(("answer", "result", "missing"), CHECKED)
def test_an_answer_is_checked_as_the_page_says(answer: str, result: str, missing: str) -> None:
    found = ground(answer, [result]).not_from_a_tool
    assert [claim.text for claim in found] == ([missing] if missing else [])


def test_the_commands_of_a_conversation_are_those_of_its_help() -> None:
    terminal, keys = os.openpty()
    try:
        with ScriptedEndpoint() as endpoint:
            process = subprocess.Popen(
                [*COMMAND, "ask", "--sample", "--base-url", endpoint.base_url, "--model", "m"],
                stdin=keys,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
            )
            os.write(terminal, b"/help\n/quit\n")
            shown, _ = process.communicate(timeout=SECONDS)
    finally:
        os.close(terminal)
        os.close(keys)
    assert block("help", "text") in shown.decode()


Q = ("ask", "What does a payment cost?", "--sample")
TROUBLES: list[tuple[tuple[str, ...], Script, dict[str, Any]]] = [
    ((*Q, "--base-url", "http://127.0.0.1:9/v1"), [], {}),
    (Q, [refuses(401, "No key.")], {}),
    (Q, [refuses(429, "Too fast.", retry_after="0")] * 3, {}),
    (Q, [refuses(404, "No such model.")], {"/v1/models": {"data": [{"id": "other"}]}}),
    (Q, [refuses(400, "This model does not support tools.")], {}),
    (Q, [calls(("get_fee", {}), usage=(2048, 1)), says("I do not know.", usage=(2040, 4))], {}),
    (Q, [says('<tool_call>{"name":"get_fee","arguments":{"type":"PAYMENT"}}</tool_call>'), says("0.01.")], {}),
    (Q, [says('{"name": "get_cost", "arguments": {"of": "payment"}}')], {}),
    (Q, [FEE, FEE, FEE, FEE, says("0.01 QORT.")], {}),
    ((*Q, "--max-time", "0.3"), [Said(text="A payment", end="hangs")], {}),
    (("ask", "What does a payment cost?", "--node", "http://127.0.0.1:1"), [FEE, says("Nothing much.")], {}),
    (("ask", "What is new?", "--server", "no-such-program"), [says("Nothing.")], {}),
]  # fmt: skip
MESSAGES = re.findall(r"^\| `(.*?)` \|", PAGE.partition("| you see |")[2], re.MULTILINE)


def test_every_trouble_of_the_page_can_be_had() -> None:
    assert len(MESSAGES) == len(TROUBLES)


@pytest.mark.parametrize(("message", "trouble"), list(zip(MESSAGES, TROUBLES, strict=False)))
def test_a_message_of_the_page_is_shown(message: str, trouble: Any, tmp_path: Path) -> None:
    words, script, pages = trouble
    with ScriptedEndpoint(script, pages=pages) as endpoint:
        shown = on_terminal(" ".join(["qortal-mcp", *map(repr, words)]), endpoint, tmp_path)
    assert re.search(re.escape(message).replace("…", r".+"), shown), shown


def test_every_member_of_an_evaluation_is_on_the_page() -> None:
    section = PAGE[PAGE.index("\n## Compare models") : PAGE.index("\n## What is sent")]
    members = {field.encode_name for kind in (Evaluated, Verdict) for field in structs.fields(kind)}
    assert [name for name in members if f"`{name}`" not in section] == []
