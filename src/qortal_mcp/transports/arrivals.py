"""Connections that another process accepts and hands over, one by one, so that all its workers get as many.

The other end of the socket closes it, or dies, when there will be no more.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable

# What is handed over at once before anybody else gets a turn.
_MOST_AT_ONCE = 16
# Processes that are started later must not hold them open.
_NOT_INHERITED = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class Arrivals:
    """Takes connections from a socket."""

    def __init__(
        self, sock: socket.socket, counted: Callable[[int, int], None], alive: Callable[[], None]
    ) -> None:
        """`counted` is told how many were taken so far and how many are open. `alive` is called several times a second."""
        sock.setblocking(False)
        self._sock = sock
        self._counted = counted
        self._alive = alive
        self._taken = 0
        self._reported = (0, 0)
        self._opening: set[asyncio.Task[None]] = set()
        # Says to balancers and clients that it will be over soon.
        self.say_leaving: Callable[[], None] = lambda: None

    def begin(
        self,
        protocol: Callable[[], asyncio.Protocol],
        ended: Callable[[], None],
        say_leaving: Callable[[], None],
    ) -> None:
        """To be called in the loop that serves; `ended` is called when there will be no more."""
        self.say_leaving = say_leaving
        loop = asyncio.get_running_loop()

        def take() -> None:
            for _ in range(_MOST_AT_ONCE):
                try:
                    data, files, _, _ = socket.recv_fds(self._sock, 1, 1, _NOT_INHERITED)
                except BlockingIOError:
                    return
                except OSError:
                    data, files = b"", []
                if not data:
                    loop.remove_reader(self._sock)
                    ended()
                    return
                # What comes without its connection found no room among the open files, and is lost.
                self._taken += 1
                for file in files:
                    task = loop.create_task(_open(loop, file, protocol))
                    self._opening.add(task)
                    task.add_done_callback(self._opening.discard)

        loop.add_reader(self._sock, take)

    def report(self, open_: int) -> None:
        self._alive()
        now = (self._taken, open_ + len(self._opening))
        if now != self._reported:
            self._counted(*now)
            self._reported = now


async def _open(loop: asyncio.AbstractEventLoop, file: int, protocol: Callable[[], asyncio.Protocol]) -> None:
    connection = socket.socket(fileno=file)
    try:
        connection.setblocking(False)
        # Otherwise the body of each reply would be held back; not on every system does the loop see that it is TCP.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.connect_accepted_socket(protocol, connection)
    except OSError:  # the client has left meanwhile
        with contextlib.suppress(OSError):
            connection.close()
