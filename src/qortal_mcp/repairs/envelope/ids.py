"""To which request a reply belongs that does not say so, or says so wrongly."""

from collections.abc import Container, Mapping
from typing import Any

from msgspec import Raw, Struct

from ...protocol.jsonrpc import RequestId


class InFlight(Struct, kw_only=True):
    """The requests that wait for a reply while one piece of bytes is read."""

    # The methods of the requests, by their ids.
    waiting: Mapping[RequestId, str]
    # The request in whose own HTTP reply the bytes came.
    via: RequestId | None
    # The highest id sent so far: ids up to it that are not waiting were answered, or given up.
    latest: int
    # Nobody waits for these any more, and they were never answered.
    given_up: Container[RequestId]
    # Everything comes on one connection. Otherwise a reply without an id may belong to a notification's own exchange.
    lasting: bool
    # What this piece has answered already.
    answered: set[RequestId]

    def waits(self, id_: Any) -> bool:
        """Whether exactly this id, with its type, waits for a reply."""
        return is_id(id_) and id_ in self.waiting and id_ not in self.answered

    def only(self) -> RequestId | None:
        """The only request that a reply without an id of its own can belong to."""
        if self.via is not None:
            return self.via if self.waits(self.via) else None
        if not self.lasting or len(self.waiting) > 1 + len(self.answered):
            return None
        left = [id_ for id_ in self.waiting if id_ not in self.answered]
        return left[0] if len(left) == 1 else None

    def is_late(self, id_: Any) -> bool:
        """Whether it is the answer to a request that was given up: no mistake, but of no use."""
        return not self.waits(self.via) and any(
            is_id(other) and other in self.given_up for other in (id_, *_retyped(id_))
        )

    def slip_of(self, id_: Any) -> str:
        """The code for an id that does not wait for a reply."""
        if id_ is None:
            return "rpc-id-missing"
        if any(self.waits(other) for other in _retyped(id_)):
            return "rpc-id-type-changed"
        # In its own reply a request is answered by whatever id: some servers have only one.
        if not self.waits(self.via) and any(self._was_ours(other) for other in (id_, *_retyped(id_))):
            return "rpc-duplicate-reply"
        return "rpc-id-wrong"

    def owner_of(self, id_: Any) -> RequestId | None:
        """The request that a reply with such an id must belong to."""
        only = self.only()
        retyped = [other for other in _retyped(id_) if self.waits(other)]
        return only if not retyped or only in retyped else None

    def _was_ours(self, id_: Any) -> bool:
        if not is_id(id_):
            return False
        return id_ in self.answered or (isinstance(id_, int) and 0 < id_ <= self.latest)


def is_id(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _retyped(id_: Any) -> tuple[RequestId, ...]:
    """The ids that a server may have made this one of."""
    if isinstance(id_, str):
        return (int(id_),) if id_.isascii() and id_.isdigit() and len(id_) < 16 else ()
    if is_id(id_):
        return (str(id_),)
    digits = str(bytes(id_), "ascii") if isinstance(id_, Raw) else ""
    whole, _, fraction = digits.partition(".")
    return (int(whole), whole) if whole.isdigit() and len(whole) < 16 and not fraction.strip("0") else ()
