"""Origins: what a server names must not lead messages and credentials to another one."""

from urllib.parse import urljoin, urlsplit

from ..errors import MalformedReply, shown

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def same_origin(base: str, reference: str, what: str = "the address to post to") -> str:
    """The address that a reference resolves to.

    Raises: MalformedReply if it leaves the origin: messages and credentials would go to another server.
    """
    try:
        url = urljoin(base, reference)
        ours, theirs = _origin(base), _origin(url)
    except ValueError:
        url, ours, theirs = reference, ("", "", 0), ("?", "", 0)
    if not reference or ours != theirs:
        said = reference.encode("utf-8", "surrogateescape")
        raise MalformedReply(f"{what} has another origin: {shown(url)}", (said,))
    return url


def named(base: str, reference: str) -> str:
    """The origin that a reference leads to, for a person to read."""
    try:
        scheme, host, port = _origin(urljoin(base, reference))
    except ValueError:
        return shown(reference)
    host = f"[{host}]" if ":" in host else host
    default = DEFAULT_PORTS.get(scheme)
    return shown(f"{scheme}://{host}" + ("" if port in (None, default) else f":{port}"))


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)
