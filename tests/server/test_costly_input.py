"""Whatever a client sends within a megabyte, others wait for it less than a second."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from qortal_mcp import Context, Server, tool
from qortal_mcp.protocol.messages import CLIENT_CAPABILITIES, LOG_LEVEL, PROTOCOL_VERSION
from qortal_mcp.server.options import ServerOptions
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply
from qortal_mcp.server.work import Work

# What `scripts/bench waits` holds to 0.25 s takes longer while lines are counted; what stopped the loop took up to 14 s.
SECONDS = 1.0
# A busy machine may slow down one of them; what is too costly is so each time.
ATTEMPTS = 3
SIZE = 1024 * 1024 - 1000


def full_of(item: str) -> str:
    return "[" + ",".join([item] * (SIZE // (len(item) + 1))) + "]"


VALUES = {
    "floats": full_of("1e300"),
    "few-enough-floats": "[" + ",".join(["1e300"] * 49_000) + "]",
    "subnormal-floats": full_of("2.2250738585072011e-308"),
    "one-member-over-and-over": "{" + ",".join(['"x":1e300'] * (SIZE // 10)) + "}",
    "empty-lists": full_of("[]"),
    "deep-lists": full_of("[" * 500 + "]" * 500),
    "deep-objects": full_of('{"":' * 400 + "1" + "}" * 400),
    "numbers": full_of("1"),
    "long-numbers": full_of("9" * 4300),
    "one-long-number": "9" * SIZE,
    "one-long-float": "9" * SIZE + ".5",
    "one-long-text": '"' + "a" * SIZE + '"',
    "escapes": '"' + "\\n" * (SIZE // 2) + '"',
    "hidden-characters": '"' + "\\u202e" * (SIZE // 6) + '"',
    "percent-signs": '"' + "%41" * (SIZE // 3) + '"',
    "words": '"' + "abandon-" * (SIZE // 8) + '"',
    "texts": full_of('"abandon"'),
}


@tool("Sum")
def total(numbers: list[float]) -> float:
    """Adds up."""
    return sum(numbers)


@tool("Echo")
def echo(text: str, anything: Any = None) -> str:
    """Says it again."""
    return text[:10]


@tool("Ask")
async def ask(context: Context, anything: Any = None) -> str:
    """Might ask the client."""
    return "done"


def server(rate_limit: float | None = None) -> Server:
    return Server("costly", tools=[total, echo, ask], options=ServerOptions(rate_limit=rate_limit))


def request(method: str, members: str = "", meta: str = "", capabilities: str = "{}") -> bytes:
    versions = f'"{PROTOCOL_VERSION}":"2026-07-28","{CLIENT_CAPABILITIES}":{capabilities}'
    params = f'{{"_meta":{{{versions}{meta}}}{members}}}'
    return f'{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}'.encode()


def called(tool_name: str, arguments: str) -> bytes:
    return request("tools/call", f',"name":"{tool_name}","arguments":{arguments}')


PLACES: dict[str, Callable[[str], bytes]] = {
    "unknown-method": lambda value: request("no/such", f',"x":{value}'),
    "progress-token": lambda value: request("tools/list", "", f',"progressToken":{value}'),
    "log-level": lambda value: request("tools/list", "", f',"{LOG_LEVEL}":{value}'),
    "capabilities": lambda value: request("tools/list", capabilities=value),
    "one-capability": lambda value: request("tools/list", capabilities=f'{{"sampling":{{"x":{value}}}}}'),
    "version": lambda value: request("tools/list", "", f',"{PROTOCOL_VERSION}":{value}'),
    "cursor": lambda value: request("tools/list", f',"cursor":{value}'),
    "name": lambda value: request("tools/call", f',"name":{value}'),
    "arguments": lambda value: called("echo", value),
    "argument": lambda value: called("echo", f'{{"text":{value}}}'),
    "argument-of-any-type": lambda value: called("echo", f'{{"text":"x","anything":{value}}}'),
    "argument-of-floats": lambda value: called("total", f'{{"numbers":{value}}}'),
    "argument-of-one-that-asks": lambda value: called("ask", f'{{"anything":{value}}}'),
    "unknown-argument": lambda value: called("echo", f'{{"text":"x","other":{value}}}'),
    "handshake": lambda value: (
        '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        f'"capabilities":{{"sampling":{{"x":{value}}}}},"clientInfo":{{"name":"x"}}}}}}'
    ).encode(),
    "response": lambda value: f'{{"jsonrpc":"2.0","id":"x","result":{value}}}'.encode(),
    "id": lambda value: f'{{"jsonrpc":"2.0","id":{value},"method":"ping"}}'.encode(),
    "cancelled": lambda value: (
        f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{value}}}}}'.encode()
    ),
    "bare": lambda value: value.encode(),
}


async def nowhere(message: bytes) -> None:
    raise AssertionError("nothing is sent on the side")


async def longest_wait(served: Server, data: bytes) -> tuple[float, dict[str, Any] | None]:
    """The longest time without a turn for anybody else, and the reply.

    In CPU time: how long other programs keep this one waiting says nothing about it.
    """
    gaps = [0.0]
    last = time.thread_time()

    async def tick() -> None:
        nonlocal last
        while True:
            now = time.thread_time()
            gaps.append(now - last)
            last = now
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    outcome = served.receive(data, Peer(lasting=True, limits=served.limits))
    if isinstance(outcome, Work):
        outcome = await outcome.run(nowhere)
    await asyncio.sleep(0)
    ticking.cancel()
    assert outcome is None or isinstance(outcome, Reply)
    return max(gaps), None if outcome is None else json.loads(outcome.body)


@pytest.mark.promise(
    "Limits and abuse",
    "Whatever a client sends in one message, others wait for it less than a second.",
)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES)
async def test_others_hardly_wait(value: str, place: str) -> None:
    data = PLACES[place](VALUES[value])
    assert len(data) <= 1024 * 1024
    for _ in range(ATTEMPTS):
        waited, reply = await longest_wait(server(), data)
        if waited < SECONDS:
            break
    assert waited < SECONDS
    assert reply is not None or place in ("cancelled", "response")


async def test_more_values_than_allowed_are_refused() -> None:
    _, reply = await longest_wait(server(), called("echo", f'{{"text":"x","anything":{full_of("1")}}}'))
    assert reply is not None
    assert reply["id"] == 7
    assert reply["result"]["isError"] is True
    assert reply["result"]["content"][0]["text"] == "Invalid arguments. They hold more than 50000 values."


async def test_a_long_text_full_of_commas_is_one_value() -> None:
    _, reply = await longest_wait(server(), called("echo", json.dumps({"text": "1,2,[{" * 150_000})))
    assert reply is not None
    assert reply["result"]["isError"] is False


async def test_many_floats_are_still_an_argument() -> None:
    _, reply = await longest_wait(server(), called("total", json.dumps({"numbers": [0.5] * 40_000})))
    assert reply is not None
    assert reply["result"]["structuredContent"] == {"result": 20_000.0}


@pytest.mark.parametrize("number", ["1e400", "-1e999"])
async def test_a_number_beyond_every_float_never_becomes_null(number: str) -> None:
    _, reply = await longest_wait(server(), called("total", f'{{"numbers":[{number}]}}'))
    assert reply is not None
    assert reply["result"]["isError"] is True
    assert "null" not in reply["result"]["content"][0]["text"]


LIMITED = {
    "unknown-method": request("no/such", ',"x":[1e300]'),
    "progress-token": request("tools/list", "", ',"progressToken":1.5'),
    "missing-name": request("tools/call"),
    "unknown-tool": request("tools/call", ',"name":"nobody"'),
    "wrong-arguments": called("echo", '{"other":1e300}'),
}


@pytest.mark.promise("Limits and abuse", "The rate limit comes before anything in the parameters is decoded.")
@pytest.mark.parametrize("kind", LIMITED)
async def test_the_rate_limit_comes_before_the_parameters(kind: str) -> None:
    limited = server(rate_limit=0.5)
    _, first = await longest_wait(limited, LIMITED[kind])
    _, second = await longest_wait(limited, LIMITED[kind])
    assert first is not None
    assert second is not None
    assert "ate limit" not in json.dumps(first)
    if "tools/call" in LIMITED[kind].decode():
        assert second["result"]["content"][0]["text"] == "Rate limit exceeded."
        assert second["result"]["isError"] is True
    else:
        assert second["error"]["message"] == "Rate limit exceeded"
