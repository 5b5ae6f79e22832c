"""Codex CLI: its configuration, and the Responses API it uses to talk to its model."""

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

_MODEL = "scripted"


def command(home: Path) -> list[str | Path]:
    """The arguments that make it run one prompt and exit."""
    return [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--json",
        "-C",
        home / "work",
        PROMPT,
    ]


def prepare(home: Path, model: str, server: Target, *, waits: bool = False) -> dict[str, str]:
    """Writes its configuration and returns the environment variables it needs.

    Unless it `waits` for a server, it begins without the tools of one that needs more than about a second.
    """
    return _write(home, _settings(model, server, waits=waits))


def prepare_modern(home: Path, model: str, server: Target, *, waits: bool = False) -> dict[str, str]:
    """The same, with the switches for 2026-07-28, which are still off by default."""
    settings = _settings(model, server, waits=waits)
    settings["features"]["mcp_2026_07_28"] = True
    if server.command:
        settings[f"mcp_servers.{SERVER_NAME}.env"] = {"CODEX_MCP_PROTOCOL_VERSION": "2026-07-28"}
    return _write(home, settings)


def _settings(model: str, server: Target, *, waits: bool) -> dict[str, Any]:
    return {**_base(model), **_server(server, waits=waits)}


def _base(model: str) -> dict[str, Any]:
    return {
        "model": _MODEL,
        "model_provider": "stub",
        "approval_policy": "never",
        "check_for_update_on_startup": False,
        # Without these it asks its maker's hosts for plugins and reports to them.
        "analytics": {"enabled": False},
        "features": {"apps": False, "plugins": False, "remote_plugin": False},
        "model_providers.stub": {
            "name": "stub",
            "base_url": f"{model}/v1",
            "wire_api": "responses",
            "request_max_retries": 0,
            "stream_max_retries": 0,
            "supports_websockets": False,
        },
    }


def _server(server: Target, *, waits: bool) -> dict[str, Any]:
    if server.is_none:
        return {}
    return {
        f"mcp_servers.{SERVER_NAME}": {
            **_entry(server),
            "default_tools_approval_mode": "approve",
            "required": waits,
            "startup_timeout_sec": 20,
            "tool_timeout_sec": 20,
        },
    }


def _write(home: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    (home / "work").mkdir()
    (home / "config.toml").write_text(_toml(settings), encoding="utf-8")
    return {"CODEX_HOME": str(home), "OPENAI_API_KEY": "none"}


def _entry(server: Target) -> dict[str, Any]:
    if server.url:
        return {"url": server.url}
    return {"command": server.command[0], "args": list(server.command[1:])}


def _toml(settings: Mapping[str, Any]) -> str:
    # Strings, numbers, booleans and lists of strings look the same in TOML as in JSON.
    plain = {name: value for name, value in settings.items() if not isinstance(value, Mapping)}
    tables = {name: value for name, value in settings.items() if isinstance(value, Mapping)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for title, table in tables.items():
        lines += ["", f"[{title}]", *(f"{name} = {json.dumps(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def routes(transcript: Transcript) -> dict[str, Handler]:
    """The endpoints that it expects from its model's provider."""

    async def models(request: web.Request) -> web.Response:
        return web.json_response(
            {"object": "list", "data": [{"id": _MODEL, "object": "model"}], "models": []}
        )

    async def responses(request: web.Request) -> web.Response:
        body = await request.json()
        namespaces = _read(body, transcript)
        items = (
            _calls(transcript.script, namespaces)
            if namespaces and transcript.may_ask()
            else [_message(LAST_WORDS)]
        )
        return web.Response(body=_stream(items), content_type="text/event-stream")

    return {"GET /v1/models": models, "POST /v1/responses": responses}


def _read(body: Mapping[str, Any], transcript: Transcript) -> dict[str, str]:
    """Collects the evidence from a request; returns the namespace of each of the server's tools."""
    for item in body["input"]:
        if item.get("type") == "function_call_output":
            transcript.outputs[item["call_id"]] = text_of(item["output"])
    namespaces = {}
    for entry in body.get("tools", ()):
        if entry.get("type") == "namespace" and SERVER_NAME in entry["name"]:
            for tool in entry["tools"]:
                namespaces[tool["name"]] = entry["name"]
    transcript.offered.update(namespaces)
    return namespaces


def _calls(script: Sequence[Call], namespaces: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function_call",
            "id": f"item_{call.id}",
            "call_id": call.id,
            "namespace": namespaces.get(call.tool, ""),
            "name": call.tool,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for call in script
    ]


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": "item_last",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _stream(items: Iterable[dict[str, Any]]) -> bytes:
    items = list(items)
    response = {
        "id": "response_1",
        "object": "response",
        "model": _MODEL,
        "status": "in_progress",
        "output": [],
    }
    events: list[dict[str, Any]] = [{"type": "response.created", "response": response}]
    for index, item in enumerate(items):
        for kind in ("added", "done"):
            events.append({"type": f"response.output_item.{kind}", "output_index": index, "item": item})
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    done = {**response, "status": "completed", "output": items, "usage": usage}
    events.append({"type": "response.completed", "response": done})
    return event_stream(events)
