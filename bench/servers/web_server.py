"""The HTTP server under every program that ours is compared with: uvicorn with the settings that ours uses."""

import argparse
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn


def serve(make_app: Callable[[argparse.Namespace], Any]) -> None:
    """Read the command line, bind a free port, announce it, serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio")
    parser.add_argument("--node", default="")
    parser.add_argument("--fixtures", default="")
    options = parser.parse_args()
    app = make_app(options)
    # The protocol is named because asyncio sets TCP_NODELAY only then; without it each reply waits 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(2048)
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="websockets-sansio" if _has_websockets() else "none",
            ws_per_message_deflate=False,
            loop=options.loop,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=1,
        )
        print(f"Listening on http://127.0.0.1:{sock.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
        uvicorn.Server(config).run(sockets=[sock])


def _has_websockets() -> bool:
    try:
        import websockets  # noqa: F401
    except ImportError:
        return False
    return True
