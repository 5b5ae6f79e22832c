"""Questions from a server: the handlers that answer them, and the capability each one needs.

The same handlers serve both eras: requests from a legacy server, and the `inputRequests` in a modern result.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..protocol import errors
from ..protocol.decoding import decode_as
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import ClientCapabilities, ElicitResult, Root, RootsResult, SamplingResult
from ..protocol.versions import ELICITATION
from .errors import AnswerRefused

log = logging.getLogger(__name__)

# Takes the question's parameters as JSON; returns anything that can be encoded as JSON, or bytes of JSON.
Handler = Callable[[Raw], Awaitable[object]]
Handlers = Mapping[str, Handler]
T = TypeVar("T")

SAMPLING = "sampling/createMessage"
ELICIT = "elicitation/create"
ROOTS = "roots/list"

_encode = msgspec.json.Encoder().encode


class _Need(Struct, frozen=True):
    """The capability that lets a server ask, and the revision that introduced it."""

    capability: str
    since: str = ""


_NEEDS = {SAMPLING: _Need("sampling"), ELICIT: _Need("elicitation", ELICITATION), ROOTS: _Need("roots")}


class ElicitRequest(Struct, frozen=True, kw_only=True):
    """A question to a person: a form to fill in, or a URL to open."""

    message: str
    mode: Literal["form", "url"] = "form"
    requestedSchema: dict[str, Any] | UnsetType = UNSET
    url: str | UnsetType = UNSET
    elicitationId: str | UnsetType = UNSET


class SamplingRequest(Struct, frozen=True, kw_only=True):
    """A question to the client's model. Messages are kept as they came: later revisions add members."""

    messages: list[dict[str, Any]]
    maxTokens: int
    systemPrompt: str | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    stopSequences: list[str] | UnsetType = UNSET
    modelPreferences: dict[str, Any] | UnsetType = UNSET
    tools: list[dict[str, Any]] | UnsetType = UNSET
    toolChoice: dict[str, Any] | UnsetType = UNSET


def elicitation(answer: Callable[[ElicitRequest], Awaitable[ElicitResult]]) -> Handlers:
    """A handler for questions to a person. Combine handlers with `|`."""
    return {ELICIT: _typed(ElicitRequest, answer)}


def sampling(answer: Callable[[SamplingRequest], Awaitable[SamplingResult]]) -> Handlers:
    """A handler for questions to a model."""
    return {SAMPLING: _typed(SamplingRequest, answer)}


def roots(folders: Sequence[Root]) -> Handlers:
    """A handler that lists the folders the client works in."""

    async def answer(_: Raw) -> object:
        return RootsResult(roots=list(folders))

    return {ROOTS: answer}


def _typed(type_: type[T], answer: Callable[[T], Awaitable[object]]) -> Handler:
    async def handler(params: Raw) -> object:
        try:
            question = decode_as(params, type_)
        except UNREADABLE as exc:
            raise AnswerRefused(f"Invalid params: {exc}", errors.INVALID_PARAMS) from None
        return await answer(question)

    return handler


def capabilities_of(handlers: Handlers, revision: str) -> ClientCapabilities:
    """What these handlers let a server ask for."""
    needs = [_NEEDS[method] for method in handlers if method in _NEEDS]
    return ClientCapabilities(**{need.capability: {} for need in needs if need.since <= revision})


async def answer(handlers: Handlers, method: str, params: Raw | None) -> bytes:
    """The answer to a question, as JSON.

    Raises: AnswerRefused if there is no handler, or the handler refuses.
    """
    if method == "ping":
        return b"{}"
    handler = handlers.get(method)
    if handler is None:
        raise AnswerRefused("Method not found", errors.METHOD_NOT_FOUND)
    try:
        found = handler(Raw(b"{}") if params is None else params)
        result = await found if inspect.isawaitable(found) else found
        return result if isinstance(result, bytes) else _encode(result)
    except AnswerRefused:
        raise
    except Exception:
        log.exception("a handler failed", extra={"qortal_mcp.method": method})
        raise AnswerRefused("Internal error", errors.INTERNAL_ERROR) from None
