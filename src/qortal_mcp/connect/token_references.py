"""How entries refer to the token without holding it, and what stands for it where a client cannot do that."""

from typing import Any

from ..settings import TOKEN_VARIABLE
from .client import Token

# What stands for the token where a client cannot read a variable.
PLACEHOLDER = "TOKEN"
SHELL_STYLE = f"${{{TOKEN_VARIABLE}}}"
ENV_STYLE = f"${{env:{TOKEN_VARIABLE}}}"
CURLY_STYLE = f"{{env:{TOKEN_VARIABLE}}}"
# What VS Code calls the token that it asks for.
INPUT = "qortal-mcp-token"


def bearer(reference: str) -> str:
    return f"Bearer {reference}"


def headers(reference: str) -> dict[str, Any]:
    return {"headers": {"Authorization": bearer(reference)}}


IN_FILE = Token(source="file", members=headers(PLACEHOLDER))
