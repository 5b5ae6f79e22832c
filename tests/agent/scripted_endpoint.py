"""An OpenAI-compatible endpoint on a real socket that says what its script says, and keeps what it was asked.

It runs in a thread of the test, so that a command in a process of its own can talk to it too.
"""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from msgspec import Struct, structs

CHAT = "/v1/chat/completions"

# How a stream ends: as it should; without its `[DONE]`; closed, reset or silent in the middle.
End: TypeAlias = Literal["done", "no-done", "closed", "reset", "hangs"]


class Request(Struct, frozen=True):
    """What the endpoint was asked. `body` is the decoded JSON, None if there was none."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def wants_stream(self) -> bool:
        return isinstance(self.body, dict) and self.body.get("stream") is True


class Said(Struct, frozen=True, kw_only=True):
    """A reply of the model. `stream`: False is answered as one JSON object whatever was asked for."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str | None = None
    # Tokens of prompt and answer. "counted": a quarter of the characters; None: the endpoint does not count.
    usage: tuple[int, int] | Literal["counted"] | None = "counted"
    stream: bool = True
    # Characters in one event; 0: everything in one.
    piece: int = 6
    # Seconds before each event.
    pause: float = 0.0
    end: End = "done"
    # Events before the end.
    events: int | None = None


class Raw(Struct, frozen=True, kw_only=True):
    """A reply of any status, headers and body; with `bare`, the body is everything that is sent."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""
    bare: bool = False
    # The same as for a stream, after the body.
    end: End = "done"


Reply: TypeAlias = Said | Raw
Script: TypeAlias = Sequence[Reply] | Callable[[Request], Reply]


def says(text: str, **options: Any) -> Said:
    return Said(text=text, **options)


def calls(*wanted: tuple[str, Any], text: str = "", **options: Any) -> Said:
    """Calls as (name, arguments): an object, or a text that is sent as it is."""
    return Said(text=text, calls=wanted, **options)


def refuses(status: int, message: str = "", **headers: str) -> Raw:
    """An error as OpenAI words it; `retry_after="3"` is the header Retry-After."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Raw(status=status, headers={"content-type": "application/json", **named}, body=body)


def streams(*chunks: Any, end: End = "done") -> Raw:
    """A stream of these chunks: objects are encoded, texts are sent as they are."""
    body = b"".join(_event(chunk) for chunk in chunks) + (b"data: [DONE]\n\n" if end == "done" else b"")
    return Raw(headers={"content-type": "text/event-stream"}, body=body, end=end)


class ScriptedEndpoint:
    """`with ScriptedEndpoint([says("Hello.")]) as endpoint:` serves on a free port of 127.0.0.1.

    Each reply of a list is used once, in order; with `streams=False` none is a stream. `pages` are
    answered by path: an object as JSON, or what a function makes of the request.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        streams: bool = True,
        pages: Mapping[str, Any] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.pages = dict(pages or {})
        self._script = script
        self._streams = streams
        self._lock = threading.Lock()
        self._used = 0
        self._ended = threading.Event()
        # Set when a client has gone before its reply was complete.
        self.was_left = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.port: int = self._server.server_address[1]
        # Certificates are made out to names.
        origin = "http://127.0.0.1" if tls is None else "https://localhost"
        self.base_url = f"{origin}:{self.port}/v1"

    @property
    def chats(self) -> list[Request]:
        """The requests for a completion."""
        return [request for request in self.requests if request.path == CHAT]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, seconds: float) -> bool:
        """Whether the endpoint was ended meanwhile."""
        return self._ended.wait(seconds)

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if request.method == "GET" or request.path in self.pages:
                return self._page(request)
            if request.path != CHAT:
                return refuses(404, f"{request.path} is not here")
            reply = self._next(request)
        if isinstance(reply, Raw):
            return reply
        if reply.usage == "counted":
            tokens = len(json.dumps(request.body)) // 4, len(reply.text) // 4 + 1
            reply = structs.replace(reply, usage=tokens)
        return structs.replace(reply, stream=reply.stream and self._streams and request.wants_stream)

    def _page(self, request: Request) -> Reply:
        page = self.pages.get(request.path)
        if page is None:
            return refuses(404, f"{request.path} is not here")
        if isinstance(page, Raw):
            return page
        if callable(page):
            reply: Reply = page(request)
            return reply
        return Raw(headers={"content-type": "application/json"}, body=json.dumps(page).encode())

    def _next(self, request: Request) -> Reply:
        if callable(self._script):
            return self._script(request)
        if self._used == len(self._script):
            return refuses(400, "the script has no more replies")
        self._used += 1
        return self._script[self._used - 1]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is part of the tests."""


def _handler(endpoint: ScriptedEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Small pieces would wait for 40 ms each.
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def _reply(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            try:
                body = json.loads(sent) if sent else None
            except ValueError:
                body = sent
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = endpoint.reply_to(Request(self.command, self.path, headers, body))
            try:
                if isinstance(reply, Raw):
                    self._send_raw(reply)
                elif reply.stream:
                    self._send_stream(reply)
                else:
                    self._send_whole(_whole(reply))
            except OSError:
                self.close_connection = True
                endpoint.was_left.set()

        def _send_raw(self, reply: Raw) -> None:
            if not reply.bare:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                missing = 0 if reply.end in ("done", "no-done") else 1
                self.send_header("content-length", str(len(reply.body) + missing))
                self.end_headers()
            self.wfile.write(reply.body)
            self._end(reply.end)
            self.close_connection = self.close_connection or reply.bare

        def _send_whole(self, completion: dict[str, Any]) -> None:
            body = json.dumps(completion).encode()
            self._send_raw(Raw(headers={"content-type": "application/json"}, body=body))

        def _send_stream(self, reply: Said) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            chunks = list(_chunks(reply))
            for chunk in chunks if reply.events is None else chunks[: reply.events]:
                if reply.pause and endpoint.wait(reply.pause):
                    break
                self._write_chunk(_event(chunk))
            if reply.end == "done":
                self._write_chunk(b"data: [DONE]\n\n")
            if reply.end in ("done", "no-done"):
                self.wfile.write(b"0\r\n\r\n")
            self._end(reply.end)

        def _write_chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def _end(self, end: End) -> None:
            self.wfile.flush()
            if end == "hangs":
                self._hang()
            if end == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            if end not in ("done", "no-done"):
                self.close_connection = True

        def _hang(self) -> None:
            self.connection.settimeout(0.02)
            while not endpoint.wait(0):
                try:
                    if not self.connection.recv(1):
                        break
                except TimeoutError:
                    continue
            else:
                return
            endpoint.was_left.set()

    return Handler


def _event(chunk: Any) -> bytes:
    return b"data: " + (chunk if isinstance(chunk, str) else json.dumps(chunk)).encode() + b"\n\n"


def _arguments(wanted: Any) -> str:
    return wanted if isinstance(wanted, str) else json.dumps(wanted)


def _finish(reply: Said) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _usage(reply: Said) -> dict[str, int]:
    assert isinstance(reply.usage, tuple), "counted before it is sent"
    prompt, answer = reply.usage
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def _whole(reply: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": _arguments(wanted)},
            }
            for number, (name, wanted) in enumerate(reply.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    completion = {"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted", "choices": [choice]}
    return completion if reply.usage is None else {**completion, "usage": _usage(reply)}


def _chunks(reply: Said) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.text, reply.piece):
        yield _chunk({"content": piece})
    if reply.piece == 0 and reply.calls:
        yield _chunk(
            {
                "tool_calls": [
                    _begun(number, name, _arguments(wanted))
                    for number, (name, wanted) in enumerate(reply.calls)
                ]
            }
        )
    elif reply.calls:
        for number, (name, wanted) in enumerate(reply.calls):
            yield _chunk({"tool_calls": [_begun(number, name, "")]})
            for piece in _pieces(_arguments(wanted), reply.piece):
                yield _chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield _chunk({}, _finish(reply))
    if reply.usage is not None:
        yield {**_chunk({}), "choices": [], "usage": _usage(reply)}


def _begun(number: int, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"index": number, "id": f"call_{number}", "type": "function", "function": function}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}


def _pieces(text: str, size: int) -> list[str]:
    if not text:
        return []
    return [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
