"""An answer of a node that may be reused, and what other nodes said to it."""

from typing import Any

from msgspec import Struct

from ..endpoints.record import Keep
from .as_of import Seen
from .confirm.comparing import Confirmation


class Kept(Struct, frozen=True):
    """A cached answer, the state it was read at, and when it may be reused."""

    value: Any
    seen: Seen
    # Whether it makes an answer no older: it can never change, or only helped to ask or to name.
    is_aside: bool
    read_at: float
    keep: Keep
    # The newest block before the request was made; None if unknown.
    block: str | None
    # Bytes of the reply.
    size: int
    # Only with `--confirm`.
    confirmation: Confirmation | None = None
    # Whether another process read it from a node.
    is_shared: bool = False
