"""`serve --workers N`: what is checked before the first worker starts."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path

from .....from_settings import checked_metrics_file
from .....settings import WatchOptions, WrongSetting
from ....input.options import flags_given, log_options
from ..jobs import ServeChain, ServeFile


def serve_with_workers(
    job: ServeChain | ServeFile,
    count: int,
    token: str | None,
    sock: socket.socket,
    on_all_ready: Callable[[], None],
    watching: WatchOptions | None = None,
) -> int:
    """Returns the exit code.

    Raises: WrongSetting, Undetermined.
    """
    if not hasattr(socket, "send_fds") or sys.platform == "win32":
        raise WrongSetting(
            f"--workers {count} does not work on Windows, which cannot hand connections to other processes. "
            "Run several servers behind a proxy instead."
        )
    from .supervisor import Supervisor

    metrics_file: Path | None = None if watching is None else checked_metrics_file(watching)
    supervisor = Supervisor(
        job,
        count,
        token,
        log_options(),
        flags=flags_given(),
        on_all_ready=on_all_ready,
        metrics_file=metrics_file,
    )
    return supervisor.run(sock)
