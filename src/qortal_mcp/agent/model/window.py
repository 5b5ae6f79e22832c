"""The context window: how many tokens of a conversation a server really takes, and how to raise that."""

import asyncio
import re
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from ...client.errors import ClientError
from ..limits import DEFAULT, AgentLimits
from .addresses import is_nearby, root_of
from .probing import Probe, count, items, member, name_of

Kind: TypeAlias = Literal["Ollama", "LM Studio", "llama.cpp", "vLLM"]

# In the order of preference.
KIND_BY_PORT: dict[int, Kind] = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
_HINTS: dict[str, str] = {
    "Ollama": "Start Ollama with OLLAMA_CONTEXT_LENGTH=32768 in its environment.",
    "LM Studio": "Load the model in LM Studio with a longer context (lms load MODEL --context-length 32768).",
    "llama.cpp": "Start llama-server with --ctx-size 32768.",
    "vLLM": "Start vLLM with --max-model-len 32768, if the model allows it.",
}
_OTHER = "Raise the context length of the model on its server (Ollama: OLLAMA_CONTEXT_LENGTH=32768), or use a model with a larger one."
_NUM_CTX = re.compile(r"^num_ctx\s+([0-9]{1,9})\s*$", re.MULTILINE)


async def window_of(
    base_url: str,
    model: str,
    *,
    key: str | None = None,
    limits: AgentLimits = DEFAULT,
    proxies: bool = True,
    ca_file: str | None = None,
) -> int | None:
    """The window of a model in tokens, if its server says so. None: it does not, or not in time."""
    try:
        probe = Probe(limits.probe_seconds, key=key, proxies=proxies, ca_file=ca_file)
    except ClientError:
        return None
    async with probe:
        root = root_of(base_url)
        loaded, shown, studio, props, listed = await asyncio.gather(
            probe.get(f"{root}/api/ps"),
            probe.post(f"{root}/api/show", {"model": model}),
            probe.get(f"{root}/api/v0/models"),
            probe.get(f"{root}/props"),
            probe.get(f"{base_url}/models"),
        )
    return (
        ollama_window(loaded, shown, model)
        or studio_window(studio, model)
        or props_window(props)
        or listed_window(listed, model)
    )


def raise_window_hint(kind_or_url: str) -> str:
    """How to raise the window of a server, given its kind or its address. One sentence."""
    kind = _kind_at(kind_or_url) if "://" in kind_or_url else kind_or_url
    return _HINTS.get(kind, _OTHER)


def says_window(base_url: str) -> bool:
    """Whether an address looks like that of a local server that says how large its window is."""
    return is_nearby(base_url) and bool(_kind_at(base_url))


def _kind_at(url: str) -> str:
    try:
        return KIND_BY_PORT.get(urlsplit(url).port or 0, "")
    except ValueError:
        return ""


def ollama_window(loaded: Any, shown: Any, model: str) -> int | None:
    """What Ollama has loaded a model with, or would by the model's own file (/api/ps, /api/show)."""
    for item in items(loaded, "models"):
        if tagged(model) in (tagged(name_of(item, "name")), tagged(name_of(item, "model"))):
            return count(item.get("context_length"))
    parameters = member(shown, "parameters")
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return count(int(found[1])) if found else None


def tagged(name: str) -> str:
    """The name of an Ollama model in full: `:latest` may be left out."""
    return name if not name or ":" in name.rpartition("/")[2] else f"{name}:latest"


def studio_window(listed: Any, model: str) -> int | None:
    """What LM Studio has loaded a model with (/api/v0/models)."""
    found = (item for item in items(listed, "data") if item.get("id") == model)
    return next((count(item.get("loaded_context_length")) for item in found), None)


def props_window(props: Any) -> int | None:
    """What one conversation gets of llama.cpp's window (/props)."""
    return count(member(props, "default_generation_settings", "n_ctx"))


def listed_window(listed: Any, model: str) -> int | None:
    """What vLLM and some services say in their list of models."""
    for item in items(listed, "data"):
        if item.get("id") == model:
            return count(item.get("max_model_len")) or count(item.get("context_length"))
    return None
