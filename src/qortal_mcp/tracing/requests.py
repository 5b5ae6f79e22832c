"""A span for each request, by the MCP semantic conventions. Arguments, answers and addresses of callers are not part of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from msgspec import Raw, Struct, field
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..metrics.counting import OTHER, UNKNOWN_TOOL
from ..protocol import jsonrpc, versions
from ..protocol.decoding import decoder
from ..protocol.jsonrpc import UNREADABLE
from ..server.methods.call import Call, Running, repeated
from ..server.peer import Peer

# The `traceparent` of the HTTP request that is being served; it becomes a link.
http_parent: ContextVar[str] = ContextVar("http_parent", default="")

_ID_CHARS = 128
_PROPAGATOR = TraceContextTextMapPropagator()


class _Meta(Struct):
    traceparent: str = ""
    tracestate: str = ""


class _Params(Struct):
    meta: _Meta = field(name="_meta", default_factory=_Meta)


_decode_params = decoder(_Params)


class RequestSpan:
    """The span of one request."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def inside(self, run: Running) -> Running:
        async def run_inside(context: Any) -> bytes:
            token = contexts.attach(trace.set_span_in_context(self._span))
            try:
                return await run(context)
            finally:
                contexts.detach(token)

        return run_inside

    def end(self, call: Call[Any], error_type: str, code: str) -> None:
        tool = OTHER if call.tool_name == UNKNOWN_TOOL else call.tool_name
        if tool:
            self._span.update_name(f"{_method(call.request.method)} {tool}")
            self._span.set_attribute("gen_ai.tool.name", tool)
        _finish(self._span, error_type, code)


class RequestSpans:
    """Makes spans of requests."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def begin(self, call: Call[Any]) -> RequestSpan:
        attributes = _attributes(call.request, call.peer)
        attributes["mcp.protocol.version"] = call.route.revision
        if call.peer.transport == "tcp":
            attributes["network.protocol.name"] = "websocket" if call.http is None else "http"
        return RequestSpan(self._start(call.request, attributes))

    def refused(
        self, request: jsonrpc.Request, peer: Peer, error_type: str, code: str, seconds: float
    ) -> None:
        began = time.time_ns() - int(seconds * 1e9)
        _finish(self._start(request, _attributes(request, peer), began), error_type, code)

    def _start(
        self, request: jsonrpc.Request, attributes: Mapping[str, str], began: int | None = None
    ) -> trace.Span:
        return self._tracer.start_span(
            _method(request.method),
            context=_parent(request.params),
            kind=SpanKind.SERVER,
            attributes=attributes,
            links=_links(),
            start_time=began,
        )


def _attributes(request: jsonrpc.Request, peer: Peer) -> dict[str, str]:
    found = {
        "mcp.method.name": _method(request.method),
        "jsonrpc.request.id": repeated(str(request.id), _ID_CHARS),
    }
    if request.method == "tools/call":
        found["gen_ai.operation.name"] = "execute_tool"
    if peer.transport:
        found["network.transport"] = peer.transport
    return found


def _method(name: str) -> str:
    return name if name in versions.METHODS else OTHER


def _finish(span: trace.Span, error_type: str, code: str) -> None:
    if code:
        span.set_attribute("rpc.response.status_code", code)
    if error_type:
        span.set_attribute("error.type", error_type)
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def _parent(params: Raw | None) -> Context:
    """What the client says in `_meta` that its request is part of; nothing else is one's parent."""
    meta = _Meta()
    if params is not None:
        with suppress(*UNREADABLE):  # whatever it is, it is no trace
            meta = _decode_params(params).meta
    return _PROPAGATOR.extract({"traceparent": meta.traceparent, "tracestate": meta.tracestate}, Context())


def _links() -> list[Link]:
    sent = http_parent.get()
    if not sent:
        return []
    found = trace.get_current_span(_PROPAGATOR.extract({"traceparent": sent}, Context())).get_span_context()
    return [Link(found)] if found.is_valid else []
