"""The socket of a command that serves: its host is resolved first, so that every rule applies to a real address."""

import errno
import os
import socket
import sys
from contextlib import suppress

from .... import settings
from ..failures import Undetermined
from .service_manager import handed_over


def resolved(listen: str) -> tuple[str, int]:
    """The numeric address to listen on; if a name has several, IPv4 before IPv6. Where systemd listens, its address.

    Raises: Undetermined if the name cannot be resolved, WrongSetting if what systemd hands over cannot be used.
    """
    from ....transports.sockets import numeric

    if (handed := handed_over(os.environ)) is not None:
        address: tuple[str, int] = handed.getsockname()[:2]
        return address
    host, port = settings.host_and_port(listen)
    try:
        return numeric(host, port), port
    except (socket.gaierror, UnicodeError):
        raise Undetermined(f"Cannot listen on {listen}: the host {host} cannot be resolved.") from None


def bound(address: tuple[str, int], listen: str) -> socket.socket:
    """A listening socket at an address, or the one that systemd hands over.

    Raises: Undetermined, with the address as the operator wrote it.
    """
    from ....transports.sockets import bind

    if (handed := handed_over(os.environ)) is not None:
        return handed
    try:
        return bind(*address)
    except OSError as exc:
        hint = " Choose another port with --listen HOST:PORT." if exc.errno == errno.EADDRINUSE else ""
        raise Undetermined(f"Cannot listen on {listen}: {exc.strerror or exc}.{hint}") from None


def announce(url: str) -> None:
    """Print where it listens, in the words that other programs wait for."""
    say(f"Listening on {url}")


def say(line: str) -> None:
    """A line for whoever started the command."""
    if sys.stderr is not None:
        with suppress(OSError):  # a full or closed standard error is no reason not to serve
            print(line, file=sys.stderr, flush=True)
