"""The sample chain as if its newest block had just come: the answers of a node that is in sync."""

import json
import time

from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import Chain
from qortal_mcp.qortal.sample.reader import answer


def live_answer(target: str, age_seconds: float = 0.0, chain: Chain | None = None) -> RawReply:
    """What a node answers whose newest block is so many seconds old."""
    reply = answer(target, chain)
    now = {"/blocks/last": ("timestamp", age_seconds), "/admin/info": ("currentTimestamp", 0.0)}.get(target)
    if now is None:
        return reply
    member, ago_seconds = now
    fresh = {**json.loads(reply.body), member: int((time.time() - ago_seconds) * 1000)}
    return RawReply(reply.status, reply.content_type, json.dumps(fresh).encode())
