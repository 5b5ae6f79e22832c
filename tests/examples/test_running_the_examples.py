"""The examples as a person runs them: over stdio, and over HTTP and WebSocket with --listen."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import websockets.asyncio.client
from tests.matrix import rawhttp
from tests.matrix.proof import prove

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
REVISION = "2025-11-25"
HANDSHAKE = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

# Example, its title, and calls with the text or structure they answer.
CALLS: list[Any] = [
    ("hello.py", "hello", {"name": "Ann"}, {"result": "Hello, Ann!"}, False),
    ("hello.py", "hello", {}, None, True),
    (
        "weather.py",
        "get_weather_forecast",
        {"location": " oslo "},
        {"location": "Oslo", "temperatureCelsius": -3.5, "description": "light snow"},
        False,
    ),
    ("weather.py", "get_weather_forecast", {"location": "Atlantis"}, None, True),
    ("everything.py", "test_simple_text", {}, None, False),
    ("everything.py", "test_error_handling", {}, None, True),
]


@asynccontextmanager
async def running(name: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLES / name, *arguments, stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def messages(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]


def check(answers: list[Any], tool: str, structure: Any, fails: bool) -> None:
    by_id = {answer["id"]: answer for answer in answers}
    for id_, method in enumerate(("initialize", "tools/list", "tools/call")):
        prove(REVISION, by_id[id_], method)
    assert tool in [listed["name"] for listed in by_id[1]["result"]["tools"]]
    result = by_id[2]["result"]
    assert result["isError"] is fails
    assert result["content"][0]["text"]
    assert result.get("structuredContent") == structure
    if tool == "get_weather_forecast" and fails:
        assert result["content"][0]["text"] == "City not found. Known cities: Oslo, Bergen, Tromsø."


@pytest.mark.promise("Library", "The examples run on stdio, HTTP and WebSocket.")
@pytest.mark.parametrize(("name", "tool", "arguments", "structure", "fails"), CALLS)
async def test_an_example_answers_on_stdio_and_ends_with_its_input(
    name: str, tool: str, arguments: dict[str, Any], structure: Any, fails: bool
) -> None:
    async with asyncio.timeout(30), running(name) as process:
        lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages(tool, arguments))
        out, _ = await process.communicate(lines)
    assert process.returncode == 0
    check([json.loads(line) for line in out.splitlines()], tool, structure, fails)


@pytest.mark.promise("Library", "The examples run on stdio, HTTP and WebSocket.")
@pytest.mark.parametrize("name", ["hello.py", "weather.py", "everything.py"])
async def test_an_example_answers_on_http_and_websocket_and_ends_when_asked(name: str) -> None:
    cases = [case for case in CALLS if case[0] == name]
    async with asyncio.timeout(15), running(name, "--listen", "127.0.0.1:0") as process:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode().strip()
        assert line.startswith("Listening on http://127.0.0.1:")
        port = int(line.rpartition(":")[2].partition("/")[0])
        for _, tool, arguments, structure, fails in cases:
            check(await over_http(port, messages(tool, arguments)), tool, structure, fails)
            check(await over_websocket(port, messages(tool, arguments)), tool, structure, fails)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def over_http(port: int, sent: list[dict[str, Any]]) -> list[Any]:
    answers = []
    headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
    for message in sent:
        reply, body = await rawhttp.ask(port, "POST", "/mcp", headers, json.dumps(message).encode())
        assert reply.status == (200 if "id" in message else 202)
        if message["method"] == "initialize":
            headers.append(("MCP-Protocol-Version", REVISION))
            if "mcp-session-id" in reply.headers:
                headers.append(("Mcp-Session-Id", reply.headers["mcp-session-id"]))
        if body:
            answers.append(json.loads(body))
    return answers


async def over_websocket(port: int, sent: list[dict[str, Any]]) -> list[Any]:
    uri = f"ws://127.0.0.1:{port}/ws"
    async with websockets.asyncio.client.connect(
        uri, subprotocols=[websockets.Subprotocol("mcp")], proxy=None
    ) as socket:
        for message in sent:
            await socket.send(json.dumps(message))
        return [json.loads(await socket.recv()) for _ in range(3)]


async def test_everything_shows_what_it_promises() -> None:
    """One modern question round, over stdio, from the first call to the answer."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    params: dict[str, Any] = {"name": "test_input_required_result_elicitation", "_meta": meta}
    async with asyncio.timeout(30), running("everything.py") as process:
        assert process.stdin is not None
        assert process.stdout is not None

        async def ask(id_: int, params: dict[str, Any]) -> Any:
            message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(message).encode() + b"\n")
            await process.stdin.drain()
            answer = json.loads(await process.stdout.readline())
            prove("2026-07-28", answer, "tools/call")
            return answer["result"]

        question = await ask(1, params)
        assert question["resultType"] == "input_required"
        answers = {key: {"action": "accept", "content": {"name": "Ann"}} for key in question["inputRequests"]}
        more = {"inputResponses": answers, "requestState": question["requestState"]}
        assert (await ask(2, {**params, **more}))["content"][0]["text"] == "Hello, Ann!"
