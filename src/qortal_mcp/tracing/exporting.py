"""Where spans go: an OpenTelemetry collector, over HTTP. The usual OTEL_ variables say the rest."""

import functools
import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from .. import __version__

# A collector that is away must not keep a server from ending.
_SECONDS = 3
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")


@functools.cache
def tracer_to(collector: str) -> Tracer:
    """A tracer whose spans are sent to this collector, in batches and at the end of the process."""
    is_timed = any(name in os.environ for name in _TIMEOUTS)
    exporter = OTLPSpanExporter(
        endpoint=f"{collector.rstrip('/')}/v1/traces", timeout=None if is_timed else _SECONDS
    )
    named = {} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: "qortal-mcp"}
    provider = TracerProvider(resource=Resource.create({**named, SERVICE_VERSION: __version__}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider.get_tracer("qortal_mcp", __version__)
