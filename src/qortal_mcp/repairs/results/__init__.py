"""What `tools/call` is answered with."""

from typing import Any

from ..repair import Repair

RESULTS: tuple[Repair[Any], ...] = ()
