"""What is shown of a model's words while they arrive: everything but calls written as text, secrets and reasoning."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.test_agent_secrets import VALUES, cut_at
from tests.agent.test_written_calls import ANSWERS, FORMS, HOSTILE, OFFERS

from qortal_mcp.agent.inert import inert
from qortal_mcp.agent.secrets import Secrets
from qortal_mcp.agent.shown_text import ShownText

SECRETS = Secrets(VALUES)
NAMES = tuple(OFFERS)


class Shown:
    """What a person has seen so far."""

    def __init__(self, *, holds_back: bool = False) -> None:
        self.pieces: list[str] = []
        self.text = ShownText(self.pieces.append, SECRETS, tools=NAMES, holds_back=holds_back)

    @property
    def so_far(self) -> str:
        return "".join(self.pieces)


def seen(pieces: list[str]) -> str:
    shown = Shown()
    for piece in pieces:
        shown.text.add(piece)
    return shown.so_far


def finished(pieces: list[str]) -> str:
    shown = Shown()
    for piece in pieces:
        shown.text.add(piece)
    shown.text.finish()
    return shown.so_far


WORDS = [
    *VALUES, "The owner is ", "[1]", "[alice](http://h)", "```json\n", "```python\n", "```\n", "<b>", "<tool_call>", "{", '{"a": 1}',
    "\n", "\r\n", " ", "get_name", "(", "👩\u200d🚀", "\u200b", "\x1b[31m", "\ud83d", "\ude00", "1\ufe0f\u20e3", "\\u", "007", "[TOOL_CALLS]",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=5)), max_size=12).map("".join)
PLACES = st.lists(st.integers(0, 400), max_size=12)


@given(TEXTS, PLACES)
def test_any_pieces_show_what_the_whole_shows_and_nothing_is_lost(text: str, places: list[int]) -> None:
    assert finished(cut_at(text, places)) == finished([text]) == inert(SECRETS.hidden(text))


@given(TEXTS, PLACES)
def test_no_secret_is_in_any_part_of_what_is_shown(text: str, places: list[int]) -> None:
    shown = Shown()
    for piece in cut_at(text, places):
        shown.text.add(piece)
        assert not any(value in shown.so_far for value in VALUES)
    shown.text.finish()
    assert not any(value in shown.so_far for value in VALUES)


@given(TEXTS, PLACES)
def test_what_is_shown_is_never_taken_back(text: str, places: list[int]) -> None:
    assert finished([text]).startswith(seen(cut_at(text, places)))


PROSE = "I will look it up"


@pytest.mark.parametrize("size", [1, 3, 7, 10_000])
@pytest.mark.parametrize(("text", "calls"), FORMS)
def test_nothing_of_a_call_is_shown(text: str, calls: list[object], size: int) -> None:
    at = min((text.index(word) for word in ("I w", "Sure.") if word in text), default=None)
    shown = Shown()
    for piece in [text[start : start + size] for start in range(0, len(text), size)]:
        shown.text.add(piece)
    shown.text.drop()
    assert calls
    assert shown.so_far.strip() in (
        "",
        "I will look it up.",
        "I will look it up:",
        "Sure.",
        "I write a `<tool_call>` now.",
    )
    assert (at is None) is (shown.so_far.strip() == "")


@pytest.mark.parametrize("size", [1, 5, 10_000])
@pytest.mark.parametrize(
    "call",
    [
        "<tool_call>{}</tool_call>", "<function=get_name><parameter=name>alice</parameter></function>", "\n[TOOL_CALLS] [{}]",
        '\n```json\n{"name": "get_name", "arguments": {"name": "alice"}}\n```', '\n{"name": "get_name", "arguments": {"name": "alice"}}',
        "\n  [get_name(name='alice')]", "<|python_tag|>{}", "<minimax:tool_call>{}", "\n\n```tool_code\nprint(get_name(name='alice'))\n```",
    ],
)  # fmt: skip
def test_prose_before_a_call_is_shown_and_the_call_is_not(call: str, size: int) -> None:
    text = f"{PROSE} in [1] of 007: {call}"
    shown = Shown()
    for start in range(0, len(text), size):
        shown.text.add(text[start : start + size])
    assert shown.so_far.strip().startswith(f"{PROSE} in [1] of 007")
    shown.text.drop()
    assert shown.so_far.strip() == f"{PROSE} in [1] of 007:"


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_ordinary_answer_is_shown_to_its_end(answer: str) -> None:
    assert finished(list(answer)) == answer


@pytest.mark.parametrize(
    "text",
    [
        "The owner is Q123", "A <b> word and <i>more", "- one\n- two [3]\n| a | b", "[link](http://h) and", "```python\nprint(1)\n",
        "get along with names", "`code` and {x}\n\n- {x}",
    ],
)  # fmt: skip
def test_an_answer_streams(text: str) -> None:
    assert seen(list(f"{text} .")) == f"{text} ."


def test_what_may_be_asked_again_is_not_shown_before_the_end() -> None:
    shown = Shown(holds_back=True)
    shown.text.add("The owner is ")
    shown.text.add("Q123.")
    assert shown.so_far == ""
    shown.text.finish()
    assert shown.so_far == "The owner is Q123."


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_takes_little_time(unit: str) -> None:
    text = unit * (128 * 1024 // len(unit))
    started = time.process_time()
    assert len(finished([text])) > 0
    seen([text[start : start + 16] for start in range(0, len(text), 16)])
    # Quadratic time would be minutes.
    assert time.process_time() - started < 5
