"""The proof itself: it lets good messages pass, and no bad ones."""

from typing import Any

import pytest
from tests.matrix import proof
from tests.matrix.wires import MODERN, REVISIONS


def reply(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def test_the_official_schemas_lie_beside_the_checkout() -> None:
    if not proof.have_schemas():
        pytest.skip(
            "no ../shared/mcp/schema beside the repository: messages are proved by the SDK's models alone"
        )
    for revision in REVISIONS:
        proof.fits(revision, "RequestId", "an id")


GOOD: list[Any] = [
    ("2024-11-05", reply({}), "ping"),
    ("2025-11-25", reply({"content": []}), "tools/call"),
    (MODERN, reply({"content": [], "resultType": "complete"}), "tools/call"),
    ("2025-06-18", {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}}, None),
    ("2025-06-18", {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, None),
]


@pytest.mark.parametrize(("revision", "message", "method"), GOOD)
def test_a_good_message_is_proved(revision: str, message: Any, method: str | None) -> None:
    proof.prove(revision, message, method)


BAD: list[Any] = [
    ("2024-11-05", reply({"a": 1}), "ping"),
    ("2025-11-25", reply({}), "tools/call"),
    ("2025-11-25", reply({"content": [{"type": "text"}]}), "tools/call"),
    ("2025-11-25", reply({"content": [], "isError": None}), "tools/call"),
    ("2025-06-18", reply({"content": [], "structuredContent": [1]}), "tools/call"),
    (MODERN, reply({"content": []}), "tools/call"),
    (MODERN, reply({"tools": [], "resultType": "complete"}), "tools/list"),
    (MODERN, reply({}), "ping"),
    ("2025-06-18", reply({}), None),
    ("2025-06-18", {"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "x"}}, None),
    ("2025-06-18", {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "x"}}, None),
    ("2025-06-18", {**reply({}), "extra": 1}, "ping"),
    (MODERN, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "x"}}, None),
    (MODERN, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "x"}}, None),
    (MODERN, {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, None),
    ("2024-11-05", {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}, None),
    ("2025-06-18", {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}, None),
    ("2025-06-18", [], None),
]


@pytest.mark.parametrize(("revision", "message", "method"), BAD)
def test_a_bad_message_is_disproved(revision: str, message: Any, method: str | None) -> None:
    if message == BAD[13][1] and not proof.have_schemas():
        pytest.skip("only the schemas know what an error of this code must say")
    with pytest.raises(proof.Disproved):
        proof.prove(revision, message, method)


def test_every_exception_has_its_reason() -> None:
    assert all(len(reason) > 40 for reason in proof.EXCEPTIONS.values())
