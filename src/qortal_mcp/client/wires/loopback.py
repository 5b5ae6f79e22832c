"""Connections that a route keeps from leaving this machine, or from some places: what it hands to the HTTP library."""

import errno
import socket
from collections.abc import Callable
from typing import Any, TypeAlias

from aiohttp.abc import AbstractResolver, ResolveResult

from .routes import Place, Route, is_this_machine, place_of

_LOCALHOST = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


class Resolver(AbstractResolver):
    """Knows `localhost`, without asking anybody, and nothing else."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Raises: OSError."""
        if host.lower() != "localhost":
            raise _refused(host)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=kind,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for kind, address in _LOCALHOST.items()
            if family in (socket.AF_UNSPEC, kind)
        ]

    async def close(self) -> None:
        return


_Address: TypeAlias = tuple[Any, Any, int, str, Any]


def sockets_of(route: Route) -> Callable[[_Address], socket.socket]:
    """What makes the socket of every connection of a route, also of one to a literal address."""

    def socket_to(target: _Address) -> socket.socket:
        """Raises: OSError."""
        family, kind, protocol, _, address = target
        host = str(address[0])
        if route.only_loopback and not is_this_machine(host):
            raise _refused(host)
        if route.never and place_met(host, address[1]) in route.never:
            raise OSError(errno.EACCES, f"{host} may not be contacted at this port")
        return socket.socket(family=family, type=kind, proto=protocol)

    return socket_to


def place_met(address: str, port: int) -> Place:
    """The place that a connection to a literal address meets: this machine also by the addresses of its networks."""
    return place_of("localhost" if _is_own(address) else address, port)


def _is_own(address: str) -> bool:
    """Whether an address belongs to this machine: only those can be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _refused(host: str) -> OSError:
    return OSError(errno.EACCES, f"only this machine may be contacted, and {host} is not it")
