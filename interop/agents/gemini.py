"""Gemini CLI: its configuration, and the Gemini API it uses to talk to its model."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from interop.agents.model import LAST_WORDS, PROMPT, SERVER_NAME, Call, Handler, Transcript
from interop.servers import Target

_MODEL = "gemini-2.5-pro"
# It gives tools this prefix, so that two servers may have tools of one name.
_PREFIX = f"mcp_{SERVER_NAME}_"


def command(home: Path) -> list[str | Path]:
    """The arguments that make it run one prompt and exit."""
    return ["-p", PROMPT, "-m", _MODEL, "--approval-mode", "yolo", "--output-format", "json"]


def prepare(home: Path, model: str, server: Target) -> dict[str, str]:
    """Writes its configuration and returns the environment variables it needs."""
    ours = {} if server.is_none else {SERVER_NAME: {**_entry(server), "trust": True, "timeout": 20_000}}
    settings = {
        "mcpServers": ours,
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        # The script asks for many calls at once, which looks like a loop to it.
        "model": {"disableLoopDetection": True},
    }
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {
        "GOOGLE_GEMINI_BASE_URL": model,
        "GEMINI_API_KEY": "none",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }


def _entry(server: Target) -> dict[str, Any]:
    if server.url:
        return {"httpUrl": server.url}
    return {"command": server.command[0], "args": list(server.command[1:])}


def routes(transcript: Transcript) -> dict[str, Handler]:
    """The endpoints that it expects from its model's provider."""

    async def generate(request: web.Request) -> web.Response:
        verb = request.match_info["verb"]
        if verb == "countTokens":
            return web.json_response({"totalTokens": 1})
        body = await request.json()
        names = _read(body, transcript)
        parts = _calls(transcript.script, names) if names and transcript.may_ask() else [{"text": LAST_WORDS}]
        if verb == "generateContent":
            return web.json_response(_candidate(parts))
        data = f"data: {json.dumps(_candidate(parts))}\n\n".encode()
        return web.Response(body=data, content_type="text/event-stream")

    return {"POST /v1beta/models/{model}:{verb}": generate}


def _read(body: Mapping[str, Any], transcript: Transcript) -> dict[str, str]:
    """Collects the evidence from a request; returns the agent's name of each of the server's tools."""
    for content in body["contents"]:
        for part in content.get("parts", ()):
            if response := part.get("functionResponse"):
                transcript.outputs[response["id"]] = _text(response["response"])
    declared = [one for tools in body.get("tools", ()) for one in tools.get("functionDeclarations", ())]
    names = {one["name"].removeprefix(_PREFIX): one["name"] for one in declared if _PREFIX in one["name"]}
    transcript.offered.update(names)
    return names


def _text(response: Mapping[str, Any]) -> str:
    output = response.get("output", response.get("error", response))
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _calls(script: Sequence[Call], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "functionCall": {
                "id": call.id,
                "name": names.get(call.tool, call.tool),
                "args": dict(call.arguments),
            }
        }
        for call in script
    ]


def _candidate(parts: list[dict[str, Any]]) -> dict[str, Any]:
    content = {"role": "model", "parts": parts}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": usage,
        "modelVersion": _MODEL,
    }
