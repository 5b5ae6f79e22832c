"""Which model is asked: the one that was named, or one that runs on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from ... import settings
from ...agent.limits import AgentLimits
from ...agent.model.addresses import base_of, is_nearby
from ...agent.model.endpoint import Endpoint
from ...agent.model.local import can_talk, find_local, usual_places
from ...agent.model.refusals import EndpointError
from ...agent.model.window import raise_window_hint, says_window, window_of
from ...settings import ModelOptions
from ...text import visible
from . import failures

_NO_MODEL = (
    "There is no language model to ask: no --base-url, no OPENAI_BASE_URL, and no Ollama, LM Studio, llama.cpp or vLLM answers on "
    "this machine. Name an OpenAI-compatible endpoint with --base-url URL --model NAME (its key in OPENAI_API_KEY), or start one: "
    "if Ollama is installed, 'ollama pull qwen3' gets a model for it"
)
_KEY_ALONE = (
    ". A key alone is not enough: it is sent only to an address that you name, "
    f"for example {settings.BASE_URL_VARIABLE}=https://api.openai.com/v1"
)


class Chosen(Struct, frozen=True, kw_only=True):
    """A model and how it is reached."""

    base_url: str
    model: str
    key: str | None = None
    # Certificates to trust, besides the system's.
    ca_file: str | None = None
    # In tokens, if the endpoint says so; and how a person can raise it.
    window: int | None = None
    raise_window: str = ""
    is_local: bool = False


async def choose(
    options: ModelOptions, limits: AgentLimits, environ: Mapping[str, str], ca_file: str | None = None
) -> Chosen:
    """The endpoint that was named, or else one on this machine. A key is sent only to an address that was named.

    Raises: WrongSetting, Undetermined.
    """
    named = options.base_url or environ.get(settings.BASE_URL_VARIABLE, "").strip()
    model = options.model or environ.get(settings.MODEL_VARIABLE, "").strip()
    if not named:
        has_key = bool(options.key_file or environ.get(settings.KEY_VARIABLE))
        return await _found_here(model, limits, environ, has_key=has_key)
    try:
        base_url = base_of(named)
    except EndpointError as exc:
        raise settings.WrongSetting(str(exc)) from None
    key = settings.model_key(options, environ)
    if not model:
        model = await _first_model(
            endpoint_of(Chosen(base_url=base_url, model="", key=key, ca_file=ca_file), limits)
        )
    # Only servers that are known to say more are asked for more.
    window = None
    if says_window(base_url):
        window = await window_of(base_url, model, key=key, limits=limits, ca_file=ca_file)
    return replace(_chosen(base_url, model, window), key=key, ca_file=ca_file)


def endpoint_of(chosen: Chosen, limits: AgentLimits) -> Endpoint:
    """Raises: WrongSetting."""
    try:
        return Endpoint(chosen.base_url, chosen.model, key=chosen.key, limits=limits, ca_file=chosen.ca_file)
    except EndpointError as exc:
        raise settings.WrongSetting(str(exc)) from None


async def _first_model(endpoint: Endpoint) -> str:
    """The first model that an endpoint lists and that can talk. Raises: Undetermined."""
    try:
        names = await endpoint.models()
    except EndpointError as exc:
        raise failures.Undetermined(visible(str(exc))) from None
    finally:
        await endpoint.close()
    found = next(filter(can_talk, names or ()), None)
    if found is None:
        what = "does not say which models it has" if names is None else "lists no model that can answer"
        raise failures.Undetermined(
            f"{endpoint.name} {what}. Name one with --model or {settings.MODEL_VARIABLE}"
        )
    return found


async def _found_here(
    model: str, limits: AgentLimits, environ: Mapping[str, str], *, has_key: bool
) -> Chosen:
    places = usual_places(environ.get("OLLAMA_HOST", ""))
    found = await find_local(places, limits=limits)
    if found is None:
        raise failures.Undetermined(_NO_MODEL + (_KEY_ALONE if has_key else ""))
    if not model or model == found.model:
        window = found.window
    else:
        window = await window_of(found.base_url, model, limits=limits)
    return _chosen(found.base_url, model or found.model, window, kind=found.kind)


def _chosen(base_url: str, model: str, window: int | None, kind: str = "") -> Chosen:
    return Chosen(
        base_url=base_url,
        model=model,
        window=window,
        raise_window=raise_window_hint(kind or base_url),
        is_local=is_nearby(base_url),
    )
