"""A model's endpoint over a real socket: what it is asked, and what becomes of each way it misbehaves."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
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

from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.model.endpoint import Endpoint
from qortal_mcp.agent.model.messages import Completion, Function, Message, Usage, WantedCall
from qortal_mcp.agent.model.refusals import EndpointError, PromptTooLong, ToolsRefused

KEY = "sk-secret-0123456789"
TLS = Path(__file__).parents[1] / "qortal" / "tls"
LIMITS = AgentLimits(
    longest_wait_seconds=0.03,
    first_word_seconds=5.0,
    next_word_seconds=5.0,
    connect_seconds=5.0,
    reply_bytes=100_000,
)
IMPATIENT = structs.replace(LIMITS, first_word_seconds=0.3, next_word_seconds=0.3)
QUESTION = [Message(role="user", content="What does Q1 own?")]
BALANCE = Function(
    name="get_balance",
    description="The balance of an account.",
    parameters={"type": "object", "properties": {}},
)
BOTH = pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "whole"])


class Talk:
    """An endpoint of ours, and everything that it says to its caller."""

    def __init__(self, base_url: str, limits: AgentLimits = LIMITS, **options: Any) -> None:
        self.notices: list[str] = []
        self.pieces: list[str] = []
        options = {"key": KEY, **options}
        self.endpoint = Endpoint(base_url, "scripted", limits=limits, **options)

    async def ask(
        self, messages: Sequence[Message] = QUESTION, functions: Sequence[Function] = (BALANCE,)
    ) -> Completion:
        async with asyncio.timeout(30):
            return await self.endpoint.complete(
                messages, functions, on_text=self.pieces.append, on_notice=self.notices.append
            )

    async def fails(self, functions: Sequence[Function] = (BALANCE,)) -> EndpointError:
        """The error that a question ends with, seen to be safe to show."""
        with pytest.raises(EndpointError) as raised:
            await self.ask(functions=functions)
        said = str(raised.value)
        assert said.isprintable()
        assert said.endswith((".", "?", "]"))
        assert KEY not in said + "".join(self.notices)
        assert "Traceback" not in said
        assert raised.value.__cause__ is None
        return raised.value


@asynccontextmanager
async def talking(base_url: str, limits: AgentLimits = LIMITS, **options: Any) -> AsyncIterator[Talk]:
    talk = Talk(base_url, limits, **options)
    try:
        yield talk
    finally:
        await talk.endpoint.close()


async def failure(reply: Reply, limits: AgentLimits = LIMITS, **options: Any) -> EndpointError:
    """What is said about a reply that always comes."""
    with ScriptedEndpoint(lambda request: reply) as server:
        async with talking(server.base_url, limits, **options) as talk:
            return await talk.fails()


@BOTH
async def test_a_call_and_then_an_answer_come_back(streaming: bool) -> None:
    script = [
        calls(("get_balance", {"address": "Q1"}), text="Let me see."),
        says("It owns 5 QORT.", usage=(90, 7)),
    ]
    with ScriptedEndpoint(script, streams=streaming) as server:
        async with talking(server.base_url) as talk:
            first = await talk.ask()
            second = await talk.ask()
    call = WantedCall(id="call_0", name="get_balance", arguments='{"address": "Q1"}')
    assert (first.text, first.calls, first.finish) == ("Let me see.", (call,), "tool_calls")
    usage = Usage(prompt_tokens=90, completion_tokens=7)
    assert second == Completion(text="It owns 5 QORT.", finish="stop", usage=usage)
    assert "".join(talk.pieces) == "Let me see.It owns 5 QORT."
    assert (len(talk.pieces) > 2) == streaming
    assert talk.notices == []


async def test_a_request_is_spelt_as_chat_completions_are() -> None:
    call = WantedCall(id="c1", name="get_balance", arguments='{"address":"Q1"}')
    conversation = [
        Message(role="system", content="Be brief."),
        *QUESTION,
        Message(role="assistant", calls=(call,)),
        Message(role="tool", call_id="c1", content="5"),
        Message(role="assistant", content="It owns 5."),
    ]
    with ScriptedEndpoint([says("Yes.")]) as server:
        async with talking(server.base_url) as talk:
            await talk.ask(conversation)
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    function = {"name": "get_balance", "arguments": '{"address":"Q1"}'}
    assert request.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What does Q1 own?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "5"},
            {"role": "assistant", "content": "It owns 5."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_balance",
                    "description": "The balance of an account.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_without_functions_and_key_neither_is_sent() -> None:
    with ScriptedEndpoint([says("Yes.")]) as server:
        async with talking(server.base_url, key=None) as talk:
            await talk.ask(functions=())
    assert "tools" not in server.requests[0].body
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("written", ["", "  ", "{", "[1]", "null", '{"a":1}', "\ud800"])
async def test_arguments_in_a_conversation_are_always_an_object(written: str) -> None:
    call = WantedCall(id="c1", name="get_balance", arguments=written)
    conversation = [*QUESTION, Message(role="assistant", content="\udcff", calls=(call,))]
    with ScriptedEndpoint([says("Yes.")]) as server:
        async with talking(server.base_url) as talk:
            await talk.ask(conversation)
    sent = server.requests[0].body["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(sent), dict)


@pytest.mark.parametrize("piece", [0, 1, 3, 1000])
async def test_pieces_of_any_size_give_the_same_completion(piece: int) -> None:
    wanted: tuple[tuple[str, dict[str, str]], ...] = (("get_balance", {"address": "Q1"}), ("get_name", {}))
    reply = calls(*wanted, text="<think>Hm.</think>Let me see: ✓", piece=piece, usage=(1, 2))
    with ScriptedEndpoint([reply]) as server:
        async with talking(server.base_url) as talk:
            completion = await talk.ask()
    assert completion == Completion(
        text="Let me see: ✓",
        calls=(
            WantedCall(id="call_0", name="get_balance", arguments='{"address": "Q1"}'),
            WantedCall(id="call_1", name="get_name", arguments="{}"),
        ),
        finish="tool_calls",
        usage=Usage(prompt_tokens=1, completion_tokens=2),
    )
    assert "".join(talk.pieces) == "Let me see: ✓"


def delta(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


ODD_REPLIES = [
    pytest.param(says("It is 1.", end="no-done"), id="no-done"),
    pytest.param(says("It is 1.", finish="eos_token"), id="unknown-finish"),
    pytest.param(says("It is 1.", usage=None), id="no-usage"),
    pytest.param(says("It is 1.", stream=False), id="stream-ignored"),
    pytest.param(says("It is 1.", end="closed"), id="closed-after-the-finish"),
    pytest.param(says("It is 1.", end="reset"), id="reset-after-the-finish"),
    pytest.param(streams(delta("It is"), "{rubbish", delta(" 1.", "stop")), id="an-event-is-rubbish"),
    pytest.param(streams("null", "[]", "7", "", delta("It is 1.")), id="other-json-in-a-stream"),
    pytest.param(structs.replace(streams(delta("It is 1.", "stop")), headers={}), id="stream-without-a-type"),
    pytest.param(
        Raw(
            headers={"content-type": "text/plain"},
            body=b' {"choices":[{"message":{"content":"It is 1."},"finish_reason":"stop"}]}',
        ),
        id="json-as-text",
    ),
    pytest.param(
        Raw(
            headers={"content-type": "text/event-stream"},
            body=b": PROCESSING\r\n\r\n: PROCESSING\r\n\r\ndata:"
            + json.dumps(delta("It is 1.", "stop")).encode()
            + b"\r\n\r\n",
        ),
        id="comments-first",
    ),
]


@pytest.mark.parametrize("reply", ODD_REPLIES)
async def test_an_odd_reply_is_understood(reply: Reply) -> None:
    with ScriptedEndpoint([reply]) as server:
        async with talking(server.base_url) as talk:
            completion = await talk.ask()
    assert (completion.text, completion.is_whole) == ("It is 1.", True)
    assert "".join(talk.pieces) == "It is 1."
    assert len(server.requests) == 1


@BOTH
async def test_half_a_character_costs_no_more_than_itself(streaming: bool) -> None:
    said = says("one \ud83d|\ude00 two 😀 three\ud83d!", piece=5)
    with ScriptedEndpoint([said], streams=streaming) as server:
        async with talking(server.base_url) as talk:
            assert (await talk.ask()).text == "one \ufffd|\ufffd two 😀 three\ufffd!"


async def test_two_halves_of_a_character_in_two_pieces_cost_no_more_than_it() -> None:
    halves = [json.dumps(delta(text)) for text in ("one \ud83d", "\ude00 two 😀", " three\ud83d!")]
    with ScriptedEndpoint([streams(*halves, delta("", "stop"))]) as server:
        async with talking(server.base_url) as talk:
            assert (await talk.ask()).text == "one \ufffd\ufffd two 😀 three\ufffd!"


async def test_a_stream_that_never_ends_is_left_after_its_last_word() -> None:
    with ScriptedEndpoint([says("It is 1.", end="hangs")]) as server:
        async with talking(server.base_url) as talk:
            completion = await talk.ask()
        assert server.was_left.wait(5)
    assert (completion.text, completion.is_whole) == ("It is 1.", True)


async def test_events_that_say_nothing_do_not_prolong_an_answer() -> None:
    was_left = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(b"data: %b\n\n" % json.dumps(delta("It is 1.", "stop")).encode())
        with suppress(OSError):
            while not writer.is_closing():
                writer.write(b"data: {}\n\n")
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        was_left.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(10):
            async with talking(f"http://127.0.0.1:{port}/v1") as talk:
                completion = await talk.ask()
            await was_left.wait()
    assert (completion.text, completion.is_whole) == ("It is 1.", True)


STREAM_REFUSALS = [
    pytest.param(
        "stream_options", refuses(400, "Unrecognized request argument: stream_options"), id="options-400"
    ),
    pytest.param(
        "stream_options",
        Raw(
            status=422,
            headers={"content-type": "application/json"},
            body=b'{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}',
        ),
        id="options-422",
    ),
    pytest.param("stream", refuses(400, "Cannot use tools with stream"), id="stream-400"),
    pytest.param(
        "stream", Raw(status=400, body=b"streaming is not supported here"), id="stream-as-plain-text"
    ),
]


@pytest.mark.parametrize(("member", "refusal"), STREAM_REFUSALS)
async def test_a_server_that_refuses_to_stream_is_asked_without_and_not_again(
    member: str, refusal: Raw
) -> None:
    def answer(request: Request) -> Reply:
        return refusal if member in request.body else says("It is 1.")

    with ScriptedEndpoint(answer) as server:
        async with talking(server.base_url) as talk:
            assert [(await talk.ask()).text for _ in range(2)] == ["It is 1.", "It is 1."]
    assert [member in request.body for request in server.requests] == [True, False, False]
    assert talk.notices == []


WAITS = [
    pytest.param(refuses(429, "slow down", retry_after="0"), "is busy (429)", id="429-seconds"),
    pytest.param(refuses(429, "slow down", retry_after="0.01"), "is busy (429)", id="429-decimal"),
    pytest.param(
        refuses(429, "slow down", retry_after_ms="20", retry_after="9"), "is busy (429)", id="429-ms"
    ),
    pytest.param(
        refuses(
            429, "slow down", retry_after=format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
        ),
        "is busy (429)",
        id="429-date",
    ),
    pytest.param(refuses(429, "slow down"), "is busy (429)", id="429-no-header"),
    pytest.param(refuses(429, "slow down", retry_after="soon"), "is busy (429)", id="429-rubbish"),
    pytest.param(refuses(500, "oops"), "fails (500)", id="500"),
    pytest.param(Raw(status=502, body=b"<html>Bad Gateway</html>"), "fails (502)", id="502"),
    pytest.param(refuses(503, "loading model"), "is busy (503)", id="503"),
    pytest.param(Raw(status=504), "fails (504)", id="504"),
    pytest.param(refuses(529, "overloaded"), "is busy (529)", id="529"),
    pytest.param(
        streams({"error": {"message": "overloaded", "code": 503}}), "is busy (503)", id="in-a-stream"
    ),
]


@BOTH
@pytest.mark.parametrize(("refusal", "said"), WAITS)
async def test_a_busy_endpoint_is_asked_again(refusal: Raw, said: str, streaming: bool) -> None:
    with ScriptedEndpoint([refusal, refusal, says("It is 1.")], streams=streaming) as server:
        async with talking(server.base_url) as talk:
            completion = await talk.ask()
    assert completion.text == "It is 1."
    assert len(server.requests) == 3
    assert len(talk.notices) == 2
    assert all(notice.startswith(f"The model's endpoint {said}; trying again") for notice in talk.notices)


async def test_the_wait_that_is_asked_for_is_kept() -> None:
    limits = structs.replace(LIMITS, longest_wait_seconds=2.0)
    with ScriptedEndpoint([refuses(429, retry_after_ms="300"), says("It is 1.")]) as server:
        async with talking(server.base_url, limits) as talk:
            began = asyncio.get_running_loop().time()
            await talk.ask()
            took = asyncio.get_running_loop().time() - began
    assert talk.notices == ["The model's endpoint is busy (429); trying again in 0.3 s."]
    assert took >= 0.3


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_endpoint_is_given_up_after_three_attempts(status: int) -> None:
    with ScriptedEndpoint(lambda request: refuses(status, f"no room for {KEY}")) as server:
        async with talking(server.base_url) as talk:
            error = await talk.fails()
    assert len(server.requests) == 3
    assert error.status == status
    assert "no room for ***. Try again later." in str(error)


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(refuses(429, "come back tomorrow", retry_after="3600"), id="asks-for-an-hour"),
        pytest.param(refuses(429, "You exceeded your current quota, please check your plan"), id="no-credit"),
    ],
)
async def test_waiting_that_cannot_help_is_not_done(refusal: Raw) -> None:
    with ScriptedEndpoint(lambda request: refusal) as server:
        async with talking(server.base_url) as talk:
            error = await talk.fails()
    assert len(server.requests) == 1
    assert "3600 s" in str(error) or "no credit left" in str(error)


ERRORS = [
    pytest.param(refuses(401, f"Incorrect API key provided: {KEY}"), "does not accept the key (401): Incorrect API key provided: ***. Check OPENAI_API_KEY.", id="401"),
    pytest.param(refuses(403, "not your project"), "does not allow this (403): not your project. Check what the key may do.", id="403"),
    pytest.param(refuses(400, "messages[2] is wrong"), "refuses the request (400): messages[2] is wrong.", id="400"),
    pytest.param(refuses(400, f"\x1b[2J\u202e {KEY}"), "refuses the request (400): \\u{001B}[2J\\u{202E} ***.", id="hostile-text"),
    pytest.param(refuses(400, "x" * 290 + KEY * 100), "***", id="long-text-with-the-key"),
    pytest.param(Raw(status=400, body=b"x" * 4090 + KEY.encode() * 9), "more characters]", id="plain-text-with-the-key"),
    pytest.param(Raw(status=400, body=b'[{"error":{"message":"bad list"}}]'), "refuses the request (400): bad list.", id="error-in-a-list"),
    pytest.param(Raw(status=400, body=b'"just text"'), "refuses the request (400): just text.", id="error-as-text"),
    pytest.param(Raw(status=400, body=b'{"error":{"error":{"error":{"error":{"error":"deep"}}}}}'), "refuses the request (400): {", id="error-too-deep"),
    pytest.param(Raw(status=400, body=b"7"), "refuses the request (400): 7.", id="error-as-number"),
    pytest.param(refuses(418), "refuses the request (418)", id="another-status"),
    pytest.param(Raw(status=302, headers={"location": "https://other.example/v1"}), "redirects to https://other.example/v1, and redirects are not followed.", id="redirect"),
    pytest.param(Raw(headers={"content-type": "text/html"}, body=b"<html><head><title>Hi</title></head><body>Welcome</body></html>"), "did not answer with a chat completion: Welcome. Check the base URL; it usually ends with /v1.", id="web-page"),
    pytest.param(Raw(headers={"content-type": "application/json"}, body=b'{"status":"ok"}'), "did not answer with a chat completion", id="other-json"),
    pytest.param(Raw(headers={"content-type": "application/json"}, body=b'{"choices":'), "did not answer with a chat completion", id="half-json"),
    pytest.param(Raw(headers={"content-type": "application/json"}, body=b"\xff\xfe\x00"), "did not answer with a chat completion", id="rubbish"),
    pytest.param(Raw(), "did not answer with a chat completion: the reply is empty.", id="empty"),
    pytest.param(streams("rubbish", "more"), "did not answer with a chat completion: rubbish.", id="stream-of-rubbish"),
    pytest.param(streams({"id": 1}), "did not answer with a chat completion.", id="stream-of-nothing"),
    pytest.param(streams({"error": {"message": f"bad {KEY}"}}), "reports an error: bad ***.", id="error-in-a-stream"),
    pytest.param(streams(delta("It is"), {"error": {"message": "out of memory", "code": 500}}), "reports an error: out of memory.", id="error-after-text"),
    pytest.param(Raw(headers={"content-type": "text/event-stream"}, body=b'event: error\ndata: {"message":"no GPU"}\n\n'), "reports an error: no GPU.", id="error-event"),
    pytest.param(Raw(headers={"content-type": "application/json"}, body=b'{"error":"no GPU"}'), "reports an error: no GPU.", id="error-with-200"),
    pytest.param(Raw(headers={"content-type": "application/json"}, body=b" " * 200_000), "larger than 100000 bytes.", id="too-large"),
    pytest.param(streams(*[delta("x" * 1000)] * 200), "larger than 100000 bytes.", id="stream-too-large"),
    pytest.param(Raw(bare=True, body=b"SSH-2.0-OpenSSH\r\n\r\n"), "cannot be reached: the answer is not HTTP", id="not-http"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "said"), ERRORS)
async def test_a_refusal_is_explained(reply: Raw, said: str) -> None:
    assert said in str(await failure(reply))


async def test_a_missing_key_is_asked_for() -> None:
    error = await failure(refuses(401, "no key"), key=None)
    assert str(error).endswith("wants a key (401): no key. Set OPENAI_API_KEY.")


async def test_a_key_that_is_not_a_secret_is_left_in_messages() -> None:
    assert "see ollama.com." in str(await failure(refuses(400, "see ollama.com"), key="ollama"))


TOO_LONG = [
    refuses(400, "This model's maximum context length is 8192 tokens."),
    refuses(400, "the request exceeds the available context size, try increasing it"),
    refuses(413, "Request too large"),
]


@pytest.mark.parametrize("reply", TOO_LONG)
async def test_a_prompt_that_is_too_long_is_an_error_of_its_own(reply: Raw) -> None:
    assert isinstance(await failure(reply), PromptTooLong)


ANOTHER_MODEL = "Choose one that does with --model, for example qwen3."
ANOTHER_START = "Start its server with that option, or choose another model."
NO_TOOLS = [
    (refuses(400, "registry.ollama.ai/library/gemma:2b does not support tools"), ANOTHER_MODEL),
    (
        refuses(
            400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        ),
        ANOTHER_START,
    ),
    (refuses(500, "tools param requires --jinja flag"), ANOTHER_START),
    (refuses(404, "No endpoints found that support tool use."), ANOTHER_MODEL),
]


@pytest.mark.parametrize(("reply", "step"), NO_TOOLS)
async def test_a_model_that_takes_no_tools_is_an_error_of_its_own(reply: Raw, step: str) -> None:
    with ScriptedEndpoint([reply]) as server:
        async with talking(server.base_url) as talk:
            error = await talk.fails()
    assert isinstance(error, ToolsRefused)
    assert str(error).startswith(f"The model at {server.base_url} does not call tools ({reply.status}): ")
    assert str(error).endswith(f". {step}")


MISSING = refuses(404, 'model "scripted" not found')
NOT_FOUND = [
    pytest.param("/v1", {"/v1/models": {"data": [{"id": "qwen3:8b"}, {"id": "llama3.2"}]}}, "There is no model 'scripted' at {base} (404). It has qwen3:8b, llama3.2.", id="other-models"),
    pytest.param("/v1", {"/v1/models": {"data": [{"id": f"m{n}"} for n in range(10)]}}, "and 2 more.", id="many-models"),
    pytest.param("/v1", {"/v1/models": {"data": []}}, "It has none: load or download one first.", id="no-models"),
    pytest.param("/v1", {"/v1/models": {"data": [{"id": "scripted"}]}}, 'refuses the request (404): model "scripted" not found.', id="the-model-is-there"),
    pytest.param("/v1", {}, "There are no chat completions at {base} (404)", id="nothing-there"),
    pytest.param("/api", {}, "The base URL usually ends with /v1.", id="no-version"),
    pytest.param("/v1", {"/v1/models": Raw(body=b"rubbish")}, "Check the base URL.", id="list-is-rubbish"),
    pytest.param("/v1", {"/v1/models": Raw(end="hangs")}, "Check the base URL.", id="list-hangs"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "pages", "said"), NOT_FOUND)
async def test_an_unknown_model_or_path_is_explained(path: str, pages: dict[str, Any], said: str) -> None:
    limits = structs.replace(LIMITS, connect_seconds=0.5)
    with ScriptedEndpoint(lambda request: MISSING, pages=pages) as server:
        base = server.base_url.removesuffix("/v1") + path
        async with talking(base, limits) as talk:
            assert said.format(base=base) in str(await talk.fails())


HALVES = [
    pytest.param(says("It is 1 and more.", events=3, end="closed"), id="closed"),
    pytest.param(says("It is 1 and more.", events=3, end="reset"), id="reset"),
    pytest.param(says("It is 1 and more.", events=3, end="no-done"), id="ended-early"),
    pytest.param(says("It is 1 and more.", events=3, end="hangs"), id="hangs"),
]


@pytest.mark.parametrize("half", HALVES)
async def test_half_a_stream_is_half_an_answer(half: Said) -> None:
    with ScriptedEndpoint([half]) as server:
        async with talking(server.base_url, IMPATIENT) as talk:
            completion = await talk.ask()
    assert completion == Completion(text="It is 1 and ", is_whole=False)
    assert "".join(talk.pieces) == completion.text
    assert len(server.requests) == 1


BEFORE_ANY_TEXT = [
    pytest.param(says("It is 1.", events=1, end="closed"), id="closed"),
    pytest.param(says("It is 1.", events=0, end="reset"), id="reset"),
    pytest.param(calls(("get_balance", {"address": "Q1"}), events=3, end="closed"), id="in-a-call"),
    pytest.param(says("<think>Let me see", events=3, end="closed"), id="in-its-reasoning"),
    pytest.param(
        Raw(headers={"content-type": "application/json"}, body=b'{"cho', end="closed"), id="half-json"
    ),
    pytest.param(Raw(bare=True, end="closed"), id="no-answer"),
    pytest.param(Raw(headers={"content-type": "text/event-stream"}), id="empty-stream"),
]


@pytest.mark.parametrize("half", BEFORE_ANY_TEXT)
async def test_a_reply_that_breaks_off_before_any_text_is_asked_for_once_more(half: Reply) -> None:
    with ScriptedEndpoint([half, says("It is 1.")]) as server:
        async with talking(server.base_url) as talk:
            assert (await talk.ask()).text == "It is 1."
    assert talk.notices == ["The connection to the model's endpoint was lost; trying again."]
    with ScriptedEndpoint(lambda request: half) as server:
        async with talking(server.base_url) as talk:
            assert "was lost" in str(await talk.fails())
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Raw(bare=True, end="hangs"), id="no-head"),
        pytest.param(Raw(headers={"content-type": "application/json"}, end="hangs"), id="no-body"),
        pytest.param(says("It is 1.", events=0, end="hangs"), id="no-event"),
        pytest.param(says("It is 1.", events=1, end="hangs"), id="no-word"),
        pytest.param(
            Raw(headers={"content-type": "text/event-stream"}, body=b": ping\n\n", end="hangs"),
            id="comments-only",
        ),
    ],
)
async def test_an_endpoint_that_says_nothing_is_not_waited_for(reply: Reply) -> None:
    error = await failure(reply, IMPATIENT)
    assert "has sent nothing for 0.3 s" in str(error)


async def test_a_slow_endpoint_is_waited_for_as_long_as_words_come() -> None:
    limits = structs.replace(LIMITS, first_word_seconds=0.4, next_word_seconds=0.4)
    with ScriptedEndpoint([says("It is 1, I say.", pause=0.1)]) as server:
        async with talking(server.base_url, limits) as talk:
            assert (await talk.ask()).text == "It is 1, I say."


async def test_cancelling_closes_the_connection() -> None:
    with ScriptedEndpoint([says("It is 1, I say.", events=2, end="hangs"), says("It is 2.")]) as server:
        async with talking(server.base_url) as talk:
            began = asyncio.Event()
            work = talk.endpoint.complete(
                QUESTION, (), on_text=lambda text: began.set(), on_notice=talk.notices.append
            )
            task = asyncio.create_task(work)
            async with asyncio.timeout(30):
                await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(server.was_left.wait, 5)
            assert (await talk.ask()).text == "It is 2."


async def test_a_refused_connection_is_explained() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with talking(f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as talk:
            said = str(await talk.fails())
    assert said.endswith(
        "cannot be reached: connection refused. Start the model's server, or give another base URL (OPENAI_BASE_URL)."
    )


async def test_an_unknown_host_is_explained() -> None:
    async with talking("http://no-such-host.invalid/v1", key=None, proxies=False) as talk:
        assert "cannot be reached: host not found" in str(await talk.fails())


async def test_a_server_without_tls_is_explained() -> None:
    with ScriptedEndpoint([]) as server:
        async with talking(server.base_url.replace("http:", "https:")) as talk:
            assert str(await talk.fails()).endswith("Use http:// if the server has no TLS.")


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "unknown"])
async def test_a_certificate_is_trusted_if_its_file_is_named(trusted: bool) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "localhost.crt", TLS / "localhost.key")
    with ScriptedEndpoint([says("It is 1.")], tls=context) as server:
        ca_file = str(TLS / "localhost.crt") if trusted else None
        async with talking(server.base_url, ca_file=ca_file) as talk:
            if trusted:
                assert (await talk.ask()).text == "It is 1."
            else:
                assert "TLS failed: the certificate is not accepted" in str(await talk.fails())


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="cannot be read: No such file"):
        Endpoint("http://127.0.0.1/v1", "m", ca_file=str(tmp_path / "none.pem"))


ADDRESSES = [
    ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
    ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
    (" https://api.openai.com/v1/ ", "https://api.openai.com/v1"),
    ("https://api.example/openai/v1/chat/completions", "https://api.example/openai/v1"),
    ("https://api.example/chat/completions/", "https://api.example/v1"),
    ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
]


@pytest.mark.parametrize(("written", "base"), ADDRESSES)
def test_an_address_is_read_as_it_is_meant(written: str, base: str) -> None:
    assert Endpoint(written, "m").base_url == base


@pytest.mark.parametrize(
    "written",
    [
        *("", "localhost:11434", "ftp://127.0.0.1/v1", "http://", "http://h:port/v1", "http://[::1"),
        *("https://h/v1?key=1", "https://h/v1#a", f"https://user:{KEY}@h/v1", f"https://{KEY}@h/v1"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(written: str) -> None:
    with pytest.raises(EndpointError) as raised:
        Endpoint(written, "m")
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("key", ["bad\r\nx-other: 1", "schlüssel", "\x00"])
def test_a_key_that_cannot_be_sent_is_refused(key: str) -> None:
    with pytest.raises(EndpointError) as raised:
        Endpoint("http://127.0.0.1/v1", "m", key=key)
    assert str(raised.value) == "The key has characters that no key has. Check OPENAI_API_KEY."


async def test_a_key_over_plain_http_is_reported_once() -> None:
    limits = structs.replace(LIMITS, connect_seconds=0.2)
    async with talking("http://plain.invalid/v1", limits, proxies=False) as talk:
        await talk.fails()
        await talk.fails()
    assert talk.notices == [
        "The key is sent to http://plain.invalid/v1 without encryption. Use https:// if the endpoint has it."
    ]


async def test_a_key_to_this_machine_is_not_worth_a_word() -> None:
    with ScriptedEndpoint([says("Yes.")]) as server:
        async with talking(server.base_url.replace("127.0.0.1", "localhost")) as talk:
            await talk.ask()
    assert talk.notices == []


async def test_a_key_does_not_pass_a_proxy_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    async with talking("http://plain.invalid/v1") as talk:
        assert "would pass a proxy unencrypted" in str(await talk.fails())


async def test_a_password_in_netrc_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with ScriptedEndpoint([says("Yes.")]) as server:
        async with talking(server.base_url, key=None) as talk:
            await talk.ask()
    assert "authorization" not in server.requests[0].headers


async def test_the_key_is_not_sent_where_a_redirect_leads() -> None:
    with ScriptedEndpoint([says("stolen")]) as other:
        away = Raw(status=307, headers={"location": f"{other.base_url}/chat/completions"})
        assert other.base_url in str(await failure(away))
    assert other.requests == []
