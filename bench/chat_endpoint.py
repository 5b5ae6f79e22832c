"""A model's endpoint for the bench: it asks for one call, then answers, and knows when it was asked."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CALL = {"name": "get_node_status", "arguments": "{}"}
# About what a model says; some fifty of them are all that is remembered of a conversation.
_ANSWER = "The chain is 596 blocks high. " * 30


class ChatEndpoint:
    """Serves in a thread of the bench, until the block ends."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._asked_at = 0.0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "ChatEndpoint":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def forget(self) -> None:
        """Only what is asked from now on counts."""
        self._asked.clear()

    def asked_at(self, seconds: float) -> float | None:
        """When the first question came, on the clock `time.perf_counter`."""
        return self._asked_at if self._asked.wait(seconds) else None

    def _note(self) -> None:
        if not self._asked.is_set():
            self._asked_at = time.perf_counter()
            self._asked.set()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        note = self._note

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_POST(self) -> None:
                note()
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                data = _stream(body["messages"][-1]["role"] == "user")
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client is ended once it has asked."""


def _stream(calls: bool) -> bytes:
    delta: dict[str, Any] = {"content": _ANSWER}
    if calls:
        delta = {"tool_calls": [{"index": 0, "id": "call_0", "type": "function", "function": _CALL}]}
    usage = {"prompt_tokens": 6000, "completion_tokens": 100, "total_tokens": 6100}
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]},
        {"choices": [], "usage": usage},
    ]
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n"]).encode()
