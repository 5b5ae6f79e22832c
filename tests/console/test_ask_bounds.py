"""`/ask` of a running server: what a model says costs no more than a bounded part of the server, whatever it is."""

import pytest
from tests.agent.asked import then
from tests.agent.scripted_endpoint import calls, says
from tests.console.test_ask_route import EVENTS, ask, served

from qortal_mcp.agent.run import Call, Run
from qortal_mcp.console.asking.limits import DEFAULT
from qortal_mcp.console.asking.whole_run import sendable_run


@pytest.mark.parametrize("unit", ["\u202e", "1 ", "{", "|", "**"], ids=ascii)
def test_a_long_answer_is_cut_after_its_hidden_characters_were_written_out(unit: str) -> None:
    with served([says(unit * (262_000 // len(unit)), piece=4000)]) as (server, _):
        reply = ask(server, headers=EVENTS)
    run = reply.events[-1]["run"]
    assert run["ended"] == "cut-off"
    assert run["answer"].endswith("[The model's answer ended in the middle.]")
    assert len(run["answer"]) < DEFAULT.answer_chars + 100
    assert len(reply.body) < 8 * DEFAULT.answer_chars


def test_what_we_write_for_a_hidden_character_is_not_looked_up() -> None:
    with served([says("It is \u202e" * 3 + "7.")]) as (server, _):
        grounding = ask(server).json["grounding"]
    assert [claim["text"] for claim in grounding["notFromATool"]] == ["7"]


def test_a_hidden_character_that_was_cut_with_the_answer_is_not_looked_up_either() -> None:
    with served([says("ab" + "\u202e" * 20_000, piece=4000)]) as (server, _):
        run = ask(server).json
    assert (run["ended"], run["grounding"]["checked"]) == ("cut-off", 0)


def test_arguments_that_no_tool_takes_are_refused_and_not_kept() -> None:
    wanted = [("get_name", {"name": f"{number}-{'x' * 60_000}"}) for number in range(32)]
    with served(then(calls(*wanted, piece=0), says("Nothing."))) as (server, _):
        reply = ask(server, headers=EVENTS)
    made = reply.events[-1]["run"]["calls"]
    assert {(call["ok"], call["text"]) for call in made} == {
        (False, f"arguments are too long: at most {DEFAULT.argument_chars:,} characters")
    }
    assert len(reply.body) < 32 * DEFAULT.argument_chars


def test_a_run_says_that_only_the_first_claims_were_looked_up() -> None:
    with served([says("17 " * 3000, piece=1000)]) as (server, _):
        run = ask(server).json
    assert (run["grounding"]["checked"], run["grounding"]["isPartial"]) == (2000, True)
    assert any("Only the first 2,000" in notice for notice in run["notices"])


def test_the_last_event_has_the_first_calls_in_full_and_names_the_others() -> None:
    made = tuple(Call(tool="get_fee", arguments={"n": n}, ok=True, text="x" * 1000) for n in range(5))
    sent = sendable_run(Run(question="q", answer="a", calls=made), 2500)
    assert sent.calls[:2] == made[:2]
    assert [call.tool for call in sent.calls] == ["get_fee"] * 5
    assert all("left out" in call.text for call in sent.calls[2:])
    assert "3 of them" in sent.notices[-1]


def test_a_run_whose_calls_fit_is_sent_as_it_is() -> None:
    run = Run(question="q", answer="a", calls=(Call(tool="t", arguments={}, ok=True, text="x"),))
    assert sendable_run(run, 1000) is run
