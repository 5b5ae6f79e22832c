"""Two servers on one node and one store, as processes of their own."""

import contextlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.cli.running import Listening, listening
from tests.qortal.live_chain import live_answer

from qortal_mcp.qortal.node.source import RawReply


class RecordingNode:
    """The sample chain on a real socket, not marked as one; `asked` is what it was asked for. `height` moves it on."""

    def __init__(self) -> None:
        asked: list[str] = []
        self.height: int | None = None
        node = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked.append(self.path)
                reply = node._answer(self.path)
                self.send_response(reply.status)
                self.send_header("content-type", reply.content_type)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *words: Any) -> None:
                return None

        self.asked = asked
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _answer(self, target: str) -> RawReply:
        reply = live_answer(target)
        if self.height is None or target not in ("/blocks/last", "/admin/status"):
            return reply
        newest = {"height": self.height, "signature": f"block{self.height}"}
        body = json.dumps({**json.loads(reply.body), **newest}).encode()
        return RawReply(reply.status, reply.content_type, body)

    @contextlib.contextmanager
    def running(self) -> Iterator["RecordingNode"]:
        thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


@contextlib.contextmanager
def two_servers(
    node: RecordingNode, store: str, *words: str, env: dict[str, str] | None = None
) -> Iterator[tuple[Listening, Listening]]:
    """Both have found the store at this address and know which chain it is."""
    command = ("serve", "--node", node.url, "--cache", store, *words)
    with listening(*command, env=env) as a, listening(*command, env=env) as b:
        for server in (a, b):
            server.wait_for(lambda said: "the shared store answers" in said)
            call(server, "get_node_status")
        yield a, b


def call(server: Listening, tool: str, **arguments: Any) -> Any:
    """The result of a call."""
    params = {"name": tool, "arguments": arguments}
    status, body = server.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert status == 200, body
    return json.loads(body)["result"]


def number(server: Listening, line: str) -> float:
    """A number of the metrics page; 0 if it is not there."""
    page = server.ask("/metrics")[1].decode()
    return next((float(each.rpartition(" ")[2]) for each in page.splitlines() if each.startswith(line)), 0.0)
