"""Which call each number, address and name of an answer came from."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.asked import talking, then
from tests.agent.scripted_endpoint import calls, says
from tests.cost import is_linear

from qortal_mcp.agent.events import Text
from qortal_mcp.agent.grounding.check import ground
from qortal_mcp.server import Server, tool

ADDRESS = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"


def traced(answer: str, *results: object, calls: dict[int, int] | None = None) -> dict[str, tuple[int, ...]]:
    """The claims that the results have, each with its calls: by default one call for each result, in order."""
    texts = [json.dumps(result) for result in results]
    of = dict(enumerate(range(len(texts)))) if calls is None else calls
    return {claim.text: claim.calls for claim in ground(answer, texts, calls=of).from_calls}


def test_each_claim_is_traced_to_the_calls_whose_result_has_it() -> None:
    answer = f"`alice-test` is {ADDRESS}, has 12.35 QORT since 15 November 2026, and 99 friends."
    results = (
        {"name": "alice-test", "owner": ADDRESS},
        {"address": ADDRESS, "balance": "12.34900000"},
        {"time": "2026-11-15T19:12:25.981Z"},
    )
    assert traced(answer, *results) == {
        "alice-test": (0,),
        ADDRESS: (0, 1),
        "12.35": (1,),
        "15 November 2026": (2,),
    }


def test_a_claim_says_where_it_stands() -> None:
    answer = "🙂 It has 7 QORT, and 7 more."
    found = ground(answer, ['{"a":7}'], calls={0: 0}).from_calls
    assert [(answer[claim.start : claim.end], claim.kind) for claim in found] == [("7", "number")] * 2
    assert [claim.start for claim in found] == [9, 21]


def test_no_more_than_the_first_three_calls_are_named() -> None:
    assert traced("It is 4711.", *[{"a": 4711}] * 9) == {"4711": (0, 1, 2)}


def test_a_claim_of_an_earlier_question_has_no_call() -> None:
    assert traced("4711 and 4712.", {"a": 4711}, {"a": 4712}, calls={1: 5}) == {"4711": (), "4712": (5,)}


def test_a_claim_that_no_result_has_is_not_traced() -> None:
    seen = ground("4711 and 4712.", ["4711"], calls={0: 0})
    assert [claim.text for claim in seen.from_calls] == ["4711"]
    assert [claim.text for claim in seen.not_from_a_tool] == ["4712"]


@given(st.text(), st.lists(st.text(), max_size=4))
def test_every_claim_is_either_traced_or_marked_and_is_in_the_results_of_its_calls(
    answer: str, results: list[str]
) -> None:
    seen = ground(answer, results, calls=dict(enumerate(range(len(results)))))
    assert len(seen.from_calls) + len(seen.not_from_a_tool) == seen.checked
    for claim in seen.from_calls:
        assert answer[claim.start : claim.end] == claim.text
        for call in claim.calls:
            alone = ground(answer, [results[call]]).not_from_a_tool
            assert (claim.start, claim.end) not in [(one.start, one.end) for one in alone]


@pytest.mark.parametrize("unit", ["1 ", "1,", "a1-", "`a` ", "Qa1…b2 ", "May 5 ", '"a b" '], ids=ascii)
def test_a_hostile_answer_takes_linear_time_whatever_it_is_traced_in(unit: str) -> None:
    def checked(hostile: str) -> None:
        results = [hostile, *(f"{number} {hostile[:50]}" for number in range(len(hostile) // 100))]
        assert ground(hostile, results, calls=dict(enumerate(range(len(results))))).checked <= len(hostile)

    assert is_linear(lambda size: (unit * size)[:size], checked, 32_768)


@tool
async def price(coin: str) -> dict[str, str]:
    """A price."""
    return {"LTC": {"price": "12.5"}, "BTC": {"price": "77.25"}}[coin]


@pytest.mark.promise(
    "Asking a model", "Each number of an answer that a result has names the calls whose result it is in."
)
async def test_an_answer_names_its_calls_by_their_place_and_a_repeated_call_is_not_another_one() -> None:
    script = then(
        calls(
            ("price", {"coin": "LTC"}),
            ("price", {"coin": "LTC"}),
            ("nothing", {}),
            ("price", {"coin": "BTC"}),
        ),
        says("12.5 and 77.25, which is 6.18 times as much."),
    )
    async with talking(script, Server("prices", tools=[price])) as talk:
        first = await talk.ask()
        again = await talk.ask()
    for run in (first, again):
        assert [(call.tool, call.repeated) for call in run.calls] == [
            ("price", False),
            ("price", True),
            ("nothing", False),
            ("price", False),
        ]
        assert [(claim.text, claim.calls) for claim in run.grounding.from_calls] == [
            ("12.5", (0,)),
            ("77.25", (3,)),
        ]
        assert [claim.text for claim in run.grounding.not_from_a_tool] == ["6.18"]


async def test_a_question_that_was_cancelled_has_still_taken_its_prompt() -> None:
    shown = asyncio.Event()
    async with talking([says("Well", end="hangs", events=2)], Server("prices", tools=[price])) as talk:
        asking = asyncio.create_task(
            talk.agent.ask("How much?", lambda event: shown.set() if isinstance(event, Text) else None)
        )
        async with asyncio.timeout(10):
            await shown.wait()
        asking.cancel()
        await asyncio.wait([asking])
        assert talk.agent.spent.prompt_tokens > 100
        assert talk.agent.spent.is_estimated
