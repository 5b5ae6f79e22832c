"""Traces: what an OpenTelemetry SDK gets of requests and of what they ask a node."""

import asyncio
import json
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.qortal.told_node import ToldNode, fails

from qortal_mcp.protocol.messages import CLIENT_CAPABILITIES, PROTOCOL_VERSION
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server import Peer
from qortal_mcp.server.options import Watched
from qortal_mcp.server.work import Work
from qortal_mcp.tracing.nodes import TracedSource
from qortal_mcp.tracing.requests import RequestSpans, http_parent

MODERN = {PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {}}
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
ADDRESS = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"


class Traced:
    """A server over a node of its own, whose spans stay in memory."""

    def __init__(self, node: ToldNode | None = None) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        tracer = provider.get_tracer("test")
        self.node = Node([TracedSource(node or ToldNode(), tracer)])
        self.server = make_server(self.node, watched=Watched(spans=RequestSpans(tracer)))

    async def send(self, method: str, meta: Any = None, **params: Any) -> None:
        given = {**params, "_meta": {**MODERN, **(meta or {})}}
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": given}).encode()
        answer = self.server.receive(body, Peer(lasting=False, transport="tcp"))
        if isinstance(answer, Work):

            async def nowhere(message: bytes) -> None:
                raise AssertionError("nothing is sent before the answer")

            await answer.run(nowhere)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    @property
    def request(self) -> ReadableSpan:
        (found,) = [span for span in self.spans if span.kind is SpanKind.SERVER]
        return found


COMMON = {
    "jsonrpc.request.id": "7",
    "network.transport": "tcp",
    "mcp.protocol.version": "2026-07-28",
    "network.protocol.name": "websocket",
}
CALL = {**COMMON, "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool"}
CASES = [
    pytest.param(
        "tools/call",
        {"name": "validate_address", "arguments": {"address": ADDRESS}},
        "tools/call validate_address",
        {**CALL, "gen_ai.tool.name": "validate_address"},
        id="call",
    ),
    pytest.param(
        "tools/call",
        {"name": "get_balance", "arguments": {"address": "x"}},
        "tools/call get_balance",
        {**CALL, "gen_ai.tool.name": "get_balance", "error.type": "tool_error"},
        id="failed-tool",
    ),
    pytest.param(
        "tools/call",
        {"name": "my seed phrase"},
        "tools/call",
        {**CALL, "rpc.response.status_code": "-32602"},
        id="unknown-tool",
    ),
    pytest.param("tools/list", {}, "tools/list", {**COMMON, "mcp.method.name": "tools/list"}, id="list"),
    pytest.param(
        "made/up",
        {},
        "other",
        {
            "mcp.method.name": "other",
            "jsonrpc.request.id": "7",
            "network.transport": "tcp",
            "rpc.response.status_code": "-32601",
        },
        id="unknown-method",
    ),
]


@pytest.mark.promise(
    "Operations",
    "Traces follow the MCP semantic conventions and hold no arguments, answers or addresses of callers.",
)
@pytest.mark.parametrize(("method", "params", "name", "attributes"), CASES)
async def test_a_request_is_one_span_by_the_conventions(
    method: str, params: dict[str, Any], name: str, attributes: dict[str, str]
) -> None:
    traced = Traced()
    await traced.send(method, **params)
    assert traced.request.name == name
    assert dict(traced.request.attributes or {}) == attributes
    is_error = "error.type" in attributes
    assert traced.request.status.status_code is (StatusCode.ERROR if is_error else StatusCode.UNSET)
    assert ADDRESS not in "".join(span.to_json() for span in traced.spans)


async def test_what_a_call_asks_of_a_node_is_part_of_its_span() -> None:
    traced = Traced()
    await traced.send("tools/call", name="get_balance", arguments={"address": ADDRESS})
    await traced.node.close()
    asked = [span for span in traced.spans if span.kind is SpanKind.CLIENT]
    assert "GET /addresses/balance/{address}" in {span.name for span in asked}
    own = traced.request.get_span_context()
    assert own is not None
    assert all(span.parent is not None and span.parent.span_id == own.span_id for span in asked)
    assert {(span.attributes or {})["http.response.status_code"] for span in asked} == {200}
    assert ADDRESS not in "".join(span.to_json() for span in asked)


async def test_a_node_that_fails_is_an_error_of_its_own_span() -> None:
    traced = Traced(ToldNode(lambda target: fails() if "balance" in target else None))
    await traced.send("tools/call", name="get_balance", arguments={"address": ADDRESS})
    await traced.node.close()
    (failed,) = [span for span in traced.spans if "balance" in span.name and span.kind is SpanKind.CLIENT]
    assert failed.status.status_code is StatusCode.ERROR
    assert (failed.attributes or {})["error.type"] == "400"


async def test_calls_at_the_same_time_keep_their_own_spans() -> None:
    traced = Traced()
    other = ADDRESS[:-1] + "w"
    await asyncio.gather(
        traced.send("tools/call", name="get_balance", arguments={"address": ADDRESS}),
        traced.send("tools/call", name="get_balance", arguments={"address": other}),
    )
    await traced.node.close()
    served = {span.context.span_id for span in traced.spans if span.kind is SpanKind.SERVER and span.context}
    assert len(served) == 2


@pytest.mark.parametrize(
    ("meta", "trace_id"),
    [
        pytest.param({"traceparent": TRACEPARENT, "tracestate": "a=b"}, int(TRACE, 16), id="given"),
        pytest.param({"traceparent": "rubbish"}, None, id="rubbish"),
        pytest.param({"traceparent": 5}, None, id="not-a-text"),
        pytest.param({}, None, id="absent"),
    ],
)
async def test_what_the_client_says_in_meta_is_the_parent(meta: dict[str, Any], trace_id: int | None) -> None:
    traced = Traced()
    await traced.send("tools/list", meta)
    parent = traced.request.parent
    assert (None if parent is None else parent.trace_id) == trace_id


@pytest.mark.parametrize(("sent", "links"), [(TRACEPARENT, [int(PARENT, 16)]), ("rubbish", [])])
async def test_what_an_http_request_says_becomes_a_link(sent: str, links: list[int]) -> None:
    traced = Traced()
    token = http_parent.set(sent)
    await traced.send("tools/list")
    http_parent.reset(token)
    assert traced.request.parent is None
    assert [link.context.span_id for link in traced.request.links] == links
