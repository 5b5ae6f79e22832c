"""What a failed call says."""

from typing import Any


def text_of(result: dict[str, Any]) -> str:
    assert result["isError"]
    return str(result["content"][0]["text"])


def code_of(result: dict[str, Any]) -> str:
    return str(result["_meta"]["qortal-mcp/error"]["code"])
