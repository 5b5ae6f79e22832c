"""Held calls whose clients are away to get answers: so many, for so long, and only for who began them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Hashable

import msgspec
from msgspec import Raw, Struct

from ...client.envelope import Params
from ...protocol import errors
from ...protocol.decoding import decode, decode_as
from ...protocol.jsonrpc import UNREADABLE
from ...server.peer import Peer
from ..limits import BridgeLimits
from .held_call import HeldCall

_encode = msgspec.json.Encoder(order="deterministic").encode
_NOT_VALID = "requestState is not valid for this request"


class _Waiting(Struct, frozen=True):
    held: HeldCall
    # What the call was about.
    purpose: bytes
    caller: Hashable
    expiry: asyncio.TimerHandle


class Suspended:
    """By the state that the client has to bring back, which nobody can guess."""

    def __init__(self, limits: BridgeLimits, connections: int, seconds: float) -> None:
        """`connections`: how many there may be to the server. A call that waits may have one for itself; half of them stay free."""
        half = max(1, connections // 2)
        self._most = limits.suspended_calls
        self._most_of_one = min(limits.caller_suspended_calls, half)
        self._seconds = seconds
        self._waiting: dict[str, _Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def has_room(self, caller: Hashable) -> bool:
        mine = sum(one.caller == caller for one in self._waiting.values())
        return len(self._waiting) < self._most and mine < self._most_of_one

    def add(self, held: HeldCall, method: str, params: Params, caller: Hashable) -> str:
        """The client goes away with the questions of its call. Returns the state that brings it back, once."""
        token = secrets.token_urlsafe(24)
        expiry = asyncio.get_running_loop().call_later(self._seconds, self._expire, token)
        self._waiting[token] = _Waiting(held, _purpose(method, params), caller, expiry)
        held.call.detach()
        return token

    def _expire(self, token: str) -> None:
        one = self._waiting.pop(token, None)
        if one is not None:
            one.held.cancel()

    def forget(self, peer: Peer) -> None:
        """A client whose connection is over does not come back."""
        for token in [token for token, one in self._waiting.items() if one.held.call.peer is peer]:
            self._waiting[token].expiry.cancel()
            self._expire(token)

    def knows(self, params: Params) -> bool:
        """Whether a request brings back a state of ours."""
        return _state(params) in self._waiting

    def take(self, method: str, params: Params, caller: Hashable) -> HeldCall:
        """The call that a client has come back for, with its answers.

        Raises: ProtocolError if it is not the same request of the same caller, or unknown.
        """
        one = self._waiting.get(_state(params))
        if one is None or one.caller != caller or one.purpose != _purpose(method, params):
            raise errors.ProtocolError(errors.INVALID_PARAMS, _NOT_VALID)
        try:
            given = decode_as(params.get("inputResponses", Raw(b"{}")), dict[str, Raw])
        except UNREADABLE:
            raise errors.ProtocolError(errors.INVALID_PARAMS, "inputResponses must be an object") from None
        if any(bytes(memoryview(answer)[:1]) != b"{" for answer in given.values()):
            raise errors.ProtocolError(errors.INVALID_PARAMS, "each of inputResponses must be an object")
        del self._waiting[_state(params)]
        one.expiry.cancel()
        one.held.answer(given)
        return one.held

    def close(self) -> None:
        """Nobody can come back any more."""
        for token in list(self._waiting):
            self._waiting[token].expiry.cancel()
            self._expire(token)


def _state(params: Params) -> str:
    try:
        return decode_as(params.get("requestState", Raw(b'""')), str)
    except UNREADABLE:
        return ""


def _purpose(method: str, params: Params) -> bytes:
    """The same for two requests that mean the same."""
    return _encode(
        [method, *(_plain(params.get(name, Raw(b"null"))) for name in ("name", "uri", "arguments"))]
    )


def _plain(value: Raw) -> object:
    try:
        return decode(value)
    except UNREADABLE:
        return value
