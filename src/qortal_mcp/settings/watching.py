"""What operators can see of a running server, besides its log and its page of metrics."""

from typing import Annotated, ClassVar

from msgspec import Meta

from .option import Options

CollectorAddress = Annotated[str, Meta(pattern=r"^https?://[^\s/@]+\S*\Z", max_length=500)]
SlowSeconds = Annotated[float, Meta(gt=0, le=86_400)]


class WatchOptions(Options, frozen=True, kw_only=True):
    """What operators can see of requests. Nothing here shows arguments, answers or who a caller is."""

    title: ClassVar[str] = "Watching"

    access_log: Annotated[
        bool,
        Meta(
            description="Log a line for each request, at level info: method, tool, outcome, milliseconds, and a code for the caller that changes with each start."
        ),
    ] = False
    slow_call: Annotated[
        SlowSeconds | None,
        Meta(
            description="Log a warning for each request that took at least this many seconds.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds above 0, such as 2 or 0.5"},
        ),
    ] = None
    metrics_file: Annotated[
        str | None,
        Meta(
            description="Write the metrics to this file every 15 seconds and at the end, for the Node Exporter's textfile collector. Its name must end with .prom.",
            extra={
                "metavar": "FILE",
                "refused": {
                    r"(?<!\.prom)\Z": "must name a file that ends with .prom: the collector reads no other"
                },
            },
        ),
    ] = None
    otlp: Annotated[
        CollectorAddress | None,
        Meta(
            description="Send traces to the OpenTelemetry collector at this address, over HTTP. Needs the extra `otel`; the usual OTEL_ variables say the rest.",
            extra={
                "metavar": "URL",
                "expected": "an address that starts with http:// or https://, such as http://127.0.0.1:4318",
            },
        ),
    ] = None
