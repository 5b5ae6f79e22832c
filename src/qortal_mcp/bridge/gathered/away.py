"""What comes back from a server instead of an answer, in words for a person or a model."""

from typing import Any

from ...protocol import jsonrpc
from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ..words import explained
from .member import Member


class Away(Exception):
    """A server has no answer. The text says why, in words for a person or a model."""


class Removed(Away):
    """The server is no longer one of those behind the front."""

    def __init__(self, member: Member) -> None:
        super().__init__(f"{member.name} was taken out of the list of servers.")


def _error(response: jsonrpc.Message) -> dict[str, Any]:
    raw = response.error if isinstance(response, jsonrpc.Response) else None
    try:
        found = decode(raw or b"{}")
    except UNREADABLE:
        found = {}
    return found if isinstance(found, dict) else {}


def code_of(response: jsonrpc.Message) -> Any:
    return _error(response).get("code")


def reason_of(response: jsonrpc.Message) -> str:
    """Why a server did not answer, as its bridge says it."""
    error = _error(response)
    data = error.get("data")
    reason = data.get("reason", "") if isinstance(data, dict) else ""
    return explained(str(error.get("message", "no answer")), str(reason))
