"""`serve --workers` as a test sees it: connections that stay open, and which worker is at the other end of each."""

import contextlib
import http.client
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.cli.running import ALICE, SECONDS, Listening

MODERN = "2026-07-28"


def modern(
    method: str, params: Mapping[str, Any], capabilities: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A request of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


VALIDATE = called("validate_address", address=ALICE)


class Line:
    """A connection that stays open, and so stays with its worker."""

    def __init__(self, server: Listening) -> None:
        parts = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
        self.worker = 0
        self.ask("/healthz")

    def ask(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        kind = {} if body is None else {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        self._connection.request("GET" if body is None else "POST", path, data, {**kind, **(headers or {})})
        reply = self._connection.getresponse()
        self.worker = int((reply.getheader("x-request-id") or "0").partition(".")[0])
        return reply.status, reply.read()

    def call(self, body: Any = VALIDATE, headers: Mapping[str, str] | None = None) -> Any:
        status, said = self.ask("/mcp", body, headers)
        assert status == 200, said
        return json.loads(said)

    def call_modern(self, body: Any) -> Any:
        params = body["params"]
        headers = {
            "mcp-protocol-version": MODERN,
            "mcp-method": body["method"],
            "mcp-name": params.get("name", ""),
        }
        accept = {"accept": "application/json, text/event-stream"}
        return self.call(body, {**accept, **{name: value for name, value in headers.items() if value}})

    def listen(self, *uris: str) -> Iterator[Any]:
        """The messages of `subscriptions/listen` about these resources, as they come."""
        body = modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        self._connection.request(
            "POST",
            "/mcp",
            json.dumps(body),
            {
                "content-type": "application/json",
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": MODERN,
                "mcp-method": "subscriptions/listen",
            },
        )
        reply = self._connection.getresponse()
        assert reply.status == 200, reply.read()
        self.worker = int((reply.getheader("x-request-id") or "0").partition(".")[0])
        for line in reply:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])

    def close(self) -> None:
        self._connection.close()


@contextlib.contextmanager
def lines(server: Listening, count: int) -> Iterator[list[Line]]:
    """So many open connections. Each went to whoever had the fewest, so that the workers have as many."""
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            line = Line(server)
            stack.callback(line.close)
            opened.append(line)
        yield opened


def pids_of(server: Listening) -> list[int]:
    """The processes of the workers, by number."""
    said = server.wait_for(lambda text: '"workers serve"' in text and text.endswith("\n"))
    found = next(json.loads(line) for line in said if '"workers serve"' in line)
    return [int(pid) for pid in re.findall(r"\d+", found["qortal_mcp.pids"])]


def events(server: Listening, event: str) -> list[dict[str, Any]]:
    """The log lines about an event so far."""
    said = [json.loads(line) for line in server.err.splitlines() if line.startswith("{")]
    return [line for line in said if line["event"] == event]
