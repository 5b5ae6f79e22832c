"""Claude Code: its configuration, and the Messages API it uses to talk to its model."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from interop.agents.model import (
    LAST_WORDS,
    PROMPT,
    SERVER_NAME,
    Call,
    Handler,
    Transcript,
    event_stream,
    text_of,
)
from interop.servers import Target

_PREFIX = f"mcp__{SERVER_NAME}__"


def command(home: Path) -> list[str | Path]:
    """The arguments that make it run one prompt and exit."""
    return [*own_command(home), "--mcp-config", home / "servers.json", "--strict-mcp-config"]


def own_command(home: Path) -> list[str | Path]:
    """The same with the servers of its own settings."""
    return [
        "-p",
        PROMPT,
        "--allowedTools",
        f"mcp__{SERVER_NAME}",
        "--output-format",
        "json",
    ]


def prepare(home: Path, model: str, server: Target) -> dict[str, str]:
    """Writes its configuration and returns the environment variables it needs."""
    if not server.is_none:
        servers = {"mcpServers": {SERVER_NAME: _entry(server)}}
        (home / "servers.json").write_text(json.dumps(servers), encoding="utf-8")
    return {
        "CLAUDE_CONFIG_DIR": str(home),
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Tools are offered at once, not found by a search, which the script does not cover.
        "ENABLE_TOOL_SEARCH": "false",
        "MCP_CONNECTION_NONBLOCKING": "0",
        "MCP_TIMEOUT": "20000",
        "MCP_TOOL_TIMEOUT": "20000",
        # It refuses to run as root outside a sandbox, and containers run as root.
        "IS_SANDBOX": "1",
    }


def _entry(server: Target) -> dict[str, Any]:
    if server.url:
        return {"type": "http", "url": server.url}
    return {"command": server.command[0], "args": list(server.command[1:])}


def routes(transcript: Transcript) -> dict[str, Handler]:
    """The endpoints that it expects from its model's provider."""

    async def messages(request: web.Request) -> web.Response:
        body = await request.json()
        offers_ours = _read(body, transcript)
        # Requests for titles and the like offer no tools: they get text.
        blocks = (
            _calls(transcript.script)
            if offers_ours and transcript.may_ask()
            else [{"type": "text", "text": LAST_WORDS}]
        )
        if not body.get("stream"):
            return web.json_response(_message(blocks))
        return web.Response(body=_stream(blocks), content_type="text/event-stream")

    async def count_tokens(request: web.Request) -> web.Response:
        return web.json_response({"input_tokens": 1})

    return {"POST /v1/messages": messages, "POST /v1/messages/count_tokens": count_tokens}


def _read(body: Mapping[str, Any], transcript: Transcript) -> bool:
    """Collects the evidence from a request, and returns whether it offers the server's tools."""
    for message in body["messages"]:
        if isinstance(message["content"], str):
            continue
        for block in message["content"]:
            if block["type"] == "tool_result":
                transcript.outputs[block["tool_use_id"]] = text_of(block.get("content", ""))
    names = [tool["name"] for tool in body.get("tools", ())]
    ours = {name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)}
    transcript.offered.update(ours)
    return bool(ours)


def _calls(script: Sequence[Call]) -> list[dict[str, Any]]:
    return [
        {"type": "tool_use", "id": call.id, "name": _PREFIX + call.tool, "input": dict(call.arguments)}
        for call in script
    ]


def _message(blocks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    blocks = list(blocks)
    return {
        "id": "message_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": blocks,
        "stop_reason": "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _stream(blocks: Iterable[dict[str, Any]]) -> bytes:
    whole = _message(blocks)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
    ]
    for index, block in enumerate(whole["content"]):
        if block["type"] == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    reason = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return event_stream(events)
