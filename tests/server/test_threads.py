"""Plain functions: they run in threads, so many at once, and nobody waits for one that does not return."""

import asyncio
import contextvars
import json
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from qortal_mcp import (
    Context,
    Limits,
    Offer,
    Server,
    ServerOptions,
    completer,
    elicit,
    prompt,
    resource,
    tool,
)
from qortal_mcp.client import Client, ElicitRequest, Options, ServerError, connect, elicitation
from qortal_mcp.protocol.messages import CompletionRef, ElicitResult

PATIENCE = 10


class Gate:
    """Where a function waits until the test lets it go, in its thread."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

    def wait(self) -> None:
        self.entered.release()
        assert self.opened.wait(PATIENCE), "the test never opened it"

    async def has_somebody(self) -> None:
        assert await asyncio.to_thread(self.entered.acquire, timeout=PATIENCE), "nobody came"


@tool
def block(gate: Gate) -> str:
    """Blocks until it is let go."""
    gate.wait()
    return "let go"


@tool
def place() -> str:
    """Where it runs."""
    return threading.current_thread().name


@tool(quick=True)
def quick_place() -> str:
    """Where it runs that said it is quick."""
    return threading.current_thread().name


@tool
async def async_place() -> str:
    """Where it runs that can wait."""
    return threading.current_thread().name


@resource("place://here")
def resource_place() -> str:
    """Where a resource is read."""
    return threading.current_thread().name


@prompt
def prompt_place() -> str:
    """Where a prompt is written."""
    return threading.current_thread().name


@prompt
def blocked_prompt(gate: Gate, word: str = "") -> str:
    """A prompt that blocks."""
    gate.wait()
    return "let go"


@completer("blocked_prompt", "word")
def completer_place(typed: str, chosen: dict[str, str]) -> list[str]:
    return [threading.current_thread().name]


def server_of(gate: Gate, **limits: Any) -> Server:
    offer = Offer(
        [block, place, quick_place, async_place],
        [resource_place],
        [prompt_place, blocked_prompt],
        [completer_place],
        provide=[gate],
    )
    return Server("threads", offer=offer, options=ServerOptions(limits=Limits(**limits)))


@pytest.fixture
def gate() -> Any:
    gate = Gate()
    yield gate
    gate.opened.set()


@pytest.mark.promise(
    "Library",
    "A plain function runs in a thread and holds up nobody; one that is async or says that it is quick runs on the loop.",
)
async def test_only_plain_functions_that_are_not_quick_leave_the_loop(gate: Gate) -> None:
    here = threading.current_thread().name
    async with connect(server_of(gate)) as client:
        assert (await client.call_tool("place")).text != here
        assert (await client.call_tool("quick_place")).text == here
        assert (await client.call_tool("async_place")).text == here
        assert (await client.read_resource("place://here")).contents[0].text != here
        assert here not in str((await client.get_prompt("prompt_place")).messages)
        reference = CompletionRef(type="ref/prompt", name="blocked_prompt")
        assert (await client.complete(reference, "word", "")).values != [here]


async def test_others_are_answered_while_a_function_blocks(gate: Gate) -> None:
    async with connect(server_of(gate)) as client:
        blocked = asyncio.create_task(client.call_tool("block"))
        await gate.has_somebody()
        assert (await client.call_tool("quick_place")).text
        assert (await client.call_tool("place")).text
        assert not blocked.done()
        gate.opened.set()
        assert (await blocked).text == "let go"


@pytest.mark.promise(
    "Library", "When every thread is taken, further calls are refused: too many requests at once."
)
async def test_a_call_that_finds_no_thread_is_refused(gate: Gate) -> None:
    async with connect(server_of(gate, threads=1, thread_wait_seconds=0.01)) as client:
        blocked = asyncio.create_task(client.call_tool("block"))
        await gate.has_somebody()
        refused = await client.call_tool("place")
        assert refused.is_error
        assert refused.text == "Rate limit exceeded. Too many requests at once."
        with pytest.raises(ServerError, match="too many requests at once"):
            await client.get_prompt("prompt_place")
        gate.opened.set()
        assert (await blocked).text == "let go"
        assert not (await client.call_tool("place")).is_error


async def test_a_burst_of_short_calls_waits_for_its_turn(gate: Gate) -> None:
    async with connect(server_of(gate, threads=2, thread_wait_seconds=float(PATIENCE))) as client:
        answers = await asyncio.gather(*(client.call_tool("place") for _ in range(60)))
        assert [answer.is_error for answer in answers] == [False] * 60
        assert len({answer.text for answer in answers}) <= 2


async def late(client: Client, gate: Gate) -> None:
    found = await client.call_tool("block")
    assert found.text == "Tool did not finish in time. It was given 0.05 s."


async def cancelled(client: Client, gate: Gate) -> None:
    call = asyncio.create_task(client.call_tool("block"))
    await gate.has_somebody()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize(("end", "seconds"), [(late, 0.05), (cancelled, 60.0)])
async def test_a_function_whose_call_is_over_keeps_its_place_until_it_returns(
    gate: Gate, end: Callable[[Client, Gate], Any], seconds: float
) -> None:
    limits = {"threads": 1, "thread_wait_seconds": 0.01, "call_seconds": seconds}
    async with connect(server_of(gate, **limits)) as client:
        await end(client, gate)
        assert "Too many requests at once" in (await client.call_tool("place")).text
        gate.opened.set()
        async with asyncio.timeout(PATIENCE):
            while (await client.call_tool("place")).is_error:
                pass


WHO = contextvars.ContextVar("WHO", default="nobody")


async def test_context_variables_are_those_of_the_request() -> None:
    @tool
    def who() -> str:
        """Who is asking."""
        seen = WHO.get()
        WHO.set("the function")
        return seen

    server = Server("who", tools=[who])
    token = WHO.set("the caller")
    async with connect(server) as client:
        assert (await client.call_tool("who")).text == "the caller"
        assert (await client.call_tool("who")).text == "the caller"
    WHO.reset(token)


class Failure(BaseException):
    """What a library may raise that ends programs."""


@pytest.mark.parametrize("failure", [KeyError("x"), StopIteration(), SystemExit(3), Failure()])
async def test_whatever_a_function_raises_is_an_internal_error(
    failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    @tool
    def stumble() -> str:
        """Has a bug."""
        raise failure

    async with connect(Server("bugs", tools=[stumble])) as client:
        for _ in range(2):
            assert (await client.call_tool("stumble")).text == "Internal error."
    assert type(failure).__name__ in caplog.text


@pytest.mark.promise(
    "Library",
    "A function that ends programs, or is cancelled, gets its caller an error and ends nothing else.",
)
@pytest.mark.parametrize("failure", [SystemExit(3), asyncio.CancelledError()])
async def test_what_a_function_raises_on_the_loop_ends_no_more_than_its_call(failure: BaseException) -> None:
    @tool
    async def stumble() -> str:
        """Has a bug."""
        raise failure

    @tool(quick=True)
    def trip() -> str:
        """Has a bug."""
        raise failure

    async with asyncio.timeout(10), connect(Server("bugs", tools=[stumble, trip])) as client:
        for name in ("stumble", "trip", "stumble"):
            assert (await client.call_tool(name)).text == "Internal error."


async def test_a_system_without_threads_refuses_the_call_and_takes_no_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @tool
    def idle() -> str:
        """Does nothing."""
        return "done"

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    options = ServerOptions(limits=Limits(threads=1, thread_wait_seconds=0.05))
    async with connect(Server("poor", tools=[idle], options=options)) as client:
        with monkeypatch.context() as changed:
            changed.setattr(threading.Thread, "start", refuse)
            refused = await client.call_tool("idle")
        assert refused.is_error
        assert refused.text != "Internal error."
        assert (await client.call_tool("idle")).text == "done"


@tool
def steps(ctx: Context) -> str:
    """Reports its progress."""
    for done in (1, 2, 3):
        ctx.progress(done, 3)
        ctx.log("info", f"step {done}")
    return "done"


@tool
def names(ctx: Context) -> str:
    """Asks the person for a name."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = ctx.wait(ctx.ask({"who": elicit("Who are you?", schema)}))["who"]
    return str(answer.content["name"])


@tool
async def mistaken(ctx: Context) -> str:
    """Waits as only a plain function can."""
    ctx.wait(ctx.progress(1))
    return "not reached"


async def say_ann(question: ElicitRequest) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ann"})


@pytest.fixture(params=["2025-06-18", "2026-07-28"])
async def talker(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    server = Server("talks", tools=[steps, names, mistaken], options=ServerOptions(client_logging=True))
    options = Options(handlers=elicitation(say_ann))
    async with connect(server, revision=request.param, options=options) as client:
        yield client


async def test_a_plain_function_reports_its_progress(talker: Client) -> None:
    seen: list[float] = []
    assert (await talker.call_tool("steps", progress=lambda step: seen.append(step.progress))).text == "done"
    assert seen == [1, 2, 3]


async def test_a_plain_function_asks_the_person(talker: Client) -> None:
    assert (await talker.call_tool("names")).text == "Ann"


async def test_waiting_on_the_loop_is_refused_with_a_sentence(
    talker: Client, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await talker.call_tool("mistaken")).is_error
    assert "ctx.wait is for plain functions" in caplog.text


async def test_a_function_whose_call_is_over_is_ended_when_it_next_speaks(gate: Gate) -> None:
    ended = threading.Event()

    @tool
    def speak(gate: Gate, ctx: Context) -> str:
        """Says something after a while."""
        gate.wait()
        try:
            ctx.progress(1)
        except asyncio.CancelledError:
            ended.set()
            raise
        return "spoke"

    options = ServerOptions(limits=Limits(call_seconds=0.05))
    async with connect(Server("late", offer=Offer([speak], provide=[gate]), options=options)) as client:
        assert "did not finish in time" in (await client.call_tool("speak")).text
        gate.opened.set()
        assert await asyncio.to_thread(ended.wait, PATIENCE)


async def test_a_function_that_waits_for_an_answer_is_ended_with_its_call() -> None:
    ended, asked = threading.Event(), asyncio.Event()

    @tool
    def wonder(ctx: Context) -> str:
        """Asks somebody who never answers."""
        try:
            ctx.wait(ctx.ask({"who": elicit("Who?", {"type": "object", "properties": {}})}))
        except asyncio.CancelledError:
            ended.set()
            raise
        return "answered"

    async def never(question: ElicitRequest) -> ElicitResult:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    options = Options(handlers=elicitation(never))
    async with connect(Server("asks", tools=[wonder]), revision="2025-06-18", options=options) as client:
        call = asyncio.create_task(client.call_tool("wonder"))
        await asked.wait()
        call.cancel()
        assert await asyncio.to_thread(ended.wait, PATIENCE)


STUCK = """
import threading
from qortal_mcp import Limits, Server, ServerOptions, run, tool

@tool
def stick() -> str:
    '''Never returns.'''
    print("stuck", flush=True)
    threading.Event().wait()
    return ""

run(Server("stuck", tools=[stick], options=ServerOptions(limits=Limits(shutdown_seconds=0.1))))
"""
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "stick"}}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}


@pytest.mark.promise("Library", "A function that never returns does not keep a server from ending.")
@pytest.mark.parametrize("how", ["end of input", "signal"])
def test_a_stuck_function_does_not_delay_the_end(how: str) -> None:
    command = [sys.executable, "-c", STUCK]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        for message in (HELLO, CALL):
            child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
        while "stuck" not in child.stderr.readline():
            assert child.poll() is None
        if how == "signal":
            child.send_signal(signal.SIGTERM)
        else:
            child.stdin.close()
        assert child.wait(PATIENCE) == 0
