"""Which model is asked: the one that was named, or one that runs on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ... import settings
from ...agent.limits import AgentLimits
from ...agent.model.addresses import base_of, is_nearby
from ...agent.model.local import find_local, first_model, usual_places
from ...agent.model.refusals import EndpointError
from ...agent.model.window import raise_window_hint, says_window, window_of
from ...settings import ModelOptions
from . import failures

_NO_MODEL = (
    "There is no language model to ask: no --base-url, no OPENAI_BASE_URL, and no Ollama, LM Studio, llama.cpp or vLLM answers on "
    "this machine. Name an OpenAI-compatible endpoint with --base-url URL --model NAME (its key in OPENAI_API_KEY), or start one, "
    "for example: ollama pull qwen3"
)


class Chosen(Struct, frozen=True, kw_only=True):
    """A model and how it is reached."""

    base_url: str
    model: str
    key: str | None = None
    # In tokens, if the endpoint says so; and how a person can raise it.
    window: int | None = None
    raise_window: str = ""
    is_local: bool = False


async def choose(options: ModelOptions, limits: AgentLimits, environ: Mapping[str, str]) -> Chosen:
    """The endpoint that was named, or else one on this machine. A key is sent only to an address that was named.

    Raises: WrongSetting, Undetermined.
    """
    named = options.base_url or environ.get(settings.BASE_URL_VARIABLE, "").strip()
    model = options.model or environ.get(settings.MODEL_VARIABLE, "").strip()
    if not named:
        return await _found_here(model, limits, environ)
    try:
        base_url = base_of(named)
    except EndpointError as exc:
        raise settings.WrongSetting(str(exc)) from None
    key = settings.model_key(options, environ)
    if not model:
        model = await first_model(base_url, key=key, limits=limits) or ""
    if not model:
        raise failures.Undetermined(
            f"{base_url} does not say which models it has, or does not answer. "
            f"Name one with --model or {settings.MODEL_VARIABLE}"
        )
    # Only servers that are known to say more are asked for more.
    window = await window_of(base_url, model, key=key, limits=limits) if says_window(base_url) else None
    return _chosen(base_url, model, window, key)


async def _found_here(model: str, limits: AgentLimits, environ: Mapping[str, str]) -> Chosen:
    places = usual_places(environ.get("OLLAMA_HOST", ""))
    found = await find_local(places, limits=limits)
    if found is None:
        raise failures.Undetermined(_NO_MODEL)
    if not model or model == found.model:
        window = found.window
    else:
        window = await window_of(found.base_url, model, limits=limits)
    return _chosen(found.base_url, model or found.model, window, kind=found.kind)


def _chosen(base_url: str, model: str, window: int | None, key: str | None = None, kind: str = "") -> Chosen:
    return Chosen(
        base_url=base_url,
        model=model,
        key=key,
        window=window,
        raise_window=raise_window_hint(kind or base_url),
        is_local=is_nearby(base_url),
    )
