"""Lists of tools: the list, its entries, their names and schemas."""

from typing import Any

from ..repair import Repair

TOOLS: tuple[Repair[Any], ...] = ()
