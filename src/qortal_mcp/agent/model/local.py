"""Finds a model that runs on this machine: Ollama, LM Studio, llama.cpp or vLLM on its usual port."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ..limits import DEFAULT, AgentLimits
from .probing import Probe, count, items, member, name_of
from .window import KIND_BY_PORT, Kind, listed_window, ollama_window, props_window, tagged

_OLLAMA_PORT = 11434
# Models that turn text into vectors or sort it cannot talk.
_NOT_CHAT = re.compile(r"embed|rerank|\bbge\b|minilm|whisper|\bclip\b|bert", re.IGNORECASE)
# Models that Ollama is asked about, one by one.
_ASKED_MODELS = 12


class Place(Struct, frozen=True):
    """Where a kind of server may be: its address without a path."""

    kind: Kind
    origin: str


class Found(Struct, frozen=True, kw_only=True):
    """A model that can be asked. `window`: its context in tokens, if the server says so."""

    base_url: str
    model: str
    kind: Kind
    window: int | None = None


class _Candidate(Struct, frozen=True, kw_only=True):
    model: str
    window: int | None = None
    is_loaded: bool = False
    # None: the server does not say.
    calls_tools: bool | None = None


def usual_places(ollama_host: str = "") -> tuple[Place, ...]:
    """The usual ports, in the order of preference. `ollama_host`: what OLLAMA_HOST says."""
    return tuple(
        Place(kind, _ollama_origin(ollama_host) if kind == "Ollama" else f"http://127.0.0.1:{port}")
        for port, kind in KIND_BY_PORT.items()
    )


async def find_local(places: Sequence[Place] | None = None, *, limits: AgentLimits = DEFAULT) -> Found | None:
    """The first place that has a model, in the order given. All are asked at the same time."""
    places = usual_places() if places is None else places
    return next(filter(None, await asyncio.gather(*(_look(place, limits) for place in places))), None)


async def _look(place: Place, limits: AgentLimits) -> Found | None:
    async with Probe(limits.probe_seconds) as probe:
        candidates = await _LOOKS[place.kind](probe, place.origin)
    usable = [found for found in candidates if can_talk(found.model)]
    if not usable:
        return None
    # A model that calls tools is worth waiting for; among equals the first, which is the newest.
    chosen = max(usable, key=lambda found: (_rank(found.calls_tools), found.is_loaded))
    return Found(base_url=f"{place.origin}/v1", model=chosen.model, kind=place.kind, window=chosen.window)


def can_talk(model: str) -> bool:
    """Whether a model is made for conversations, by its name."""
    return not _NOT_CHAT.search(model)


def _rank(calls_tools: bool | None) -> int:
    return {True: 2, None: 1, False: 0}[calls_tools]


async def _look_for_ollama(probe: Probe, origin: str) -> list[_Candidate]:
    tags, loaded = await asyncio.gather(probe.get(f"{origin}/api/tags"), probe.get(f"{origin}/api/ps"))
    running = {tagged(name_of(item, "name", "model")) for item in items(loaded, "models")}
    # What is asked must not leave this machine because nobody named a model.
    here = [item for item in items(tags, "models") if not item.get("remote_host")]
    names = [name for item in here if (name := name_of(item, "name", "model")) and not name.endswith("cloud")]
    names = [name for name in names if can_talk(name)]
    names.sort(key=lambda name: tagged(name) not in running)
    names = names[:_ASKED_MODELS]
    shown = await asyncio.gather(*(probe.post(f"{origin}/api/show", {"model": name}) for name in names))
    return [
        _Candidate(
            model=name,
            window=ollama_window(loaded, about, name),
            is_loaded=tagged(name) in running,
            calls_tools=_has(about, "tools"),
        )
        for name, about in zip(names, shown, strict=True)
        if _has(about, "completion") is not False
    ]


async def _look_for_lm_studio(probe: Probe, origin: str) -> list[_Candidate]:
    listed = await probe.get(f"{origin}/api/v0/models")
    if not items(listed, "data"):
        return await _look_in_list(probe, origin)
    return [
        _Candidate(
            model=name,
            window=count(item.get("loaded_context_length")),
            is_loaded=item.get("state") == "loaded",
            calls_tools=_has(item, "tool_use"),
        )
        for item in items(listed, "data")
        if (name := name_of(item, "id")) and item.get("type") in ("llm", "vlm", None)
    ]


async def _look_for_llama_cpp(probe: Probe, origin: str) -> list[_Candidate]:
    found, props = await asyncio.gather(_look_in_list(probe, origin), probe.get(f"{origin}/props"))
    return [
        _Candidate(model=one.model, window=props_window(props) or one.window, is_loaded=one.is_loaded)
        for one in found
    ]


async def _look_in_list(probe: Probe, origin: str) -> list[_Candidate]:
    listed = await probe.get(f"{origin}/v1/models")
    return [
        _Candidate(
            model=name,
            window=listed_window(listed, name),
            is_loaded=member(item, "status", "value") in ("loaded", None),
        )
        for item in items(listed, "data")
        if (name := name_of(item, "id"))
    ]


_LOOKS: Mapping[Kind, Callable[[Probe, str], Awaitable[list[_Candidate]]]] = {
    "Ollama": _look_for_ollama,
    "LM Studio": _look_for_lm_studio,
    "llama.cpp": _look_for_llama_cpp,
    "vLLM": _look_in_list,
}


def _has(about: Any, capability: str) -> bool | None:
    capabilities = member(about, "capabilities")
    return capability in capabilities if isinstance(capabilities, list) else None


def _ollama_origin(host: str) -> str:
    """OLLAMA_HOST names where Ollama listens, with or without scheme and port; 0.0.0.0 is this machine."""
    text = host.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        parts, name, port = urlsplit("http:"), "", None
    if name in ("", "0.0.0.0", "::"):
        name = "127.0.0.1"
    name = f"[{name}]" if ":" in name else name
    scheme = "https" if parts.scheme == "https" else "http"
    # As Ollama itself does: the usual port of a scheme that is given.
    usual = {"http": 80, "https": 443}[scheme] if "://" in text else _OLLAMA_PORT
    return f"{scheme}://{name}:{port or usual}"
