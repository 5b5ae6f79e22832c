"""The server that a command was told to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from ....settings import NodeOptions

if TYPE_CHECKING:
    from ....bridge.way import Way


class OwnServer(Struct, frozen=True, kw_only=True):
    """Qortal's, in this process."""

    chain: NodeOptions
    # The revision of each request.
    revision: str

    @property
    def hint(self) -> str:
        """What a command line needs to ask the same server."""
        return ""


class OtherServer(Struct, frozen=True, kw_only=True):
    """Any other, through a bridge in this process."""

    way: Way
    # What it was given and may repeat.
    secrets: frozenset[str]

    @property
    def hint(self) -> str:
        return " --server …"


Chosen: TypeAlias = OwnServer | OtherServer
