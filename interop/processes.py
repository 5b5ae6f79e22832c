"""Child processes: each in its own process group, limited in time, and ended by id."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# Time to exit after SIGTERM; what is still running then is killed.
_GRACE_SECONDS = 3.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Finished:
    """The outcome of a child; `code` is None if it had to be killed."""

    code: int | None
    stdout: str
    stderr: str

    def tail(self, lines: int = 15) -> str:
        """The end of both outputs, for the evidence of a failure."""
        shown = [f"exit code {self.code}" if self.code is not None else "killed at its time limit"]
        for name, text in (("stdout", self.stdout), ("stderr", self.stderr)):
            shown += [f"{name}: {line[:300]}" for line in text.splitlines()[-lines:]]
        return "\n".join(shown)


class Child:
    """A running process whose output goes to files, so that it never blocks on a full pipe."""

    def __init__(self, process: asyncio.subprocess.Process, outputs: Path) -> None:
        self._process = process
        self._outputs = outputs

    async def wait(self, seconds: float) -> Finished:
        """Waits for it to exit, at most this long."""
        code = None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                code = await self._process.wait()
        return Finished(code, self._read("stdout"), self._read("stderr"))

    async def line(self, prefix: str, seconds: float) -> str:
        """The rest of the first line on its stderr that starts with `prefix`.

        Raises:
            ChildFailed: it exited, or took too long, without such a line.
        """
        for _ in range(round(seconds / _POLL_SECONDS)):
            for line in self._read("stderr").splitlines(keepends=True):
                if line.startswith(prefix) and line.endswith("\n"):
                    return line.removeprefix(prefix).strip()
            if self._process.returncode is not None:
                break
            await asyncio.sleep(_POLL_SECONDS)
        raise ChildFailed(
            f"its stderr has no line that starts with {prefix!r}\n{(await self.wait(0)).tail()}"
        )

    def _read(self, name: str) -> str:
        return (self._outputs / name).read_text(encoding="utf-8", errors="replace")


class ChildFailed(Exception):
    """A child did not do what the rest depends on; the text is the evidence."""


@asynccontextmanager
async def started(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncIterator[Child]:
    """A child with its standard input closed; on leaving, its whole group is ended.

    By default its environment is the same everywhere: a search path and an empty home.
    """
    # An agent may still be writing its history while it is killed; files that cannot be removed are no reason to fail.
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as folder:
        outputs = Path(folder)
        with (outputs / "stdout").open("wb") as stdout, (outputs / "stderr").open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *map(str, command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=bare_environment(outputs) if env is None else env,
                cwd=cwd,
                start_new_session=True,
            )
        try:
            yield Child(process, outputs)
        finally:
            await _end(process)


def bare_environment(home: Path) -> dict[str, str]:
    """Environment variables without anything from the user: no proxies, keys or settings."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}


async def finished(
    command: Sequence[str | Path],
    *,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Finished:
    """Runs a child until it exits or reaches its time limit."""
    async with started(command, env=env, cwd=cwd) as child:
        return await child.wait(seconds)


async def _end(process: asyncio.subprocess.Process) -> None:
    # The group outlives its leader if a grandchild does, so it is signalled in either case.
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
    _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
