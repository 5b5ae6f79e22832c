"""Supply, peers and the tools for developers."""

from typing import Any

from .record import Endpoint

FAMILY: tuple[Endpoint[Any], ...] = ()
