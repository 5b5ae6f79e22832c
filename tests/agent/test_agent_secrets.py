"""Secrets are hidden in whole texts and in texts that arrive in pieces, and nothing else is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.agent.secrets import HIDDEN, Secrets, SecretsInPieces

# One begins like another, one ends like another begins, one repeats itself.
VALUES = ("sk-abcdef", "sk-abcdefgh", "fghsk-ab", "aaaaaa", "aaaaaab")
SECRETS = Secrets(VALUES)
TEXTS = st.lists(
    st.sampled_from([*VALUES, "sk-", "abc", "fgh", "a", "b", "ef", " ", "The key is ", "é", "***"]),
    max_size=10,
).map("".join)


def cut_at(text: str, places: list[int]) -> list[str]:
    """A text in pieces."""
    ends = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The key is sk-abcdef.", "The key is ***."),
        ("sk-abcdefgh", "***"),
        ("sk-abcde", "sk-abcde"),
        ("sk-abcdefsk-abcdefgh", "******"),
        ("", ""),
    ],
)
def test_a_secret_is_hidden_and_of_two_that_begin_alike_the_longer(text: str, shown: str) -> None:
    assert SECRETS.hidden(text) == shown


def test_short_values_are_words_and_no_values_hide_nothing() -> None:
    assert Secrets(("key", "", "abcde")).hidden("key abcde") == "key abcde"
    pieces = SecretsInPieces(Secrets())
    assert pieces.add("anything") + pieces.end() == "anything"


def test_what_stands_for_no_key_is_shown() -> None:
    said = "Ask ollama, lm-studio or llama.cpp."
    assert Secrets(("ollama", "lm-studio", "llama.cpp")).hidden(said) == said


def test_a_value_is_no_pattern() -> None:
    assert Secrets(("a.c[d]+$",)).hidden("abcd a.c[d]+$") == f"abcd {HIDDEN}"


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
def test_pieces_come_out_as_the_whole_would_and_no_secret_is_ever_seen(text: str, places: list[int]) -> None:
    pieces = SecretsInPieces(SECRETS)
    shown = ""
    for piece in cut_at(text, places):
        shown += pieces.add(piece)
        assert not any(value in shown for value in VALUES)
    assert shown + pieces.end() == SECRETS.hidden(text)


@given(TEXTS)
def test_one_character_at_a_time_only_what_may_be_a_secret_is_held_back(text: str) -> None:
    pieces = SecretsInPieces(SECRETS)
    shown = "".join(pieces.add(character) for character in text)
    held = pieces.end()
    assert len(held) < max(map(len, VALUES))
    assert shown + held == SECRETS.hidden(text)
