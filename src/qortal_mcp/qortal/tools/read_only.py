"""`@tool` for this server: every tool says that it only reads."""

from collections.abc import Callable
from typing import Any

from ...server.offers.tool import READ_ONLY, Tool
from ...server.offers.tool import tool as any_tool


def tool(title: str) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function that reads the chain."""
    return any_tool(title, annotations=READ_ONLY)
