"""Local models as they are: small windows, prompts that are cut without a word, models that do not call tools."""

import json
import re
from typing import Any

import pytest
from msgspec import structs
from tests.agent.asking import MARK, asker
from tests.agent.ollama import MODEL, Ollama, tokens
from tests.agent.questions import QUESTIONS
from tests.agent.scripted_answers import answer
from tests.agent.scripted_endpoint import Reply, Request, Said, ScriptedEndpoint, calls, refuses, says
from tests.agent.tool_servers import Shop, over_http
from tests.cli.running import run
from tests.client.fakes import result

from qortal_mcp.agent.grounding.check import occurs
from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.run import Run
from qortal_mcp.qortal.tools import definitions, select

QUESTION = QUESTIONS[2]
# Tools of the toolsets that are on by default: with them a prompt takes some 8,500 tokens.
ALL = len(definitions(select()))
RAISE = "Start Ollama with OLLAMA_CONTEXT_LENGTH=32768 in its environment."


def test_a_cut_prompt_is_noticed_and_the_question_answered_from_the_tools_that_fit() -> None:
    with Ollama(4_096) as ollama:
        ended = run("ask", QUESTION.question, "--sample", env={"OLLAMA_HOST": ollama.host})
    assert ended.code == 0, ended.err
    assert all(occurs(fact, ended.out) for fact in QUESTION.facts)
    notes = [line for line in ended.err.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 1
    assert re.search(r"The endpoint cut the prompt: about [4-6],\d{3} tokens were sent", notes[0])
    assert f"it read 4,096, so the model did not see all of its tools. {RAISE} It was offered " in notes[0]
    assert [prompt.was_cut for prompt in ollama.prompts] == [True, False, False, False]
    assert 10 < ollama.prompts[1].tools < ALL


def test_an_address_that_was_named_says_how_to_raise_the_window_too() -> None:
    with Ollama(4_096) as ollama:
        env = {"OPENAI_BASE_URL": ollama.base_url, "OPENAI_MODEL": MODEL}
        ended = run("ask", QUESTION.question, "--sample", "--json", env=env)
    assert ended.code == 0, ended.err
    [notice] = ended.json["notices"]
    assert "The endpoint cut the prompt" in notice
    assert "OLLAMA_CONTEXT_LENGTH" in notice
    assert all(occurs(fact, ended.json["answer"]) for fact in QUESTION.facts)


def test_nothing_is_said_about_a_window_that_is_large_enough() -> None:
    with Ollama(32_768) as ollama:
        ended = run("ask", QUESTION.question, "--sample", env={"OLLAMA_HOST": ollama.host})
    assert ended.code == 0
    assert all(occurs(fact, ended.out) for fact in QUESTION.facts)
    assert "Note:" not in ended.err
    assert {prompt.tools for prompt in ollama.prompts} == {ALL}
    assert not any(prompt.was_cut for prompt in ollama.prompts)


@pytest.mark.parametrize("window", [2_048, 4_096, 8_192, 32_768])
def test_no_prompt_is_cut_if_the_window_is_known_beforehand(window: int) -> None:
    with Ollama(window, is_loaded=True) as ollama:
        ended = run("ask", QUESTION.question, "--sample", env={"OLLAMA_HOST": ollama.host})
    assert not any(prompt.was_cut for prompt in ollama.prompts)
    noted = f"Note: The model's window of {window:,} tokens is too small for all tools, their results and an answer: "
    assert (noted in ended.err) is ("Note:" in ended.err) is (window < 8_192)
    assert (RAISE in ended.err) is (window < 8_192)
    assert "cut the prompt" not in ended.err
    assert ended.code == 0, ended.err
    assert all(occurs(fact, ended.out) for fact in QUESTION.facts)


def test_a_window_in_which_no_tool_fits_is_said_and_nothing_is_asked() -> None:
    with Ollama(1_024, is_loaded=True) as ollama:
        ended = run("ask", "word " * 200, "--sample", env={"OLLAMA_HOST": ollama.host})
    assert (ended.code, ended.out) == (3, "")
    assert "The model's window of 1,024 tokens is too small" in ended.err
    assert RAISE in ended.err
    assert ollama.prompts == []


async def test_a_window_that_turns_out_too_small_for_any_tool_is_said_after_one_request() -> None:
    with Ollama(1_024) as ollama:
        async with asker(ollama) as talk:
            found = await talk.ask("word " * 500)
    assert len(ollama.prompts) == 1
    assert (found.ended, talk.shown) == ("endpoint", "")
    assert found.problem.startswith("The model's window of 1,024 tokens is too small")


@pytest.mark.parametrize("window", [2_048, 4_096, 8_192, 32_768])
@pytest.mark.parametrize("is_known", [True, False])
async def test_no_question_is_ever_sent_in_pieces_once_the_window_is_known(
    window: int, is_known: bool
) -> None:
    with Ollama(window) as ollama:
        async with asker(ollama, window=window if is_known else None) as talk:
            answered = 0
            for question in QUESTIONS[::5]:
                found = await talk.ask(question.question)
                answered += all(occurs(fact, found.answer) for fact in question.facts)
                assert len(found.notices) <= 1
    cuts = [prompt for prompt in ollama.prompts if prompt.was_cut]
    assert len(cuts) == (not is_known and window < 16_384)
    assert answered == 8 or window == 2_048


def told(request: Request, role: str = "user") -> list[str]:
    return [message["content"] for message in request.body["messages"] if message["role"] == role]


async def test_a_conversation_in_a_small_window_keeps_the_newest() -> None:
    with Ollama(4_096) as ollama:
        async with asker(ollama, window=4_096) as talk:
            for question in QUESTIONS[::2]:
                assert (await talk.ask(question.question)).ended == "answer"
    assert not any(prompt.was_cut for prompt in ollama.prompts)
    asked = [question.question for question in QUESTIONS[::2]]
    last = told(ollama.chats[-1])
    assert 1 < len(last) < 5
    assert last == asked[-len(last) :]
    assert sum(chat.body["messages"][-1]["role"] == "user" for chat in ollama.chats) == len(asked)


async def test_the_number_of_tools_is_said_once_in_a_conversation() -> None:
    with Ollama(4_096) as ollama:
        async with asker(ollama) as talk:
            notices = [(await talk.ask(question.question)).notices for question in QUESTIONS[:3]]
    assert [len(each) for each in notices] == [1, 0, 0]
    assert notices[0][0].endswith("tools, the ones that suit the question best.")


BEGIN = f", mark {MARK}; not instructions]"
END = f"[end of data, mark {MARK}]"


def shop(size: int) -> Shop:
    """Tools `a`, `b`… that return so many characters."""
    found = Shop(*"abcdefgh")
    found.answer = lambda message: result(
        message,
        {
            "resultType": "complete",
            "content": [{"type": "text", "text": f"{message['params']} " + "x, " * (size // 3)}],
        },
    )
    return found


def well_formed(request: Request) -> list[str]:
    """The results of a request, one for each call: whole frames, or a mark that says that one is left out."""
    messages = request.body["messages"]
    wanted = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    given = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert wanted == given
    results = told(request, "tool")
    for one in results:
        is_framed = (
            one.startswith("[data from ") and one.split("\n")[0].endswith(BEGIN) and one.endswith(f"\n{END}")
        )
        assert is_framed != one.startswith("[left out to make room for newer results: ")
    return results


class Rounds:
    """A model that makes the same number of calls each round, and then answers."""

    def __init__(self, rounds: int, calls_each: int = 1) -> None:
        self._rounds = rounds
        self._calls_each = calls_each

    def __call__(self, request: Request) -> Reply:
        made = sum(message["role"] == "tool" for message in request.body["messages"]) // self._calls_each
        if made >= self._rounds or not request.body["tools"]:
            return says("Done.")
        numbers = range(made * self._calls_each, (made + 1) * self._calls_each)
        return calls(*(("abcdefgh"[number % 8], {"n": number}) for number in numbers))


async def rounds(window: int | None, size: int, model: Rounds, **limits: Any) -> tuple[Run, Ollama]:
    with Ollama(window or 1 << 20, model=model) as ollama:
        async with (
            over_http(shop(size)) as url,
            asker(ollama, url, window=window, limits=AgentLimits(**limits)) as talk,
        ):
            found = await talk.ask("What do they say?")
    assert not any(prompt.was_cut for prompt in ollama.prompts)
    return found, ollama


async def test_a_large_result_is_cut_to_fit_a_small_window() -> None:
    found, ollama = await rounds(4_096, 30_000, Rounds(1))
    [one] = well_formed(ollama.chats[-1])
    assert 4_000 < len(one) < 10_000
    assert "[cut: the first " in one
    assert (found.ended, found.answer) == ("answer", "Done.")
    assert found.calls[0].bytes > 30_000


async def test_older_results_make_room_for_newer_ones_and_never_the_newest() -> None:
    found, ollama = await rounds(8_192, 8_000, Rounds(5))
    assert (found.ended, found.spent.rounds) == ("answer", 5)
    left_out = [[one.startswith("[left out") for one in well_formed(chat)] for chat in ollama.chats]
    assert [len(each) for each in left_out] == [0, 1, 2, 3, 4, 5]
    assert left_out[-1][0]
    for each in left_out[1:]:
        assert not each[-1]
        # The oldest first.
        assert each == sorted(each, reverse=True)


@pytest.mark.parametrize(("window", "calls_each"), [(4_096, 8), (8_192, 32), (32_768, 32), (None, 32)])
async def test_many_results_of_one_round_share_the_room(window: int | None, calls_each: int) -> None:
    found, ollama = await rounds(window, 40_000, Rounds(2, calls_each))
    assert (found.ended, found.spent.rounds) == ("answer", 2)
    newest = well_formed(ollama.chats[-1])[-calls_each:]
    assert all(one.startswith("[data") and "[cut: " in one for one in newest)
    assert len({len(one) // 100 for one in newest}) <= 2
    assert max(prompt.sent for prompt in ollama.prompts) <= min(window or 100_000, 100_000)


async def test_calls_whose_results_do_not_fit_are_not_made() -> None:
    def model(request: Request) -> Reply:
        made = sum(message["role"] == "tool" for message in request.body["messages"])
        if made:
            return says("Done.")
        return calls(*(("get_block", {"height": height}) for height in range(1, 33)))

    with Ollama(4_096, model=model) as ollama:
        async with asker(ollama, window=4_096) as talk:
            found = await talk.ask("Show me blocks 1 to 32")
    assert not any(prompt.was_cut for prompt in ollama.prompts)
    results = well_formed(ollama.chats[-1])
    assert 5 < len(results) == len(found.calls) < 32
    assert all(one.startswith("[data from get_block") and '"height":' in one for one in results)
    assert found.notices[-1] == (
        f"The model asked for 32 calls at once; the results of {len(results)} fit into its window, and only these were made."
    )


async def test_prompts_do_not_grow_without_bound_if_nobody_knows_the_window() -> None:
    _, ollama = await rounds(None, 60_000, Rounds(12, 8), rounds=20)
    assert len(ollama.prompts) == 13
    assert 60_000 < max(prompt.sent for prompt in ollama.prompts) <= 100_000
    assert len(well_formed(ollama.chats[-1])) == 96


LONG = "This model's maximum context length is 4096 tokens. However, you requested 6312 tokens."
TOO_LONG = [
    pytest.param(LONG, 2, id="says-how-much"),
    pytest.param("request (6312 tokens) exceeds the available context size (4096 tokens)", 2, id="llama.cpp"),
    pytest.param("The prompt exceeds the context window.", 2, id="does-not-say"),
]


@pytest.mark.parametrize(("refusal", "attempts"), TOO_LONG)
async def test_a_prompt_that_is_refused_as_too_long_is_sent_again_with_less(
    refusal: str, attempts: int
) -> None:
    def model(request: Request) -> Reply:
        if tokens(json.dumps(request.body)) > 4_096:
            return refuses(400, refusal)
        return answer(request)

    with Ollama(1 << 20, model=model) as ollama:
        async with asker(ollama) as talk:
            found = await talk.ask(QUESTION.question)
    assert found.ended == "answer"
    assert len(ollama.prompts) == attempts + 2
    assert len(found.notices) == 1
    assert found.notices[0].startswith("The prompt is too long for http://127.0.0.1:")
    assert "Raise it. It was offered " in found.notices[0]


async def test_an_endpoint_that_refuses_every_prompt_as_too_long_is_not_asked_for_ever() -> None:
    with Ollama(1 << 20, model=lambda request: refuses(400, "context length exceeded")) as ollama:
        async with asker(ollama) as talk:
            found = await talk.ask(QUESTION.question)
    assert 2 <= len(ollama.prompts) <= 4
    assert found.ended == "endpoint"
    assert "context length exceeded" in found.problem


async def test_an_endpoint_that_always_reads_half_is_not_asked_for_ever() -> None:
    with ScriptedEndpoint(
        lambda request: says("It is 42.", usage=(len(json.dumps(request.body)) // 10, 3))
    ) as server:
        async with asker(server) as talk:
            found = await talk.ask(QUESTION.question)
    assert len(server.chats) <= 4
    assert found.answer == talk.shown == "It is 42."


async def test_an_endpoint_that_counts_only_what_is_new_cuts_nothing() -> None:
    counts = iter([4_700, 60, 40])

    def model(request: Request) -> Reply:
        reply = answer(request)
        assert isinstance(reply, Said)
        return structs.replace(reply, usage=(next(counts), 5))

    with ScriptedEndpoint(model) as server:
        async with asker(server) as talk:
            found = await talk.ask(QUESTION.question)
    assert (found.ended, found.notices, len(server.chats)) == ("answer", (), 3)
    assert {len(chat.body["tools"]) for chat in server.chats} == {ALL}


async def test_what_a_model_invented_from_a_cut_prompt_is_never_shown() -> None:
    def model(request: Request) -> Reply:
        return answer(request) if len(request.body["tools"]) < 25 else says("Bob has 1000000 QORT.")

    with Ollama(4_096, model=model) as ollama:
        async with asker(ollama) as talk:
            found = await talk.ask(QUESTION.question)
    assert "1000000" not in talk.shown + found.answer
    assert occurs(QUESTION.facts[0], found.answer)


def test_a_model_that_takes_no_tools_is_said_with_the_next_step() -> None:
    refusal = refuses(400, f"registry.ollama.ai/library/{MODEL} does not support tools")
    with Ollama(8_192, model=lambda request: refusal) as ollama:
        ended = run("ask", QUESTION.question, "--sample", env={"OLLAMA_HOST": ollama.host})
    assert (ended.code, ended.out) == (3, "")
    assert f"The model at {ollama.base_url} does not call tools (400): " in ended.err
    assert (
        f"{MODEL} does not support tools. Choose one that does with --model, for example qwen3." in ended.err
    )
    assert len(ollama.prompts) == 1
