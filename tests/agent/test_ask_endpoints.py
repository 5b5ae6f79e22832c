"""Endpoints that misbehave: each gives a clear sentence with the next step, nothing hangs, and no key is ever shown."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agent.asked import BOTH, KEY, LIMITS, ONE_CALL, faster, ids, offered, talking
from tests.agent.conftest import Ask
from tests.agent.scripted_endpoint import (
    Raw,
    Reply,
    Request,
    Said,
    ScriptedEndpoint,
    calls,
    refuses,
    says,
    streams,
)
from tests.agent.tool_servers import Shop, over_http, tool
from tests.cli.running import Ended
from tests.client.fakes import legacy

from qortal_mcp.agent import words

PAGE = b"<html><head><title>Hi</title></head><body>Welcome</body></html>"
HTML, JSON = {"content-type": "text/html"}, {"content-type": "application/json"}

# `{}` is the base URL.
REFUSALS = [
    pytest.param(refuses(401, f"Incorrect key {KEY}"), "{} does not accept the key (401): Incorrect key ***. Check OPENAI_API_KEY.", id="401"),
    pytest.param(refuses(403, "not your project"), "{} does not allow this (403): not your project. Check what the key may do.", id="403"),
    pytest.param(refuses(404, "nothing here"), "There are no chat completions at {} (404): nothing here. Check the base URL.", id="404"),
    pytest.param(refuses(429, "come back later", retry_after="3600"), "{} is busy (429): come back later. It asks to wait 3600 s.", id="429-an-hour"),
    pytest.param(refuses(429, "You exceeded your current quota"), "The account at {} has no credit left (429): You exceeded your current quota. Add some, or use another endpoint.", id="429-no-credit"),
    pytest.param(refuses(400, "messages[2] is wrong"), "{} refuses the request (400): messages[2] is wrong. Another model or endpoint may accept it.", id="400"),
    pytest.param(refuses(400, "scripted does not support tools"), "The model at {} does not call tools (400): scripted does not support tools. Choose one that does with --model, for example qwen3.", id="no-tools"),
    pytest.param(Raw(headers=HTML, body=PAGE), "{} did not answer with a chat completion: Welcome. Check the base URL; it usually ends with /v1.", id="html"),
    pytest.param(Raw(headers=JSON, body=b'{"status":"ok"}'), '{} did not answer with a chat completion: {"status":"ok"}. Check the base URL; it usually ends with /v1.', id="other-json"),
    pytest.param(Raw(), "{} did not answer with a chat completion: the reply is empty. Check the base URL; it usually ends with /v1.", id="empty"),
    pytest.param(Raw(status=302, headers={"location": "https://other.example/v1"}), "{} redirects to https://other.example/v1, and redirects are not followed. Use that address if you trust it.", id="redirect"),
    pytest.param(streams({"error": {"message": f"no GPU for {KEY}"}}), "The model's endpoint reports an error: no GPU for ***. Try again, or use another model.", id="error-in-a-stream"),
]  # fmt: skip


@pytest.mark.promise(
    "Asking a model",
    "Why a model's endpoint gave no answer is one sentence with the next step; nothing hangs.",
)
@pytest.mark.parametrize(("reply", "said"), REFUSALS)
def test_a_refusal_is_one_clear_sentence_and_exit_code_3(ask: Ask, reply: Reply, said: str) -> None:
    with ScriptedEndpoint([reply]) as server:
        ended = ask(server, "How is the node?", "--sample", key=KEY)
    assert ended == Ended(3, "", f"qortal-mcp: {said.replace('{}', server.base_url)}\n")
    assert len(server.chats) == 1


async def test_a_failure_that_stays_is_reported_after_three_attempts() -> None:
    async with talking(lambda request: refuses(500, "oops")) as talk:
        run = await talk.ask()
    base = talk.server.base_url
    assert (run.ended, run.answer) == ("endpoint", "")
    assert run.problem == f"{base} fails (500): oops. Try again later."
    assert len(talk.server.chats) == 3
    assert talk.notices == ["The model's endpoint fails (500); trying again in 0.03 s."] * 2


@BOTH
def test_a_busy_endpoint_is_asked_again_when_it_says(ask: Ask, streaming: bool) -> None:
    script: list[Reply] = [refuses(429, "slow down", retry_after_ms="50"), says("It is there.")]
    with ScriptedEndpoint(script, streams=streaming) as server:
        ended = ask(server, "How is the node?", "--sample")
    assert (ended.code, ended.out) == (0, "It is there.\n")
    assert ended.err == "Note: The model's endpoint is busy (429); trying again in 0.05 s.\n"


def delta(more: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": more, "finish_reason": finish}]}


def part(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    return {"index": index, "function": {**name, "arguments": arguments}, **more}


CALLS_IN_PIECES = [
    pytest.param(calls(("t", {"n": 1}), ("t", {"n": 2}), piece=1), id="letter-by-letter"),
    pytest.param(calls(("t", {"n": 1}), ("t", {"n": 2}), piece=0), id="several-in-one-delta"),
    pytest.param(
        streams(
            delta({"tool_calls": [part(0, '{"n"', name="t", id="a"), part(1, '{"n": ', name="t", id="b")]}),
            delta({"tool_calls": [part(1, "2}"), part(0, ": 1}")]}, "tool_calls"),
        ),
        id="interleaved",
    ),
    pytest.param(
        streams(
            delta({"tool_calls": [part(0, '{"n": 1}', name="t"), part(1, '{"n": 2}', name="t")]}, "stop")
        ),
        id="no-ids-and-another-finish",
    ),
    pytest.param(
        streams(
            delta({"tool_calls": [part(0, '{"n": 1}', name="t", id="x")]}),
            delta({"tool_calls": [part(0, '{"n": 2}', name="t", id="y")]}),
            delta({}, "weird_reason"),
        ),
        id="all-numbered-0-and-an-unknown-finish",
    ),
]


@pytest.mark.parametrize("reply", CALLS_IN_PIECES)
async def test_calls_in_any_pieces_are_made_and_answered_in_order(reply: Reply) -> None:
    async with over_http(legacy(Shop("t"))) as url, talking([reply, says("Done.")], url) as talk:
        run = await talk.ask()
    assert talk.given() == [('t {"n": 1}', True), ('t {"n": 2}', True)]
    asked, answered = ids(talk.server.chats[-1])
    assert asked == answered
    assert len(set(asked)) == 2
    assert (run.answer, run.ended) == ("Done.", "answer")


@BOTH
@pytest.mark.parametrize("finish", ["stop", "eos_token", "end_turn", "tool_calls", "?"])
async def test_an_unknown_reason_to_stop_changes_nothing(finish: str, streaming: bool) -> None:
    async with talking([says("It is 1.", finish=finish)], streaming=streaming) as talk:
        run = await talk.ask()
    assert run.answer.startswith("It is 1.")
    assert run.ended == "no-tools"


@BOTH
async def test_without_usage_the_tokens_are_estimated(streaming: bool) -> None:
    script = [calls(("t", {}), usage=None), says("Done.", usage=None)]
    async with over_http(legacy(Shop("t"))) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert run.spent.is_estimated
    assert run.spent.prompt_tokens > 100
    assert (run.answer, run.ended) == ("Done.", "answer")


CUT_OFF = "It is 1 and \n\n[The model's answer ended in the middle.]"


@pytest.mark.parametrize("end", ["closed", "reset", "no-done", "hangs"])
async def test_half_a_stream_is_half_an_answer_and_said_to_be(end: str) -> None:
    half = Said(text="It is 1 and more.", events=3, end=end)  # type: ignore[arg-type]
    async with (
        over_http(legacy(Shop("t"))) as url,
        talking([half], url, limits=faster(next_word_seconds=0.3)) as talk,
    ):
        run = await talk.ask()
    assert (run.answer, run.ended, run.is_complete) == (CUT_OFF, "cut-off", False)
    assert talk.shown == run.answer


@BOTH
@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_an_answer_that_was_cut_off_is_said_to_be(finish: str, streaming: bool) -> None:
    script = [says("It is 1 and ", finish=finish)]
    async with over_http(legacy(Shop("t"))) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert (run.answer, run.ended) == (CUT_OFF, "cut-off")


@BOTH
async def test_an_answer_that_was_withheld_is_not_asked_for_again(streaming: bool) -> None:
    async with talking([says("", finish="content_filter")], streaming=streaming) as talk:
        run = await talk.ask()
    assert (run.ended, run.problem) == ("no-answer", words.FILTERED)
    assert len(talk.server.chats) == 1


async def test_a_stream_that_breaks_before_a_word_is_asked_for_once_more() -> None:
    script = [Said(text="It is 1.", events=1, end="closed"), says("It is 1.")]
    async with over_http(legacy(Shop("t"))) as url, talking(script, url) as talk:
        run = await talk.ask()
    assert (run.answer, run.ended) == ("It is 1.", "answer")
    assert talk.notices == ["The connection to the model's endpoint was lost; trying again."]


async def test_an_error_in_the_middle_of_an_answer_keeps_what_was_said() -> None:
    reply = streams(delta({"content": "It is 1"}), {"error": {"message": "out of memory", "code": 500}})
    async with over_http(legacy(Shop("t"))) as url, talking([reply], url) as talk:
        run = await talk.ask()
    assert (run.ended, run.answer) == ("endpoint", "It is 1")
    assert (
        run.problem
        == "The model's endpoint reports an error: out of memory. Try again, or use another model."
    )
    assert len(talk.server.chats) == 1


def test_an_endpoint_that_says_nothing_ends_with_the_time_of_the_question(ask: Ask) -> None:
    began = time.monotonic()
    with ScriptedEndpoint([Raw(bare=True, end="hangs")]) as server:
        ended = ask(server, "How is the node?", "--sample", "--max-time", "0.3")
    assert time.monotonic() - began < 5
    assert ended.code == 3


@pytest.mark.promise(
    "Asking a model",
    "A prompt that is too long for the model is sent again with fewer tools, and that is said.",
)
@BOTH
async def test_a_prompt_that_is_too_long_is_sent_again_with_less(streaming: bool) -> None:
    shop = Shop()
    shop.tools = [tool(f"tool_{number}", description=f"does {number} and " * 40) for number in range(40)]

    def small(request: Request) -> Reply:
        if len(json.dumps(request.body)) > 8_000:
            return refuses(400, "This model's maximum context length is 4096 tokens.")
        return says("Done.")

    async with over_http(legacy(shop)) as url, talking(small, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert (run.answer, run.ended) == ("Done.", "answer")
    counts = [len(offered(request)) for request in talk.server.chats]
    assert counts[0] == 40
    assert counts == sorted(set(counts), reverse=True)
    assert 0 < counts[-1] < 20
    said = " ".join(run.notices)
    assert said.startswith(
        f"The prompt is too long for {talk.server.base_url} (400): This model's maximum context length is 4096 tokens."
    )
    assert f"It was offered {counts[-1]} of 40 tools" in said


async def test_a_prompt_that_is_always_too_long_is_given_up() -> None:
    async with (
        over_http(legacy(Shop("t"))) as url,
        talking(lambda request: refuses(413, "Request too large"), url) as talk,
    ):
        run = await talk.ask()
    assert run.ended == "endpoint"
    assert f"The prompt is too long for {talk.server.base_url} (413): Request too large." in (
        *run.notices,
        run.problem,
    )
    assert len(talk.server.chats) < 10


async def test_a_redirect_is_not_followed_and_the_key_stays_here() -> None:
    with ScriptedEndpoint([says("stolen")]) as other:
        away = Raw(status=307, headers={"location": f"{other.base_url}/chat/completions?k={KEY}"})
        async with talking([away], key=KEY) as talk:
            run = await talk.ask()
    assert other.requests == []
    assert other.base_url in run.problem
    assert KEY not in run.problem


ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
ECHOES = [
    pytest.param([says(f"Your key is {KEY}, is it not?", piece=1)], "Your key is ***, is it not?\n", id="answer"),
    pytest.param([says(f"Your key is {KEY}")], "Your key is ***\n", id="at-the-end"),
    pytest.param([calls(("get_balance", {"address": KEY})), says("Done.")], "Done.\n", id="arguments"),
    pytest.param([calls(("get_balance", {KEY: [KEY]})), says("Done.")], "Done.\n", id="arguments-of-another-shape"),
    pytest.param([calls(("get_balance", f'{{"address":"{ESCAPED}"}}')), says("Done.")], "Done.\n", id="escaped-arguments"),
    pytest.param([calls(("get_balance", f"{{{KEY}")), says("Done.")], "Done.\n", id="arguments-not-json"),
    pytest.param([calls((KEY, {})), says("Done.")], "Done.\n", id="name-of-a-tool"),
    pytest.param([calls(("x" * 90 + KEY, {})), says("Done.")], "Done.\n", id="long-name-of-a-tool"),
    pytest.param([calls(("get_node_status", {}), text=f"With {KEY}: "), says("Done.")], "With ***: \nDone.\n", id="before-a-call"),
    pytest.param([says(f'{{"name": "get_name", "arguments": {{"name": "{KEY}"}}}}'), says("Done.")], "Done.\n", id="written-call"),
    pytest.param([refuses(400, f"bad request with {KEY}")], "", id="error"),
    pytest.param([Raw(status=401, headers=HTML, body=f"<html><body>{KEY}</body></html>".encode())], "", id="error-as-a-page"),
    pytest.param([streams({"error": {"message": KEY, "code": 400}})], "", id="error-in-a-stream"),
    pytest.param([says("It is 1.", finish=KEY)], "It is 1.\n", id="finish"),
]  # fmt: skip


@pytest.mark.promise(
    "Asking a model", "The key of a model is sent to its endpoint alone, and is never shown, traced or saved."
)
@BOTH
@pytest.mark.parametrize(("script", "out"), ECHOES)
def test_a_key_that_the_endpoint_repeats_is_seen_nowhere(
    ask: Ask,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    script: list[Reply],
    out: str,
    streaming: bool,
) -> None:
    caplog.set_level("DEBUG")
    saved = tmp_path / "run.jsonl"
    words = ("How is the node?", "--sample", "--trace", "--save", str(saved))
    shown = []
    for more in ((), ("--json",)):
        with ScriptedEndpoint(script, streams=streaming) as server:
            ended = ask(server, *words, *more, key=KEY)
        assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
        shown += [ended.out, ended.err, saved.read_text()]
    assert shown[0] == out
    everything = "\n".join([*shown, caplog.text])
    assert KEY not in everything
    assert "secret" not in everything
    assert ESCAPED not in everything


async def test_a_token_of_a_server_that_its_tool_repeats_is_not_passed_on() -> None:
    token = "tok-4711-4711"
    shop = Shop("t")
    script = [calls(("t", {"x": token})), says(f"It said {token}.")]
    async with (
        over_http(legacy(shop)) as url,
        talking(script, url, secrets=frozenset({token})) as talk,
    ):
        run = await talk.ask()
    assert talk.given() == [('t {"x": "***"}', True)]
    assert run.answer == "It said ***."
    assert token not in repr(talk.events)


def test_the_command_stops_asking_when_the_endpoint_is_not_there(ask: Ask) -> None:
    with ScriptedEndpoint() as server:
        pass
    ended = ask(server, "How is the node?", "--sample")
    assert ended.code == 3
    assert ended.err == (
        f"qortal-mcp: {server.base_url} cannot be reached: connection refused. "
        "Start the model's server, or give another base URL (OPENAI_BASE_URL).\n"
    )


async def test_the_answer_of_an_odd_endpoint_still_has_its_calls() -> None:
    script: list[Reply] = [Raw(headers=HTML, body=b" " + json.dumps(_whole("t")).encode()), ONE_CALL[1]]
    async with over_http(legacy(Shop("t"))) as url, talking(script, url, limits=LIMITS) as talk:
        run = await talk.ask()
    assert [call.tool for call in run.calls] == ["t"]


def _whole(name: str) -> dict[str, Any]:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": {"n": 1}}}
    return {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
