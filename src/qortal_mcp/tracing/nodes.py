"""A span for each request to a node, as part of the call that made it."""

from urllib.parse import urlsplit

from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer

from ..qortal.endpoints.record import Request
from ..qortal.node.failures import NodeFailure
from ..qortal.node.source import RawReply, Source


class TracedSource:
    """A source whose requests are traced: by the template of their path, without what was asked for."""

    def __init__(self, source: Source, tracer: Tracer) -> None:
        self._source = source
        self._tracer = tracer
        self.origin = source.origin
        parts = urlsplit(source.origin)
        self._attributes: dict[str, str | int] = {
            "http.request.method": "GET",
            "server.address": parts.hostname or source.origin,
            **({"server.port": parts.port} if parts.port else {}),
        }

    async def fetch(self, request: Request) -> RawReply:
        """Raises: NodeFailure."""
        with self._tracer.start_as_current_span(
            f"GET {request.template}",
            kind=SpanKind.CLIENT,
            attributes={**self._attributes, "url.template": request.template},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                reply = await self._source.fetch(request)
            except NodeFailure as exc:
                span.set_attribute("error.type", exc.code)
                span.set_status(Status(StatusCode.ERROR))
                raise
            span.set_attribute("http.response.status_code", reply.status)
            if reply.status >= 400:
                span.set_attribute("error.type", str(reply.status))
                span.set_status(Status(StatusCode.ERROR))
            return reply

    async def warm(self) -> None:
        await self._source.warm()

    async def close(self) -> None:
        await self._source.close()
