"""A node on loopback for tests that run no loop: the sample chain, in sync unless a test wants it old, changed or gone."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.qortal.live_chain import live_answer

# Where a node tells its height.
_HEIGHTS = ("/admin/status", "/blocks/last")


class StubNode:
    """Its newest block is `age_seconds` old and `more_blocks` above the sample's; `change` may alter every reply."""

    def __init__(self) -> None:
        self.age_seconds = 0.0
        self.more_blocks = 0
        self.change: Callable[[Any], Any] = lambda reply: reply
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, after a stop at the same address as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), self._handler())
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, target: str) -> tuple[int, str, bytes]:
        reply = live_answer(target, self.age_seconds)
        if reply.status != 200 or not reply.content_type.startswith("application/json"):
            return reply.status, reply.content_type, reply.body
        value = self.change(json.loads(reply.body))
        if target in _HEIGHTS:
            value["height"] += self.more_blocks
        if target == "/blocks/last" and self.more_blocks:
            at = self.more_blocks % len(value["signature"])
            value["signature"] = value["signature"][at:] + value["signature"][:at]
        return reply.status, reply.content_type, json.dumps(value).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        node = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, content_type, body = node.answer(self.path)
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *words: object) -> None:
                """Nobody reads it."""

        return Handler


@contextmanager
def stub_node() -> Iterator[StubNode]:
    node = StubNode()
    try:
        yield node
    finally:
        node.stop()
