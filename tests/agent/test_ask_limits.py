"""Limits that are reached, models that lost their way, and servers that change, die or are not there."""

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.agent.asked import BOTH, ONE_CALL, faster, free_port, ids, talking, then
from tests.agent.conftest import Ask
from tests.agent.scripted_endpoint import Reply, Request, Said, ScriptedEndpoint, calls, says
from tests.agent.tool_servers import OPTIONS, Shop, on_port, over_http, tool
from tests.client import fakes
from tests.client.fakes import Json, legacy, result, web_server

from qortal_mcp.agent import words
from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.tools.server import ToolServer

STATUS = ("get_node_status", dict[str, Any]())


def insists(request: Request) -> Reply:
    """A model that calls a tool as long as it may, each time with another argument."""
    if "tools" not in request.body:
        return says("This is what I know.")
    return calls(("t", {"n": len(request.body["messages"])}))


@pytest.mark.promise(
    "Asking a model",
    "A limit of rounds, tokens or time is named at the end of the answer, and the exit code is 3.",
)
@BOTH
async def test_after_the_last_round_the_model_is_asked_once_more_without_tools(streaming: bool) -> None:
    shop = Shop("t")
    async with (
        over_http(legacy(shop)) as url,
        talking(insists, url, streaming=streaming, limits=faster(rounds=3)) as talk,
    ):
        run = await talk.ask()
    assert run.ended == "rounds"
    assert not run.is_complete
    assert run.answer == talk.shown
    assert run.answer == (
        "This is what I know.\n\n"
        "[Stopped after 3 rounds of tool calls (--max-rounds); this answer may be incomplete.]"
    )
    assert ["tools" in request.body for request in talk.server.chats] == [True, True, True, False]
    assert talk.messages("user")[-1] == words.LAST_WORD
    assert len(shop.calls) == 3


COMMAND_LIMITS = [
    pytest.param(["--max-rounds", "1"], "Stopped after 1 round of tool calls (--max-rounds)", id="rounds"),
    pytest.param(["--max-tokens", "50"], "Stopped after 50 tokens (--max-tokens)", id="tokens"),
]


@pytest.mark.promise(
    "Asking a model",
    "A limit of rounds, tokens or time is named at the end of the answer, and the exit code is 3.",
)
@BOTH
@pytest.mark.parametrize(("options", "said"), COMMAND_LIMITS)
def test_a_limit_is_named_in_the_answer_and_by_the_exit_code(
    ask: Ask, options: list[str], said: str, streaming: bool
) -> None:
    script = [calls(STATUS), says("The node is there.")]
    with ScriptedEndpoint(script, streams=streaming) as server:
        ended = ask(server, "How is the node?", "--sample", *options)
    assert ended.code == 3
    assert ended.out == f"The node is there.\n\n[{said}; this answer may be incomplete.]\n"
    assert "tools" not in server.chats[-1].body


HANGING = [
    pytest.param(Said(events=0, end="hangs"), "", id="before-a-word"),
    pytest.param(says("It is 1 and more.", events=3, end="hangs"), "It is 1 and ", id="in-the-middle"),
]


@pytest.mark.promise(
    "Asking a model",
    "A limit of rounds, tokens or time is named at the end of the answer, and the exit code is 3.",
)
@pytest.mark.parametrize(("reply", "said"), HANGING)
def test_an_endpoint_that_hangs_costs_no_more_than_the_time_limit(ask: Ask, reply: Reply, said: str) -> None:
    began = time.monotonic()
    with ScriptedEndpoint([reply]) as server:
        ended = ask(server, "How is the node?", "--sample", "--max-time", "0.4")
        assert server.was_left.wait(5)
    assert time.monotonic() - began < 5
    assert ended.code == 3
    note = "[Stopped after 0.4 s (--max-time); this answer may be incomplete.]"
    assert ended.out == (f"{said}\n\n{note}\n" if said else f"{note}\n")


class Hanging:
    """A server whose tool `t` never answers; `over` says when it was left alone."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def __call__(self, request: web.Request, message: Json) -> web.StreamResponse:
        if message.get("method") == "tools/list":
            return web.json_response(json.loads(result(message, {"tools": [tool("t")]})))
        if message.get("method") != "tools/call":
            return web.Response(status=405)
        try:
            await asyncio.sleep(60)
        finally:
            self.over.set()
        return web.Response()


async def test_a_tool_that_hangs_is_left_at_the_limit_of_a_call_and_the_model_goes_on() -> None:
    hanging = Hanging()
    limits = faster(call_seconds=0.2)
    async with web_server(fakes.answering(hanging)) as url, talking(ONE_CALL, url, limits=limits) as talk:
        run = await talk.ask()
        async with asyncio.timeout(30):
            await hanging.over.wait()
    assert talk.given() == [("t timed out after 0.2 s", False)]
    assert [(call.text, call.ok) for call in run.calls] == [("t timed out after 0.2 s", False)]
    assert (run.answer, run.ended) == ("Done.", "answer")


def test_a_call_has_thirty_seconds_and_a_question_twelve_rounds() -> None:
    assert (AgentLimits().call_seconds, AgentLimits().rounds) == (30, 12)


async def test_a_tool_that_hangs_costs_no_more_than_the_time_of_the_question() -> None:
    hanging = Hanging()
    limits = faster(question_seconds=0.4)
    async with web_server(fakes.answering(hanging)) as url, talking(ONE_CALL, url, limits=limits) as talk:
        run = await talk.ask()
        async with asyncio.timeout(30):
            await hanging.over.wait()
    assert run.ended == "time"
    assert run.answer == "[Stopped after 0.4 s (--max-time); this answer may be incomplete.]"
    assert [(call.tool, call.text, call.ok) for call in run.calls] == [("t", words.UNANSWERED, False)]


@BOTH
async def test_too_many_calls_at_once_are_refused_and_each_has_its_result(streaming: bool) -> None:
    shop = Shop("t")
    wanted = [("t", {"n": number}) for number in range(40)]
    script = [calls(*wanted, piece=0), says("Done.")]
    async with over_http(legacy(shop)) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    most = AgentLimits().round_calls
    assert most == 32
    assert sorted(call["arguments"]["n"] for call in shop.calls) == list(range(most))
    given = talk.given()
    assert given[:most] == [(f't {{"n": {number}}}', True) for number in range(most)]
    refused = "Not called: no more than 32 calls are made at a time. Call it again if it is still needed."
    assert given[most:] == [(refused, False)] * 8
    asked, answered = ids(talk.server.chats[-1])
    assert asked == answered
    assert len(set(asked)) == 40
    assert [call.arguments for call in run.calls] == [arguments for _, arguments in wanted[:most]] + [
        json.dumps(arguments) for _, arguments in wanted[most:]
    ]


@BOTH
async def test_the_same_call_many_times_at_once_is_made_once_and_answered_each_time(streaming: bool) -> None:
    shop = Shop("t")
    # The same arguments, in another order and spelling.
    same = ['{"a": 1, "b": [2]}', '{"b":[2],"a":1}']
    script = [calls(*[("t", same[number % 2]) for number in range(20)]), says("Done.")]
    async with over_http(legacy(shop)) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert len(shop.calls) == 1
    assert talk.given() == [('t {"a": 1, "b": [2]}', True)] * 20
    asked, answered = ids(talk.server.chats[-1])
    assert asked == answered
    assert len(set(answered)) == 20
    assert [call.repeated for call in run.calls] == [False] + [True] * 19
    assert run.ended == "repetition"
    assert len(run.sources) == 1


@pytest.mark.promise(
    "Asking a model",
    "The same call is made once; its result is given again, and the third repetition ends the calls.",
)
@BOTH
async def test_a_call_that_is_repeated_again_and_again_ends_the_rounds(streaming: bool) -> None:
    def stubborn(request: Request) -> Reply:
        return calls(("t", {})) if "tools" in request.body else says("It says t.")

    shop = Shop("t")
    async with over_http(legacy(shop)) as url, talking(stubborn, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert len(shop.calls) == 1
    assert [call.repeated for call in run.calls] == [False, True, True, True]
    assert run.ended == "repetition"
    assert run.answer == (
        "It says t.\n\n"
        "[Stopped because the model asked for the same call again and again; this answer may be incomplete.]"
    )
    assert talk.given() == [("t {}", True)] * 4


@pytest.mark.promise("Asking a model", "An empty answer is asked for once more; a second one is reported.")
@BOTH
async def test_an_empty_answer_is_asked_for_once_more(streaming: bool) -> None:
    script = [calls(("t", {})), says(" \n"), says("It is 1.")]
    async with over_http(legacy(Shop("t"))) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert (run.answer, run.ended, run.problem) == ("It is 1.", "answer", "")
    assert talk.messages("user")[-1] == words.ANSWER_NOW


@pytest.mark.promise("Asking a model", "An empty answer is asked for once more; a second one is reported.")
@BOTH
def test_a_second_empty_answer_is_reported(ask: Ask, streaming: bool) -> None:
    with ScriptedEndpoint([says(""), says("\n")], streams=streaming) as server:
        ended = ask(server, "How is the node?", "--sample")
    assert ended.code == 3
    assert ended.out.strip() == ""
    assert (
        ended.err.strip()
        == "qortal-mcp: The model gave no answer, although it was asked twice. Ask again, or ask another model."
    )
    assert len(server.chats) == 2


NOT_CALLS = [
    pytest.param('<tool_call>{"name": "nope", "arguments": {}}</tool_call>', id="unknown-tool"),
    pytest.param('<tool_call>{"name": "get_balance", "argum', id="half"),
    pytest.param('{"name": "get_balance", "arguments": {"colour": "red"}}', id="arguments-do-not-fit"),
]


@pytest.mark.promise(
    "Asking a model",
    "A call that a model writes as text is made and marked if it fits; otherwise it is said that the model does not call tools.",
)
@BOTH
@pytest.mark.parametrize("text", NOT_CALLS)
def test_a_model_that_only_writes_what_cannot_be_called_is_said_not_to_call_tools(
    ask: Ask, text: str, streaming: bool
) -> None:
    with ScriptedEndpoint([says(text)], streams=streaming) as server:
        ended = ask(server, "How is the node?", "--sample")
    assert (ended.code, ended.out) == (3, f"{text}\n")
    assert ended.err == (
        "qortal-mcp: The model scripted wrote a tool call as text that cannot be run: it does not seem to call tools. "
        "Try a model that supports tools, or a larger one.\n"
    )


@pytest.mark.promise(
    "Asking a model",
    "A call that a model writes as text is made and marked if it fits; otherwise it is said that the model does not call tools.",
)
@BOTH
def test_a_call_that_a_model_writes_as_text_is_made_marked_and_not_shown(ask: Ask, streaming: bool) -> None:
    script = [says('```json\n{"name": "get_node_status", "arguments": {}}\n```'), says("It is there.")]
    with ScriptedEndpoint(script, streams=streaming) as server:
        ended = ask(server, "How is the node?", "--sample", "--trace")
    assert (ended.code, ended.out) == (0, "It is there.\n")
    note, line, figures, *_ = ended.err.splitlines()
    assert note.startswith("Note: The model wrote a call as text instead of making it; it was made anyway")
    assert line == "get_node_status {} ok"
    assert figures.endswith(" · written as text by the model")


BAD_ARGUMENTS = [
    pytest.param("{'n': 1}", "arguments are not valid JSON: ", id="not-json"),
    pytest.param('{"n": 1', "arguments are not valid JSON: ", id="half"),
    pytest.param("[1]", "arguments are not valid: they must be a JSON object", id="a-list"),
    pytest.param('"n"', "arguments are not valid: they must be a JSON object", id="a-text"),
    pytest.param("7", "arguments are not valid: they must be a JSON object", id="a-number"),
    pytest.param('{"n":"' + "x" * 70_000 + '"}', "arguments are too long: at most 65,536 characters", id="huge"),
    pytest.param("[" * 60_000, "arguments are not valid JSON: ", id="deep"),
    pytest.param('{"n":1e999}', "arguments are not valid JSON: ", id="a-number-out-of-range"),
    pytest.param('{"n":"\\ud800"}', "arguments are not valid JSON: ", id="half-a-character"),
]  # fmt: skip


@pytest.mark.promise(
    "Asking a model", "Arguments that are not valid are reported to the model, which goes on."
)
@BOTH
@pytest.mark.parametrize(("arguments", "said"), BAD_ARGUMENTS)
async def test_wrong_arguments_are_reported_to_the_model_and_not_sent(
    arguments: str, said: str, streaming: bool
) -> None:
    shop = Shop("t")
    script = [calls(("t", arguments), ("t", {"n": 2}), piece=0), says("Done.")]
    async with over_http(legacy(shop)) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert [call["arguments"] for call in shop.calls] == [{"n": 2}]
    (text, ok), good = talk.given()
    assert text.startswith(said)
    assert (ok, good) == (False, ('t {"n": 2}', True))
    assert [call.ok for call in run.calls] == [False, True]
    assert len(json.dumps(run.calls[0].arguments)) < 500
    assert (run.answer, run.ended, talk.notices) == ("Done.", "answer", [])
    sent = talk.server.chats[-1].body["messages"]
    for call in next(message for message in sent if message.get("tool_calls"))["tool_calls"]:
        assert isinstance(json.loads(call["function"]["arguments"]), dict)


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}"])
async def test_no_arguments_are_an_empty_object_however_they_are_written(arguments: str) -> None:
    shop = Shop("t")
    async with (
        over_http(legacy(shop)) as url,
        talking([calls(("t", arguments)), says("Done.")], url) as talk,
    ):
        run = await talk.ask()
    assert [call["arguments"] for call in shop.calls] == [{}]
    assert run.calls[0].arguments == {}


async def test_a_tool_that_comes_or_goes_without_a_word_is_noticed_at_the_next_question() -> None:
    shop = Shop("old", "t")

    def changing(message: Json) -> bytes:
        shop.tools = [tool("new"), tool("t")]
        return shop.echo(message)

    shop.answer = changing
    script = [calls(("t", {})), says("Done."), calls(("new", {}), ("old", {})), says("Done.")]
    async with over_http(legacy(shop)) as url, talking(script, url) as talk:
        await talk.ask()
        run = await talk.ask()
    assert [talk.offered(at) for at in range(4)] == [["old", "t"], ["old", "t"], ["new", "t"], ["new", "t"]]
    assert [(call.text, call.ok) for call in run.calls] == [
        ("new {}", True),
        ("There is no tool old. The tools are: new, t.", False),
    ]
    assert run.answer == "Done."


CHANGING_PROGRAM = """
import json, sys
listed = 0
for line in sys.stdin:
    message = json.loads(line)
    method, value = message.get("method"), None
    if method == "initialize":
        value = INITIALIZED
    elif method == "tools/list":
        listed += 1
        names = ["t", "added"][:listed]
        value = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    elif method == "tools/call":
        BEFORE
        print('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
        value = {"content": [{"type": "text", "text": "this is " + message["params"]["name"]}]}
    if "id" in message:
        answer = {"result": value} if value else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def program(before: str = "pass") -> list[str]:
    opening = {**fakes.INITIALIZED, "capabilities": {"tools": {"listChanged": True}}}
    text = CHANGING_PROGRAM.replace("INITIALIZED", repr(opening)).replace("BEFORE", before)
    return [sys.executable, "-c", text]


async def test_a_notice_that_the_tools_changed_is_heard_between_two_rounds() -> None:
    script = [calls(("t", {})), calls(("added", {})), says("Done.")]
    async with talking(script, program()) as talk:
        await talk.ask()
    assert [talk.offered(at) for at in range(3)] == [["t"], ["t", "added"], ["t", "added"]]
    assert talk.given() == [("this is t", True), ("this is added", True)]


# The first call ends the program.
DYING = """with open(NOTES, "a") as notes:
            notes.write("x")
        if open(NOTES).read() == "x":
            sys.exit(3)"""


async def test_a_server_that_dies_during_a_call_is_started_again_and_the_call_is_not_sent_twice(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "calls"
    dying = program(DYING.replace("NOTES", repr(str(notes))))
    script = [calls(("t", {"n": 1})), calls(("t", {"n": 2})), says("Done.")]
    async with talking(script, dying) as talk:
        run = await talk.ask()
    assert talk.given() == [
        (
            "The connection to fake was lost before it answered: the program ended with exit code 3. "
            "Whether the call ran is not known.",
            False,
        ),
        ("this is t", True),
    ]
    assert notes.read_text() == "xx"
    assert (run.answer, run.ended) == ("Done.", "answer")


@pytest.mark.promise(
    "Asking a model", "A server that is down is named and worked around, and used once it is there."
)
async def test_one_of_two_servers_is_down_and_comes_back_for_the_next_question() -> None:
    port = free_port()
    problem = f"127.0.0.1:{port} cannot be reached: connection refused."
    script = then(calls(("t", {})), says("Done."))
    async with (
        over_http(legacy(Shop("t"))) as url,
        talking(script, url, f"http://127.0.0.1:{port}/mcp") as talk,
    ):
        first = await talk.ask()
        assert (first.answer, first.ended, first.notices) == ("Done.", "answer", (problem,))
        assert talk.notices == [problem]
        assert [server.problem for server in first.servers] == ["", problem]
        assert f"Not available now: 127.0.0.1:{port} ({problem})" in talk.messages("system")[0]
        async with on_port(port, legacy(Shop("late"))):
            second = await talk.ask("And now?")
        assert talk.offered() == ["t", "late"]
        assert second.notices == ()
        assert "Not available" not in talk.messages("system")[0]


async def test_a_server_that_goes_is_said_to_be_gone_and_worked_around() -> None:
    port = free_port()
    script = [calls(("late", {})), says("Done."), calls(("late", {})), says("Done.")]
    async with over_http(legacy(Shop("t"))) as url, AsyncExitStack() as running:
        await running.enter_async_context(on_port(port, legacy(Shop("late"))))
        async with talking(script, url, f"http://127.0.0.1:{port}/mcp") as talk:
            assert set(talk.agent.toolbox.offers) == {"t", "late"}
            await running.aclose()
            first = await talk.ask()
            second = await talk.ask()
    assert [(call.text, call.ok) for call in first.calls] == [
        ("fake cannot be reached: connection refused.", False)
    ]
    assert talk.offered(2) == ["t"]
    assert [(call.text, call.ok) for call in second.calls] == [
        ("There is no tool late. The tools are: t.", False)
    ]
    assert second.notices == ("fake cannot be reached: connection refused.",)


async def test_two_servers_with_the_same_names_are_both_reached() -> None:
    here, there = Shop("search"), Shop("search", "other")
    script = [calls(("wiki__search", {"n": 1}), ("shop__search", {"n": 2})), says("Done.")]
    async with over_http(legacy(here)) as one, over_http(legacy(there)) as two:
        servers = [
            ToolServer(one, label="wiki", options=OPTIONS),
            ToolServer(two, label="shop", options=OPTIONS),
        ]
        async with talking(script, *servers) as talk:
            run = await talk.ask()
    assert talk.offered() == ["wiki__search", "shop__search", "other"]
    assert [call["arguments"]["n"] for call in here.calls] == [1]
    assert [call["arguments"]["n"] for call in there.calls] == [2]
    assert [(call.tool, call.server) for call in run.calls] == [
        ("wiki__search", "wiki"),
        ("shop__search", "shop"),
    ]


async def test_the_newest_questions_are_remembered_and_each_conversation_is_its_own() -> None:
    def answer(request: Request) -> Reply:
        return says(f"Answer {request.body['messages'][-1]['content'][9:]}.")

    async with talking(answer, limits=faster(history_chars=400)) as talk:
        for number in range(30):
            await talk.ask(f"Question {number}")
        told = talk.messages("user")
        assert told[-1] == "Question 29"
        assert told == [f"Question {number}" for number in range(30 - len(told), 30)]
        assert 3 < len(told) < 12
    async with talking(answer) as other:
        await other.ask("Question 0")
        assert other.messages("user") == ["Question 0"]
