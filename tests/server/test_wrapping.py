"""What a tool returns, and what it raises, as the result a client gets."""

import asyncio
import json
from typing import Any

import pytest

from qortal_mcp.protocol.versions import LEGACY
from qortal_mcp.server import Peer, Reply, Server, ToolError, tool
from qortal_mcp.server.work import Work

WRAPPING = ("2025-06-18", "2025-11-25")


@tool
def give_text() -> str:
    """Gives a text."""
    return "hi"


@tool
def give_number() -> int:
    """Gives a number."""
    return 42


@tool
def give_truth() -> bool:
    """Gives a truth value."""
    return False


@tool
def give_nothing() -> None:
    """Gives nothing."""


@tool
def give_anything() -> Any:
    """Gives something no JSON can say."""
    return object()


@tool
def fail() -> str:
    """Fails as its caller must know."""
    raise ToolError("OUT_OF_LUCK", "Out of luck.")


@tool
def stumble() -> str:
    """Fails as nobody foresaw."""
    raise KeyError("/secret/path")


SERVER = Server(
    "wrapping",
    tools=[give_text, give_number, give_truth, give_nothing, give_anything, fail, stumble],
)


async def nothing_sent(message: bytes) -> None:
    raise AssertionError("nothing comes before the answer")


def result(name: str, revision: str) -> Any:
    peer = Peer(lasting=True, post=lambda message: True)
    peer.revision = revision
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
    peer.shake_hands(revision, peer.capabilities)
    reply = SERVER.receive(json.dumps(message).encode(), peer)
    if isinstance(reply, Work):
        reply = asyncio.run(reply.run(nothing_sent))
    assert isinstance(reply, Reply)
    return json.loads(reply.body)["result"]


@pytest.mark.promise(
    "Library",
    'A tool of your own may return text, a number or nothing: it is sent as text, and wrapped as `{"result": …}` where it must be an object.',
)
@pytest.mark.parametrize("revision", LEGACY)
def test_wrap_string(revision: str) -> None:
    expected: dict[str, Any] = {"content": [{"type": "text", "text": "hi"}], "isError": False}
    if revision in WRAPPING:
        expected["structuredContent"] = {"result": "hi"}
    assert result("give_text", revision) == expected


@pytest.mark.promise(
    "Library",
    'A tool of your own may return text, a number or nothing: it is sent as text, and wrapped as `{"result": …}` where it must be an object.',
)
@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize(
    ("name", "text", "value"), [("give_number", "42", 42), ("give_truth", "false", False)]
)
def test_wrap_number(revision: str, name: str, text: str, value: Any) -> None:
    expected: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if revision in WRAPPING:
        expected["structuredContent"] = {"result": value}
    assert result(name, revision) == expected


@pytest.mark.promise(
    "Library",
    'A tool of your own may return text, a number or nothing: it is sent as text, and wrapped as `{"result": …}` where it must be an object.',
)
@pytest.mark.parametrize("revision", LEGACY)
def test_wrap_none(revision: str) -> None:
    assert result("give_nothing", revision) == {"content": [], "isError": False}


@pytest.mark.promise(
    "Errors",
    "A result that cannot be written as JSON is an internal error, never the text of a Python object.",
)
def test_wrap_unserialisable() -> None:
    answer = result("give_anything", "2025-11-25")
    assert answer["isError"] is True
    assert answer["content"] == [{"type": "text", "text": "Internal error."}]


@pytest.mark.promise(
    "Errors",
    "Whatever a tool raises ends as a result with `isError: true`, and no trace, path or internal name reaches the client.",
)
def test_tool_raises(caplog: pytest.LogCaptureFixture) -> None:
    known, unforeseen = result("fail", "2025-11-25"), result("stumble", "2025-11-25")
    assert known["content"][0]["text"] == "Out of luck."
    assert unforeseen["content"][0]["text"] == "Internal error."
    assert known["isError"] is unforeseen["isError"] is True
    assert "secret" not in json.dumps(unforeseen)
    assert "/secret/path" in caplog.text
