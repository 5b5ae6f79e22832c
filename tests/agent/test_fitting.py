"""Prompts are weighed, tools are chosen for small windows, and a prompt that was cut is noticed."""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from tests.agent.questions import QUESTIONS as EXAMPLES

from qortal_mcp.agent.model.messages import Function, Message, WantedCall
from qortal_mcp.agent.prompt.fitting import fitting, was_cut, weight
from qortal_mcp.schemas.json_schema import is_valid
from qortal_mcp.tokens import CHARS_PER_TOKEN, estimate

DEFINITIONS = json.loads(files("qortal_mcp.qortal.tools").joinpath("definitions.json").read_text())
OURS = tuple(
    Function(name=one["name"], description=one["description"], parameters=one["inputSchema"])
    for one in DEFINITIONS.values()
)
ALL = weight([], OURS)


def names(functions: tuple[Function, ...]) -> list[str]:
    return [function.name for function in functions]


def test_a_message_weighs_its_text_and_a_little_more() -> None:
    assert weight([], []) <= 5
    assert 1_000 < weight([Message(role="user", content="x" * 4_000)], []) <= 1_010
    call = WantedCall(id="1", name="get_name", arguments="x" * 4_000)
    assert 1_000 < weight([Message(role="assistant", calls=(call,))], []) <= 1_020


def test_our_tools_weigh_what_is_sent_of_them() -> None:
    sent = [{"type": "function", "function": {"name": f.name, "description": f.description, "parameters": f.parameters}} for f in OURS]  # fmt: skip
    assert (
        pytest.approx(estimate(json.dumps(sent, separators=(",", ":"), ensure_ascii=False)), rel=0.02) == ALL
    )


def test_tools_that_fit_stay_as_they_are() -> None:
    assert fitting(OURS, "anything", ALL) == OURS
    assert fitting((), "anything", 0) == ()


def test_descriptions_are_shortened_before_a_tool_is_left_out() -> None:
    short = fitting(OURS, "anything", ALL * 79 // 80)
    assert names(short) == names(OURS)
    assert weight([], short) <= ALL * 79 // 80


def types(value: Any) -> Iterator[Any]:
    """A schema without its descriptions."""
    if isinstance(value, dict):
        for key, inner in sorted(value.items()):
            if not (isinstance(inner, str) and key in ("description", "title")):
                yield key, tuple(types(inner))
    elif isinstance(value, list):
        yield from (tuple(types(inner)) for inner in value)
    else:
        yield value


def test_a_shortened_schema_is_valid_and_keeps_names_types_and_what_is_required() -> None:
    whole = {function.name: function for function in OURS}
    short = fitting(OURS, "anything", ALL * 79 // 80)
    assert [is_valid(function.parameters) for function in short] == [""] * len(OURS)
    for function in short:
        assert tuple(types(function.parameters)) == tuple(types(whole[function.name].parameters))


def test_a_property_that_is_called_description_is_not_taken_for_one() -> None:
    schema = {
        "type": "object",
        "title": "Long" * 100,
        "properties": {
            "description": {"type": "string", "description": f"Short. {'Long. ' * 99}"},
            "title": True,
        },
        "required": ["description", "title"],
    }
    (short,) = fitting([Function(name="f", description="Does it.", parameters=schema)], "", 60)
    assert short.parameters == {
        "type": "object",
        "properties": {"description": {"type": "string", "description": "Short."}, "title": True},
        "required": ["description", "title"],
    }
    assert schema["title"] == "Long" * 100


QUESTIONS = [
    pytest.param("Who owns the name alice?", {"get_name", "search_names"}, id="names"),
    pytest.param("What is the balance of QaBc?", {"get_balance"}, id="balance"),
    pytest.param("Show me the newest blocks and who signed them", {"list_blocks", "get_block", "list_block_signers"}, id="blocks"),
    pytest.param("Which groups is bob a member of?", {"list_groups", "list_group_members"}, id="groups"),
    pytest.param("What did people trade for litecoin this week?", {"list_completed_trades"}, id="trades"),
    pytest.param("How was the poll decided?", {"get_poll", "list_polls"}, id="polls"),
    pytest.param("Read the chat messages of group 5", {"get_chat_messages"}, id="chats"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
@pytest.mark.parametrize("tokens", [1_200, 2_500])
def test_the_tools_of_the_question_are_kept_when_few_fit(
    question: str, expected: set[str], tokens: int
) -> None:
    chosen = names(fitting(OURS, question, tokens))
    assert expected <= set(chosen)
    assert chosen == [name for name in names(OURS) if name in chosen]
    assert weight([], fitting(OURS, question, tokens)) <= tokens + 5


@pytest.mark.parametrize(
    ("tokens", "least"),
    [
        pytest.param(2_700, 38, id="window-of-4096-before-any-result"),
        pytest.param(1_500, 36, id="window-of-4096-with-room-for-results"),
        pytest.param(1_200, 32, id="smaller-still"),
    ],
)
def test_most_of_the_example_questions_keep_every_tool_they_need(tokens: int, least: int) -> None:
    kept = [
        question
        for question in EXAMPLES
        if {call.tool for call in question.calls} <= set(names(fitting(OURS, question.question, tokens)))
    ]
    assert least <= len(kept) <= len(EXAMPLES) == 40


def test_details_of_arguments_go_before_tools_do_and_stay_for_the_most_useful() -> None:
    chosen = fitting(OURS, "What is the balance of QaBc?", 2_700)
    described = [one.name for one in chosen if "description" in json.dumps(one.parameters)]
    assert "get_balance" in described
    assert len(chosen) >= 2 * len(described)
    assert [is_valid(function.parameters) for function in chosen] == [""] * len(chosen)
    whole = {function.name: function.parameters for function in OURS}
    for one in chosen:
        assert one.parameters.get("required") == whole[one.name].get("required")
        assert list(one.parameters["properties"]) == list(whole[one.name]["properties"])


@pytest.mark.parametrize(
    "question", ["", "???", "Wem gehört das?", "誰が所有していますか", "\ud800\0" * 50, "word " * 50_000]
)
def test_general_tools_are_kept_whatever_is_asked(question: str) -> None:
    chosen = fitting(OURS, question, 1_500)
    assert chosen == fitting(OURS, question, 1_500)
    assert {"get_node_status", "get_network_overview", "search_names"} & set(names(chosen))
    assert 0 < weight([], chosen) <= 1_505


@pytest.mark.parametrize("tokens", [-1, 0, 1, 20])
def test_nothing_fits_into_nothing(tokens: int) -> None:
    assert fitting(OURS, "Who owns alice?", tokens) == ()


def test_odd_schemas_of_strangers_are_weighed_and_passed_on() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3_000):
        deep = {"items": deep}
    odd = [
        Function(name="deep", description="x" * 400, parameters=deep),
        Function(
            name="half", description="\ud800" * 400, parameters={"properties": [], "description": "\ud800"}
        ),
        Function(name="huge", description="y " * 400, parameters={"maximum": 1 << 70}),
        Function(name="fine", description="z", parameters={"type": "object"}),
    ]
    assert names(fitting(odd, "deep half huge", 60)) == ["fine"]


# What the endpoint counts for the same text: our definitions have 4.2 characters per token.
REAL = round(ALL * CHARS_PER_TOKEN / 4.2)
SENT = ALL + 400
CUTS = [
    pytest.param(SENT, REAL + 400, False, id="our-definitions"),
    pytest.param(SENT, round(SENT * 0.6), False, id="estimate-two-fifths-too-high"),
    pytest.param(SENT, SENT * 2, False, id="estimate-too-low"),
    pytest.param(SENT, 4096, True, id="ollama-with-its-default-window"),
    pytest.param(SENT, 4095, True, id="just-below-the-window"),
    pytest.param(SENT, 2048, True, id="smaller-window"),
    pytest.param(20_000, 4096, True, id="much-larger-prompt"),
    pytest.param(20_000, 8_150, True, id="another-window"),
    pytest.param(20_000, 9_000, True, id="less-than-half"),
    pytest.param(4_840, 4_096, True, id="little-more-than-the-window"),
    pytest.param(4_840, 4_095, True, id="little-more-than-just-below-the-window"),
    pytest.param(4_000, 4_096, True, id="exactly-the-window-and-an-estimate-too-low"),
    pytest.param(3_000, 4_096, False, id="exactly-the-window-by-chance"),
    pytest.param(5_000, 900, False, id="counts-only-what-is-new"),
    pytest.param(4_500, 4_050, False, id="near-a-window-and-all-of-it"),
    pytest.param(SENT, 0, False, id="not-counted"),
    pytest.param(800, 20, False, id="too-small-to-be-cut"),
]


@pytest.mark.parametrize(("sent", "counted", "expected"), CUTS)
def test_a_prompt_that_was_cut_is_told_from_an_estimate_that_errs(
    sent: int, counted: int, expected: bool
) -> None:
    assert was_cut(sent, counted) is expected
