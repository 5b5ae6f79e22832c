"""Servers in processes of their own: started by the zygote, ended by the test that asked for them."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
_PARTING_SECONDS = 0.5


class Child:
    """A server's process: how to reach it, what it said on standard error, how it ended."""

    def __init__(self, pid: int, exit_fd: int, stderr: IO[bytes]) -> None:
        self.pid = pid
        self.port = 0
        self._exit_fd = exit_fd
        self._stderr = stderr
        self._code: int | None = None

    def stderr(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read().decode()

    @property
    def is_alive(self) -> bool:
        return self._code is None

    def signal(self, number: int = signal.SIGTERM) -> None:
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self) -> int:
        """Its exit code, waiting for it."""
        if self._code is None:
            raw = os.read(self._exit_fd, 4)
            self._code = int.from_bytes(raw, sys.byteorder, signed=True)
            os.close(self._exit_fd)
        return self._code

    async def ended(self, seconds: float = 5) -> int:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(self.wait)

    def close(self) -> None:
        """End it: in its own way if that takes no time, since only then does it say which lines it ran."""
        self.signal(signal.SIGTERM)
        if self.is_alive and not select.select([self._exit_fd], [], [], _PARTING_SECONDS)[0]:
            self.signal(signal.SIGKILL)
        self.wait()
        self._stderr.close()


class Zygote:
    """The warm process that forks servers."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.matrix.zygote", str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._shared: dict[str, Child] = {}

    def _start(self, order: dict[str, Any], fds: list[int]) -> Child:
        stderr = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the child
        exit_in, exit_out = os.pipe()
        socket.send_fds(self._control, [json.dumps(order).encode()], [exit_out, stderr.fileno(), *fds])
        os.close(exit_out)
        return Child(int(self._control.recv(64)), exit_in, stderr)

    def stdio(self, limits: Mapping[str, Any], **options: Any) -> tuple[Child, int, int]:
        """A server on pipes; also the end to write to and the end to read from."""
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()
        order = {"kind": "stdio", "limits": dict(limits), "options": options}
        child = self._start(order, [their_in, their_out])
        os.close(their_in)
        os.close(their_out)
        return child, our_out, our_in

    def http(
        self,
        limits: Mapping[str, Any] | None = None,
        *,
        sessions: bool = False,
        guard: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Child:
        """A server on a loopback port, with HTTP at /mcp and WebSocket at /ws."""
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
            order = {
                "kind": "http",
                "limits": dict(limits or {}),
                "options": options,
                "sessions": sessions,
                "guard": dict(guard or {}),
            }
            child = self._start(order, [listening.fileno()])
            child.port = listening.getsockname()[1]
        return child

    def shared_http(self, limits: Mapping[str, Any], *, sessions: bool) -> Child:
        """One that tests of equal wishes use one after the other."""
        key = json.dumps([sorted(limits.items()), sessions])
        if key not in self._shared:
            self._shared[key] = self.http(limits, sessions=sessions)
        return self._shared[key]

    def close(self) -> None:
        for child in self._shared.values():
            child.close()
        self._control.close()
        self._process.wait(10)
