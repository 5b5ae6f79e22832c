"""From settings to a node and a server: what the commands and the ASGI application both start with."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from .settings import NodeOptions, ShareOptions, WatchOptions, WrongSetting, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.trace import Tracer

    from .metrics import Metrics
    from .metrics.file import MetricsFile
    from .one_of_several import OneOfSeveral
    from .qortal.node.node import Node
    from .server.dispatch import Server
    from .server.options import Watched
    from .server.rates.rate import Rate
    from .store.store import Store


def store_of(options: ShareOptions, password: str | None) -> "Store | None":
    """What is shared with other processes, if anything. Nothing is opened yet.

    Raises: WrongSetting.
    """
    if options.cache is None:
        if options.cache_password_file is not None:
            raise WrongSetting("--cache-password-file is for --cache, which is not given.")
        return None
    from .store.address import address_of
    from .store.store import Store

    try:
        address = address_of(options.cache)
    except ValueError as exc:
        raise WrongSetting(f"--cache {exc}.") from None
    try:
        from .store.connection import connected
    except ImportError:
        raise WrongSetting(
            "--cache needs the Valkey client: install qortal-mcp with its extra `shared`."
        ) from None
    return Store(address, password, connected)


def _rate_of(
    options: NodeOptions, rate_limit: float | None, store: "Store | None", among: "OneOfSeveral | None"
) -> "Rate | None":
    """What counts calls, if not this process alone: all who use the store and read the same nodes, or the workers of this machine."""
    here = None if among is None else among.rate(rate_limit)
    if store is None or rate_limit is None:
        return here
    from .qortal.limits import NodeLimits
    from .qortal.node.origin import origin_of
    from .qortal.node.shared import group_of
    from .server.rates.rate import RateLimit
    from .server.rates.shared_rate import SharedRate

    origins = ["sample"] if options.sample else [origin_of(url) for url in options.node]
    group = group_of(origins, NodeLimits(max_tip_age_seconds=seconds(options.max_tip_age)))
    return SharedRate(store, group, rate_limit, here or RateLimit(rate_limit))


def node_of(
    options: NodeOptions,
    watching: WatchOptions | None = None,
    store: "Store | None" = None,
    among: "OneOfSeveral | None" = None,
) -> "Node":
    """The nodes in their order, or the sample chain, which is never shared. No request is made yet.

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
        return Node.at(options.node, limits, confirm=options.confirm, store=store)
    from .tracing.nodes import TracedSource

    return Node.at(
        options.node,
        limits,
        confirm=options.confirm,
        wrap=lambda source: TracedSource(source, tracer),
        store=store,
    )


def check_nodes(options: NodeOptions) -> None:
    """Refuse an invalid address, or fewer nodes than should be compared, before a node is needed.

    Raises: WrongSetting.
    """
    if options.sample:
        if options.confirm > 1:
            raise WrongSetting(
                "--confirm and --sample cannot be combined: the sample chain is a single node."
            )
        return
    from .qortal.node.origin import origin_of

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


def checked_metrics_file(options: WatchOptions) -> "Path | None":
    """Raises: WrongSetting if it cannot be written."""
    if options.metrics_file is None:
        return None
    from pathlib import Path

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
    store: "Store | None" = None,
    among: "OneOfSeveral | None" = None,
) -> "Server":
    """A server over a node, with the chosen toolsets.

    Raises: WrongSetting.
    """
    from .qortal.server import make_server

    watched = watched_of(watching or WatchOptions())
    try:
        rate = _rate_of(options, rate_limit, store, among)
        server = make_server(
            node, toolsets=options.toolsets, rate_limit=rate_limit, rate=rate, watched=watched
        )
    except ValueError as exc:
        raise WrongSetting(f"--toolsets: {exc}.") from None
    if among is not None:
        among.divide(server)
    return server
