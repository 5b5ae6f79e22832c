"""Reads the file of servers again when it changes, and on SIGHUP. A file that is broken changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal

from ....bridge.gathered.gathering import Gathering
from ....connect.settings_files import reading
from ....connect.settings_files.reading import BrokenFile
from .several_servers import Chosen

log = logging.getLogger(__name__)

# There is no portable event for a file; a person who has saved one waits this long at most.
_LOOK_SECONDS = 1.0


class Rereading:
    """Keeps a front's servers as the file says."""

    def __init__(self, gathering: Gathering, chosen: Chosen) -> None:
        self._gathering = gathering
        self._seen = chosen.stamp
        self._chosen = chosen
        self._asked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._reported = ""

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
            loop.add_signal_handler(signal.SIGHUP, self._asked.set)
        self._task = loop.create_task(self._watch())

    async def __aexit__(self, *ended: object) -> None:
        assert self._task is not None, "it was begun"
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        assert self._chosen.file is not None, "only a file can change"
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._asked.wait()
            stamp = await asyncio.to_thread(reading.stamp, self._chosen.file)
            if stamp != self._seen or self._asked.is_set():
                self._seen = stamp
                self._asked.clear()
                await self._read_again()

    async def _read_again(self) -> None:
        try:
            servers = await asyncio.to_thread(self._chosen.read)
            await self._gathering.change(servers)
        except BrokenFile as exc:
            # Editors write a file in steps: the same complaint is made once.
            if str(exc) != self._reported:
                self._reported = str(exc)
                log.warning("the file of servers is not used; the servers stay as they are: %s", exc)
        except Exception:
            log.exception("internal error")
        else:
            self._reported = ""
            log.info("servers read again", extra={"qortal_mcp.servers": ", ".join(self._gathering.members)})
