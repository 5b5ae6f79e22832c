"""The way to a server: through which proxy, how far, and whose certificates are trusted."""

from __future__ import annotations

import ipaddress
import ssl
from typing import TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from ..errors import ClientError
from .origins import named

Place: TypeAlias = tuple[str, int]
_THIS_MACHINE = "this machine"

# A WebSocket goes the way of the HTTP request that opens it.
_AS_HTTP = {"ws": "http", "wss": "https"}


class Route(Struct, frozen=True, kw_only=True):
    # Honour HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. ~/.netrc is never read.
    proxies: bool = False
    # A file of certificates in PEM form that are trusted besides those of the system.
    ca_file: str | None = None
    # No connection leaves this machine, whatever an address or a server says; no name is looked up.
    only_loopback: bool = False
    # Places that are never contacted, as `place_of` writes them.
    never: frozenset[Place] = frozenset()

    def context(self) -> ssl.SSLContext | None:
        """None: the usual one.

        Raises: ClientError if the file is not usable.
        """
        if self.ca_file is None:
            return None
        context = ssl.create_default_context()
        try:
            context.load_verify_locations(cafile=self.ca_file)
        except ssl.SSLError:
            raise ClientError(f"{self.ca_file} holds no certificate in PEM form") from None
        except OSError as exc:
            raise ClientError(f"the certificates in {self.ca_file} cannot be read: {exc.strerror}") from None
        return context

    def proxy(self, url: str, *, has_secrets: bool) -> str | None:
        """The proxy for an address; None: there is none.

        Raises: ClientError if secrets would pass it unencrypted.
        """
        if not self.proxies:
            return None
        found = proxy_for(url)
        parts = urlsplit(url)
        secure = _AS_HTTP.get(parts.scheme, parts.scheme) == "https"
        if found is not None and not secure and (has_secrets or parts.username is not None):
            raise ClientError(
                f"the headers for {named(url, '')} would pass a proxy unencrypted: use {parts.scheme}s://, "
                "or name the host in NO_PROXY"
            )
        return found


DIRECT = Route()


def proxy_for(url: str) -> str | None:
    """What the environment says about an address. This machine itself is never reached through a proxy."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host or _is_loopback(host):
        return None
    from urllib.request import getproxies_environment, proxy_bypass  # slow to import, and only needed here

    variables = getproxies_environment()
    found = variables.get(_AS_HTTP.get(parts.scheme, parts.scheme)) or variables.get("all")
    if not found or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return found if "://" in found else f"http://{found}"


def place_of(host: str, port: int) -> Place:
    """A host and a port, the same for every way to write the address of this machine."""
    name = host.lower().strip("[]").rstrip(".")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return (_THIS_MACHINE if _is_loopback(name) else name, port)
    address = getattr(address, "ipv4_mapped", None) or address
    # A connection to "no address" goes to this machine on most systems.
    is_here = address.is_loopback or address.is_unspecified
    return (_THIS_MACHINE if is_here else str(address), port)


def is_this_machine(host: str) -> bool:
    """Whether a host is `localhost` or a literal loopback address.

    Other spellings are names, which someone else resolves, or an IPv4 address inside IPv6, which not every system
    keeps to itself.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback if address.version == 4 else address == ipaddress.IPv6Address("::1")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
