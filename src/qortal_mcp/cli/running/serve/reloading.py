"""Serve a file and begin again whenever it, or something it imports from its folder, changes.

A process that imports nothing of the file keeps the socket and starts another one for each version: what an earlier version
left in memory is gone with its process. Connections that come in while a version starts wait for it; while there is none that
can be served, they are told why.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

from ....server.receiver import Receiver
from ....transports.signals import stop_signals
from ...input.server_file import CannotLoad, ServerFile
from .. import failures
from .listening import say

_LOOK_SECONDS = 0.25
# How a process ends that saw a change: one that served, and one that could not. Only its parent sees these codes.
_CHANGED, _CHANGED_UNSERVED = 75, 76

_Stamp = tuple[int, int] | None


_Serve = Callable[[Receiver, bool], None]
_Refuse = Callable[[str], None]


def serve_reloading(file: ServerFile, serve: _Serve, refuse: _Refuse) -> int:
    """Serve each version of the file until a signal asks to stop; returns the exit code.

    `serve` gets the server, and whether it is the first one that runs; `refuse` gets what to tell everybody instead. Both return
    when a signal asks to.

    Raises: WrongUsage on a system that cannot fork.
    """
    if not hasattr(os, "fork"):
        raise failures.WrongUsage("--reload does not work on this system. Leave it out, and restart by hand.")
    parent = _Parent()
    is_first = True
    while True:
        child = parent.fork()
        if child is None:
            return _serve_version(file, serve, refuse, is_first)
        code = parent.wait(child)
        if parent.is_stopping:
            return failures.GOOD
        if code not in (_CHANGED, _CHANGED_UNSERVED):
            return code
        is_first = is_first and code == _CHANGED_UNSERVED


class _Parent:
    """Starts processes one after the other, and hands signals on to the current one."""

    def __init__(self) -> None:
        self.is_stopping = False
        self._child = 0
        self._handlers = {number: signal.signal(number, self._stop) for number in stop_signals()}

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True
        if self._child:
            # Not the same signal: a terminal has sent an interrupt to both, and a second one would not be clean.
            os.kill(self._child, signal.SIGTERM)

    def fork(self) -> int | None:
        """The id of a new process; None in that process."""
        self._child = child = os.fork()
        if child:
            if self.is_stopping:
                os.kill(child, signal.SIGTERM)
            return child
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        return None

    def wait(self, child: int) -> int:
        _, status = os.waitpid(child, 0)
        self._child = 0
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


def _serve_version(file: ServerFile, serve: _Serve, refuse: _Refuse, is_first: bool) -> int:
    """What each of the processes does."""
    # Bytecode is compared by second and size: it could be that of the version before.
    sys.dont_write_bytecode = True
    watch = _Watch(file)
    try:
        server = file.load()
        watch.look_at(())
        watch.start()
        serve(server, is_first)
    except CannotLoad as exc:
        # A file that is missing may come into the folder.
        watch.look_at({*exc.files, file.folder})
        return _wait_for_change(watch, refuse, str(exc), exc.line)
    except failures.Bad as exc:
        return _wait_for_change(watch, refuse, exc.message)
    return _CHANGED if watch.is_changed else failures.GOOD


def _wait_for_change(watch: "_Watch", refuse: _Refuse, sentence: str, line: str = "") -> int:
    watch.start()
    say(sentence)
    if line:
        say(f"    {line}")
    say("Waiting for a change.")
    refuse(sentence)
    return _CHANGED_UNSERVED if watch.is_changed else failures.GOOD


class _Watch:
    """Looks at the file, and at the modules of its folder that were imported."""

    def __init__(self, file: ServerFile) -> None:
        self._folder = file.folder
        self._parent = os.getppid()
        self._seen: dict[Path, _Stamp] = {file.path: _stamp(file.path)}
        self.is_changed = False
        self._is_started = False

    def look_at(self, more: Iterable[Path]) -> None:
        """What else to look at, besides what has been imported by now."""
        for path in {*self._imported(), *more}:
            self._seen.setdefault(path, _stamp(path))

    def _imported(self) -> list[Path]:
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        paths = [Path(file) for file in files if isinstance(file, str)]
        return [path for path in paths if self._folder in path.parents and "site-packages" not in path.parts]

    def wait(self) -> None:
        """Until something changes, or nobody waits for this process any more."""
        while not self._has_changed() and os.getppid() == self._parent:
            time.sleep(_LOOK_SECONDS)
            self.look_at(())

    def _has_changed(self) -> bool:
        # An editor may remove a file and write it again: one that is missing has not changed yet.
        return any((now := _stamp(path)) is not None and now != before for path, before in self._seen.items())

    def start(self) -> None:
        """Stop this process with a signal when something changes."""
        if self._is_started:
            return
        self._is_started = True
        # It may come when nothing is served yet, or no longer.
        signal.signal(signal.SIGTERM, _end_unserved)
        threading.Thread(target=self._stop_serving, name="reload", daemon=True).start()

    def _stop_serving(self) -> None:
        self.wait()
        self.is_changed = True
        os.kill(os.getpid(), signal.SIGTERM)


def _end_unserved(number: int, frame: FrameType | None) -> None:
    raise SystemExit(_CHANGED_UNSERVED)


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
