"""How requests are counted: the MCP semantic conventions, read with a client library of Prometheus."""

import asyncio
import json
from typing import Any

import pytest

from qortal_mcp.limits import Limits
from qortal_mcp.metrics.names import BUCKETS, FINE, FINE_BUCKETS, OPERATIONS
from qortal_mcp.protocol.messages import CLIENT_CAPABILITIES, PROTOCOL_VERSION
from qortal_mcp.server import Peer, Server, ServerOptions, ToolError, resource, tool
from qortal_mcp.server.offers.catalogue import Offer
from qortal_mcp.server.work import Work

from .prometheus import number, samples

MODERN = {PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {}}
COUNT = f"{OPERATIONS.name}_count"


@tool
def echo(text: str) -> str:
    """Says it again."""
    return text


@tool
def unlucky() -> str:
    """Always fails, and says why."""
    raise ToolError("OUT_OF_LUCK", "No luck today.")


@tool
def broken() -> str:
    """Has a bug."""
    raise RuntimeError("a bug")


@resource("example://broken", "Broken")
def broken_resource() -> str:
    """Has a bug."""
    raise RuntimeError("a bug")


def made(**options: Any) -> Server:
    return Server(
        "s",
        "1.2",
        offer=Offer(tools=(echo, unlucky, broken), resources=(broken_resource,)),
        options=ServerOptions(**options),
    )


def send(server: Server, body: bytes, peer: Peer | None = None) -> None:
    answer = server.receive(body, peer or Peer(lasting=False, transport="tcp"))
    if isinstance(answer, Work):

        async def nowhere(message: bytes) -> None:
            raise AssertionError("nothing is sent before the answer")

        asyncio.run(answer.run(nowhere))


def request(method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}
    return json.dumps(message).encode()


CALL = {"mcp_method_name": "tools/call"}
KNOWN = {"network_transport": "tcp", "mcp_protocol_version": "2026-07-28"}
OUTCOMES = [
    pytest.param(
        request("tools/call", name="echo", arguments={"text": "x"}),
        {**CALL, **KNOWN, "gen_ai_tool_name": "echo"},
        id="success",
    ),
    pytest.param(request("tools/list"), {**KNOWN, "mcp_method_name": "tools/list"}, id="not-a-tool"),
    pytest.param(
        request("tools/call", name="unlucky"),
        {**CALL, **KNOWN, "gen_ai_tool_name": "unlucky", "error_type": "tool_error"},
        id="tool-error",
    ),
    pytest.param(
        request("tools/call", name="echo", arguments={"text": 5, "more": 1}),
        {**CALL, **KNOWN, "gen_ai_tool_name": "echo", "error_type": "tool_error"},
        id="bad-arguments",
    ),
    pytest.param(
        request("tools/call", name="broken"),
        {**CALL, **KNOWN, "gen_ai_tool_name": "broken", "error_type": "tool_error"},
        id="bug-in-a-tool",
    ),
    pytest.param(
        request("resources/read", uri="example://broken"),
        {
            **KNOWN,
            "mcp_method_name": "resources/read",
            "error_type": "-32603",
            "rpc_response_status_code": "-32603",
        },
        id="bug-elsewhere",
    ),
    pytest.param(
        request("tools/call", name='evil"} 1\n'),
        {**CALL, **KNOWN, "gen_ai_tool_name": "other", "rpc_response_status_code": "-32602"},
        id="unknown-tool",
    ),
    pytest.param(
        request("made/up"),
        {"mcp_method_name": "other", "network_transport": "tcp", "rpc_response_status_code": "-32601"},
        id="unknown-method",
    ),
    pytest.param(
        b"{rubbish",
        {"mcp_method_name": "other", "network_transport": "tcp", "rpc_response_status_code": "-32700"},
        id="not-json",
    ),
    pytest.param(
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        {"mcp_method_name": "other", "network_transport": "tcp", "rpc_response_status_code": "-32600"},
        id="not-a-message",
    ),
    pytest.param(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":'
        b'{"io.modelcontextprotocol/protocolVersion":"1999-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}',
        {
            **CALL,
            "gen_ai_tool_name": "other",
            "network_transport": "tcp",
            "error_type": "-32022",
            "rpc_response_status_code": "-32022",
        },
        id="unsupported-version",
    ),
]


@pytest.mark.promise(
    "Operations",
    "Requests are counted by the MCP semantic conventions: a caller's mistake by its code alone, a failed tool as `tool_error`, unknown names as `other`.",
)
@pytest.mark.parametrize(("body", "labels"), OUTCOMES)
def test_a_request_is_counted_once_under_its_outcome(body: bytes, labels: dict[str, str]) -> None:
    server = made()
    send(server, body)
    page = server.metrics.render()
    assert number(page, COUNT, **labels) == 1
    assert sum(sample.value for _, sample in samples(page) if sample.name == COUNT) == 1


def test_the_code_of_a_failed_tool_is_counted_beside_the_convention() -> None:
    server = made()
    send(server, request("tools/call", name="unlucky"))
    send(server, request("tools/call", name="broken"))
    page = server.metrics.render()
    failures = "qortal_mcp_tool_failures_total"
    assert number(page, failures, gen_ai_tool_name="unlucky", code="OUT_OF_LUCK") == 1
    assert number(page, failures, gen_ai_tool_name="broken", code="INTERNAL") == 1


def test_what_limits_refuse_is_counted() -> None:
    server = made(rate_limit=0.5)
    for _ in range(3):
        send(server, request("tools/list"))
    crowded = made(limits=Limits(server_requests=1))
    crowded._busy = 1
    send(crowded, request("tools/list"))
    reached = "qortal_mcp_limit_reached_total"
    assert number(server.metrics.render(), reached, limit="rate") == 2
    assert number(crowded.metrics.render(), reached, limit="requests") == 1
    assert number(crowded.metrics.render(), "qortal_mcp_limit_usage_ratio", limit="server_requests") == 1


@pytest.mark.parametrize(
    ("seconds", "coarse", "fine"),
    [
        pytest.param(0.000_01, 0.01, 0.000_025, id="microseconds"),
        pytest.param(0.0025, 0.01, 0.0025, id="on-a-fine-boundary"),
        pytest.param(0.01, 0.01, 0.01, id="on-the-shared-boundary"),
        pytest.param(0.015, 0.02, float("inf"), id="beyond-the-fine-ones"),
        pytest.param(1000.0, float("inf"), float("inf"), id="beyond-all"),
    ],
)
def test_a_duration_falls_into_the_first_bucket_that_holds_it_in_both_histograms(
    seconds: float, coarse: float, fine: float
) -> None:
    metrics = made().metrics
    metrics.observe(("tools/call", "echo", "", "", "pipe", "2025-11-25"), seconds)
    page = metrics.render()
    for metric, first, buckets in ((OPERATIONS, coarse, BUCKETS), (FINE, fine, FINE_BUCKETS)):
        found = {
            float(sample.labels["le"]): sample.value
            for name, sample in samples(page)
            if name == metric.name and sample.name.endswith("_bucket")
        }
        assert found == {bound: float(bound >= first) for bound in (*buckets, float("inf"))}
        sums = [sample.value for name, sample in samples(page) if sample.name == f"{metric.name}_sum"]
        assert sums == [pytest.approx(seconds)]


def test_only_successes_count_as_fast_answers() -> None:
    server = made()
    send(server, request("tools/call", name="unlucky"))
    send(server, request("tools/call", name="nobody"))
    send(server, request("tools/call", name="echo", arguments={"text": "x"}))
    found = [s.labels for _, s in samples(server.metrics.render()) if s.name == f"{FINE.name}_count"]
    assert found == [{**CALL, "gen_ai_tool_name": "echo"}]


@pytest.mark.promise(
    "Operations", "`/metrics` is Prometheus text, and names of strangers never become labels."
)
def test_names_of_strangers_do_not_make_the_page_grow() -> None:
    server = made()
    for number_ in range(50):
        send(server, request(f"made-up-{number_}"))
        send(server, request("tools/call", name=f"tool-{number_}"))
    page = server.metrics.render()
    assert "made-up" not in page
    assert "tool-" not in page
    for number_ in range(10_000):
        server.metrics.observe(("tools/call", f"listed {number_}", str(number_), "", "tcp", "x"), 0.1)
    assert server.metrics.render().count(f"{COUNT}{{") <= 2_010
