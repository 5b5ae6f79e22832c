"""The node itself."""

from typing import Any

from ..replies.admin import NodeInfo, NodeStatus
from .record import LIVE, Endpoint, json_of

NODE_STATUS = Endpoint(
    "/admin/status", json_of(NodeStatus), LIVE, returns="Synchronization, height and number of peers."
)
NODE_INFO = Endpoint("/admin/info", json_of(NodeInfo), LIVE, returns="Version and uptime.")

FAMILY: tuple[Endpoint[Any], ...] = (NODE_STATUS, NODE_INFO)
