"""What is never audited: an audit sends POST requests, and a node or a model gets none from here but its own."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from ...client.wires.origins import DEFAULT_PORTS
from ...client.wires.routes import Place, place_of

# Where Core listens on the main and on the test network: kept away from whether or not it is read here.
_CORE_PORTS = (12391, 62391)


def never_audited(urls: Iterable[str]) -> frozenset[Place]:
    """The places of these addresses, and of a Core on this machine."""
    return frozenset(
        {place_of("localhost", port) for port in _CORE_PORTS} | {place_at(url) for url in urls if url}
    )


def place_at(url: str) -> Place:
    """Where an address leads."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:  # not an address, or a port beyond 65535: nothing is there
        return place_of("", 0)
    return place_of(parts.hostname or "", port or DEFAULT_PORTS.get(parts.scheme.lower(), 0))
