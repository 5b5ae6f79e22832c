"""`GET /console/status`: whether the chain can be read, and the command that reads the same one.

Always 200: a browser reports the 503 of `/readyz` as an error, however well the page explains it.
"""

import msgspec
from msgspec import Struct

from ..connect.program import node_words, program
from ..qortal.node.node import Node
from ..qortal.server import Readiness, readiness
from ..settings import NodeOptions
from ..transports.http import Exchange, Handler
from .replies import refuse, reply_json


class Status(Struct, frozen=True, rename="camel"):
    """What the page gets."""

    is_ready: bool
    node: Readiness
    # The program that runs now, and the options that make it read this chain with these tools.
    program: tuple[str, ...]
    options: tuple[str, ...]


def status(node: Node, options: NodeOptions) -> Handler:
    words = tuple(node_words(options))

    async def handle(exchange: Exchange) -> None:
        if exchange.scope["method"] not in ("GET", "HEAD"):
            await refuse(exchange, 405, "Only GET is served here.", (b"allow", b"GET, HEAD, OPTIONS"))
            return
        facts, is_ready = await readiness(node)
        found = Status(is_ready, facts, program(), words)
        await reply_json(exchange, 200, msgspec.json.encode(found))

    return handle
