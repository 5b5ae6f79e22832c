"""The sample chain as if its newest block had just come: the answers of a node that is in sync."""

import json
import time

from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import Chain
from qortal_mcp.qortal.sample.reader import answer


def live_answer(target: str, age_seconds: float = 0.0, chain: Chain | None = None) -> RawReply:
    """What a node answers whose newest block is so many seconds old."""
    reply = answer(target, chain)
    if target != "/blocks/last":
        return reply
    block = {**json.loads(reply.body), "timestamp": int((time.time() - age_seconds) * 1000)}
    return RawReply(reply.status, reply.content_type, json.dumps(block).encode())
