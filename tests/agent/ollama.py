"""A stand-in for Ollama on a real socket: it cuts what does not fit into its window, without a word, as Ollama does.

What comes first is lost first: the system prompt, then the tools, then what was said. Its model sees only the rest.
"""

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs
from tests.agent.scripted_answers import answer
from tests.agent.scripted_endpoint import Reply, Request, Said, ScriptedEndpoint

MODEL = "stand-in:8b"
# Real tokenizers have a little more than the 4 that the product assumes.
CHARS_PER_TOKEN = 4.2


class Prompt(Struct, frozen=True):
    """What a model was sent, and how much of that it saw. Both in tokens."""

    sent: int
    seen: int
    tools: int

    @property
    def was_cut(self) -> bool:
        return self.seen < self.sent


class Ollama(ScriptedEndpoint):
    """`is_loaded`: /api/ps says how large the window is; else nobody knows before the first reply."""

    def __init__(
        self, window: int, *, is_loaded: bool = False, model: Callable[[Request], Reply] = answer
    ) -> None:
        self.window = window
        self.prompts: list[Prompt] = []
        self._model = model
        about = {"name": MODEL, "model": MODEL, "context_length": window}
        pages = {
            "/api/tags": {"models": [{"name": MODEL, "model": MODEL}]},
            "/api/ps": {"models": [about] if is_loaded else []},
            "/api/show": {"capabilities": ["completion", "tools"], "parameters": "temperature 0.6"},
            "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model"}]},
        }
        super().__init__(self._answer, pages=pages)

    @property
    def host(self) -> str:
        """For OLLAMA_HOST."""
        return f"127.0.0.1:{self.port}"

    def _answer(self, request: Request) -> Reply:
        seen, prompt = _seen(request.body, self.window)
        self.prompts.append(prompt)
        reply = self._model(structs.replace(request, body=seen))
        if isinstance(reply, Said):
            return structs.replace(reply, usage=(prompt.seen, tokens(reply.text) + 1))
        return reply


def tokens(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)


def _seen(body: dict[str, Any], window: int) -> tuple[dict[str, Any], Prompt]:
    """What is left of a request, and how much that is."""
    rules = [message for message in body["messages"] if message["role"] == "system"]
    said = [message for message in body["messages"] if message["role"] != "system"]
    parts = [*rules, *body.get("tools", ()), *said]
    sizes = [tokens(json.dumps(part, ensure_ascii=False, separators=(",", ":"))) for part in parts]
    sent = sum(sizes)
    lost = max(sent - window, 0)
    left: list[dict[str, Any]] = []
    for part, size in zip(parts, sizes, strict=True):
        # What is cut in the middle cannot be read either.
        if lost <= 0:
            left.append(part)
        lost -= size
    tools = [part for part in left if "function" in part]
    messages = [part for part in left if "role" in part]
    return {**body, "messages": messages, "tools": tools}, Prompt(sent, min(sent, window), len(tools))
