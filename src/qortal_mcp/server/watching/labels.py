"""How a request ended, as metrics and traces name it, by the MCP semantic conventions."""

from ...protocol import errors

# What a caller did wrong, or no longer wanted, is not an error of the server: it is counted by its code alone.
_NOT_OURS = frozenset(
    str(code)
    for code in (
        errors.PARSE_ERROR,
        errors.INVALID_REQUEST,
        errors.METHOD_NOT_FOUND,
        errors.INVALID_PARAMS,
        errors.RESOURCE_NOT_FOUND,
        errors.REQUEST_CANCELLED,
    )
)
# Kinds of failures that the log names by a word.
_CODES = {
    "CROWDED": str(errors.INTERNAL_ERROR),
    "cancelled": str(errors.REQUEST_CANCELLED),
    "INTERNAL": str(errors.INTERNAL_ERROR),
    "RATE_LIMITED": str(errors.RATE_LIMITED),
}
TOOL_ERROR = "tool_error"


def error_and_code(kind: str) -> tuple[str, str]:
    """The type of error and the code of the reply that a request failed with; either may be empty."""
    code = _CODES.get(kind, kind)
    return ("" if code in _NOT_OURS else code), code
