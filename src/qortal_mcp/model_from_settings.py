"""From settings to a model, the one that was named or one that runs on this machine, and to what an agent is told."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from . import settings
from .agent.agent import Setup
from .agent.limits import DEFAULT, AgentLimits
from .agent.model.addresses import base_of, is_nearby
from .agent.model.endpoint import Endpoint
from .agent.model.local import can_talk, find_local, usual_places
from .agent.model.refusals import EndpointError
from .agent.model.window import raise_window_hint, says_window, window_of
from .settings.asking import ModelOptions, QuestionOptions
from .text import visible

_NONE_HERE = (
    "There is no language model to ask: no --base-url, no OPENAI_BASE_URL, and no Ollama, LM Studio, llama.cpp or vLLM answers on "
    "this machine. Name an OpenAI-compatible endpoint with --base-url URL --model NAME (its key in OPENAI_API_KEY), or start one: "
    "if Ollama is installed, 'ollama pull qwen3' gets a model for it"
)
_NONE_NAMED = (
    "There is no language model to ask: no --base-url and no OPENAI_BASE_URL, and a server that listens beyond loopback does not look "
    "for one on its machine. Name an OpenAI-compatible endpoint with --base-url URL --model NAME (its key in OPENAI_API_KEY)"
)
_KEY_ALONE = (
    ". A key alone is not enough: it is sent only to an address that you name, "
    f"for example {settings.BASE_URL_VARIABLE}=https://api.openai.com/v1"
)


class NoModel(Exception):
    """There is no model to ask. Its text says why, and the next step."""


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


def limits_of(question: QuestionOptions) -> AgentLimits:
    return AgentLimits(
        rounds=question.max_rounds,
        tokens=question.max_tokens,
        question_seconds=question.max_time,
        # Whoever wants an answer soon does not want to wait longer for a server.
        start_seconds=min(DEFAULT.start_seconds, question.max_time),
    )


async def choose(
    options: ModelOptions,
    limits: AgentLimits,
    environ: Mapping[str, str],
    ca_file: str | None = None,
    *,
    looks_here: bool = True,
) -> Chosen:
    """The endpoint that was named, or else one on this machine. A key is sent only to an address that was named.

    Raises: WrongSetting, NoModel.
    """
    named = options.base_url or environ.get(settings.BASE_URL_VARIABLE, "").strip()
    model = options.model or environ.get(settings.MODEL_VARIABLE, "").strip()
    if not named:
        hint = _KEY_ALONE if options.key_file or environ.get(settings.KEY_VARIABLE) else ""
        found = await _found_here(model, limits, environ) if looks_here else None
        if found is None:
            raise NoModel((_NONE_HERE if looks_here else _NONE_NAMED) + hint)
        return found
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


def setup_of(
    chosen: Chosen, limits: AgentLimits, *, is_qortal: bool, hidden: frozenset[str] = frozenset()
) -> Setup:
    """What an agent is told. Neither the key nor what else is `hidden` is ever shown."""
    return Setup(
        limits=limits,
        window=chosen.window,
        raise_window=chosen.raise_window,
        may_cut=chosen.is_local,
        today=today(),
        is_qortal=is_qortal,
        mark=new_mark(),
        secrets=hidden | ({chosen.key} if chosen.key else set()),
    )


def today() -> str:
    return time.strftime("%A, %d %B %Y", time.gmtime())


def new_mark() -> str:
    """For the lines around data: no text can know it."""
    return secrets.token_hex(4)


async def _first_model(endpoint: Endpoint) -> str:
    """The first model that an endpoint lists and that can talk. Raises: NoModel."""
    try:
        names = await endpoint.models()
    except EndpointError as exc:
        raise NoModel(visible(str(exc))) from None
    finally:
        await endpoint.close()
    found = next(filter(can_talk, names or ()), None)
    if found is None:
        what = "does not say which models it has" if names is None else "lists no model that can answer"
        raise NoModel(f"{endpoint.name} {what}. Name one with --model or {settings.MODEL_VARIABLE}")
    return found


async def _found_here(model: str, limits: AgentLimits, environ: Mapping[str, str]) -> Chosen | None:
    places = usual_places(environ.get("OLLAMA_HOST", ""))
    found = await find_local(places, limits=limits)
    if found is None:
        return None
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
