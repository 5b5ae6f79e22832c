"""What a call gave back: its answer, or what a failed one says."""

from typing import Any

from .conftest import Call


def text_of(result: dict[str, Any]) -> str:
    assert result["isError"]
    return str(result["content"][0]["text"])


def code_of(result: dict[str, Any]) -> str:
    return str(result["_meta"]["qortal-mcp/error"]["code"])


async def answer_of(call: Call, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a call that must succeed."""
    result = await call(tool, **arguments)
    assert result["isError"] is False, result
    found: dict[str, Any] = result["structuredContent"]
    return found


async def error_of(call: Call, tool: str, **arguments: Any) -> str:
    """The text of a call that must fail."""
    return text_of(await call(tool, **arguments))
