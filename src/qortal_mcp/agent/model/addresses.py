"""Addresses of endpoints, as people write them."""

import ipaddress
from urllib.parse import urlsplit, urlunsplit

from ...text import printable, shortened
from .refusals import EndpointError

_CHAT = "/chat/completions"


def base_of(url: str) -> str:
    """The base address: without a slash at its end or the path of a method, with `/v1` if it had no path.

    Raises: EndpointError if it cannot be used.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.username is not None or parts.password is not None:
        raise EndpointError(
            "The base URL contains a user name or password. Leave them out, and give the key as OPENAI_API_KEY."
        )
    if not host or parts.scheme not in ("http", "https"):
        # What stands before an @ may be a password.
        shown = shortened(printable(url.rpartition("@")[2]), 100)
        raise EndpointError(
            f"The base URL {shown!r} is not an address. It looks like http://127.0.0.1:11434/v1."
        )
    if parts.query or parts.fragment:
        raise EndpointError("The base URL has a part after '?' or '#'. Leave it out.")
    path = parts.path.rstrip("/").removesuffix(_CHAT).rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def chat_of(base: str) -> str:
    return base + _CHAT


def root_of(base: str) -> str:
    """Where a server has what does not belong to OpenAI's interface."""
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/v1').rstrip('/')}"


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _ip(host)
    return address is not None and address.is_loopback


def is_nearby(url: str) -> bool:
    """On this machine or a private network: a server that somebody runs, not a service."""
    host = urlsplit(url).hostname or ""
    address = _ip(host)
    return is_loopback(url) or "." not in host or (address is not None and address.is_private)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
