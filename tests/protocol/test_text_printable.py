"""Untrusted text made visible: reversible, unchanged when clean, in linear time."""

import json
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cost import is_cheaper, is_linear

from qortal_mcp.text import original, printable, printable_json, shortened

HIDDEN = [
    ("\x1b[31mred", "\\u{001B}[31mred"),
    ("a\u202eb", "a\\u{202E}b"),
    ("a\u200bb", "a\\u{200B}b"),
    ("\ufeffbom", "\\u{FEFF}bom"),
    ("\U000e0041tag", "\\u{E0041}tag"),
    ("\x00\x7f\x9b", "\\u{0000}\\u{007F}\\u{009B}"),
    ("\r", "\\u{000D}"),
    ("\ud800", "\\u{D800}"),
    ("\\u{202E}", "\\u{005C}u{202E}"),
    ("\ufe0f", "\\u{FE0F}"),
]


@pytest.mark.promise("Text of strangers", "What is shown of a hidden character can be read back exactly.")
@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_what_hides_is_shown_and_can_be_read_back(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert original(shown) == text


@pytest.mark.parametrize("text", ["", "plain", "tab\tand\nline", "é漢😀", "C:\\users", "a\\u", "{}"])
def test_clean_text_stays_the_same_object(text: str) -> None:
    assert printable(text) is text


@pytest.mark.promise("Text of strangers", "What is shown of a hidden character can be read back exactly.")
@given(st.text(st.characters()) | st.text("\\u{}0123456789ABCDEF\u202e\x1b"))
@settings(deadline=None, derandomize=True, database=None)
def test_any_text_can_be_read_back_and_shows_no_control(text: str) -> None:
    shown = printable(text)
    assert original(shown) == text
    for letter in shown:
        assert unicodedata.category(letter) not in ("Cc", "Cs") or letter in "\t\n"
        assert unicodedata.bidirectional(letter) not in (
            "RLO",
            "LRO",
            "RLE",
            "LRE",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )


@pytest.mark.parametrize("piece", ["\u202e", "\\u{", "\\", "a", "\\u{202E}"])
def test_it_takes_linear_time(piece: str) -> None:
    assert is_linear(piece.__mul__, lambda text: (printable(text), original(text)), 800_000)


@pytest.mark.parametrize("piece", ["\u202e", "a\u200b", "\x07", "\u200d"])
def test_hidden_characters_are_not_escaped_one_by_one(piece: str) -> None:
    text = piece * (1024 * 1024 // len(piece.encode()))
    one_by_one = re.compile("[^a]").sub
    assert is_cheaper(
        lambda: printable(text), than=lambda: one_by_one(lambda found: f"\\u{{{ord(found[0]):04X}}}", text)
    )


@pytest.mark.parametrize("text", ["\\u{110000}", "\\u{FFFFFF}", "\\u{}", "\\u{12"])
def test_an_escape_without_a_character_stays_as_it_is(text: str) -> None:
    assert original(text) == text


def test_long_text_is_cut_with_a_mark() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcdef", 3) == "abc… [3 more characters]"


@pytest.mark.promise(
    "Text of strangers",
    "Emoji and scripts that need joining characters stay as they are, and nothing can hide in them.",
)
@pytest.mark.parametrize(
    "text",
    ["❤️ ok", "👨‍👩‍👧‍👦", "👍🏽", "1️⃣", "🏳️‍🌈", "می‌خواهم", "Rocket 🚀 Team", "日本語"],
)
def test_pictures_and_words_that_need_joiners_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


@pytest.mark.promise(
    "Text of strangers",
    "Emoji and scripts that need joining characters stay as they are, and nothing can hide in them.",
)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a\\u{200D}b"),
        ("x\ufe0f", "x\\u{FE0F}"),
        ("🏴\U000e0067\U000e007f", "🏴\\u{E0067}\\u{E007F}"),
        ("🚀\u200d", "🚀\\u{200D}"),
        ("\u2066\u200d\u2069", "\\u{2066}\\u{200D}\\u{2069}"),
        ("\u3164\ufe0f", "\\u{3164}\\u{FE0F}"),
        ("\u202e\ufe0f", "\\u{202E}\\u{FE0F}"),
        ("a\u2800\ufffcb", "a\\u{2800}\\u{FFFC}b"),
        ("\U0001bca0\U00013430\U0001d159", "\\u{1BCA0}\\u{13430}\\u{1D159}"),
    ],
)
def test_nothing_hides_behind_a_picture(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert original(shown) == text


@given(st.text())
def test_json_keeps_its_value_and_hides_nothing(text: str) -> None:
    written = json.dumps({text: [text]}, ensure_ascii=False)
    shown = printable_json(written)
    assert json.loads(shown) == {text: [text]}
    assert printable_json(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "\\u202e"),
        ("\x7f\x9b", "\\u007f\\u009b"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\\u{202E}", "\\\\u{202E}"),
        ("👩\u200d💻 Köln", "👩\u200d💻 Köln"),
    ],
)
def test_hidden_characters_in_json_are_written_as_its_escapes(text: str, shown: str) -> None:
    assert printable_json(json.dumps(text, ensure_ascii=False)) == f'"{shown}"'
