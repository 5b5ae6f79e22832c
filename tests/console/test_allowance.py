"""What a caller may ask within a period, and how many questions at the same time."""

import pytest

from qortal_mcp.console.asking.allowance import Allowance, Place, Refusal
from qortal_mcp.console.asking.limits import ConsoleLimits

LIMITS = ConsoleLimits(
    period_seconds=3600,
    caller_calls=10,
    caller_tokens=1000,
    caller_seconds=600,
    caller_questions=2,
    all_questions=3,
    callers=4,
)


class Clock:
    """A time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def allowance(clock: Clock) -> Allowance:
    return Allowance(LIMITS, clock)


def taken(allowance: Allowance, caller: str = "a", tokens: int | None = None, seconds: float = 60) -> Place:
    place = allowance.take(caller, tokens, seconds)
    assert isinstance(place, Place)
    return place


def refused(allowance: Allowance, caller: str = "a") -> Refusal:
    refusal = allowance.take(caller, None, 60)
    assert isinstance(refusal, Refusal)
    return refusal


def test_a_question_gets_no_more_than_its_own_limits(allowance: Allowance) -> None:
    share = taken(allowance, tokens=50, seconds=7).may_take
    assert (share.calls, share.tokens, share.seconds) == (10, 50, 7)


def test_a_question_gets_no_more_than_what_is_left(allowance: Allowance, clock: Clock) -> None:
    first = taken(allowance, tokens=900, seconds=600)
    clock.now += 590
    allowance.give_back(first, calls=7, tokens=900)
    share = taken(allowance, tokens=900, seconds=600).may_take
    assert (share.calls, share.tokens, share.seconds) == (3, 50, 10)


def test_two_questions_at_once_share_what_is_left(allowance: Allowance) -> None:
    assert [taken(allowance).may_take.tokens, taken(allowance).may_take.tokens] == [500, 500]


def test_what_a_question_did_not_take_is_free_again(allowance: Allowance) -> None:
    allowance.give_back(taken(allowance), calls=0, tokens=10)
    assert taken(allowance).may_take.tokens == 495


@pytest.mark.parametrize(
    ("calls", "tokens", "seconds", "what"),
    [
        pytest.param(10, 0, 0, "10 tool calls", id="calls"),
        pytest.param(0, 1000, 0, "1,000 tokens", id="tokens"),
        pytest.param(0, 0, 600, "600 seconds", id="seconds"),
    ],
)
def test_whoever_has_used_everything_is_told_when_to_ask_again(
    allowance: Allowance, clock: Clock, calls: int, tokens: int, seconds: float, what: str
) -> None:
    place = taken(allowance)
    clock.now += seconds
    allowance.give_back(place, calls, tokens)
    clock.now = 100 + 600
    refusal = refused(allowance)
    assert f"all of the {what} that a caller gets in 60 minutes" in refusal.sentence
    assert refusal.sentence.endswith("Ask again in 50 minutes.")
    assert refusal.retry_after == 3000
    clock.now += refusal.retry_after
    assert taken(allowance).may_take.calls == 10


def test_what_was_used_beyond_the_end_is_not_held_against_the_next_period(
    allowance: Allowance, clock: Clock
) -> None:
    allowance.give_back(taken(allowance), calls=500, tokens=10**9)
    clock.now += 3600
    assert taken(allowance).may_take.tokens == 500


def test_callers_do_not_share(allowance: Allowance) -> None:
    allowance.give_back(taken(allowance, "a"), calls=10, tokens=1000)
    refused(allowance, "a")
    assert taken(allowance, "b").may_take.calls == 10


def test_a_caller_has_two_questions_at_once_and_all_callers_have_three(allowance: Allowance) -> None:
    first = taken(allowance, "a", tokens=1)
    taken(allowance, "a", tokens=1)
    assert "You have 2 questions on the way" in refused(allowance, "a").sentence
    third = taken(allowance, "b", tokens=1)
    assert "3 questions are on the way" in refused(allowance, "c").sentence
    allowance.give_back(first, 0, 0)
    allowance.give_back(third, 0, 0)
    taken(allowance, "a", tokens=1)
    taken(allowance, "c", tokens=1)


def test_the_callers_that_have_asked_nothing_for_the_longest_are_forgotten_first(
    allowance: Allowance,
) -> None:
    waiting = taken(allowance, "waiting", tokens=1)
    for caller in ("old", "newer", "newest"):
        allowance.give_back(taken(allowance, caller), calls=10, tokens=0)
    allowance.give_back(taken(allowance, "one more"), calls=10, tokens=0)
    taken(allowance, "old", tokens=1)
    refused(allowance, "newest")
    allowance.give_back(waiting, calls=10, tokens=0)
    refused(allowance, "waiting")
