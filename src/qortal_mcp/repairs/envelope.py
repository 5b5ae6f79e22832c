"""JSON-RPC: ids, members, errors."""

from typing import Any

from .repair import Repair

ENVELOPE: tuple[Repair[Any], ...] = ()
