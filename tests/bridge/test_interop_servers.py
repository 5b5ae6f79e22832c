"""The broken servers that scripts/interop lets official clients try, and when it counts one as usable."""

from typing import Any

import pytest
from interop.runner import Failed
from interop.usable import Expected, Seen, broken_servers, judge, problem_of
from tests.audit.cases import BY_NAME

from qortal_mcp.audit.judging.clients import measured_codes

BROKEN = broken_servers()
WORDS = {"content": [{"type": "text", "text": "words"}]}
ANSWER = Expected("words", fails=False)
FAILURE = Expected("words", fails=True)


def test_all_of_them_are_measured_cases_of_the_audit() -> None:
    measured = {name for names in measured_codes().values() for name in names}
    odd_but_legal = {name for name in BROKEN if BY_NAME[name].code is None}
    assert set(BROKEN) <= set(BY_NAME)
    assert set(BROKEN) - odd_but_legal <= measured
    assert len(BROKEN) == 197


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (Seen(answer=WORDS), ANSWER),
        (Seen(answer={**WORDS, "isError": False}), ANSWER),
        (Seen(answer={**WORDS, "isError": True}), FAILURE),
        # What happens after the answer does not matter.
        (Seen(answer=WORDS, exception="BrokenPipeError"), ANSWER),
        (Seen(answer={"content": [{"type": "text", "text": '{"m":1}'}]}), Expected('"m":1', fails=False)),
        (Seen(answer={"content": [], "structuredContent": {"m": 1}}), Expected('"m":1', fails=False)),
    ],
)
def test_a_server_is_usable(seen: Seen, expected: Expected) -> None:
    assert problem_of(seen, expected) == ""


@pytest.mark.parametrize(
    ("seen", "expected", "problem"),
    [
        (Seen(exception="McpError: down"), FAILURE, "McpError: down"),
        (Seen(tools=["t"]), ANSWER, "no answer"),
        (Seen(answer={"content": []}), ANSWER, "no 'words' in"),
        (Seen(answer={**WORDS, "isError": True}), ANSWER, "isError should be false"),
        (Seen(answer=WORDS), FAILURE, "isError should be true"),
        (Seen(answer={"content": [], "_meta": {"dropped": "words"}}), ANSWER, "no 'words' in"),
    ],
)
def test_a_server_is_not_usable(seen: Seen, expected: Expected, problem: str) -> None:
    assert problem_of(seen, expected).startswith(problem)


def outcome(*names: str) -> dict[str, Any]:
    """Every server gives what it must, except for these."""
    return {
        name: Seen()
        if name in names
        else Seen(answer={"content": [{"type": "text", "text": expected.part}], "isError": expected.fails})
        for name, expected in BROKEN.items()
    }


def test_both_numbers_are_reported() -> None:
    seen = judge(BROKEN, outcome("bom", "nan"), outcome())
    assert seen == "195 of 197 usable directly, 197 through the bridge"


def test_a_server_that_the_bridge_does_not_help_is_named() -> None:
    with pytest.raises(Failed, match=r"196 through the bridge\nbom: no answer$"):
        judge(BROKEN, outcome(), outcome("bom"))
