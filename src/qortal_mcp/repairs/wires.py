"""What the wires of `client/wires/` put right while they read. Here is only which, and at which level."""

from typing import Any

from .repair import Repair

WIRES: tuple[Repair[Any], ...] = ()
