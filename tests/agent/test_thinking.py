"""A model's reasoning does not become part of its answer, however the text arrives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.agent.model.thinking import Thinking

AT_MOST = 1000

TEXTS = [
    pytest.param("The height is 1.", "The height is 1.", id="no-reasoning"),
    pytest.param("<think>Hm. 12?</think>\n\nThe height is 1.", "The height is 1.", id="think"),
    pytest.param("<thinking>Hm.</thinking>It is 1.", "It is 1.", id="thinking"),
    pytest.param("[THINK]Hm.[/THINK]It is 1.", "It is 1.", id="square-brackets"),
    pytest.param("<THINK>Hm.</Think>It is 1.", "It is 1.", id="capitals"),
    pytest.param("One.\n<think>Hm.</think>\nTwo.", "One.\n\nTwo.", id="in-the-middle"),
    pytest.param("<think>a</think>One.\n<think>b</think>Two.", "One.\nTwo.", id="twice"),
    pytest.param("<think>The user wants", "", id="never-closed"),
    pytest.param("<think></think>", "", id="empty"),
    pytest.param("Hm, the user wants 12.\n</think>\n\nIt is 1.", "It is 1.", id="never-opened"),
    pytest.param("</think>It is 1.", "It is 1.", id="closing-tag-first"),
    pytest.param("a <think> b", "a <think> b", id="mentioned-in-a-line"),
    pytest.param("1 < 2 and <thin ice", "1 < 2 and <thin ice", id="almost-a-tag"),
    pytest.param("It ends with <thi", "It ends with <thi", id="half-a-tag-at-the-end"),
    pytest.param("<think>a <think> b</think>c", "c", id="opened-twice"),
    pytest.param("<think>a</thinking>c", "c", id="closed-by-the-other-name"),
    pytest.param("", "", id="nothing"),
]


def fed(pieces: list[str], at_most: int = AT_MOST) -> tuple[str, str]:
    thinking = Thinking(at_most)
    shown = "".join([*map(thinking.feed, pieces), thinking.close()])
    return thinking.text, shown


@pytest.mark.parametrize(("text", "answer"), TEXTS)
def test_reasoning_is_left_out_whole_and_character_by_character(text: str, answer: str) -> None:
    assert fed([text])[0] == answer
    assert fed(list(text))[0] == answer


@pytest.mark.parametrize(("text", "answer"), [one for one in TEXTS if one.id != "never-opened"])
def test_what_is_shown_is_the_answer(text: str, answer: str) -> None:
    assert fed(list(text)) == (answer, answer)


def test_reasoning_without_an_opening_tag_is_no_part_of_the_answer_even_if_it_was_shown() -> None:
    assert fed(["Hm, 12.", "\n</think>", "It is 1."]) == ("It is 1.", "Hm, 12.\n\nIt is 1.")


def test_reasoning_without_an_opening_tag_is_not_shown_if_all_of_it_came_at_once() -> None:
    assert fed(["Hm, 12.\n</think>It is 1."]) == ("It is 1.", "It is 1.")


@pytest.mark.parametrize(("text", "answer"), TEXTS)
def test_with_a_model_that_never_opens_it_nothing_is_shown_before_its_end(text: str, answer: str) -> None:
    for pieces in ([text], list(text)):
        thinking = Thinking(AT_MOST, waits=True)
        shown = "".join([*map(thinking.feed, pieces), thinking.close()])
        assert (thinking.text, shown) == (answer, answer)


def test_a_reply_without_reasoning_of_such_a_model_is_shown_at_its_end() -> None:
    thinking = Thinking(AT_MOST, waits=True)
    assert [thinking.feed(piece) for piece in ("It is", " 1.")] == ["", ""]
    assert (thinking.close(), thinking.text) == ("It is 1.", "It is 1.")
    assert not thinking.is_never_opened


def test_text_is_shown_as_soon_as_it_cannot_be_a_tag() -> None:
    thinking = Thinking(AT_MOST)
    assert [thinking.feed(piece) for piece in ("Hello ", "<", "b>", "<think")] == ["Hello ", "", "<b>", ""]
    assert thinking.close() == "<think"


def test_no_more_than_the_limit_is_kept() -> None:
    assert fed(["12345", "67890"], at_most=7) == ("1234567", "1234567")


WORDS = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "[THINK]",
        "<",
        ">",
        "\n",
        " ",
        "a",
        "</",
        "thi",
        "12",
    ]
)


@given(st.lists(WORDS, max_size=12).map("".join), st.data())
def test_any_split_gives_the_same_answer(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert fed(pieces)[0] == fed([text])[0]
