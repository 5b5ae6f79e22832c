"""The internals of uvicorn that this folder and `serve.py` rely on, and whether the installed uvicorn still has them.

uvicorn does not promise to keep these names, so its version is pinned. If another version is installed anyway, its
plain connections are used, and the log says which parts are missing.
"""

from importlib import import_module
from typing import Any

from msgspec import Struct


class Part(Struct, frozen=True):
    """A class of uvicorn, with the methods that are overridden or called and the attributes that are used."""

    module: str
    name: str
    methods: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


_HTTP = "uvicorn.protocols.http.httptools_impl"
_WEBSOCKET = "uvicorn.protocols.websockets.websockets_sansio_impl"

PARTS = (
    Part(
        _HTTP,
        "HttpToolsProtocol",
        methods=(
            "connection_made",
            "connection_lost",
            "data_received",
            "eof_received",
            "on_url",
            "on_headers_complete",
            "on_message_complete",
            "on_response_complete",
            "pause_writing",
            "resume_writing",
            "send_400_response",
            "_start_asgi_task",
        ),
        attributes=(
            "app",
            "app_state",
            "access_log",
            "access_logger",
            "client",
            "cycle",
            "flow",
            "headers",
            "logger",
            "loop",
            "parser",
            "pipeline",
            "scope",
            "server",
            "server_state",
            "timeout_keep_alive",
            "transport",
        ),
    ),
    Part(
        _HTTP,
        "RequestResponseCycle",
        attributes=(
            "scope",
            "body",
            "more_body",
            "message_event",
            "disconnected",
            "keep_alive",
            "default_headers",
            "chunked_encoding",
            "on_response",
            "response_started",
            "response_complete",
        ),
    ),
    Part(
        _WEBSOCKET,
        "WebSocketsSansIOProtocol",
        methods=(
            "connection_made",
            "connection_lost",
            "data_received",
            "receive",
            "send",
            "handle_connect",
            "handle_events",
            "handle_text",
            "handle_bytes",
            "handle_cont",
            "handle_ping",
            "handle_pong",
            "send_receive_event_to_app",
            "pause_writing",
            "resume_writing",
        ),
        attributes=(
            "loop",
            "transport",
            "conn",
            "queue",
            "frames",
            "read_paused",
            "writable",
            "disconnected",
            "close_sent",
        ),
    ),
    Part(
        "uvicorn.protocols.http.flow_control",
        "FlowControl",
        methods=("pause_reading", "resume_reading", "pause_writing", "resume_writing"),
        attributes=("read_paused", "write_paused"),
    ),
    # Of the WebSocket library that uvicorn uses: what has arrived and is not a whole frame yet.
    Part("websockets.protocol", "Protocol", attributes=("reader", "close_rcvd", "close_sent")),
    Part("websockets.streams", "StreamReader", attributes=("buffer",)),
    Part("uvicorn", "Server", methods=("startup", "on_tick", "shutdown", "capture_signals")),
    Part("uvicorn.server", "ServerState", attributes=("connections",)),
)


def missing() -> list[str]:
    """The parts that this uvicorn does not have."""
    return [name for part in PARTS for name in _missing_of(part)]


def _missing_of(part: Part) -> list[str]:
    try:
        found: Any = getattr(import_module(part.module), part.name)
    except (ImportError, AttributeError):
        return [part.name]
    # Attributes are created in `__init__`; the names that it sets are in its code object.
    made = found.__init__.__code__.co_names
    absent = [name for name in part.methods if not hasattr(found, name)]
    absent += [name for name in part.attributes if name not in made]
    return [f"{part.name}.{name}" for name in absent]
