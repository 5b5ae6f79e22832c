"""From settings to a node and a server: what the commands and the ASGI application both start with."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .settings import NodeOptions, WatchOptions, WrongSetting, seconds

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from .metrics import Metrics
    from .metrics.file import MetricsFile
    from .one_of_several import OneOfSeveral
    from .qortal.node.node import Node
    from .server.dispatch import Server
    from .server.options import Watched


def node_of(
    options: NodeOptions, watching: WatchOptions | None = None, among: "OneOfSeveral | None" = None
) -> "Node":
    """The nodes in their order, or the sample chain. No request is made yet.

    Raises: WrongSetting.
    """
    from .qortal.limits import NodeLimits, share_of_node
    from .qortal.node.node import Node

    check_nodes(options)
    limits = NodeLimits(max_tip_age_seconds=seconds(options.max_tip_age))
    if among is not None:
        limits = share_of_node(limits, among.number, among.of)
    if options.sample:
        return Node.sample(limits)
    tracer = None if watching is None else _tracer_of(watching)
    if tracer is None:
        return Node.at(options.node, limits, confirm=options.confirm)
    from .tracing.nodes import TracedSource

    return Node.at(
        options.node, limits, confirm=options.confirm, wrap=lambda source: TracedSource(source, tracer)
    )


def check_nodes(options: NodeOptions) -> None:
    """Refuse an invalid address, or fewer nodes than should be compared, before a node is needed.

    Raises: WrongSetting.
    """
    from .qortal.node.origin import origin_of

    if options.sample:
        if options.confirm > 1:
            raise WrongSetting(
                "--confirm and --sample cannot be combined: the sample chain is a single node."
            )
        return
    try:
        different = {origin_of(url) for url in options.node}
    except ValueError as exc:
        raise WrongSetting(f"--node: {exc}.") from None
    if len(different) < options.confirm:
        given = "1 is given" if len(different) == 1 else f"{len(different)} are given"
        raise WrongSetting(
            f"--confirm {options.confirm} needs {options.confirm} different nodes, and {given}: repeat --node."
        )


def watched_of(options: WatchOptions) -> "Watched":
    """Raises: WrongSetting."""
    from .server.options import Watched

    tracer, spans = _tracer_of(options), None
    if tracer is not None:
        from .tracing.requests import RequestSpans

        spans = RequestSpans(tracer)
    return Watched(access_log=options.access_log, slow_seconds=options.slow_call, spans=spans)


def _tracer_of(options: WatchOptions) -> "Tracer | None":
    """Raises: WrongSetting."""
    if options.otlp is None:
        return None
    try:
        from .tracing.exporting import tracer_to
    except ImportError:
        raise WrongSetting("--otlp needs OpenTelemetry: install qortal-mcp with its extra `otel`.") from None
    return tracer_to(options.otlp)


def metrics_file_of(
    options: WatchOptions, metrics: "Metrics", look: "Callable[[], Awaitable[None]] | None" = None
) -> "MetricsFile | None":
    """The file that the metrics are written to, if any; `look` brings them up to date.

    Raises: WrongSetting.
    """
    path = checked_metrics_file(options)
    if path is None:
        return None
    from .metrics.file import MetricsFile

    return MetricsFile(path, metrics, look)


def checked_metrics_file(options: WatchOptions) -> Path | None:
    """Raises: WrongSetting if it cannot be written."""
    if options.metrics_file is None:
        return None
    from .metrics.file import unwritable

    path = Path(options.metrics_file).expanduser()
    if why := unwritable(path):
        raise WrongSetting(f"--metrics-file cannot be written: {why}.")
    return path


def server_of(
    options: NodeOptions,
    node: "Node | Callable[[], Node]",
    rate_limit: float | None = None,
    watching: WatchOptions | None = None,
    among: "OneOfSeveral | None" = None,
) -> "Server":
    """A server over a node, with the chosen toolsets.

    Raises: WrongSetting.
    """
    from .qortal.server import make_server

    watched = watched_of(watching or WatchOptions())
    try:
        server = make_server(node, toolsets=options.toolsets, rate_limit=rate_limit, watched=watched)
    except ValueError as exc:
        raise WrongSetting(f"--toolsets: {exc}.") from None
    if among is not None:
        among.divide(server)
    return server
