"""Tells systemd that a service is ready, in the one line of its protocol. Where nobody asked for it, nothing happens."""

import socket
from collections.abc import Mapping
from contextlib import suppress

_VARIABLE = "NOTIFY_SOCKET"


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
