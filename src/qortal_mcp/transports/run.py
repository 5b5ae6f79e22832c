"""Run a server of your own on the transport that its command line names."""

import argparse
import sys
from collections.abc import Sequence

from ..server.life import LifespanFailed
from ..server.receiver import Receiver
from ..text import printable


def run(server: Receiver, argv: Sequence[str] | None = None, *, sessions: bool = False) -> None:
    """Serve on stdio, or with `--listen HOST:PORT` on HTTP at /mcp and WebSocket at /ws."""
    parser = argparse.ArgumentParser(description=f"{server.info.name}: an MCP server")
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="serve HTTP and WebSocket there instead of stdio"
    )
    listen = parser.parse_args(argv).listen
    try:
        if listen is None:
            from .stdio import serve_stdio

            serve_stdio(server)
        else:
            _listen(server, listen, parser, sessions)
    except LifespanFailed as exc:
        sys.exit(f"{printable(server.info.name)} cannot start: {printable(str(exc))}")


def _listen(server: Receiver, listen: str, parser: argparse.ArgumentParser, sessions: bool) -> None:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        parser.error("--listen takes HOST:PORT, such as 127.0.0.1:8000")
    from .guard import Guard, is_loopback
    from .http import HttpApp
    from .serve import bind, run_http

    if not is_loopback(host):
        parser.error("--listen takes a loopback address here; for others, serve an HttpApp with a Guard")
    try:
        sock = bind(host, int(port))
    except OSError as exc:
        sys.exit(f"Cannot listen on {listen}: {exc.strerror or exc}")
    run_http(
        HttpApp(server, guard=Guard(), sessions=sessions), sock, limits=server.limits, metrics=server.metrics
    )
