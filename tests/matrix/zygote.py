"""Starts servers as processes of their own within milliseconds: one warm process that forks for each.

Told over a Unix socket what to serve, with the file descriptors to serve it on; says a process's exit code
on a pipe that belongs to it alone.
"""

import json
import os
import select
import signal
import socket
import struct
import sys
from typing import Any

from tests.matrix import subject

from qortal_mcp.server import Server

_EXIT = struct.Struct("i")
# The server that most children want, built before they are forked.
READY: list[Server] = []


def _serve(order: dict[str, Any], fds: list[int]) -> None:
    """In the child: take the descriptors and serve until told to stop."""
    os.dup2(fds[0], 2)
    is_plain = not order["limits"] and not order["options"]
    server = READY[0] if is_plain else subject.build(order["limits"], **order["options"])
    if order["kind"] == "stdio":
        from qortal_mcp.transports.stdio import serve_stdio

        os.dup2(fds[1], 0)
        os.dup2(fds[2], 1)
        for fd in fds:
            os.close(fd)
        serve_stdio(server)
        return
    from qortal_mcp.transports.guard import Guard
    from qortal_mcp.transports.http import HttpApp, Page
    from qortal_mcp.transports.serve import run_http

    listening = socket.socket(fileno=os.dup(fds[1]))
    for fd in fds:
        os.close(fd)
    app = HttpApp(
        server,
        guard=Guard(**order["guard"]),
        sessions=order["sessions"],
        routes={
            "/healthz": lambda: Page(b"{}"),
            "/metrics": lambda: Page(server.metrics.render().encode(), "text/plain"),
        },
        open_routes=["/healthz"],
    )
    run_http(app, listening, limits=server.limits)


def _child(order: dict[str, Any], fds: list[int]) -> None:
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _serve(order, fds)
        code = 0
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    # Warm what every child needs: a fork shares it.
    import qortal_mcp.transports.serve
    import qortal_mcp.transports.stdio  # noqa: F401

    READY.append(subject.build())
    wake_in, wake_out = os.pipe()
    os.set_blocking(wake_in, False)
    os.set_blocking(wake_out, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake_out)
    living: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), wake_in], [], [])
        if wake_in in ready:
            os.read(wake_in, 4096)
            _bury(living)
        if control.fileno() in ready:
            data, fds, _, _ = socket.recv_fds(control, 65536, 8)
            if not data:
                break
            pid = os.fork()
            if pid == 0:
                control.close()
                os.close(fds[0])
                _child(json.loads(data), fds[1:])
            living[pid] = fds[0]
            for fd in fds[1:]:
                os.close(fd)
            control.send(str(pid).encode())
    for pid in living:
        os.kill(pid, signal.SIGKILL)


def _bury(living: dict[int, int]) -> None:
    while living:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        fd = living.pop(pid)
        os.write(fd, _EXIT.pack(os.waitstatus_to_exitcode(status)))
        os.close(fd)


if __name__ == "__main__":
    main()
