"""What `initialize` is answered with."""

from typing import Any

from .repair import Repair

HANDSHAKE: tuple[Repair[Any], ...] = ()
