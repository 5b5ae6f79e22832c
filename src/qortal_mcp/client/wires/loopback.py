"""Connections that cannot leave this machine: what `Route.only_loopback` hands to the HTTP library."""

import errno
import socket
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from .routes import is_this_machine

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


def socket_to(place: tuple[Any, Any, int, str, Any]) -> socket.socket:
    """A socket for one address: every connection gets its socket here, also one to a literal address.

    Raises: OSError.
    """
    family, kind, protocol, _, address = place
    host = str(address[0])
    if not is_this_machine(host):
        raise _refused(host)
    return socket.socket(family=family, type=kind, proto=protocol)


def _refused(host: str) -> OSError:
    return OSError(errno.EACCES, f"only this machine may be contacted, and {host} is not it")
