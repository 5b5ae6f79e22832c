"""Every number that operators are shown: its name, its labels, what it means and where it appears.

The only place that spells a name; docs/watching.md lists them, and the dashboard and the alerts are tested against them.
"""

from typing import Literal

from msgspec import Struct

# The boundaries that the MCP semantic conventions recommend for durations of operations, in seconds.
BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
# Answers from memory take microseconds: below the first of those they need boundaries of their own.
FINE_BUCKETS = (0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, BUCKETS[0])

Where = Literal[
    "every page",
    "HTTP",
    "sessions",
    "the Qortal server",
    "with --cache",
    "bridge",
    "several servers",
    "several workers",
]
# How the numbers of several workers become one. Counters and histograms are always added up.
Together = Literal["sum", "max", "min"]


class Metric(Struct, frozen=True, kw_only=True):
    """One number, or one for each combination of its labels. An empty label is not written."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    where: Where = "every page"
    together: Together = "sum"


OPERATIONS = Metric(
    name="mcp_server_operation_duration_seconds",
    kind="histogram",
    meaning="Duration of MCP requests as seen by the server, by the MCP semantic conventions.",
    labels=(
        "mcp_method_name",
        "gen_ai_tool_name",
        "error_type",
        "rpc_response_status_code",
        "network_transport",
        "mcp_protocol_version",
    ),
    buckets=BUCKETS,
)
FINE = Metric(
    name="qortal_mcp_request_duration_fine_seconds",
    kind="histogram",
    meaning="Duration of requests that succeeded, with boundaries for those answered from memory in microseconds.",
    labels=("mcp_method_name", "gen_ai_tool_name"),
    buckets=FINE_BUCKETS,
)
TOOL_FAILURES = Metric(
    name="qortal_mcp_tool_failures_total",
    kind="counter",
    meaning="Calls that a tool answered with isError, by the code that clients get with it.",
    labels=("gen_ai_tool_name", "code"),
)
LIMIT_REACHED = Metric(
    name="qortal_mcp_limit_reached_total",
    kind="counter",
    meaning="Requests and connections refused because a limit was reached.",
    labels=("limit",),
)
LIMIT_USAGE = Metric(
    name="qortal_mcp_limit_usage_ratio",
    kind="gauge",
    meaning="How much of a limit is in use, from 0 to 1.",
    labels=("limit",),
    # Each worker has its share of a limit, and refuses when that is used up.
    together="max",
)
IN_FLIGHT = Metric(name="mcp_server_requests_in_flight", kind="gauge", meaning="Requests being worked on.")
SUBSCRIPTIONS = Metric(
    name="mcp_server_subscriptions", kind="gauge", meaning="Open subscriptions/listen streams."
)
INFO = Metric(
    name="qortal_mcp_info",
    kind="gauge",
    meaning="Always 1; its labels say which server this is.",
    labels=("server", "version"),
    # It is one server, however many workers it has.
    together="max",
)

HTTP_CONNECTIONS = Metric(
    name="qortal_mcp_http_connections",
    kind="gauge",
    meaning="Open connections of HTTP clients and WebSockets.",
    where="HTTP",
)
HTTP_REFUSED = Metric(
    name="qortal_mcp_http_refused_total",
    kind="counter",
    meaning="HTTP requests refused before any message was read, by HTTP status.",
    labels=("http_response_status_code",),
    where="HTTP",
)
WEBSOCKETS = Metric(
    name="mcp_server_websockets", kind="gauge", meaning="Open WebSocket connections.", where="HTTP"
)
SESSIONS = Metric(name="mcp_server_sessions", kind="gauge", meaning="Open legacy sessions.", where="sessions")

RESIDENT_BYTES = Metric(
    name="qortal_mcp_process_resident_memory_bytes", kind="gauge", meaning="Memory of this process."
)
CPU_SECONDS = Metric(
    name="qortal_mcp_process_cpu_seconds_total", kind="counter", meaning="CPU time this process has used."
)
OPEN_FILES = Metric(
    name="qortal_mcp_process_open_files", kind="gauge", meaning="Open files and sockets of this process."
)
MOST_FILES = Metric(
    name="qortal_mcp_process_max_files",
    kind="gauge",
    meaning="How many files and sockets this process may open.",
)
START_TIME = Metric(
    name="qortal_mcp_process_start_time_seconds",
    kind="gauge",
    meaning="When this process started, in seconds since 1970.",
    # Since when there has been a server: a worker that is replaced changes nothing about that.
    together="min",
)

NODE_REQUESTS = Metric(
    name="qortal_node_request_duration_seconds",
    kind="histogram",
    meaning="Duration of requests to a node, waiting for a place included.",
    labels=("node",),
    buckets=BUCKETS,
    where="the Qortal server",
)
NODE_FAILURES = Metric(
    name="qortal_node_failures_total",
    kind="counter",
    meaning="Requests to a node that gave no usable answer, by the code that tools report for it.",
    labels=("node", "code"),
    where="the Qortal server",
)
NODE_IN_FLIGHT = Metric(
    name="qortal_node_requests_in_flight",
    kind="gauge",
    meaning="Requests to a node in progress.",
    labels=("node",),
    where="the Qortal server",
)
NODE_WAITING = Metric(
    name="qortal_node_requests_waiting",
    kind="gauge",
    meaning="Requests that wait for a place at a node.",
    labels=("node",),
    where="the Qortal server",
)
NODE_UP = Metric(
    name="qortal_node_up",
    kind="gauge",
    meaning="1 if the node answered last time, 0 if it failed and is left alone for a while.",
    labels=("node",),
    where="the Qortal server",
    # A node that any of them reaches is there.
    together="max",
)
NODE_HEIGHT = Metric(
    name="qortal_node_height",
    kind="gauge",
    meaning="Height of the newest block of a node. Absent if the node does not report it.",
    labels=("node",),
    where="the Qortal server",
    # The newest block that any of them has heard of.
    together="max",
)
NODE_TIP_AGE = Metric(
    name="qortal_node_tip_age_seconds",
    kind="gauge",
    meaning="Age of the newest block of a node. Absent if the node does not report it, and for the sample chain.",
    labels=("node",),
    where="the Qortal server",
    # The newest block that any of them has heard of.
    together="min",
)
NODE_MOST_TIP_AGE = Metric(
    name="qortal_node_max_tip_age_seconds",
    kind="gauge",
    meaning="The age from which a newest block is too old: --max-tip-age.",
    where="the Qortal server",
    # A setting, the same for all.
    together="max",
)
NODE_SYNCHRONIZING = Metric(
    name="qortal_node_synchronizing",
    kind="gauge",
    meaning="1 if the node says that it is synchronizing.",
    labels=("node",),
    where="the Qortal server",
    # As the one says that asked last: a node does not go back to it, and an idle worker may not have heard that it is over.
    together="min",
)
NODE_READS = Metric(
    name="qortal_node_reads_total",
    kind="counter",
    meaning="What tools read: from memory (`cache`), from the shared store (`store`), or from a node (`node`), also together with others that read the same.",
    labels=("source",),
    where="the Qortal server",
)
CACHE_BYTES = Metric(
    name="qortal_node_cache_bytes",
    kind="gauge",
    meaning="Answers from nodes kept in memory.",
    where="the Qortal server",
)

WORKERS = Metric(
    name="qortal_mcp_workers",
    kind="gauge",
    meaning="Workers that serve. Fewer than --workers: one is being replaced.",
    where="several workers",
)
WORKER_RESTARTS = Metric(
    name="qortal_mcp_worker_restarts_total",
    kind="counter",
    meaning="Workers that ended without being asked to, and were replaced.",
    where="several workers",
)

STORE_UP = Metric(
    name="qortal_mcp_store_up",
    kind="gauge",
    meaning="1 if the shared store answers, 0 while it is away and this process goes on by itself.",
    where="with --cache",
    together="min",
)
STORE_REQUESTS = Metric(
    name="qortal_mcp_store_requests_total",
    kind="counter",
    meaning="What was asked of the shared store, and what came of it: a `read` is a hit, a miss, stale or unusable, a `write` is sent or dropped, "
    "a `limit` is counted there (`shared`) or in this process alone (`alone`). Of `any` kind are commands that it refused, and failures, after each of which it is left alone.",
    labels=("operation", "outcome"),
    where="with --cache",
)

BRIDGE_REPAIRS = Metric(
    name="mcp_bridge_repairs_total",
    kind="counter",
    meaning="What a server answered wrongly and was repaired.",
    labels=("code", "server"),
    where="bridge",
)
BRIDGE_CONNECTIONS = Metric(
    name="mcp_bridge_connections", kind="gauge", meaning="Connections to the servers behind.", where="bridge"
)
BRIDGE_CONNECTIONS_READY = Metric(
    name="mcp_bridge_connections_ready",
    kind="gauge",
    meaning="Connections to the servers behind that are up.",
    where="bridge",
)
BRIDGE_SERVERS = Metric(
    name="mcp_bridge_servers", kind="gauge", meaning="Servers behind the front.", where="several servers"
)
BRIDGE_SERVERS_READY = Metric(
    name="mcp_bridge_servers_ready",
    kind="gauge",
    meaning="Servers behind the front that are up.",
    where="several servers",
)

METRICS = (
    OPERATIONS,
    FINE,
    TOOL_FAILURES,
    LIMIT_REACHED,
    LIMIT_USAGE,
    IN_FLIGHT,
    SUBSCRIPTIONS,
    INFO,
    RESIDENT_BYTES,
    CPU_SECONDS,
    OPEN_FILES,
    MOST_FILES,
    START_TIME,
    HTTP_CONNECTIONS,
    HTTP_REFUSED,
    WEBSOCKETS,
    SESSIONS,
    NODE_REQUESTS,
    NODE_FAILURES,
    NODE_IN_FLIGHT,
    NODE_WAITING,
    NODE_UP,
    NODE_HEIGHT,
    NODE_TIP_AGE,
    NODE_MOST_TIP_AGE,
    NODE_SYNCHRONIZING,
    NODE_READS,
    CACHE_BYTES,
    STORE_UP,
    STORE_REQUESTS,
    BRIDGE_REPAIRS,
    BRIDGE_CONNECTIONS,
    BRIDGE_CONNECTIONS_READY,
    BRIDGE_SERVERS,
    BRIDGE_SERVERS_READY,
    WORKERS,
    WORKER_RESTARTS,
)
