"""What systemd and a service say to each other: "here is the socket", "it is ready". Where nobody asks for it, nothing happens."""

import functools
import os
import socket
from collections.abc import Mapping
from contextlib import suppress

from ....settings import WrongSetting

_VARIABLE = "NOTIFY_SOCKET"
# The first file that systemd hands over; below it are the standard ones.
_FIRST_FILE = 3


def handed_over(environ: Mapping[str, str]) -> socket.socket | None:
    """The socket on which systemd listens in our place, so that clients can wait while this starts anew; None if there is none.

    Raises: WrongSetting if it is not one TCP socket.
    """
    # Meant for this process alone: children inherit the variables.
    if environ.get("LISTEN_PID") != str(os.getpid()):
        return None
    if environ.get("LISTEN_FDS") != "1":
        raise WrongSetting("systemd must hand over exactly one socket: write one ListenStream=.")
    return _socket(_FIRST_FILE)


@functools.cache
def _socket(file: int) -> socket.socket:
    """Raises: WrongSetting."""
    try:
        sock = socket.socket(fileno=file)
    except OSError:
        raise WrongSetting("systemd hands over something that is not a socket.") from None
    if sock.family not in (socket.AF_INET, socket.AF_INET6) or sock.type != socket.SOCK_STREAM:
        raise WrongSetting("systemd hands over a socket that is not TCP: write ListenStream=HOST:PORT.")
    if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise WrongSetting("systemd hands over a connection: write Accept=no.")
    sock.set_inheritable(False)
    return sock


def tell_ready(environ: Mapping[str, str]) -> None:
    address = environ.get(_VARIABLE, "")
    # A path, or a name without a file, which is written with @ for the first byte.
    if address[:1] not in ("/", "@") or not hasattr(socket, "AF_UNIX"):
        return
    name = "\0" + address[1:] if address.startswith("@") else address
    with (
        suppress(OSError),  # a manager that does not listen is no reason not to serve
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_manager,
    ):
        to_manager.setblocking(False)
        to_manager.sendto(b"READY=1", name)
