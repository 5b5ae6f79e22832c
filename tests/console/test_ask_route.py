"""`/ask` of a running server: what a question gets, what is refused, and that it ends when nobody waits for it."""

import contextlib
import http.client
import json
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec import Struct
from tests.agent.asked import then
from tests.agent.scripted_endpoint import Reply, Request, Script, ScriptedEndpoint, calls, refuses, says
from tests.cli.running import SECONDS, Listening, listening, run
from tests.door import open_program

KEY = "sk-secret-0123456789"
QUESTION = "What does a payment cost?"
FEE = calls(("get_fee", {"type": "PAYMENT"}))
ANSWER = says("A payment costs 0.01 QORT, about 7 cents.")
EVENTS = {"Accept": "text/event-stream"}
HANGS = says("Well", end="hangs", events=2)


class Hanging:
    """A model that begins to speak and says no more, and a way to wait until it was asked so often."""

    def __init__(self) -> None:
        self._asked = threading.Semaphore(0)

    def __call__(self, request: Request) -> Reply:
        self._asked.release()
        return HANGS

    def wait(self, times: int) -> None:
        for _ in range(times):
            assert self._asked.acquire(timeout=SECONDS)


class Answer(Struct, frozen=True):
    """One reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        return [json.loads(line[6:]) for line in self.body.decode().splitlines() if line.startswith("data: ")]

    @property
    def error(self) -> str:
        assert list(self.json) == ["error"]
        error: str = self.json["error"]
        return error


class Open:
    """A question that is on its way."""

    def __init__(self, url: str, body: bytes, headers: Mapping[str, str], method: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=SECONDS)
        self._reply: http.client.HTTPResponse | None = None
        self._connection.request(method, "/ask", body, dict(headers))

    def next_event(self) -> Any:
        """Waits until something has happened."""
        if self._reply is None:
            self._reply = self._connection.getresponse()
            assert self._reply.status == 200
        while not (line := self._reply.readline()).startswith(b"data: "):
            assert line, "the stream ended"
        return json.loads(line[6:])

    def rest(self) -> Answer:
        reply = self._reply or self._connection.getresponse()
        with contextlib.closing(self._connection):
            return Answer(
                reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
            )

    def leave(self) -> None:
        if self._reply is not None:  # which holds the socket open, too
            self._reply.close()
        self._connection.close()


def begin(server: Listening, asked: Any, headers: Mapping[str, str] | None = None) -> Open:
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    return Open(server.url, body, {"Content-Type": "application/json", **(headers or {})}, "POST")


def ask(server: Listening, asked: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
    return begin(server, {"question": QUESTION} if asked is None else asked, headers).rest()


# All of loopback is one caller; others come through a proxy that says who they are.
PROXY = ("--trusted-proxy", "127.0.0.1")


def caller(number: int) -> dict[str, str]:
    return {"x-forwarded-for": f"192.0.2.{number}"}


def look(server: Listening, method: str = "GET", **headers: str) -> Answer:
    return Open(server.url, b"", headers, method).rest()


@contextlib.contextmanager
def served(script: Script, *words: str, **env: str) -> Iterator[tuple[Listening, ScriptedEndpoint]]:
    """A server that asks a model with this script."""
    with ScriptedEndpoint(script) as endpoint:
        variables = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": KEY}
        with listening("serve", "--sample", *words, env={"NO_PROXY": "*", **variables, **env}) as server:
            yield server, endpoint


@pytest.fixture(scope="module")
def answering() -> Iterator[Listening]:
    """A server whose model always finds out what a payment costs."""
    with served(then(FEE, ANSWER)) as (server, _):
        yield server


@pytest.mark.promise(
    "Console", "A question is answered with events as they happen, or with the whole run as JSON."
)
def test_a_stream_has_every_event_and_ends_with_the_whole_run(answering: Listening) -> None:
    reply = ask(answering, headers=EVENTS)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream")
    kinds = [event["type"] for event in reply.events]
    assert [kind for kind in kinds if kind != "text"] == ["asked", "calling", "called", "ended"]
    run = reply.events[-1]["run"]
    assert run["answer"] == "".join(event["text"] for event in reply.events if event["type"] == "text")
    assert run["calls"] == [event["call"] for event in reply.events if event["type"] == "called"]


def without_times(run: dict[str, Any]) -> dict[str, Any]:
    for part in (*run["calls"], run["spent"]):
        part.pop("ms")
    for source in run["sources"]:
        source.pop("time")
    return run


@pytest.mark.promise(
    "Console", "A question is answered with events as they happen, or with the whole run as JSON."
)
def test_without_a_stream_the_reply_is_what_the_command_prints() -> None:
    with served(then(FEE, ANSWER)) as (server, endpoint):
        reply = ask(server)
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        named = ("--base-url", endpoint.base_url, "--model", "scripted")
        printed = run("ask", QUESTION, "--sample", "--json", *named, env={"NO_PROXY": "*"})
    assert without_times(reply.json) == without_times(printed.json)


@pytest.mark.promise("Console", "Each number of an answer says which call it came from, or that none has it.")
def test_each_number_says_which_call_it_came_from(answering: Listening) -> None:
    grounding = ask(answering).json["grounding"]
    assert [(claim["text"], claim["calls"]) for claim in grounding["fromCalls"]] == [("0.01", [0])]
    assert [claim["text"] for claim in grounding["notFromATool"]] == ["7"]


@pytest.mark.promise("Console", "The server remembers no question: the page sends the earlier ones itself.")
def test_earlier_questions_come_with_the_question_and_are_not_remembered() -> None:
    turn = {"question": "Who is Bob?", "answer": "An account.", "results": ['{"height":4711}']}
    with served(lambda request: says("It was 4,711.")) as (server, endpoint):
        reminded = ask(server, {"question": "When?", "conversation": [turn]}).json
        forgotten = ask(server, {"question": "When?"}).json
        said = [[message["content"] for message in chat.body["messages"][1:]] for chat in endpoint.chats]
    assert said == [["Who is Bob?", "An account.", "When?"], ["When?"]]
    assert reminded["grounding"]["notFromATool"] == []
    assert [claim["text"] for claim in forgotten["grounding"]["notFromATool"]] == ["4,711"]


def test_it_says_which_model_would_be_asked_and_within_which_limits(answering: Listening) -> None:
    reply = look(answering)
    found = reply.json
    assert (reply.status, found["available"], found["model"], found["why"]) == (200, True, "scripted", "")
    assert found["endpoint"].startswith("http://127.0.0.1:")
    assert found["limits"]["questionChars"] == 32_000
    assert found["limits"]["periodTokens"] == 1_000_000


BAD: list[tuple[str, Any, str]] = [
    ("not-json", b"{", "The body is not JSON: "),
    ("not-utf-8", b'{"question": "\xff"}', "The body is not JSON: "),
    ("half-a-character", b'{"question": "\\ud800"}', "The body is not JSON: "),
    ("empty", b"", "The body is not JSON: "),
    ("a-list", [], "Expected `object`, got `array`"),
    ("deep", b"[" * 100_000, "The body holds more than 50,000 values."),
    ("deep-inside", b'{"question":' + b"[" * 40_000, "Expected `str`, got `array`"),
    ("no-question", {}, "Object missing required field `question`"),
    ("blank", {"question": " \n"}, "There is no question."),
    ("a-number", {"question": 1}, "Expected `str`, got `int` - at `$.question`"),
    ("too-long", {"question": "a" * 32_001}, "Expected `str` of length <= 32000"),
    ("unknown", {"question": "a", "model": "b"}, "Object contains unknown field `model`"),
    ("unknown-name", {"question": "a", "\x1b" * 5000: 1}, "Object contains unknown field `"),
    (
        "turns",
        {"question": "a", "conversation": [{"question": "a", "answer": "b"}] * 101},
        "Expected `array` of length <= 100",
    ),
    ("turn", {"question": "a", "conversation": [{"question": "a"}]}, "Object missing required field"),
    (
        "result",
        {"question": "a", "conversation": [{"question": "a", "answer": "b", "results": [{}]}]},
        "Expected `str`, got `object` - at `$.conversation[0].results[0]`",
    ),
]


@pytest.mark.parametrize(("asked", "why"), [pytest.param(asked, why, id=name) for name, asked, why in BAD])
def test_a_body_that_is_not_a_question_is_refused_with_the_reason(
    answering: Listening, asked: Any, why: str
) -> None:
    reply = ask(answering, asked)
    assert reply.status == 400
    assert reply.error.startswith(why)
    assert len(reply.error) < 500
    assert "\x1b" not in reply.error


def test_the_members_that_there_are_are_named(answering: Listening) -> None:
    refused = ask(answering, {"question": "a", "zz": 1}).error
    assert refused.endswith(
        "It takes question and conversation; each item of the conversation has question, answer, results."
    )


def test_a_body_beyond_the_limit_is_not_read(answering: Listening) -> None:
    assert ask(answering, {"question": "a" * 1024 * 1024}).status == 413


def test_other_types_and_methods_are_refused(answering: Listening) -> None:
    plain = ask(answering, headers={"Content-Type": "text/plain"})
    assert (plain.status, plain.error) == (415, "Content-Type must be application/json.")
    put = look(answering, "PUT")
    assert (put.status, put.headers["allow"]) == (405, "GET, HEAD, POST, OPTIONS")
    assert put.error == "Only GET and POST are served here."


def test_a_server_with_a_token_wants_it() -> None:
    token = "0123456789abcdef"
    with served([], QORTAL_MCP_TOKEN=token) as (server, endpoint):
        assert (ask(server).status, look(server).status) == (401, 401)
        assert look(server, Authorization=f"Bearer {token}").status == 200
        assert endpoint.requests == []


def test_beyond_loopback_only_a_model_that_is_named_is_asked() -> None:
    with ScriptedEndpoint() as ollama:
        env = {"OLLAMA_HOST": f"127.0.0.1:{ollama.port}", "NO_PROXY": "*", "OPENAI_API_KEY": KEY}
        server = Listening(("serve", "--sample", "--without-token", "--listen", "0.0.0.0:0"), env)
        try:
            told, refused = look(server).json, ask(server)
        finally:
            server.stop()
        assert ollama.requests == []
    assert (told["available"], refused.status) == (False, 503)
    assert told["why"] == refused.error
    assert "--base-url URL --model NAME (its key in OPENAI_API_KEY)" in told["why"]
    assert KEY not in told["why"]


def test_on_loopback_a_model_on_this_machine_is_looked_for_when_somebody_asks() -> None:
    pages = {
        "/api/tags": {"models": [{"name": "qwen3:4b"}]},
        "/api/ps": {"models": [{"name": "qwen3:4b", "context_length": 40_960}]},
        "/api/show": {"capabilities": ["completion", "tools"]},
    }
    with ScriptedEndpoint(lambda request: says("Hello."), pages=pages) as ollama:
        env = {"OLLAMA_HOST": f"127.0.0.1:{ollama.port}", "NO_PROXY": "*", "OPENAI_API_KEY": KEY}
        with listening("serve", "--sample", env=env) as server:
            assert ollama.requests == []
            assert look(server).json["model"] == "qwen3:4b"
            looked = len(ollama.requests)
            assert ask(server).json["answer"] == "Hello."
            assert look(server).json["available"]
            assert len(ollama.requests) == looked + 1
        assert all("authorization" not in request.headers for request in ollama.requests)


def test_a_wrong_key_file_stops_the_start(tmp_path: Path) -> None:
    done = run("serve", "--sample", "--listen", "127.0.0.1:0", "--key-file", str(tmp_path / "none"))
    assert (done.code, done.out) == (2, "")
    assert "--key-file cannot be read" in done.err


@pytest.mark.promise(
    "Read-only and secrets",
    "The key for a model never leaves the server, whatever the model or its endpoint says.",
)
def test_the_key_is_never_shown() -> None:
    def telling(request: Request) -> Reply:
        asked = request.body["messages"][-1]["content"]
        if "fail" in asked:
            return refuses(401, f"{request.headers['authorization']} is wrong")
        return says(f"It is {KEY}, or {KEY[:9]}…")

    with served(telling, "--log-level", "debug") as (server, endpoint):
        replies = [
            ask(server, {"question": word}, headers)
            for word in ("say it", "fail")
            for headers in ({}, EVENTS)
        ]
        replies.append(look(server))
        assert {chat.headers["authorization"] for chat in endpoint.chats} == {f"Bearer {KEY}"}
    assert [reply.status for reply in replies] == [200] * 5
    assert not [reply for reply in replies if KEY.encode() in reply.body]
    assert KEY not in server.err


def test_an_endpoint_that_fails_is_a_run_with_a_problem() -> None:
    with served(lambda request: refuses(404, "no such model")) as (server, _):
        reply = ask(server)
    assert (reply.status, reply.json["ended"]) == (200, "endpoint")
    assert "(404): no such model" in reply.json["problem"]


def test_nothing_of_a_question_is_logged() -> None:
    with served(lambda request: refuses(404, f"no answer to {QUESTION}")) as (server, _):
        ask(server)
        lines = server.wait_for(lambda said: "question not answered" in said and said.endswith("\n"))
    line = json.loads(lines[-1])
    assert (line["level"], line["qortal_mcp.ended"]) == ("warning", "endpoint")
    assert QUESTION not in server.err


@pytest.mark.promise("Console", "A question ends when the client leaves.")
@pytest.mark.parametrize("headers", [EVENTS, {}], ids=["stream", "whole"])
def test_a_question_ends_when_its_client_leaves(headers: dict[str, str]) -> None:
    hanging = Hanging()
    with served(hanging) as (server, endpoint):
        asked = begin(server, {"question": QUESTION}, headers)
        hanging.wait(1)
        asked.leave()
        assert endpoint.was_left.wait(SECONDS)


SLOW = """
import os, socket
from qortal_mcp.console.asking.route import Asking
from qortal_mcp.console.setup import ConsoleSetup
from qortal_mcp.limits import Limits
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.transports.http import HttpApp, Site
from qortal_mcp.transports.serve import bind, run_http

server = make_server(Node.sample(), limits=Limits(send_seconds=0.2))
asking = Asking(server, ConsoleSetup(environ=os.environ))
sock = bind("127.0.0.1", 0)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
run_http(HttpApp(server, site=Site(handlers={"/ask": asking.handle}, end=asking.close)), sock)
"""


def test_a_question_ends_when_its_client_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    long = says("a word and " * 20_000, piece=1000, end="hangs")
    with ScriptedEndpoint(lambda request: long) as endpoint:
        for name, value in {
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_MODEL": "m",
            "NO_PROXY": "*",
        }.items():
            monkeypatch.setenv(name, value)
        with open_program([sys.executable, "-c", SLOW]) as door, socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", door.port))
            body = b'{"question":"hi"}'
            client.sendall(
                b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                b"Accept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            assert endpoint.was_left.wait(SECONDS)


@pytest.mark.promise(
    "Limits and abuse", "What the questions of one caller take is bounded, and callers do not share it."
)
def test_a_caller_that_has_used_everything_is_told_when_to_ask_again_and_others_are_answered() -> None:
    with served(lambda request: says("Hello.", usage=(1_000_000, 1)), *PROXY) as (server, _):
        assert ask(server).status == 200
        refused = ask(server)
        other = ask(server, headers=caller(2))
    assert (refused.status, other.status) == (429, 200)
    assert 3500 < int(refused.headers["retry-after"]) <= 3601
    assert "1,000,000 tokens that a caller gets in 60 minutes. Ask again in" in refused.error


def test_a_question_that_was_stopped_counts_too() -> None:
    costly = [calls(("get_fee", {"type": "PAYMENT"}), usage=(1_000_000, 1)), HANGS]
    with served(costly, "--log-level", "debug") as (server, _):
        asked = begin(server, {"question": QUESTION}, EVENTS)
        while asked.next_event()["type"] != "text":
            pass
        asked.leave()
        server.wait_for(lambda said: "question ended" in said)
        assert ask(server).status == 429


@pytest.mark.promise(
    "Limits and abuse", "What the questions of one caller take is bounded, and callers do not share it."
)
def test_a_caller_has_two_questions_at_once_and_all_have_eight() -> None:
    with served(lambda request: HANGS, *PROXY) as (server, _), contextlib.ExitStack() as stack:
        for number in range(8):
            asked = begin(server, {"question": QUESTION}, EVENTS | caller(number // 2))
            asked.next_event()
            stack.callback(asked.leave)
        own, any_ = ask(server, headers=caller(0)), ask(server, headers=caller(9))
        assert (own.status, any_.status) == (429, 429)
        assert own.error.startswith("You have 2 questions on the way")
        assert any_.error.startswith("8 questions are on the way")
        assert (own.headers["retry-after"], any_.headers["retry-after"]) == ("2", "6")


def test_other_addresses_of_loopback_are_the_same_caller() -> None:
    with served(lambda request: says("Hello.", usage=(1_000_000, 1))) as (server, _):
        assert ask(server).status == 200
        port = urlsplit(server.url).port
        other = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=SECONDS, source_address=("127.0.0.7", 0)
        )
        with contextlib.closing(other):
            other.request(
                "POST", "/ask", json.dumps({"question": QUESTION}), {"Content-Type": "application/json"}
            )
            assert other.getresponse().status == 429


@pytest.mark.promise("Console", "A server that is stopped ends its questions and says so.")
def test_a_server_that_is_stopped_ends_its_questions_and_says_so() -> None:
    hanging = Hanging()
    with served(hanging) as (server, endpoint):
        streamed = begin(server, {"question": QUESTION}, EVENTS)
        streamed.next_event()
        whole = begin(server, {"question": QUESTION})
        hanging.wait(2)
        assert server.stop(signal.SIGTERM) == 0
        last = streamed.rest().events[-1]
        assert (last["type"], last["text"].startswith("The server is shutting down")) == ("notice", True)
        refused = whole.rest()
        assert (refused.status, refused.error) == (503, last["text"])
        assert endpoint.was_left.wait(SECONDS)
