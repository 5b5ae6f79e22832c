"""`GET /console/connect`: how each client is set up for this server, for the page to show.

The page says in `?url=` under which address it reached the endpoint: behind a proxy only the browser knows the scheme and the path.
"""

import re
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Struct

from ..connect.client import Target
from ..connect.guide import Guide, Step, guides, trial
from ..connect.program import stdio_command
from ..settings import NodeOptions
from ..transports.guard import is_loopback
from ..transports.http import Exchange, Handler
from .replies import refuse, reply_json

_QUERY_BYTES = 1000
_URL_CHARS = 500
# Any folder that a proxy may have put before it, without anything that a shell or a reader could take for something else.
_PATH = re.compile(r"(/(?!\.\.?/)[A-Za-z0-9._~-]+)*/mcp\Z")
_encode = msgspec.json.Encoder().encode


class Connections(Struct, frozen=True, rename="camel"):
    """What the page gets."""

    endpoint: str
    needs_token: bool
    clients: tuple[Guide, ...]
    trial: Step


def connecting(options: NodeOptions, *, needs_token: bool) -> Handler:
    """The handler of the route, for a server with these options."""
    command = stdio_command(options)

    async def handle(exchange: Exchange) -> None:
        if exchange.scope["method"] not in ("GET", "HEAD"):
            await refuse(exchange, 405, "Only GET is served here.", (b"allow", b"GET, HEAD, OPTIONS"))
            return
        host = (exchange.header(b"host") or b"").decode("latin-1")
        url = endpoint(exchange.scope["query_string"], host, exchange.scope.get("scheme", "http"))
        if url is None:
            await refuse(
                exchange, 400, "url must be the address of this server's endpoint, as a browser sees it."
            )
            return
        target = Target(command, url, needs_token, is_here=is_loopback(urlsplit(url).hostname or ""))
        answer = Connections(url, needs_token, guides(target), trial(target))
        await reply_json(exchange, 200, _encode(answer))

    return handle


def endpoint(query: bytes, host: str, scheme: str) -> str | None:
    """The address for clients; None for one that is not of this server. The Host header was checked before."""
    if len(query) > _QUERY_BYTES:
        return None
    try:
        given = parse_qs(query.decode("ascii"), errors="strict").get("url")
        if given is None:
            return f"{scheme}://{host}/mcp"
        (url,) = given
        parts = urlsplit(url)
    except ValueError:  # not ASCII, not UTF-8, given twice, or not an address
        return None
    is_ours = (
        parts.scheme in ("http", "https")
        and parts.netloc.lower() == host.lower()
        and _PATH.match(parts.path) is not None
        and url == f"{parts.scheme}://{parts.netloc}{parts.path}"
        and len(url) <= _URL_CHARS
    )
    return url if is_ours else None
