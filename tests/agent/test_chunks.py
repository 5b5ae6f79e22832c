"""Replies of models, put together from every shape that servers send them in."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.agent.limits import DEFAULT, AgentLimits
from qortal_mcp.agent.model.chunks import Assembly
from qortal_mcp.agent.model.messages import Completion, Usage, WantedCall
from qortal_mcp.agent.model.refusals import EndpointError

ARGUMENTS = '{"address":"Q1"}'


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(arguments: Any = None, name: Any = None, **rest: Any) -> dict[str, Any]:
    return {**rest, "function": {"name": name, "arguments": arguments}}


def calling(*pieces: Any) -> dict[str, Any]:
    return chunk(tool_calls=list(pieces))


def assembled(*chunks: Any, limits: AgentLimits = DEFAULT, first_id: int = 0) -> Completion:
    assembly = Assembly(limits, first_id=first_id)
    shown = "".join([*map(assembly.take, chunks), assembly.close()])
    completion = assembly.completion()
    assert shown == completion.text
    return completion


def wanted(*calls: tuple[str, str, str]) -> tuple[WantedCall, ...]:
    return tuple(WantedCall(id=id_, name=name, arguments=arguments) for id_, name, arguments in calls)


ONE = wanted(("c1", "get_balance", ARGUMENTS))
TWO = wanted(("c1", "get_balance", ARGUMENTS), ("c2", "get_name", "{}"))
MADE_UP = wanted(("call00000", "get_balance", ARGUMENTS), ("call00001", "get_name", "{}"))

CALLS = [
    pytest.param(
        [
            calling(piece("", "get_balance", index=0, id="c1")),
            calling(piece('{"addr', index=0)),
            calling(piece('ess":"Q1"}', index=0)),
        ],
        ONE,
        id="in-pieces",
    ),
    pytest.param(
        [
            calling(
                piece(ARGUMENTS, "get_balance", index=0, id="c1"), piece("{}", "get_name", index=1, id="c2")
            )
        ],
        TWO,
        id="two-in-one-delta",
    ),
    pytest.param(
        [
            calling(piece("", "get_balance", index=0, id="c1"), piece("", "get_name", index=1, id="c2")),
            calling(piece("{", index=1), piece(ARGUMENTS[:5], index=0)),
            calling(piece(ARGUMENTS[5:], index=0), piece("}", index=1)),
        ],
        TWO,
        id="interleaved",
    ),
    pytest.param(
        [calling(piece(ARGUMENTS, "get_balance", id="c1")), calling(piece("{}", "get_name", id="c2"))],
        TWO,
        id="no-index",
    ),
    pytest.param(
        [
            calling(piece("", "get_balance", id="c1")),
            calling(piece(ARGUMENTS[:5])),
            calling(piece(ARGUMENTS[5:])),
            calling(piece("", "get_name", id="c2")),
            calling(piece("{}", id="c2")),
        ],
        TWO,
        id="no-index-in-pieces",
    ),
    pytest.param(
        [calling(piece(ARGUMENTS, "get_balance"), piece("{}", "get_name"))], MADE_UP, id="no-index-no-id"
    ),
    pytest.param(
        [calling(piece(ARGUMENTS, "get_balance", index=0)), calling(piece("{}", "get_name", index=1))],
        MADE_UP,
        id="no-id",
    ),
    pytest.param(
        [
            calling(piece(ARGUMENTS, "get_balance", index=0, id="c1")),
            calling(piece("{}", "get_name", index=0, id="c2")),
        ],
        TWO,
        id="every-index-0",
    ),
    pytest.param(
        [calling(piece(part, "get_balance", index=0, id="c1")) for part in (ARGUMENTS[:5], ARGUMENTS[5:])],
        ONE,
        id="id-and-name-repeated",
    ),
    pytest.param(
        [
            calling(piece("", "get_", index=0, id="c1")),
            calling(piece("", "balance", index=0)),
            calling(piece(ARGUMENTS, index=0)),
        ],
        ONE,
        id="name-in-pieces",
    ),
    pytest.param(
        [calling(piece({"address": "Q1"}, "get_balance", index=0, id="c1"))], ONE, id="arguments-as-object"
    ),
    pytest.param(
        [calling(piece(None, "get_name", index=0, id="c1"))],
        wanted(("c1", "get_name", "")),
        id="no-arguments",
    ),
    pytest.param(
        [chunk(function_call={"name": "get_balance"}), chunk(function_call={"arguments": ARGUMENTS})],
        MADE_UP[:1],
        id="old-style",
    ),
    pytest.param(
        [chunk(tool_calls=piece(ARGUMENTS, "get_balance", id="c1"))], ONE, id="an-object-for-the-list"
    ),
    pytest.param(
        [calling(piece("{}", "a", index=0, id="same"), piece("{}", "b", index=1, id="same"))],
        wanted(("same", "a", "{}"), ("call00001", "b", "{}")),
        id="one-id-for-two",
    ),
    pytest.param([calling(piece("{}", "", index=0, id="c1"), None, 7, {})], (), id="no-name"),
    pytest.param([calling(piece("{}"))], (), id="arguments-of-no-call"),
]


@pytest.mark.parametrize(("chunks", "calls"), CALLS)
def test_calls_are_put_together(chunks: list[Any], calls: tuple[WantedCall, ...]) -> None:
    assert assembled(chunk(role="assistant", content=None), *chunks, chunk("tool_calls")).calls == calls


def test_made_up_ids_go_on_from_those_of_earlier_replies() -> None:
    assert assembled(calling(piece("{}", "a")), first_id=41).calls[0].id == "call00041"


REPLIES = [
    pytest.param(
        [chunk(content="It "), chunk(content="is 1."), chunk("stop")], "It is 1.", "stop", id="deltas"
    ),
    pytest.param(
        [{"choices": [{"message": {"content": "It is 1."}, "finish_reason": "stop"}]}],
        "It is 1.",
        "stop",
        id="whole",
    ),
    pytest.param(
        [{"choices": [{"message": {"content": part}}]} for part in ("It ", "is 1.")],
        "It is 1.",
        "",
        id="messages-for-deltas",
    ),
    pytest.param(
        [
            chunk(content="It is 1."),
            {"choices": [{"message": {"content": "It is 1."}, "finish_reason": "stop"}]},
        ],
        "It is 1.",
        "stop",
        id="the-whole-again-at-the-end",
    ),
    pytest.param(
        [
            chunk(
                content=[
                    {"type": "text", "text": "It is "},
                    {"type": "image"},
                    {"type": "text", "text": "1."},
                ]
            )
        ],
        "It is 1.",
        "",
        id="parts",
    ),
    pytest.param(
        [chunk(reasoning_content="Hm. 12?"), chunk(reasoning="Hm."), chunk(content="It is 1.")],
        "It is 1.",
        "",
        id="reasoning-members",
    ),
    pytest.param([chunk(content="<think>Hm.</think>It is 1.")], "It is 1.", "", id="reasoning-in-the-text"),
    pytest.param([chunk(content="Hm"), chunk("eos_token")], "Hm", "eos_token", id="unknown-finish"),
    pytest.param([chunk(refusal="I cannot.")], "I cannot.", "", id="refusal"),
    pytest.param(
        [
            {
                "choices": [
                    {"index": 1, "delta": {"content": "other"}},
                    {"index": 0, "delta": {"content": "first"}},
                ]
            }
        ],
        "first",
        "",
        id="several-choices",
    ),
]


@pytest.mark.parametrize(("chunks", "text", "finish"), REPLIES)
def test_text_is_put_together(chunks: list[Any], text: str, finish: str) -> None:
    completion = assembled(*chunks)
    assert (completion.text, completion.finish, completion.calls) == (text, finish, ())


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        pytest.param(
            {"prompt_tokens": 9, "completion_tokens": 3},
            Usage(prompt_tokens=9, completion_tokens=3),
            id="both",
        ),
        pytest.param({"prompt_tokens": 9}, Usage(prompt_tokens=9), id="prompt-only"),
        pytest.param({"prompt_tokens": "9", "completion_tokens": -1}, None, id="not-counts"),
        pytest.param(None, None, id="null"),
        pytest.param([], None, id="list"),
    ],
)
def test_usage_comes_with_the_last_chunk_or_not_at_all(usage: Any, counted: Usage | None) -> None:
    assert assembled(chunk(content="a"), chunk("stop"), {"choices": [], "usage": usage}).usage == counted


def test_a_reply_that_broke_off_has_no_calls() -> None:
    assembly = Assembly(DEFAULT)
    assembly.take(chunk(content="Let me see."))
    assembly.take(calling(piece('{"addr', "get_balance", index=0, id="c1")))
    assert assembly.completion(is_whole=False) == Completion(text="Let me see.", is_whole=False)


def test_calls_arguments_and_text_are_bounded() -> None:
    limits = AgentLimits(round_calls=1, argument_chars=10, answer_chars=20)
    many = [calling(piece("x" * 7, f"tool{number}", index=number)) for number in range(9)]
    more = [calling(piece("x" * 7, index=0)) for _ in range(9)]
    completion = assembled(*many, *more, chunk(content="y" * 30), limits=limits)
    assert [call.name for call in completion.calls] == ["tool0", "tool1", "tool2", "tool3"]
    # One more than is allowed, so that it is seen to be too long.
    assert completion.calls[0].arguments == "x" * 11
    assert (completion.text, completion.finish) == ("y" * 20, "length")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param({"error": {"message": "Overloaded", "code": 529}}, "Overloaded.", id="object"),
        pytest.param({"error": "out of memory"}, "out of memory.", id="text"),
        pytest.param({"error": {"code": 7}}, "no reason is given.", id="no-message"),
        pytest.param(
            {"error": {"message": "bad \x1b[2J key SECRET"}}, "bad \\u{001B}[2J key ***.", id="hostile"
        ),
    ],
)
def test_an_error_inside_a_stream_is_raised(error: Any, said: str) -> None:
    with pytest.raises(EndpointError) as raised:
        Assembly(DEFAULT, key="SECRET").take(error)
    assert str(raised.value) == (
        f"The model's endpoint reports an error: {said} Try again, or use another model."
    )


MEMBERS = [
    *("choices", "delta", "message", "finish_reason", "usage", "prompt_tokens", "content", "text", "type"),
    *("tool_calls", "function_call", "function", "name", "arguments", "index", "id"),
]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(MEMBERS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(ODD | st.builds(lambda delta: {"choices": [{"delta": delta}]}, ODD), max_size=5))
def test_no_shape_breaks_the_reader(chunks: list[Any]) -> None:
    assert isinstance(assembled(*chunks), Completion)


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=30)), max_size=3),
    st.data(),
)
def test_any_split_into_pieces_gives_the_same_completion(
    text: str, calls: list[tuple[str, str]], data: st.DataObject
) -> None:
    def split(whole: str) -> list[str]:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
        return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    whole_calls = [
        {"id": f"c{at}", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    message = {"content": text, "tool_calls": whole_calls}
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5}}
    streamed: list[Any] = [chunk(content=part) for part in split(text)]
    for at, (name, arguments) in enumerate(calls):
        streamed.append(calling(piece("", name, index=at, id=f"c{at}")))
        streamed += [calling(piece(part, index=at)) for part in split(arguments)]
    streamed += [chunk("stop"), {"choices": [], "usage": {"prompt_tokens": 5}}]
    assert assembled(*streamed) == assembled(whole)
    assert assembled(*map(_again, streamed)) == assembled(whole)


def _again(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
