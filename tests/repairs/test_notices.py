"""What a server says unasked, and what a client gets to see of it."""

import json
from typing import Any

import pytest
from msgspec import Raw

from qortal_mcp.protocol.messages import LOG_LEVELS
from qortal_mcp.repairs.chosen import Repairs, Said
from qortal_mcp.repairs.subjects import Asked

NEWEST = Asked(revision="2025-11-25")


def said(method: str, params: Any, level: str = "safe") -> Said:
    return Repairs(level).said(method, Raw(json.dumps(params).encode()), NEWEST)


def params_of(one: Said) -> Any:
    return None if one.params is None else json.loads(bytes(one.params))


@pytest.mark.parametrize("params", [None, [], "x", 5, False])
def test_params_that_are_not_an_object_are_left_out(params: Any) -> None:
    one = said("notifications/tools/list_changed", params)
    assert one.params is None
    assert [change.code for change in one.changes] == ["params-null"]


@pytest.mark.parametrize(
    ("level", "meant"),
    [
        ("warn", "warning"),
        ("INFO", "info"),
        ("fatal", "critical"),
        ("trace", "debug"),
        ("loud", "warning"),
        (30, "warning"),
        (None, "warning"),
        ({}, "warning"),
    ],
)
def test_a_level_that_does_not_exist_becomes_the_one_that_is_meant(level: Any, meant: str) -> None:
    one = said("notifications/message", {"level": level, "data": None, "logger": None})
    assert params_of(one) == {"level": meant, "data": None}
    assert "log-level-invalid" in [change.code for change in one.changes]


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        *[("notifications/message", {"level": name, "data": None}) for name in LOG_LEVELS],
        ("notifications/progress", {"progressToken": 1, "progress": 0.5}),
        ("notifications/acme", {"x": None}),
        ("roots/list", {}),
        ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
    ],
)
def test_what_is_right_comes_out_as_it_came(method: str, params: Any, level: str) -> None:
    one = said(method, params, level)
    assert (params_of(one), one.changes) == (params, ())


def test_absent_params_stay_absent() -> None:
    one = Repairs("all").said("notifications/tools/list_changed", None, NEWEST)
    assert (one.params, one.changes) == (None, ())


def test_nulls_in_what_is_said_are_left_out() -> None:
    one = said("notifications/progress", {"progressToken": 1, "progress": 1, "total": None, "message": None})
    assert params_of(one) == {"progressToken": 1, "progress": 1}
    assert {change.code for change in one.changes} == {"optional-null"}
    one = said("sampling/createMessage", {"messages": [], "maxTokens": 1, "systemPrompt": None})
    assert params_of(one) == {"messages": [], "maxTokens": 1}
