"""`@tool` for this server: marks every tool as read-only, and lets it take `@name` for an address and `7d` for a time."""

from collections.abc import Callable
from typing import Any

from ...server.offers.tool import READ_ONLY, Tool
from ...server.offers.tool import tool as any_tool
from .resolving import resolving


def tool(title: str) -> Callable[[Callable[..., Any]], Tool]:
    """Turn a function that reads the chain into a tool."""
    # Those that are not async only compute, and not for long; the others mostly read what is in memory.
    make = any_tool(title, annotations=READ_ONLY, quick=True)
    return lambda function: make(resolving(function))
