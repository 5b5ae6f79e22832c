"""`--otlp`: spans arrive at a collector, and nothing is loaded without it."""

import gzip
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.cli.running import INITIALIZE, listening, message, run

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        received: list[tuple[str, bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                is_packed = self.headers.get("content-encoding") == "gzip"
                received.append((self.path, gzip.decompress(body) if is_packed else body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *words: Any) -> None:
                return None

        self.received = received
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def spans(self) -> list[Any]:
        assert {path for path, _ in self.received} == {"/v1/traces"}
        requests = [ExportTraceServiceRequest.FromString(body) for _, body in self.received]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    thread = Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


@pytest.mark.promise(
    "Operations",
    "`--otlp` sends traces to an OpenTelemetry collector; without it nothing of OpenTelemetry is loaded.",
)
def test_spans_of_a_server_on_stdio_arrive_at_the_collector(collector: Collector) -> None:
    call = message(2, "tools/call", {"name": "validate_address", "arguments": {"address": "x"}})
    ended = run("stdio", "--sample", "--otlp", collector.url, stdin=INITIALIZE + call)
    assert ended.code == 0, ended.err
    assert [span.name for span in collector.spans()] == ["initialize", "tools/call validate_address"]


def test_an_http_request_that_is_part_of_a_trace_is_linked_to_it(collector: Collector) -> None:
    with listening("serve", "--sample", "--otlp", collector.url) as server:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert server.ask("/mcp", ping, {"traceparent": TRACEPARENT})[0] == 200
        assert server.stop() == 0
    (span,) = collector.spans()
    assert [link.span_id.hex() for link in span.links] == ["b7ad6b7169203331"]


def test_a_collector_that_is_away_fails_no_request() -> None:
    env = {"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    ended = run("stdio", "--sample", "--otlp", "http://127.0.0.1:9", stdin=INITIALIZE, env=env)
    assert ended.code == 0
    assert "protocolVersion" in ended.out


def test_nothing_of_opentelemetry_is_loaded_without_it() -> None:
    program = "import sys, qortal_mcp.cli.serve, qortal_mcp.cli.stdio, qortal_mcp.application; print([m for m in sys.modules if m.startswith('opentelemetry') or '.tracing' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
