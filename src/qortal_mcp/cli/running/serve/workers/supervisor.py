"""The process that was started, when several serve: it has the address and the signals, and replaces workers that end.

Workers are started anew rather than forked: each begins with nothing but what it is told, whatever this process or a library in it has
loaded, and however the system feels about forks (macOS does not allow them once certain libraries are in use). Settings are told, not read
again, so that a worker that is replaced months later serves what the others do.

It accepts the connections itself and hands each to the worker that has the fewest. A shared socket would give most of a burst
to whoever wakes first, and one socket each would leave it to chance; both would leave clients in the queue of a worker that has died.
"""

import logging
import os
import secrets
import selectors
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from ..... import logs
from .....limits import DEFAULT
from .....metrics import names
from .....metrics.file import written_to
from .....metrics.process import process_numbers
from .....settings import LogOptions, WrongSetting
from .....shared_memory import board_in, shared_memory
from ...failures import GOOD, INTERRUPTED, Undetermined
from ..jobs import ServeChain, ServeFile
from ..read_again import has_terminal, read_files, what_was_read
from . import messages
from .desk import Desk
from .process import LOOK_SECONDS, Worker, how_it_ended
from .restarts import MOST_FAILURES

log = logging.getLogger(__name__)

# Connections accepted before anything else gets a turn.
_MOST_AT_ONCE = 64
# When no worker takes another connection, the rest wait in the system's queue for this long.
_FULL_SECONDS = 0.02
# A worker drains for twice as long as calls may take to finish, and closes what it has open.
_STOP_SECONDS = 4 * DEFAULT.shutdown_seconds
_METRICS_FILE_SECONDS = 15.0
# How long the numbers of a worker are waited for before the last ones that it left are taken.
_NUMBERS_SECONDS = 1.0


class Supervisor:
    """Looks after `count` workers."""

    def __init__(
        self,
        job: ServeChain | ServeFile,
        count: int,
        token: str | None,
        log_options: LogOptions,
        *,
        flags: Mapping[str, Any],
        on_all_ready: Callable[[], None],
        metrics_file: Path | None = None,
    ) -> None:
        self._job = job
        self._token = token
        self._log_options = log_options
        self._flags = flags
        self._on_all_ready = on_all_ready
        self._secret = secrets.token_bytes(32)
        self._memory = shared_memory(count)
        self._board = board_in(self._memory, count)
        self._workers = [Worker(number, self._board.parts[number]) for number in range(1, count + 1)]
        self._desk = Desk(self._workers)
        self._restarted = 0
        self._failures = 0
        self._is_announced = False
        self._code: int | None = None
        self._signals: list[int] = []
        # Asked now: one that was closed is none any more.
        self._has_terminal = has_terminal()
        # When it begins to stop, if it was asked to and still serves; and when those who serve are ended.
        self._leaves_at: float | None = None
        self._stop_by: float | None = None
        self._accept_from = 0.0
        self._turns = 0
        self._held: socket.socket | None = None
        self._metrics_file = metrics_file
        self._write_at = 0.0
        # Workers that have not taken what was read again, and what to say when all have.
        self._renewing: set[int] = set()
        self._read = ""
        self._selector = selectors.DefaultSelector()

    def run(self, listening: socket.socket) -> int:
        """Serve until a signal asks to stop; returns the exit code.

        Raises: Undetermined.
        """
        self._listening = listening
        listening.setblocking(False)
        with ExitStack() as stack:
            stack.callback(self._end_all)
            woken, wake = socket.socketpair()
            for sock in (woken, wake):
                stack.enter_context(sock).setblocking(False)
            self._woken = woken
            self._selector.register(woken, selectors.EVENT_READ)
            before = signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
            stack.callback(signal.set_wakeup_fd, before)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, *_hang_up()):
                stack.callback(signal.signal, number, signal.signal(number, self._note_signal))
            self._start(self._workers[0])
            while not self._is_over():
                self._step()
            self._write_metrics()
        return GOOD if self._code is None else self._code

    # What happens, in turn.

    def _step(self) -> None:
        for key, _ in self._selector.select(self._pause()):
            if key.fileobj is self._woken:
                with suppress(BlockingIOError):
                    self._woken.recv(4096)
            elif key.fileobj is self._listening:
                self._accept()
            else:
                self._hear(key.data)
        while self._signals:
            self._signalled(self._signals.pop(0))
        for worker in self._workers:
            if (code := worker.ended()) is not None:
                self._ended(worker, code)
        now = time.monotonic()
        if self._stop_by is None and self._leaves_at is not None and now >= self._leaves_at:
            self._begin_to_stop()
        if self._stop_by is None:
            for worker in self._workers:
                if worker.hangs:
                    log.error("a worker hangs and is ended", extra=_about(worker))
                    worker.kill()
                    worker.wait()  # which is at once, and what comes next is what comes after any end
                if worker.start_at is not None and now >= worker.start_at and self._may_start(worker):
                    self._start(worker)
            self._listen(self._is_announced and now >= self._accept_from)
            if self._held is not None and now >= self._accept_from:
                self._accept()
            if self._metrics_file is not None and self._is_announced and now >= self._write_at:
                self._write_at = now + _METRICS_FILE_SECONDS
                self._desk.look(self._show_own, now + _NUMBERS_SECONDS, self._write_metrics)
        elif now > self._stop_by:
            for worker in self._workers:
                if worker.runs:
                    log.warning("a worker did not end in time", extra=_about(worker))
                    worker.kill()
            self._stop_by = now + _STOP_SECONDS
        self._desk.look_up(now)

    def _pause(self) -> float | None:
        """Until something is due that nobody announces."""
        due = [at for at in (self._stop_by or self._leaves_at, self._desk.due()) if at is not None]
        if self._stop_by is None:
            due += [
                at
                for worker in self._workers
                if (at := worker.start_at) is not None and self._may_start(worker)
            ]
            due += [time.monotonic() + LOOK_SECONDS] if self._is_announced else []
            due += [self._accept_from] if self._accept_from > time.monotonic() else []
            due += [self._write_at] if self._metrics_file is not None and self._is_announced else []
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _is_over(self) -> bool:
        return self._stop_by is not None and not any(worker.runs for worker in self._workers)

    def _may_start(self, worker: Worker) -> bool:
        """The others wait for the first: what is wrong with the settings is said once."""
        return worker.number == 1 or self._is_announced or self._workers[0].is_ready

    # Workers.

    def _start(self, worker: Worker) -> None:
        handover = messages.Handover(
            number=worker.number,
            of=len(self._workers),
            secret=self._secret,
            token=self._token,
            log=self._log_options,
            job=self._job,
        )
        try:
            worker.start(handover, self._memory)
        except OSError as exc:
            if not self._is_announced:
                raise Undetermined(f"Cannot start a worker: {exc.strerror or exc}.") from None
            worker.start_at = time.monotonic() + worker.restarts.ended(None)
            log.error(
                "a worker cannot be started", extra=_about(worker) | {"qortal_mcp.reason": exc.strerror}
            )
            return
        self._selector.register(worker.control, selectors.EVENT_READ, worker)

    def _ended(self, worker: Worker, code: int) -> None:
        self._hear(worker)  # what it said last
        with suppress(KeyError):
            self._selector.unregister(worker.control)
        was_leaving = worker.is_leaving
        served = worker.forget()
        self._desk.ended(worker)
        self._renewed(worker)
        if self._stop_by is not None:
            if code != GOOD:
                log.warning("a worker ended before it was done", extra=_about(worker) | how_it_ended(code))
            return
        self._failures = 0 if served is not None else self._failures + 1
        if served is None and not self._is_announced and worker.number == 1 and code > 0:
            self._code = code  # it has said what is wrong
            self._begin_to_stop()
            return
        serves = any(each.is_ready for each in self._workers)
        enough = MOST_FAILURES if serves or self._is_announced else 1
        if self._failures >= enough and not (serves and self._is_announced):
            how = ", ".join(
                f"{name.removeprefix(logs.PREFIX)} {what}" for name, what in how_it_ended(code).items()
            )
            raise Undetermined(f"No worker can be started: the last one ended before it served ({how}).")
        pause = 0.0 if was_leaving and code == GOOD else worker.restarts.ended(served)
        worker.start_at = time.monotonic() + pause
        self._restarted += 1
        log.error(
            "a worker ended and is replaced",
            extra=_about(worker) | how_it_ended(code) | ({"qortal_mcp.in_seconds": pause} if pause else {}),
        )

    def _hear(self, worker: Worker) -> None:
        said = worker.heard()
        if said is None:
            with suppress(KeyError):
                self._selector.unregister(worker.control)
            return
        for message in said:
            if isinstance(message, messages.Ready):
                self._is_ready(worker)
            elif isinstance(message, messages.Leaving):
                worker.stop()
            elif isinstance(message, messages.Renewed):
                self._renewed(worker)
            elif isinstance(message, messages.Look):
                self._desk.look(
                    self._show_own,
                    time.monotonic() + _NUMBERS_SECONDS,
                    _answering(worker, message.id),
                    worker,
                )
            else:
                self._desk.serve(worker, message)

    def _is_ready(self, worker: Worker) -> None:
        worker.ready()
        self._failures = 0
        if self._leaves_at is not None:
            worker.tell(messages.Leave())
        if self._is_announced:
            log.info("a worker serves", extra=_about(worker) | {"qortal_mcp.pid": worker.pid})
        elif self._stop_by is None and all(each.is_ready for each in self._workers):
            self._is_announced = True
            self._on_all_ready()
            self._workers[0].tell(messages.Report())
            log.info(
                "workers serve",
                extra={"qortal_mcp.workers": len(self._workers), "qortal_mcp.pids": _pids(self._workers)},
            )

    # Connections.

    def _listen(self, wanted: bool) -> None:
        is_registered = self._listening.fileno() in self._selector.get_map()
        if wanted and not is_registered:
            self._selector.register(self._listening, selectors.EVENT_READ)
        elif not wanted and is_registered:
            self._selector.unregister(self._listening)

    def _accept(self, at_most: int = _MOST_AT_ONCE) -> None:
        for _ in range(at_most):
            # Those that hang come last. Between those with as few, whoever has got none for the longest.
            able = sorted(
                (each for each in self._workers if each.takes_connections),
                key=lambda each: (each.is_quiet, each.load, each.turn),
            )
            if not able:  # one will serve soon; those who come meanwhile wait in the system's queue
                self._accept_from = time.monotonic() + _FULL_SECONDS
                return
            try:
                connection = self._held or self._listening.accept()[0]
            except BlockingIOError:
                return
            except OSError:  # the client has left, or there are too many open files
                self._accept_from = time.monotonic() + _FULL_SECONDS
                return
            taker = next((worker for worker in able if worker.hand(connection)), None)
            if taker is None:
                self._held = connection  # it is the first in the next attempt
                self._accept_from = time.monotonic() + _FULL_SECONDS
                return
            self._turns += 1
            taker.turn = self._turns
            self._held = None
            connection.close()

    # Signals.

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)

    def _signalled(self, number: int) -> None:
        if number == signal.SIGCHLD:
            return  # who has ended is looked at in any case
        if number == signal.SIGHUP and not self._has_terminal:
            self._read_again()
        elif self._stop_by is None:
            self._asked_to_stop(number)
        elif number == signal.SIGINT:
            self._code = INTERRUPTED
            for worker in self._workers:
                worker.kill()

    def _asked_to_stop(self, number: int) -> None:
        """Balancers are stopped for by SIGTERM; whoever sits at a terminal, or asks twice, means now."""
        drain_seconds = self._job.door.drain_seconds
        if (
            number != signal.SIGTERM
            or not drain_seconds
            or not self._is_announced
            or self._leaves_at is not None
        ):
            self._begin_to_stop()
            return
        self._leaves_at = time.monotonic() + drain_seconds
        log.info("leaving: asked to stop", extra={"qortal_mcp.seconds": drain_seconds})
        for worker in self._workers:
            if worker.runs:
                worker.tell(messages.Leave())

    def _begin_to_stop(self) -> None:
        self._stop_by = time.monotonic() + _STOP_SECONDS
        if self._is_announced:
            log.info("stopping")
        self._listen(False)
        if self._is_announced:
            self._accept(at_most=4096)  # who has connected already is served
        self._listening.close()
        if self._held is not None:
            self._held.close()
        for worker in self._workers:
            worker.start_at = None
            worker.stop()

    def _read_again(self) -> None:
        try:
            token, level = read_files(self._job.door, self._flags)
        except WrongSetting as exc:
            log.error("not read again, everything stays as it is: %s", exc)
            return
        self._token = self._token if token is None else token
        self._log_options = level or self._log_options
        self._renewing = {worker.number for worker in self._workers if worker.runs}
        for worker in self._workers:
            if worker.runs:
                worker.tell(messages.Renew(token, level))
        if level is not None:
            logs.configure(level.log_level, level.log_format)
        self._read = what_was_read(token, level)

    def _renewed(self, worker: Worker) -> None:
        """It has taken what was read, or will read it as it starts."""
        self._renewing.discard(worker.number)
        if self._read and not self._renewing:
            log.info("read again: %s", self._read)
            self._read = ""

    # Numbers.

    def _show_own(self) -> None:
        self._board.parts[0].show(
            [
                (names.WORKERS, {(): [float(sum(worker.is_ready for worker in self._workers))]}),
                (names.WORKER_RESTARTS, {(): [float(self._restarted)]}),
                *process_numbers(),
            ]
        )

    def _write_metrics(self) -> None:
        if self._metrics_file is not None:
            self._show_own()
            written_to(self._metrics_file, self._board.page([("file", self._metrics_file.stem)]))

    def _end_all(self) -> None:
        for worker in self._workers:
            worker.kill()
            if worker.runs:
                worker.wait()
        self._selector.close()
        self._listening.close()
        os.close(self._memory)


def _about(worker: Worker) -> dict[str, object]:
    return {"qortal_mcp.worker": worker.number}


def _pids(workers: list[Worker]) -> str:
    return ", ".join(str(worker.pid) for worker in workers)


def _answering(worker: Worker, id_: int) -> Callable[[], None]:
    pid = worker.pid

    def answer() -> None:
        if worker.runs and worker.pid == pid:
            worker.tell(messages.Answer(id_))

    return answer


def _hang_up() -> list[signal.Signals]:
    """The signal of a closed terminal, unless whoever started this ignores it (nohup)."""
    found = signal.SIGHUP
    return [] if signal.getsignal(found) is signal.SIG_IGN else [found]
