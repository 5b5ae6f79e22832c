"""The questions of examples/questions.json have the answers that the file says."""

import asyncio
from collections import Counter

import pytest
from tests.agent.questions import QUESTIONS, Question, Result, results_of

from qortal_mcp.agent.grounding.check import occurs
from qortal_mcp.qortal.tools import TOOLSETS, select

EACH = pytest.mark.parametrize("question", QUESTIONS, ids=[one.question[:50] for one in QUESTIONS])

# A single digit that was changed may occur by chance.
_LONG_ENOUGH = 2


@pytest.fixture(scope="module")
def results() -> dict[str, list[Result]]:
    return asyncio.run(results_of(QUESTIONS))


def missing(facts: tuple[str, ...], results: list[Result]) -> list[str]:
    text = "\n".join(result.text for result in results)
    return [fact for fact in facts if not occurs(fact, text)]


def changed(fact: str) -> str:
    """The fact with its last digit changed, or its last character if there is no digit."""
    at = max((index for index, char in enumerate(fact) if char in "0123456789"), default=len(fact) - 1)
    other = str((int(fact[at]) + 1) % 10) if fact[at] in "0123456789" else "x"
    return fact[:at] + other + fact[at + 1 :]


@EACH
def test_a_call_fails_only_if_its_error_is_the_answer(
    question: Question, results: dict[str, list[Result]]
) -> None:
    errors = [result.text for result in results[question.question] if result.is_error]
    assert [error for error in errors if not any(occurs(fact, error) for fact in question.facts)] == []


@EACH
def test_every_fact_is_in_the_results_of_the_calls(
    question: Question, results: dict[str, list[Result]]
) -> None:
    assert question.facts
    assert missing(question.facts, results[question.question]) == []


@EACH
def test_no_result_has_a_fact_that_was_changed(question: Question, results: dict[str, list[Result]]) -> None:
    wrong = tuple(changed(fact) for fact in question.facts if len(fact) >= _LONG_ENOUGH)
    assert missing(wrong, results[question.question]) == list(wrong)


@EACH
def test_a_question_does_not_have_all_of_its_own_answer(question: Question) -> None:
    given = [fact for fact in question.facts if occurs(fact, question.question)]
    assert given == [] or given in (["not found"], ["invalid"])


def test_the_questions_are_forty_and_all_different() -> None:
    assert len(QUESTIONS) == 40
    assert Counter(question.question.casefold() for question in QUESTIONS).most_common(1)[0][1] == 1


def test_many_questions_need_several_calls() -> None:
    assert sum(len(question.calls) > 1 for question in QUESTIONS) >= 12


def test_several_questions_are_answered_by_an_error(results: dict[str, list[Result]]) -> None:
    assert sum(any(result.is_error for result in found) for found in results.values()) >= 4


def test_every_default_toolset_is_used_and_no_other() -> None:
    called = {call.tool for question in QUESTIONS for call in question.calls}
    used = {name for name, toolset in TOOLSETS.items() if called & set(toolset.tools)}
    assert used == set(select())
