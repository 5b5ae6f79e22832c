"""A server behind the front that names its things as badly as it can: everything it lists can be used."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.bridge.gathered.shelves import QUICK, Shelf, fronted, gathering
from tests.bridge.talking import text_of, way_to

Json = dict[str, Any]
# A program takes a while to start.
PATIENT = replace(QUICK, handshake_seconds=10, list_seconds=10)
LONG = "t" * 300
NAMES = ["t", "__", "_a", "a__b", "ann__look", "日本 の", "x.y/z", LONG, LONG + "2", "t" * 59, "t" * 60, ""]
URIS = ["file:///a", "a+b+c:d", "", "no scheme", "日本:x", "ann+note://a"]
# Answers every call with the name, and every reading with the address, as it was received.
SERVER = """
import json, sys
names, uris = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params", {})
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                       "serverInfo": {"name": "w", "version": "1"}},
        "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]},
        "tools/call": {"content": [{"type": "text", "text": str(params.get("name"))}]},
        "prompts/list": {"prompts": [{"name": name} for name in names]},
        "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": str(params.get("name"))}}]},
        "resources/list": {"resources": [{"uri": uri, "name": "r"} for uri in uris]},
        "resources/templates/list": {"resourceTemplates": []},
        "resources/read": {"contents": [{"uri": params.get("uri", ""), "text": str(params.get("uri"))}]},
    }
    if "id" in message:
        found = results.get(message["method"])
        answer = {"result": found} if found else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def hostile(tmp_path: Path) -> list[str]:
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, str(tmp_path / "server.py"), json.dumps([NAMES, URIS])]


@pytest.mark.parametrize("is_modern", [False, True], ids=["legacy", "modern"])
async def test_everything_that_is_listed_can_be_used_under_its_listed_name(
    tmp_path: Path, is_modern: bool
) -> None:
    front = gathering({"a__b c": way_to(hostile(tmp_path), "none"), "ann": Shelf("Ann")}, bounds=PATIENT)
    async with fronted(front, is_modern=is_modern) as client:
        tools = [name for name in await client.names("tools/list", "tools") if name.startswith("a_b_c__")]
        assert len(set(tools)) == len(NAMES)
        assert max(map(len, tools)) == 64
        assert [text_of(await client.call(name)) for name in tools] == NAMES
        prompts = [one for one in await client.names("prompts/list", "prompts") if one.startswith("a_b_c")]
        for offered, own in zip(prompts, NAMES, strict=True):
            (message,) = (await client.ask("prompts/get", {"name": offered}))["result"]["messages"]
            assert message["content"]["text"] == own
        uris = [
            one
            for one in await client.names("resources/list", "resources", "uri")
            if one.startswith("a-b-c+")
        ]
        for offered, own in zip(uris, URIS, strict=True):
            (contents,) = (await client.ask("resources/read", {"uri": offered}))["result"]["contents"]
            assert (contents["uri"], contents["text"]) == (offered, own)


async def test_a_short_name_is_understood_before_anybody_has_asked_for_the_list(tmp_path: Path) -> None:
    servers = {"max": way_to(hostile(tmp_path), "none")}
    async with fronted(gathering(servers, bounds=PATIENT)) as client:
        listed = await client.names("tools/list", "tools")
    async with fronted(gathering(servers, bounds=PATIENT)) as client:
        assert text_of(await client.call(listed[NAMES.index(LONG)])) == LONG


async def test_a_hidden_tool_is_hidden_under_every_name_that_it_has(tmp_path: Path) -> None:
    way = way_to(hostile(tmp_path))
    async with fronted(gathering({"bad": way}, bounds=PATIENT)) as client:
        (listed,) = [
            tool["name"]
            for tool in (await client.ask("tools/list"))["result"]["tools"]
            if len(tool["name"]) == 64 and text_of(await client.call(tool["name"])) == LONG
        ]
    for hidden in (listed, f"bad__{LONG}"):
        async with fronted(gathering({"bad": way}, bounds=PATIENT, hidden=[hidden])) as client:
            for name in (listed, f"bad__{LONG}"):
                answer = await client.ask("tools/call", {"name": name, "arguments": {}})
                assert answer["error"]["message"].startswith("Unknown tool")


async def test_tools_that_were_not_chosen_cannot_be_listed_or_called(tmp_path: Path) -> None:
    way = way_to(hostile(tmp_path), chosen=frozenset({"t", LONG}))
    async with fronted(gathering({"bad": way}, bounds=PATIENT)) as client:
        listed = await client.names("tools/list", "tools")
        assert len(listed) == 2
        for name in listed:
            assert text_of(await client.call(name)) in ("t", LONG)
        for name in ("bad__x.y/z", "bad__ann__look", "bad__nothing"):
            assert "error" in await client.ask("tools/call", {"name": name, "arguments": {}})
