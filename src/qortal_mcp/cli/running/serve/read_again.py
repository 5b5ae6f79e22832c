"""`serve` on SIGHUP: reads the token and the log level again. What cannot be read changes nothing."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

from .... import logs, settings
from ....settings import ConfigOptions, ListenOptions, LogOptions, WrongSetting

log = logging.getLogger(__name__)


def has_terminal() -> bool:
    """Whether a terminal controls this process: then the signal says that the terminal was closed, and ends it."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


class ReadAgain:
    """Waits for the signal as long as the application lives. Everything is read before anything is changed."""

    def __init__(
        self, door: ListenOptions, flags: Mapping[str, Any], renew_token: Callable[[str], None]
    ) -> None:
        self._door = door
        self._flags = flags
        self._renew_token = renew_token
        self._asked = asyncio.Event()

    async def live(self, stack: AsyncExitStack) -> None:
        number = getattr(signal, "SIGHUP", None)
        # Whoever ignores it (nohup) has a reason.
        if number is None or signal.getsignal(number) is signal.SIG_IGN or has_terminal():
            return
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
            loop.add_signal_handler(number, self._asked.set)
        waiting = loop.create_task(self._wait())
        stack.callback(waiting.cancel)

    async def _wait(self) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            try:
                token, level = await asyncio.to_thread(read_files, self._door, self._flags)
            except WrongSetting as exc:
                log.error("not read again, everything stays as it is: %s", exc)
                continue
            if token is not None:
                self._renew_token(token)
            if level is not None:
                logs.configure(level.log_level, level.log_format)
            log.info("read again: %s", what_was_read(token, level))


def read_files(door: ListenOptions, flags: Mapping[str, Any]) -> tuple[str | None, LogOptions | None]:
    """What the files say now; None for what is in no file. Raises: WrongSetting."""
    from ...program import COMMANDS

    token = None if door.token_file is None else settings.token(door, os.environ)
    if settings.read(ConfigOptions, flags, os.environ).config is None:
        return token, None
    file = settings.read_settings_file(flags, os.environ, "serve", COMMANDS)
    return token, settings.read(LogOptions, flags, os.environ, file)


def what_was_read(token: str | None, level: LogOptions | None) -> str:
    read = [*(["the token"] if token is not None else []), *(["the log level"] if level else [])]
    return " and ".join(read) or "nothing, as there is neither --token-file nor --config"
