"""Who the caller of an HTTP request or WebSocket is, for rate limits and waiting places.

The holder of the token, else the address that a trusted proxy forwards, else the address of the connection; on
loopback, where every program has the same address, the connection itself.
"""

import ipaddress
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_HOLDER = "token"
_UNKNOWN = "unknown"
# As proxies write addresses: with a port or without, IPv6 in brackets if there is a port.
_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?|([0-9.]+):\d{1,5}")
_FORWARDED_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*("?)([^";]*)\1\s*(?=;|$)', re.IGNORECASE)
# More proxies than this are never in a row.
_MOST_HOPS = 32


class Callers:
    """Tells callers apart. Headers are read only if the connection comes from a trusted proxy."""

    def __init__(self, *, has_token: bool = False, proxies: Iterable[str] = ()) -> None:
        """Raises: ValueError for a proxy that is neither an address nor a network."""
        self._has_token = has_token
        self._proxies: tuple[Network, ...] = tuple(
            ipaddress.ip_network(proxy, strict=False) for proxy in proxies
        )

    def of(self, scope: Mapping[str, Any]) -> Hashable:
        """The caller of a request that the guard has let in."""
        if self._has_token:
            return _HOLDER
        client: tuple[str, int] | None = scope.get("client")
        if client is None:
            return _UNKNOWN
        host = client[0]
        if self._proxies and (address := _address(host)) is not None and self._trusts(address):
            return str(self._forwarded(scope["headers"]) or address)
        return tuple(client) if host.startswith("127.") or host == "::1" else host

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._proxies)

    def _forwarded(self, headers: Iterable[tuple[bytes, bytes]]) -> Address | None:
        """The last address that is not a proxy of ours. Everything before it may be made up."""
        hops: dict[bytes, list[str]] = {b"x-forwarded-for": [], b"forwarded": []}
        for name, value in headers:
            if name in hops:
                hops[name] += value.decode("latin-1").split(",")
        found = {
            self._last_untrusted(written)
            for written in (hops[b"x-forwarded-for"], [_for(each) for each in hops[b"forwarded"]])
            if written
        }
        # A proxy sets one of the two headers and passes the other one on as the client wrote it.
        return found.pop() if len(found) == 1 else None

    def _last_untrusted(self, hops: list[str]) -> Address | None:
        for hop in hops[: -_MOST_HOPS - 1 : -1]:
            address = _address(hop)
            if address is None or not self._trusts(address):
                return address
        return None


def _for(element: str) -> str:
    found = _FORWARDED_FOR.search(element)
    return "" if found is None else found[2]


def _address(written: str) -> Address | None:
    text = written.strip()
    if (with_port := _WITH_PORT.fullmatch(text)) is not None:
        text = with_port[1] or with_port[2]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    # An IPv4 address as a socket for both kinds shows it.
    return getattr(address, "ipv4_mapped", None) or address
