"""Each server that was measured to break a client, through the command: its tools are listed, and a call has its payload."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.audit.cases import CASES, MODERN_ONLY, Case
from tests.audit.stub import RIGHT, Ask, replies_to
from tests.audit.wires import command
from tests.cli.running import COMMAND, environment
from tests.matrix.proof import prove
from tests.matrix.wires import strictly

from qortal_mcp.audit.judging.clients import measured_codes
from qortal_mcp.repairs.chosen import DROPPED, Repairs

REVISION = "2025-11-25"
MEASURED = {name for names in measured_codes().values() for name in names}
# The second part is done by the bridge itself, without a repair of that name.
REPAIRED = Repairs("all").codes | {
    "discover-malformed",
    "discover-unanswered",
    "exit-on-unknown-method",
    "notification-before-handshake",
    "progress-token-unknown",
    "request-before-handshake",
    "server-exit",
}
ON_PIPE = [
    one
    for one in CASES
    if one.name in MEASURED
    and one.code in REPAIRED
    and one.revisions != MODERN_ONLY
    # Mistakes of HTTP have no place on a pipe.
    and one.server.http is RIGHT.http
    and not one.server.streams
    and one.over in ("http", "stdio")
]
# Says nothing of what a tool has to say.
NOT_PAYLOAD = {"type", "mimeType", "data", "blob", "annotations", "_meta", "isError", "resultType", "ttlMs"}
# Where the payload itself is changed, or is not in JSON that anybody can read: what is left of it.
LEFT = {
    "long-100k": "xxx",
    "long-1m": "xxx",
    "invisible": "end",
    "ansi": "red",
    "surrogate": "a \ufffd x",
    "nan": "x",
    "bad-utf8": "\ufffd",
    "pretty-call": "fine",
    "text-json-double": '{"m":"x"}',
    "two-in-line": "fine",
}
# There is none: the call is answered, and says that it failed.
FAILS = {"call-exit": "Connection to the server was lost", "call-hang": "timed out", "err-empty": "t"}


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in NOT_PAYLOAD:
                yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield json.dumps(value)


def payload_of(case: Case) -> tuple[list[str], list[str]]:
    """The words of the tool, as the server itself sends them, and what it sends as a second form of them."""
    if case.name in LEFT:
        return [LEFT[case.name]], []
    tool = {"name": "t"} | {name: value for name, value in case.server.tool.items() if name == "name"}
    message = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {**tool, "arguments": {}}}
    sent = [one for one in replies_to(case.server, Ask(message, REVISION)) if isinstance(one, dict | list)]
    answers = [one for part in sent for one in (part if isinstance(part, list) else [part])]
    (last,) = [one for one in answers if "method" not in one][:1]
    found = last.get("result")
    if found is None:
        told = last.get("error")
        found = told.get("message", "") if isinstance(told, dict) else told
    if isinstance(found, dict) and isinstance(found.get("content"), list):
        return list(leaves(found["content"])), list(leaves(found.get("structuredContent")))
    return list(leaves(found)), []


class Piped:
    """The command, with the test as its client."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def ask(self, id_: int, method: str, **params: Any) -> dict[str, Any]:
        """The result. Everything that comes meanwhile must be what a server may send."""
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        while True:
            assert self._process.stdout is not None
            message = strictly(await self._process.stdout.readline())
            prove(REVISION, message, method if message.get("id") == id_ else None)
            if message.get("id") == id_:
                result: dict[str, Any] = message["result"]
                return result

    def send(self, message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def end(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return await self._process.wait()


async def through_command(case: Case) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The tools, and the result of calling the one in question."""
    words = ("bridge", "--repair", "all", "--timeout", "1", "--", *command(case.name))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *words,
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(),
        limit=2**22,
    )
    try:
        async with asyncio.timeout(30):
            piped = Piped(process)
            client = {"name": "t", "version": "0"}
            await piped.ask(1, "initialize", protocolVersion=REVISION, capabilities={}, clientInfo=client)
            piped.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            tools = (await piped.ask(2, "tools/list"))["tools"]
            name = next((tool["name"] for tool in tools if tool["name"] != "ok"), "ok")
            result = await piped.ask(3, "tools/call", name=name, arguments={})
            assert await piped.end() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return tools, result


def shown(result: dict[str, Any]) -> str:
    """All that a client can show of a result."""
    texts = [block.get("text") or json.dumps(block) for block in result["content"]]
    return "\n".join([*texts, json.dumps(result.get("structuredContent"))])


def kept(result: dict[str, Any]) -> str:
    """What a client can show, or look up."""
    return shown(result) + json.dumps(result.get("_meta", {}).get(DROPPED))


@pytest.mark.parametrize("case", ON_PIPE, ids=lambda case: case.name)
async def test_a_measured_server_is_usable_through_the_command(case: Case) -> None:
    tools, result = await through_command(case)
    assert "ok" in {tool["name"] for tool in tools}
    assert result["content"]
    if case.code == "tool-name-empty":
        assert [tool["name"] for tool in tools] == ["ok"]
        assert "healthy" in shown(result)
    elif case.name in FAILS:
        assert result["isError"] is True
        assert FAILS[case.name] in shown(result)
    else:
        assert len(tools) == (3 if case.name == "list-dup" else 2)
        words, again = payload_of(case)
        assert [one for one in words if one not in shown(result)] == []
        assert [one for one in again if one not in kept(result)] == []


def test_the_tables_are_about_servers_that_are_tried() -> None:
    assert {*LEFT, *FAILS} <= {one.name for one in ON_PIPE}
