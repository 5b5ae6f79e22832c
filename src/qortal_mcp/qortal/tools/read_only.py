"""`@tool` for this server: marks every tool as read-only."""

from collections.abc import Callable
from typing import Any

from ...server.offers.tool import READ_ONLY, Tool
from ...server.offers.tool import tool as any_tool


def tool(title: str) -> Callable[[Callable[..., Any]], Tool]:
    """Turn a function that reads the chain into a tool."""
    return any_tool(title, annotations=READ_ONLY)
