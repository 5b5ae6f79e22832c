"""Results that are neither of a tool nor a list of tools."""

from typing import Any

from .repair import Repair

OTHERS: tuple[Repair[Any], ...] = ()
