"""Replies of nodes that several processes share through a store: how they are named, written and read.

What is kept is the reply as the node sent it, so that it is read here with the endpoint's own reader and all its bounds, as if the node
had sent it now. How long it holds is decided here as well. From the store come only the state that it was read at and when.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ...metrics import names
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...server.tool_errors import ToolError
from ...store.line import StoreAway
from ...store.store import PREFIX, Store
from ..endpoints.record import FOR_EVER, SECONDS, Endpoint, Keep, Request
from ..limits import NodeLimits
from .as_of import AsOf, Seen, Tip
from .kept import Kept
from .upstream import read_reply

# Of keys and values. One that differs is never read.
_VERSION = 1
_MARK = b"qm1"
_HASH_BYTES = 16
_HEAD_AT = len(_MARK) + _HASH_BYTES + 2
_MOST_HEAD_BYTES = 4096
# Clocks of machines that share a store differ by less; what seems to come from later than this is not used.
_CLOCK_SECONDS = 1.0
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)

_Height = Annotated[int, Meta(ge=0, le=2**53)]
_Milliseconds = Annotated[int, Meta(ge=0, le=2**53)]
_Word = Annotated[str, Meta(max_length=500)]


class _Head(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The state that a reply was read at."""

    node: _Word
    read_ms: _Milliseconds
    height: _Height | None = None
    time: _Word | None = None
    synchronizing: bool | None = None
    behind_ms: _Milliseconds | None = None
    ahead_ms: _Milliseconds | None = None
    # The newest block before the request.
    block: _Word | None = None
    block_height: _Height | None = None


_encode = msgspec.json.Encoder().encode
_decode: Callable[[bytes], _Head] = decoder(_Head)


def group_of(origins: Sequence[str], limits: NodeLimits) -> str:
    """A name for the nodes that are read, the same wherever the same ones are given: what another group read is not used."""
    told = [*sorted(set(origins)), str(limits.max_tip_age_seconds)]
    return hashlib.blake2b("\n".join(told).encode(), digest_size=8).hexdigest()


class SharedReplies:
    """The part of the store that holds what nodes answered. `clock` is the time of day, `now` that of this process."""

    def __init__(
        self,
        store: Store,
        origins: Sequence[str],
        limits: NodeLimits,
        now: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._origins = frozenset(origins)
        self._group = group_of(origins, limits)
        self._now = now
        self._clock = clock

    @staticmethod
    def takes(endpoint: Endpoint[Any]) -> bool:
        """Whether its replies hold long enough: what is older than a moment ago is not worth sharing."""
        return endpoint.keep.seconds >= SECONDS.seconds

    async def find(self, genesis: str, endpoint: Endpoint[Any], request: Request) -> Kept | None:
        """What another process read, if it is usable. Whether its block is still the newest one is up to the caller."""
        key = self._key(genesis, request)
        try:
            value = await self._store.read(key)
        except StoreAway:
            return None
        if value is None:
            self._count("miss")
            return None
        opened = self._opened(key, value)
        kept = None if opened is None else self._kept(endpoint, request, *opened)
        if kept is None:
            self._count("unusable")
        return kept

    def used(self, *, is_fresh: bool) -> None:
        """Something that was found is used, or its block is no longer the newest one."""
        self._count("hit" if is_fresh else "stale")

    def keep(self, genesis: str, request: Request, body: bytes, kept: Kept, before: Tip | None) -> None:
        """Give what a node answered to the others. It is sent in the background, or not at all."""
        if len(body) > self._store.limits.value_bytes - _HEAD_AT - _MOST_HEAD_BYTES or not self._store.is_up:
            return
        as_of = kept.seen.as_of
        head = _encode(
            _Head(
                node=as_of.node,
                read_ms=int(1000 * (self._clock() - (self._now() - kept.read_at))),
                height=as_of.height,
                time=as_of.time,
                synchronizing=as_of.isSynchronizing,
                behind_ms=_milliseconds(kept.seen.behind_seconds),
                ahead_ms=_milliseconds(kept.seen.ahead_seconds),
                block=None if before is None else before.block,
                block_height=None if before is None else before.height,
            )
        )
        if len(head) > _MOST_HEAD_BYTES:
            return
        key = self._key(genesis, request)
        signed = self._store.hashed(key.encode(), head, body)
        value = b"".join((_MARK, signed, len(head).to_bytes(2, "big"), head, body))
        self._store.write(key, value, kept.keep.seconds)

    def _key(self, genesis: str, request: Request) -> str:
        chain = hashlib.blake2b(genesis.encode(), digest_size=8).hexdigest()
        asked = hashlib.blake2b(request.target.encode(), digest_size=_HASH_BYTES).hexdigest()
        return f"{PREFIX}:{_VERSION}:reply:{chain}:{self._group}:{asked}"

    def _opened(self, key: str, value: bytes) -> tuple[_Head, bytes] | None:
        """Head and body of a value, if all of it is there and was written for this key."""
        if len(value) < _HEAD_AT or not value.startswith(_MARK):
            return None
        signed, size = value[len(_MARK) : _HEAD_AT - 2], int.from_bytes(value[_HEAD_AT - 2 : _HEAD_AT], "big")
        head, body = value[_HEAD_AT : _HEAD_AT + size], value[_HEAD_AT + size :]
        # A plain number that was cut short is still a number: only the hash tells.
        if size > _MOST_HEAD_BYTES or self._store.hashed(key.encode(), head, body) != signed:
            return None
        try:
            return _decode(head), body
        except UNREADABLE:
            return None

    def _kept(self, endpoint: Endpoint[Any], request: Request, head: _Head, body: bytes) -> Kept | None:
        age = self._clock() - head.read_ms / 1000
        is_named = head.node in self._origins and (head.time is None or _ISO.fullmatch(head.time))
        if not is_named or age < -_CLOCK_SECONDS:
            return None
        try:
            value = read_reply(endpoint, request, body)
        except ToolError:
            return None
        keep: Keep = endpoint.keep_of(value, head.block_height, request.last_block)
        if age > keep.seconds:
            return None
        seen = Seen(
            AsOf(head.node, head.height, head.time, head.synchronizing),
            None if head.behind_ms is None else head.behind_ms / 1000,
            None if head.ahead_ms is None else head.ahead_ms / 1000,
        )
        is_aside = endpoint.is_aside or keep is FOR_EVER
        read_at = self._now() - max(0.0, age)
        return Kept(value, seen, is_aside, read_at, keep, head.block, len(body), is_shared=True)

    def _count(self, outcome: str) -> None:
        self._store.metrics.count(names.STORE_REQUESTS, "read", outcome)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(1000 * seconds)
