"""The node itself."""

from typing import Any

from ..replies.admin import Activity, NodeInfo, NodeStatus
from .record import LIVE, MINUTE, Endpoint, json_of, number

NODE_STATUS = Endpoint(
    "/admin/status", json_of(NodeStatus), LIVE, returns="Synchronization, height and number of peers."
)
NODE_INFO = Endpoint("/admin/info", json_of(NodeInfo), LIVE, returns="Version and uptime.")
ACTIVITY = Endpoint(
    "/admin/summary",
    json_of(Activity),
    MINUTE,
    returns="Number of blocks, names and transactions in the last 24 hours.",
)
UPTIME = Endpoint(
    "/admin/uptime", number, LIVE, returns="Milliseconds since the node started, as plain text."
)

FAMILY: tuple[Endpoint[Any], ...] = (NODE_STATUS, NODE_INFO, ACTIVITY, UPTIME)
