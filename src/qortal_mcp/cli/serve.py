"""`serve`: the HTTP and WebSocket server, until a signal asks it to stop."""

import logging
import os

import click
from msgspec.structs import replace

from .. import settings
from ..from_settings import node_of
from ..settings import ListenOptions, NodeOptions
from .input.options import SettingsCommand

log = logging.getLogger(__name__)


@click.command(cls=SettingsCommand, groups=(NodeOptions, ListenOptions))
def command(chain: NodeOptions, door: ListenOptions) -> None:
    """Serve AI clients over HTTP and WebSocket.

    MCP is at /mcp (Streamable HTTP) and /ws (WebSocket). /healthz, /readyz and /metrics are for
    operators; /mcp-manifest.json and /llms.txt describe the server. With a token, all of them
    except /healthz need it.

    Listening beyond loopback needs a token, from --token-file or the variable QORTAL_MCP_TOKEN, unless --without-token
    is given; and --allow-host must have the name that clients use for the server.
    """
    from ..application import make_app
    from ..door import check_host
    from ..transports.guard import is_loopback
    from ..transports.serve import run_http, url_of
    from .running.listening import announce, bound, resolved
    from .running.startup_report import StartupReport

    token = settings.token(door, os.environ)
    host, port = resolved(door.listen)
    check_host(host, door, token)
    node = node_of(chain)
    report = StartupReport(node, chain)
    at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    app = make_app(chain, replace(door, listen=at), token, node=node, beside=report.live)
    sock = bound((host, port), door.listen)

    def started() -> None:
        announce(url_of(sock))
        if not is_loopback(host) and not door.allow_host:
            log.warning(
                "clients are refused unless they use the host name localhost: "
                "allow the name they use with --allow-host NAME[:PORT]"
            )
        report.begin()

    run_http(app, sock, limits=app.server.limits, on_started=started)
