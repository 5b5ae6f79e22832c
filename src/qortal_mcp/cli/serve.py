"""`serve`: the HTTP and WebSocket door, until a signal asks to stop."""

import os

import click

from .. import settings
from ..settings import ListenOptions, NodeOptions
from . import failures
from .options import SettingsCommand


@click.command(cls=SettingsCommand, groups=(NodeOptions, ListenOptions))
def command(chain: NodeOptions, door: ListenOptions) -> None:
    """Serve AI clients over HTTP and WebSocket.

    MCP is spoken at /mcp (Streamable HTTP) and /ws (WebSocket). /healthz, /readyz and /metrics are for
    operators, /mcp-manifest.json and /llms.txt for those who want to know what is here.

    Beyond loopback a token is needed, from --token-file or the variable QORTAL_MCP_TOKEN, unless --without-token
    says otherwise; and --allow-host must name the server as its clients do.
    """
    from ..asgi import make_app
    from ..transports.guard import is_loopback
    from ..transports.serve import bind, run_http

    host, port = settings.host_and_port(door.listen)
    token = settings.token(door, os.environ)
    if not is_loopback(host) and token is None and not door.without_token:
        raise settings.WrongSetting(
            "Listening beyond loopback needs a token: --token-file FILE or the variable "
            f"{settings.TOKEN_VARIABLE}. --without-token allows it without one."
        )
    app = make_app(chain, door, token)
    try:
        sock = bind(host, port)
    except OSError as exc:
        raise failures.CouldNotFindOut(f"Cannot listen on {door.listen}: {exc.strerror or exc}.") from None
    run_http(app, sock, limits=app.server.limits)
