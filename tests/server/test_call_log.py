"""`--access-log` and `--slow-call`: lines that a person can follow, without what requests say or who sends them."""

import json
import logging
from typing import Any

import pytest
from tests.cli.running import ALICE, Listening, listening

from qortal_mcp.server.watching.call_log import CallLog

TOKEN = "correct-horse-battery-staple"
AUTHORIZED = {"authorization": f"Bearer {TOKEN}"}


def send(server: Listening, method: str, **params: Any) -> int:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return server.ask("/mcp", message, AUTHORIZED)[0]


def lines(server: Listening, event: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in server.err.splitlines() if line.startswith("{")]
    return [line for line in found if line["event"] == event]


@pytest.mark.promise(
    "Operations",
    "`--access-log` writes a line for each request with method, tool, outcome, time and a code for the caller, and never an argument or an address.",
)
def test_each_request_is_a_line_without_arguments_and_addresses() -> None:
    with listening("serve", "--sample", "--access-log", env={"QORTAL_MCP_TOKEN": TOKEN}) as server:
        send(server, "tools/call", name="get_balance", arguments={"address": ALICE})
        send(server, "tools/call", name="get_balance", arguments={"address": "Qnonsense"})
        send(server, "tools/call", name="seed phrase of mine")
        send(server, "my seed phrase is abandon abandon")
        server.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})  # without the token
        server.stop()
    told = [
        (line["qortal_mcp.method"], line.get("qortal_mcp.tool"), line["qortal_mcp.outcome"])
        for line in lines(server, "request")
    ]
    assert told == [
        ("tools/call", "get_balance", "ok"),
        ("tools/call", "get_balance", "INVALID_ARGUMENT"),
        ("tools/call", None, "-32602"),
        ("(not shown)", None, "-32601"),
    ]
    assert all(line["level"] == "info" and line["qortal_mcp.ms"] >= 0 for line in lines(server, "request"))
    assert len({line["qortal_mcp.caller"] for line in lines(server, "request")}) == 1
    assert [line["qortal_mcp.status"] for line in lines(server, "http request refused")] == [401]
    for secret in (ALICE, "Qnonsense", "seed phrase", "127.0.0.1:", TOKEN):
        assert secret not in "".join(json.dumps(line) for line in lines(server, "request"))


@pytest.mark.parametrize(
    ("seconds", "slow"), [pytest.param("0.000001", 1, id="slower"), pytest.param("600", 0, id="faster")]
)
def test_a_slow_request_is_a_warning_without_arguments(seconds: str, slow: int) -> None:
    options = ("--sample", "--slow-call", seconds, "--log-level", "warning")
    with listening("serve", *options) as server:
        send(server, "tools/call", name="get_balance", arguments={"address": ALICE})
        server.stop()
    found = lines(server, "slow request")
    assert [(line["level"], line["qortal_mcp.tool"]) for line in found] == [("warning", "get_balance")] * slow
    assert not lines(server, "request")
    assert ALICE not in server.err


def test_a_subscription_is_not_slow_because_it_lasts(caplog: pytest.LogCaptureFixture) -> None:
    calls = CallLog(every=False, slow_seconds=1.0)
    calls.answered("subscriptions/listen", "", "ok", 5000.0, "stdio")
    assert not caplog.records
    calls.answered("tools/list", "", "ok", 1.0, "stdio")
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_callers_have_codes_that_another_process_does_not_give_them(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    first, second = (CallLog(every=True, slow_seconds=None) for _ in range(2))
    for calls, caller in (
        (first, "10.0.0.1"),
        (first, "10.0.0.1"),
        (first, "10.0.0.2"),
        (second, "10.0.0.1"),
    ):
        calls.answered("ping", "", "ok", 0.1, caller)
    same, again, other, elsewhere = (vars(record)["qortal_mcp.caller"] for record in caplog.records)
    assert same == again
    assert len({same, other, elsewhere}) == 3
