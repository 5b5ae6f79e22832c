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
# A parameter of the Forwarded header, with what ends it.
_PARAMETER = re.compile(
    r"""[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?[ \t]*([,;]|$)""", re.ASCII
)
# More proxies than this are never in a row.
_MOST_HOPS = 32
# As sockets of either kind show the addresses of this machine itself.
_LOOPBACK = ("127.", "::ffff:127.")
# One holder usually has all IPv6 addresses that begin with the same bits.
_IPV6_BITS = 64


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
            return _holder(self._forwarded(scope["headers"]) or address)
        if host.startswith(_LOOPBACK) or host == "::1":
            return tuple(client)
        return host if (address := _address(host)) is None else _holder(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._proxies)

    def _forwarded(self, headers: Iterable[tuple[bytes, bytes]]) -> Address | None:
        """The last address that is not a proxy of ours. Everything before it may be made up."""
        sent: dict[bytes, list[str]] = {}
        for name, value in headers:
            if name in (b"x-forwarded-for", b"forwarded"):
                sent.setdefault(name, []).append(value.decode("latin-1"))
        found = {
            self._last_untrusted(
                ",".join(values).split(",") if name == b"x-forwarded-for" else _hops(",".join(values))
            )
            for name, values in sent.items()
        }
        # A proxy sets one of the two headers and passes the other one on as the client wrote it.
        return found.pop() if len(found) == 1 else None

    def _last_untrusted(self, hops: list[str]) -> Address | None:
        for hop in hops[: -_MOST_HOPS - 1 : -1]:
            address = _address(hop)
            if address is None or not self._trusts(address):
                return address
        return None


def _hops(forwarded: str) -> list[str]:
    """Whom each element of a Forwarded header is for; none if the header is malformed."""
    hops, named, at = [""], set[str](), 0
    while at <= len(forwarded):
        found = _PARAMETER.match(forwarded, at)
        if found is None:
            return []
        name, end = (found[1] or "").lower(), found[4]
        if name and name in named:
            return []
        named.add(name)
        if name == "for":
            hops[-1] = found[3] if found[2] is None else re.sub(r"\\(.)", r"\1", found[2])
        if end == ",":
            hops.append("")
            named.clear()
        at = found.end() if end else len(forwarded) + 1
    return hops


def _holder(address: Address) -> str:
    """Whom an address belongs to: itself, or in IPv6 the network it is in. All of loopback is one machine."""
    if address.is_loopback:
        return "127.0.0.1"
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((int(address), _IPV6_BITS), strict=False))


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
