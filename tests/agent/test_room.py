"""How the room of a window is shared: between results, between rounds, and with the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tool_servers import Shop, over_http, toolbox
from tests.client.fakes import result

from qortal_mcp.agent.calls import Calls
from qortal_mcp.agent.limits import DEFAULT, AgentLimits
from qortal_mcp.agent.model.messages import Function, Message, Usage, WantedCall
from qortal_mcp.agent.prompt.fitting import weight
from qortal_mcp.agent.prompt.framing import Frame
from qortal_mcp.agent.prompt.room import Room, Space
from qortal_mcp.agent.secrets import Secrets

FRAME = Frame("k7Qp2Zx9")


def room(window: int | None, *, may_cut: bool = True) -> Room:
    return Room(DEFAULT, window, "Raise it.", may_cut=may_cut)


@pytest.mark.parametrize(
    ("sizes", "each"),
    [
        ([], 1_000),
        ([100], 1_000),
        ([5_000], 1_000),
        ([100, 5_000], 1_000),
        ([5_000] * 6, 500),
        ([100] * 10 + [5_000, 5_000], 1_000),
        ([200] * 10 + [5_000, 5_000], 500),
        ([5_000] * 3_000, 1),
    ],
)
def test_small_results_are_whole_and_large_ones_share_the_rest(sizes: list[int], each: int) -> None:
    assert Space(1_000, 3_000).each(sizes) == each


@given(st.lists(st.integers(0, 100_000), max_size=64), st.integers(0, 40_000), st.integers(0, 200_000))
def test_results_together_never_take_more_than_there_is(sizes: list[int], one: int, all_: int) -> None:
    each = Space(one, all_).each(sizes)
    assert each <= one
    assert sum(min(size, each) for size in sizes) <= all_


def made(rounds: list[list[int]]) -> list[Message]:
    """Rounds of calls whose results have these sizes."""
    found = []
    for at, sizes in enumerate(rounds):
        calls = tuple(
            WantedCall(id=f"{at}-{number}", name="get", arguments='{"a":1}') for number in range(len(sizes))
        )
        found.append(Message(role="assistant", calls=calls))
        found += [
            Message(
                role="tool", call_id=call.id, content=FRAME.framed("get", "word, " * (size // 6), ok=True)
            )
            for call, size in zip(calls, sizes, strict=True)
        ]
    return found


@given(
    st.lists(st.lists(st.integers(0, 30_000), min_size=1, max_size=6), max_size=6),
    st.sampled_from([4_096, 8_192, 32_768, None]),
    st.integers(0, 1_500),
)
def test_what_was_said_fits_and_every_call_keeps_one_whole_result(
    rounds: list[list[int]], window: int | None, taken: int
) -> None:
    before = made(rounds)
    after = room(window).making_room(before, taken)
    assert [(one.role, one.call_id, len(one.calls)) for one in after] == [
        (one.role, one.call_id, len(one.calls)) for one in before
    ]
    newest = len(after) - len(rounds[-1]) if rounds else 0
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        lines = new.content.split("\n")
        is_whole = lines[0] == old.content.split("\n")[0] and lines[-1] == old.content.split("\n")[-1]
        assert is_whole or (at < newest and new.content.startswith("[left out to make room"))
    # Frames and the marks of cuts cannot be left out.
    assert taken + weight(after, ()) <= max((window or DEFAULT.prompt_tokens) - 1_024, taken) + 40 * len(
        after
    )


async def test_what_is_kept_of_all_results_is_bounded_and_has_all_that_the_model_got() -> None:
    limits = AgentLimits(kept_result_bytes=50_000, kept_results_bytes=100_000, result_bytes=1_000)
    shop = Shop("a")
    shop.answer = lambda message: result(
        message,
        {
            "resultType": "complete",
            "content": [{"type": "text", "text": f"{message['params']} " + "word " * 12_000}],
        },
    )
    async with over_http(shop) as url, toolbox(url) as box:
        calls = Calls(box, FRAME, limits, Secrets(), lambda event: None)
        wanted = [WantedCall(id=str(at), name="a", arguments=f'{{"n":{at}}}') for at in range(16)]
        messages = await calls.make(wanted, 1, Space(1_000, 100_000), written=False)
        again = await calls.make(wanted, 2, Space(1_000, 100_000), written=False)
    assert len(calls.results) == 16
    assert 100_000 <= sum(map(len, calls.results)) <= 100_000 + 16 * 1_000
    assert [one.content for one in again] == [one.content for one in messages]
    for call in calls.records:
        got, _, mark = call.text.partition("… [cut: ")
        assert " of 60,0" in mark
        assert 900 < len(got) <= 1_000
        assert any(kept.startswith(got) for kept in calls.results)


def test_what_fits_stays_as_it_is() -> None:
    messages = made([[500], [500, 500]])
    assert room(8_192).making_room(messages, 1_000) == messages
    assert room(None).making_room(messages, 1_000) == messages


def test_long_arguments_of_earlier_calls_make_room_too() -> None:
    call = WantedCall(id="1", name="get", arguments='{"a": "' + "x" * 60_000 + '"}')
    messages = [
        Message(role="assistant", calls=(call,)),
        Message(role="tool", call_id="1", content="short"),
        *made([[500]]),
    ]
    after = room(4_096).making_room(messages, 1_000)
    assert after[0].calls[0].arguments == "{}"
    assert after[2:] == messages[2:]
    assert weight(after, ()) < 1_000


@pytest.mark.parametrize(
    ("window", "counted", "is_cut"),
    [(None, 4_096, True), (None, 6_000, False), (8_192, 2_048, True), (None, 0, False), (None, 20, False)],
)
def test_a_window_that_is_smaller_than_was_said_is_learnt_too(
    window: int | None, counted: int, is_cut: bool
) -> None:
    found = room(window)
    before = found.history_chars
    said = found.learn(6_200, Usage(prompt_tokens=counted))
    assert said.startswith("The endpoint cut the prompt: about 6,200 tokens were sent") is is_cut
    assert (found.history_chars < before) is is_cut


def test_an_answer_waits_only_if_its_prompt_may_have_been_cut() -> None:
    unknown = room(None)
    assert [unknown.may_be_cut(sent) for sent in (500, 1_800, 4_000, 6_000)] == [False, False, True, True]
    unknown.learn(6_000, Usage(prompt_tokens=5_800))
    assert [unknown.may_be_cut(sent) for sent in (6_100, 7_000, 8_000)] == [False, False, True]
    assert not room(8_192).may_be_cut(6_000)
    assert not room(None, may_cut=False).may_be_cut(6_000)
    silent = room(None)
    silent.learn(6_000, None)
    assert not silent.may_be_cut(6_000)


@pytest.mark.parametrize("window", [1_024, 2_048, 4_096, 8_192, 32_768, 1_000_000, None])
def test_history_takes_a_small_part_of_a_window(window: int | None) -> None:
    assert room(window).history_chars <= min(48_000, (window or 1_000_000) // 2)


@pytest.mark.parametrize("window", [None, 1_000_000])
def test_more_tools_than_are_sent_at_once_are_chosen_from_whatever_the_window_is(window: int | None) -> None:
    schema = {"type": "object", "properties": {f"argument_{at}": {"type": "string"} for at in range(40)}}
    offered = [Function(name=f"tool_{at}", description="Does it.", parameters=schema) for at in range(800)]
    asked = [Message(role="user", content="What is new?")]
    assert weight(asked, offered) > DEFAULT.prompt_tokens
    found = room(window)
    chosen, said = found.functions(offered, asked, "What is new?")
    assert 0 < weight(asked, chosen) < DEFAULT.prompt_tokens
    assert "no more than 100,000 are sent at once" in said
    assert f"It was offered {len(chosen)} of 800 tools" in said
    assert found.functions(offered, asked, "What is new?") == (chosen, "")
