"""Servers and clients that mean harm: what is withheld stays out of reach, and nothing they send gets anywhere else."""

import asyncio
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.bridge.behind import until
from tests.bridge.talking import Talker, bridged, talking, text_of, way_to
from tests.client import fakes
from tests.cost import is_cheaper

from qortal_mcp.bridge.limits import BridgeLimits
from qortal_mcp.protocol.framing import TooLong
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.repairs.framing import Piece
from qortal_mcp.transports.memory import MemoryConnection
from qortal_mcp.transports.stdio import serve_fds

Json = dict[str, Any]
HELLO: Json = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hostile", "version": "0"},
    },
}
# A program that runs whatever it is told to, by any name, with or without an id, and writes down what it heard.
OBEDIENT = """
import json, sys
log, tools = open(sys.argv[1], "a"), json.loads(sys.argv[2])
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps(message), file=log, flush=True)
    method, params = message.get("method", "").lower(), message.get("params") or {}
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif "list" in method:
        result = {"tools": tools}
    else:
        result = {"content": [{"type": "text", "text": "ran"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def tool(name: str, *, read_only: bool) -> Json:
    return {
        "name": name,
        "description": "A tool.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": read_only},
    }


TOOLS = [tool("look", read_only=True), tool("delete", read_only=False)]


def obedient(log: Path, tools: list[Json] = TOOLS) -> list[str]:
    return [sys.executable, "-c", OBEDIENT, str(log), json.dumps(tools)]


def heard(log: Path) -> list[Json]:
    """What the program was sent after it was connected to."""
    own = ("initialize", "notifications/initialized", "tools/list")
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    return [message for message in messages if message["method"] not in own]


WITHHOLDING: list[Json] = [{"read_only": True}, {"hidden": frozenset({"delete"})}]


@pytest.mark.parametrize("withheld", WITHHOLDING, ids=["read-only", "hidden"])
@pytest.mark.parametrize("method", ["call_tool", "tools/call ", "Tools/Call", "list_tools", "anything"])
async def test_a_withheld_tool_is_not_reached_by_another_name_of_the_method(
    tmp_path: Path, withheld: Json, method: str
) -> None:
    log = tmp_path / "log"
    async with bridged(way_to(obedient(log), **withheld)) as bridge, talking(bridge) as client:
        answer = await client.ask(method, {"name": "delete", "arguments": {}})
        assert answer["error"] == {"code": -32601, "message": "Method not found"}
        assert heard(log) == []


async def test_without_anything_withheld_methods_of_any_name_are_passed_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with bridged(way_to(obedient(log))) as bridge, talking(bridge) as client:
        assert "result" in await client.ask("vendor/anything", {"a": 1})
        assert [(one["method"], one["params"]) for one in heard(log)] == [("vendor/anything", {"a": 1})]


async def test_a_request_without_an_id_is_not_passed_on_but_notifications_are(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with bridged(way_to(obedient(log))) as bridge, talking(bridge) as client:
        await client.notify("tools/call", {"name": "delete"})
        await client.notify("call_tool", {"name": "delete"})
        await client.notify("initialized")
        await client.notify("notifications/vendor", {"a": 1})
        await client.call("look")
        assert [one["method"] for one in heard(log)] == ["notifications/vendor", "tools/call"]
        assert heard(log)[1]["params"]["name"] == "look"


@pytest.mark.parametrize("withheld", WITHHOLDING, ids=["read-only", "hidden"])
async def test_a_second_name_in_other_letters_does_not_reach_a_server_that_ignores_case(
    tmp_path: Path, withheld: Json
) -> None:
    log = tmp_path / "log"
    async with bridged(way_to(obedient(log), **withheld)) as bridge, talking(bridge) as client:
        await client.ask("tools/call", {"Name": "delete", "name": "look", "NAME": "delete", "arguments": {}})
        assert [one["params"] for one in heard(log)] == [{"name": "look", "arguments": {}}]


@pytest.mark.parametrize("claims", [(True, False), (False, True)])
@pytest.mark.parametrize("level", ["none", "safe", "all"])
async def test_of_two_tools_with_one_name_both_must_claim_to_be_read_only(
    tmp_path: Path, level: str, claims: tuple[bool, bool]
) -> None:
    log = tmp_path / "log"
    tools = [tool("twice", read_only=claim) for claim in claims]
    way = way_to(obedient(log, tools), level, read_only=True)
    async with bridged(way) as bridge, talking(bridge) as client:
        assert "twice" not in await client.tools()
        assert "error" in await client.ask("tools/call", {"name": "twice"})
        assert heard(log) == []


async def test_a_tool_hidden_by_its_repaired_name_is_not_reached_by_its_own_while_the_list_is_out_of_date(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    tools = [tool("look", read_only=True), tool("delete.all now", read_only=False)]
    way = way_to(obedient(log, tools), "all", hidden=frozenset({"delete_all_now"}))
    async with bridged(way) as bridge, talking(bridge) as client:
        assert await client.tools() == ["look"]
        for behind in bridge.behind:
            behind.upstream.tools.read_at = None
        answer = await client.ask("tools/call", {"name": "delete.all now"})
        assert answer["error"]["message"] == "Unknown tool: delete.all now"
        assert heard(log) == []


def answering(result: bytes) -> fakes.Script:
    """A server with one tool, whose result is this text."""

    def script(message: Json) -> list[bytes]:
        if message.get("method") == "tools/list":
            return [fakes.result(message, {"tools": [tool("echo", read_only=True)]})]
        return [b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], result)] if "id" in message else []

    return fakes.legacy(script)


@pytest.mark.parametrize("depth", [10, 600, 900])
async def test_hidden_characters_are_shown_however_deep_they_are(depth: int) -> None:
    nested = b'{"a":' * depth + rb'["\u202e",{"\u200b":"\u200b"}]' + b"}" * depth
    script = answering(b'{"content":[],"structuredContent":%s}' % nested)
    async with (
        fakes.websocket_server(script) as url,
        bridged(way_to(url, printable=True)) as bridge,
        talking(bridge) as client,
    ):
        found = (await client.call("echo"))["structuredContent"]
        for _ in range(depth):
            found = found["a"]
        assert found == [r"\u{202E}", {r"\u{200B}": r"\u{200B}"}]


MULTI_LINE = b'{\n "content": [\r\n  {"type": "text",\n "text": "a b"}\r ]\n}'


@pytest.mark.parametrize("level", ["none", "safe", "all"])
async def test_a_message_over_several_lines_is_one_line_for_the_client(level: str) -> None:
    lines: list[bytes] = []
    async with (
        fakes.websocket_server(answering(MULTI_LINE)) as url,
        bridged(way_to(url, level)) as bridge,
        MemoryConnection(bridge) as connection,
    ):
        for message in (
            HELLO,
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo"}},
        ):
            await connection.send(json.dumps(message).encode())
            lines.append(await connection.receive())
    assert not any(b"\n" in line or b"\r" in line for line in lines)
    assert text_of(json.loads(lines[1])["result"]) == "a b"


@pytest.mark.parametrize("repairs", [Repairs("none"), Repairs(without=["invalid-utf8"])], ids=["none", "off"])
async def test_text_that_is_not_utf8_is_an_error_if_it_is_not_repaired(repairs: Repairs) -> None:
    script = answering(b'{"content":[{"type":"text","text":"\xff"}]}')
    async with (
        fakes.websocket_server(script) as url,
        bridged(way_to(url, repairs=repairs)) as bridge,
        talking(bridge) as client,
    ):
        result = await client.call("echo")
        assert result["isError"]
        assert text_of(result) == "The server's answer cannot be read: it is not UTF-8."


async def test_a_secret_that_the_server_repeats_as_its_version_is_masked_where_it_is_kept() -> None:
    def script(message: Json) -> list[bytes]:
        if message.get("method") != "initialize":
            return answering(b"{}")(message)
        return [fakes.result(message, {**fakes.INITIALIZED, "protocolVersion": "hush-hush-123"})]

    async with (
        fakes.websocket_server(script) as url,
        bridged(way_to(url, mask=lambda text: text.replace("hush-hush-123", "***"))) as bridge,
    ):
        client = Talker(bridge)
        opened = (await client.open())["result"]
        await client.close()
    assert opened["protocolVersion"] == "2025-06-18"
    assert opened["_meta"]["qortal-mcp/dropped"] == {"protocolVersion": "***"}


@pytest.mark.parametrize("level", ["none", "safe", "all"])
async def test_a_result_of_a_program_that_is_too_large_is_an_error_at_once(
    tmp_path: Path, level: str
) -> None:
    program = OBEDIENT.replace('"text": "ran"', '"text": "x" * 17_000_000')
    command = [sys.executable, "-c", program, str(tmp_path / "log"), json.dumps(TOOLS)]
    async with bridged(way_to(command, level, timeout=60.0)) as bridge, talking(bridge) as client:
        result = await client.call("look")
        assert result["isError"]
        assert text_of(result) == (
            "The server's answer cannot be read: the reply is larger than 16777216 bytes."
        )


async def test_metrics_do_not_grow_with_the_names_that_clients_and_servers_invent() -> None:
    codes = iter(range(1, 10**6))

    def script(message: Json) -> list[bytes]:
        if message.get("method") == "tools/list":
            return [fakes.result(message, {"tools": []})]
        return [fakes.error(message, next(codes))] if "id" in message else []

    async with (
        fakes.websocket_server(fakes.legacy(script)) as url,
        bridged(way_to(url)) as bridge,
        talking(bridge) as client,
    ):
        for number in range(20):
            assert "error" in await client.ask(f"invented/{number}")
        written = bridge.metrics.render()
        assert "invented" not in written
        for number in range(10_000):
            bridge.metrics.observe(("tools/call", f"tool {number}", str(number), "", "", ""), 0.1)
        assert bridge.metrics.render().count("operation_duration_seconds_count{") <= 2_010


@pytest.mark.parametrize("method", ["tools/call", "resources/list"])
async def test_a_secret_that_a_refusal_repeats_is_masked(method: str) -> None:
    async def server(request: web.Request) -> web.Response:
        message = await request.json() if request.method == "POST" else {}
        if message.get("method") == "initialize":
            return web.Response(
                body=fakes.result(message, fakes.INITIALIZED), content_type="application/json"
            )
        return web.Response(status=500, text="no such token: hunter2-secret")

    async with (
        fakes.web_server(server) as url,
        bridged(way_to(url, mask=lambda text: text.replace("hunter2-secret", "***"))) as bridge,
        talking(bridge) as client,
    ):
        answer = json.dumps(await client.ask(method, {"name": "echo"}))
        assert "no such token: ***" in answer
        assert "hunter2" not in answer


def test_a_line_of_brackets_without_end_is_not_counted_one_by_one() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"result":' + b'{"a":' * 2_000_000 + b"1" + b"}" * 2_000_001 + b"\n"

    def feed() -> list[Piece | TooLong]:
        return Repairs("safe").lines(16 * 1024 * 1024).feed(line)

    assert is_cheaper(feed, than=lambda: sum(1 for _ in re.finditer(rb"[{}]", line)))
    assert [piece.raw for piece in feed() if isinstance(piece, Piece)] == [line]


@pytest.mark.parametrize("reading", [1, 2])
async def test_a_change_that_is_announced_together_with_the_list_is_not_missed(reading: int) -> None:
    """The notice comes in the same moment as the list that it makes out of date."""
    changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    listed = 0

    def script(message: Json) -> list[bytes]:
        nonlocal listed
        if message.get("method") == "tools/list":
            listed += 1
            tools = [tool("old", read_only=True)] + [tool("new", read_only=True)] * (listed > reading)
            return [fakes.result(message, {"tools": tools}), *([changed] if listed <= reading else [])]
        return [fakes.result(message, {"content": []})] if "id" in message else []

    async with (
        fakes.websocket_server(fakes.legacy(script)) as url,
        bridged(way_to(url, limits=BridgeLimits())) as bridge,
        talking(bridge) as client,
    ):
        await until(lambda: listed > reading)
        assert await client.tools() == ["old", "new"]
        assert "result" in await client.ask("tools/call", {"name": "new"})


async def test_a_server_that_announces_a_change_after_every_reading_is_not_read_without_a_pause() -> None:
    changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    listed = 0

    def script(message: Json) -> list[bytes]:
        nonlocal listed
        if message.get("method") == "tools/list":
            listed += 1
            time.sleep(0.02)
            return [fakes.result(message, {"tools": [tool("look", read_only=True)]}), changed]
        return [fakes.result(message, {"content": []})] if "id" in message else []

    async with (
        fakes.websocket_server(fakes.legacy(script)) as url,
        bridged(way_to(url)) as bridge,
        talking(bridge) as client,
    ):
        await asyncio.sleep(1)
        assert "result" in await client.ask("tools/call", {"name": "look"})
        assert listed <= 5


async def test_a_client_that_reads_late_gets_every_answer_after_the_end_of_its_input() -> None:
    """More than the bridge holds for a client: the rest waits until there is room."""
    calls, result = 40, b'{"content":[{"type":"text","text":"%s"}]}' % (b"x" * 300_000)
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    messages = [
        HELLO,
        *(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "echo"}}
            for number in range(2, calls + 2)
        ),
    ]
    os.write(in_write, b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    async with fakes.websocket_server(answering(result)) as url, bridged(way_to(url)) as bridge:
        serving = asyncio.create_task(serve_fds(bridge, in_read, out_write))
        serving.add_done_callback(lambda _: os.close(out_write))
        await asyncio.sleep(1)
        os.close(in_write)
        await asyncio.sleep(0.2)
        assert not serving.done()
        with os.fdopen(out_read, "rb") as out:
            lines = await asyncio.to_thread(out.readlines)
        await serving
    os.close(in_read)
    assert sorted(json.loads(line)["id"] for line in lines) == list(range(1, calls + 2))
