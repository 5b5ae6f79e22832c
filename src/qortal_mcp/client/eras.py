"""Which era a server belongs to, and the terms both sides agree on.

The rule (2026-07-28, "Compatibility"): probe with `server/discover`. A result that lists a modern revision,
or an error that only modern servers know, means modern. Anything else, including silence, means legacy:
then `initialize` and, over HTTP, if that is refused with a 4xx, the HTTP+SSE transport of 2024-11-05.

A caller that would rather stay in the legacy era asks for "legacy-first": the probe is sent only to a server that refuses
`initialize` as one of the modern era would.
"""

import contextlib
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Raw, Struct, UnsetType, field

from ..protocol import errors
from ..protocol.decoding import decode_as
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import SERVER_INFO, Implementation
from ..protocol.versions import LEGACY, MODERN, MODERN_ERA, NEWEST_HANDSHAKE
from .errors import ClientError, ConnectionLost, HttpRefused, MalformedReply, NotSupported, ServerError
from .pending import Reply

Era = Literal["auto", "legacy", "modern", "legacy-first"]

# Errors that only modern servers send: the server is modern, but rejects this request.
_MODERN_ERRORS = frozenset({errors.HEADER_MISMATCH, errors.MISSING_CAPABILITY, errors.UNSUPPORTED_VERSION})
# How a server without a handshake answers `initialize`: it may be modern, but too slow for the probe.
NO_HANDSHAKE = frozenset({errors.METHOD_NOT_FOUND, *_MODERN_ERRORS})
# Refusals that say nothing about the era: a sign-in is wanted, or less haste.
_NOT_ABOUT_ERAS = frozenset({401, 403, 429})


class Terms(Struct, frozen=True, kw_only=True):
    """What a client and a server agreed on, and what the server said about itself."""

    revision: str
    info: Implementation | None = None
    capabilities: dict[str, Any] = {}
    instructions: str | None = None
    # The reply they were read from; None if the probe was answered with an error.
    reply: Reply | None = None

    @property
    def is_modern(self) -> bool:
        return self.revision >= MODERN_ERA


class Opening(Protocol):
    """What `agree` needs from a client."""

    async def discover(self, revision: str, *, must_answer: bool = False) -> Reply:
        """`must_answer`: silence would not mean an old server, so it has as long as for a handshake: it may be starting."""
        ...

    async def shake_hands(self, revision: str, *, must_know_it: bool = False) -> Terms:
        """`must_know_it`: a server that seems not to know `initialize` is not taken for one that is only badly written."""
        ...

    async def reopen(self) -> None:
        """Replace a lost connection with a new one."""
        ...

    async def begin_again(self) -> None:
        """Make a new connection, if the server can have kept something of what was said on this one."""
        ...

    async def reopen_old(self) -> None:
        """Replace Streamable HTTP with HTTP+SSE.

        Raises: ClientError if the server does not have it.
        """
        ...


async def agree(opening: Opening, era: Era, revision: str | None) -> Terms:
    """Find the terms. A `revision` also settles the era.

    Raises: ClientError; NotSupported if the two sides have no common revision.
    """
    if revision is not None and revision not in (*LEGACY, *MODERN):
        raise NotSupported(f"unknown revision: {revision}")
    if era == "auto" and revision is not None:
        era = "modern" if revision in MODERN else "legacy"
    if era == "modern":
        terms = await _probe(opening, revision or MODERN[-1], must_answer=True)
        if terms is None:
            raise NotSupported(f"the server does not speak {revision or MODERN[-1]}")
        return terms
    wanted = revision or NEWEST_HANDSHAKE
    if era == "legacy":
        return await _shake_hands(opening, wanted)
    if era == "legacy-first":
        return await _shake_hands_or_probe(opening, wanted, is_probed=False)
    try:
        terms = await _probe(opening, MODERN[-1])
    except ConnectionLost as exc:
        if not isinstance(exc, HttpRefused):
            # Some programs exit on the first message they do not know. They get a second chance without it.
            await opening.reopen()
        terms = None
    except ClientError:
        terms = None
    return terms or await _shake_hands_or_probe(opening, wanted, is_probed=True)


async def _shake_hands_or_probe(opening: Opening, revision: str, *, is_probed: bool) -> Terms:
    """Terms with a server that is probably of the legacy era, unless it refuses as a modern one would."""
    try:
        return await opening.shake_hands(revision, must_know_it=True)
    except (HttpRefused, ServerError, MalformedReply) as exc:
        refusal = exc
    if _may_be_modern(refusal, is_probed=is_probed):
        # Who says that there is no handshake says something to the probe too.
        is_sure = isinstance(refusal, ServerError) and refusal.code in NO_HANDSHAKE
        terms = await _probed_anew(opening, must_answer=is_sure)
        if terms is not None:
            return terms
    if isinstance(refusal, MalformedReply):
        raise refusal
    if isinstance(refusal, ServerError) and refusal.code in NO_HANDSHAKE:
        return await _shake_hands(opening, revision)  # it may be only badly written
    return await _shake_hands_the_old_way(opening, revision, refusal)


async def _probed_anew(opening: Opening, *, must_answer: bool) -> Terms | None:
    """Terms with a server that refused the handshake; None if it is not modern.

    For some servers the first message decides about the era of a connection.
    """
    try:
        await opening.begin_again()
        return await _probe(opening, MODERN[-1], must_answer=must_answer)
    except ClientError:
        with contextlib.suppress(ClientError):
            await opening.begin_again()
        return None


def _may_be_modern(error: HttpRefused | ServerError | MalformedReply, *, is_probed: bool) -> bool:
    """A server that did not answer the probe may have been too slow for it; only its words count then, not a status."""
    if isinstance(error, MalformedReply):
        return not is_probed
    if isinstance(error, ServerError) and error.code in NO_HANDSHAKE:
        return True
    return not is_probed and _is_4xx(error) and error.status not in _NOT_ABOUT_ERAS


def _is_4xx(error: HttpRefused | ServerError) -> bool:
    return error.status is not None and 400 <= error.status < 500


class _Meta(Struct):
    info: Raw | UnsetType = field(name=SERVER_INFO, default=msgspec.UNSET)


class _Discovered(Struct):
    supportedVersions: list[str]
    capabilities: dict[str, Any] = {}
    instructions: str | None = None
    meta: _Meta = field(name="_meta", default_factory=_Meta)


class _Unsupported(Struct):
    supported: list[str]


async def _probe(opening: Opening, revision: str, *, must_answer: bool = False) -> Terms | None:
    """Terms with a modern server; None if it is not modern.

    Raises: ClientError if the server did not answer at all.
    """
    try:
        reply = await opening.discover(revision, must_answer=must_answer)
        found = reply.read(_Discovered)
    except ServerError as exc:
        return _from_error(exc, revision)
    except MalformedReply:
        return None
    common = newest_common(found.supportedVersions)
    if common is None:
        return None
    return Terms(
        revision=common,
        info=_implementation(found.meta.info),
        capabilities=found.capabilities,
        instructions=found.instructions,
        reply=reply,
    )


def _from_error(error: ServerError, revision: str) -> Terms | None:
    if error.code not in _MODERN_ERRORS:
        return None
    if error.code != errors.UNSUPPORTED_VERSION:
        return Terms(revision=revision)
    try:
        supported = msgspec.convert(error.data, _Unsupported).supported
    except msgspec.ValidationError:
        return None
    common = newest_common(supported)
    if common is None and not set(supported) & set(LEGACY):
        raise NotSupported(f"the server speaks only {', '.join(supported)}", error.evidence)
    return None if common is None else Terms(revision=common)


def newest_common(versions: Sequence[str]) -> str | None:
    """The newest modern revision that both sides speak."""
    return max((version for version in MODERN if version in versions), default=None)


class _Initialized(Struct):
    """Lenient except for the version: nothing that follows has a meaning without it."""

    protocolVersion: str
    capabilities: Raw | UnsetType = msgspec.UNSET
    serverInfo: Raw | UnsetType = msgspec.UNSET
    instructions: Raw | UnsetType = msgspec.UNSET


async def _shake_hands(opening: Opening, revision: str) -> Terms:
    try:
        return await opening.shake_hands(revision)
    except (HttpRefused, ServerError) as exc:
        return await _shake_hands_the_old_way(opening, revision, exc)


async def _shake_hands_the_old_way(
    opening: Opening, revision: str, refusal: HttpRefused | ServerError
) -> Terms:
    """Over HTTP+SSE, if the refusal looks as if the server knew nothing newer. Raises: the refusal, if that fails."""
    if not _is_4xx(refusal):
        raise refusal
    try:
        await opening.reopen_old()
    except ClientError:
        raise refusal from None
    return await opening.shake_hands(revision)


def read_handshake(reply: Reply) -> Terms:
    """What a server answered to `initialize`.

    Raises: MalformedReply; NotSupported for a revision that has no handshake, or that we do not know.
    """
    found = reply.read(_Initialized)
    if found.protocolVersion not in LEGACY:
        raise NotSupported(
            f"the server answered with an unsupported version: {found.protocolVersion}", (reply.raw,)
        )
    return Terms(
        revision=found.protocolVersion,
        info=_implementation(found.serverInfo),
        capabilities=_lenient(found.capabilities, dict[str, Any]) or {},
        instructions=_lenient(found.instructions, str),
        reply=reply,
    )


def _implementation(raw: Raw | UnsetType) -> Implementation | None:
    found = _lenient(raw, Implementation)
    return found if isinstance(found, Implementation) else None


def _lenient(raw: Raw | UnsetType, type_: Any) -> Any:
    """A value of this type, or None: an error here does not make a server unusable."""
    if isinstance(raw, UnsetType):
        return None
    try:
        return decode_as(raw, type_)
    except UNREADABLE:
        return None
