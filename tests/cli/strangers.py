"""Servers to audit: HTTP answered by a function, and programs as scripts. Loopback only."""

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# (verb, headers, body) -> (status, headers, body)
Answered = tuple[int, Mapping[str, str], bytes]
Answer = Callable[[str, Mapping[str, str], bytes], Answered]


@contextlib.contextmanager
def http_stranger(answer: Answer) -> Iterator[str]:
    """The address of a server that says what a function says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, more, said = answer(self.command, headers, body)
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_DELETE = do_POST

        def log_message(self, *_: object) -> None:
            """Tests read standard error."""

    with _listening(Handler) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@contextlib.contextmanager
def http_node(answer: Callable[[str], Answered]) -> Iterator[str]:
    """The address of a node that answers targets as a function does."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, said = answer(self.path)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(said))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Tests read standard error."""

    with _listening(Handler) as port:
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def _listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# A right server of the handshake revisions. `bend(message, reply)` in PART may change what it says.
PROGRAM = """\
import json, sys

TOOLS = [
    {"name": "look", "description": "Looks.", "inputSchema": {"type": "object", "properties": {}},
     "annotations": {"readOnlyHint": True}},
    {"name": "find", "description": "Finds.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}},
    {"name": "wipe", "description": "Wipes.",
     "inputSchema": {"type": "object", "properties": {"disk": {"type": "string"}}, "required": ["disk"]}},
]
SPOKEN = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def bend(message, reply):
    return reply


def error(code, words="no"):
    return {"error": {"code": code, "message": words}}


def right(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        asked = params.get("protocolVersion")
        version = asked if asked in SPOKEN else SPOKEN[-1]
        info = {"name": "stranger", "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return error(-32602) if "cursor" in params else {"result": {"tools": TOOLS}}
    if method == "tools/call":
        if params.get("name") not in [tool["name"] for tool in TOOLS]:
            return error(-32602)
        said = json.dumps({"name": params["name"], "arguments": params.get("arguments")})
        return {"result": {"content": [{"type": "text", "text": said}]}}
    return error(-32601)


def answer(message):
    if isinstance(message, list):
        return [answer(one) for one in message if "id" in one]
    if "id" not in message:
        return None
    reply = bend(message, right(message))
    return None if reply is None else {"jsonrpc": "2.0", "id": message["id"], **reply}

#PART#

def main():
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except ValueError:
            reply = {"jsonrpc": "2.0", "id": None, **error(-32700)}
        if reply is not None:
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
"""


def program(folder: Path, part: str = "", name: str = "stranger.py") -> tuple[str, ...]:
    """The command line of a program that is right but for a part that is put into it."""
    file = folder / name
    file.write_text(PROGRAM.replace("#PART#", part), encoding="utf-8")
    return (sys.executable, "-I", "-S", str(file))


def said(answer: Callable[[Any], Any]) -> Answer:
    """HTTP around a function from message to reply; None is a notification taken."""

    def answered(verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
        if verb != "POST":
            return 405, {}, b""
        if headers.get("origin"):
            return 403, {}, b""
        try:
            reply = answer(json.loads(body))
        except ValueError:
            reply = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no"}}
            return 400, _JSON, json.dumps(reply).encode()
        if not "2024" < headers.get("mcp-protocol-version", "2025-11-25") < "2026":
            return 400, {}, b""
        return (202, {}, b"") if reply is None else (200, _JSON, json.dumps(reply).encode())

    return answered


_JSON = {"content-type": "application/json"}


def http_program(part: str = "") -> Answer:
    """The program above behind HTTP."""
    space: dict[str, Any] = {"__name__": "stranger"}
    exec(PROGRAM.replace("#PART#", part), space)
    return said(space["answer"])
