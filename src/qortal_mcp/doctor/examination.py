"""Runs every look side by side, each within a time limit, and judges what it brought home."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec import Struct

from ..qortal.node.origin import origin_of
from . import limits
from .check import unknown
from .checks import CHECKS
from .looks import clients, node, program, server, settings, store
from .report import Report, Row, Section
from .setup import Setup

log = logging.getLogger(__name__)


class _Look(Struct, frozen=True):
    title: str
    gather: Callable[[], Awaitable[Any]]


async def examine(setup: Setup, on_waiting: Callable[[list[str]], None] = lambda titles: None) -> Report:
    """The whole report. `on_waiting` is told what is still being looked at, whenever that changes."""
    looks = _looks(setup)
    waiting = [look.title for look in looks]
    on_waiting(waiting)

    async def section(look: _Look) -> Section:
        found = await _section(look)
        waiting.remove(look.title)
        on_waiting(waiting)
        return found

    return Report(tuple(await asyncio.gather(*map(section, looks))))


def _looks(setup: Setup) -> list[_Look]:
    environ = setup.environ
    return [
        _Look("Program", lambda: asyncio.to_thread(program.look, environ)),
        _Look("Settings", lambda: asyncio.to_thread(settings.look, setup)),
        *_node_looks(setup),
        _Look(f"Server at {setup.door.listen}", lambda: server.look(setup.door, environ)),
        *_store_looks(setup),
        _Look("Clients", lambda: clients.look(environ, setup.folder)),
    ]


def _store_looks(setup: Setup) -> list[_Look]:
    if setup.sharing.cache is None:
        return []
    return [_Look("Shared store", lambda: store.look(setup.sharing, setup.environ))]


def _node_looks(setup: Setup) -> list[_Look]:
    chain = setup.chain
    if chain.sample:
        return [_Look("Sample chain", node.look_at_sample)]
    looks = {}
    for url in chain.node:
        try:
            origin = origin_of(url)
        except ValueError:
            continue  # reported with the settings
        looks[origin] = _Look(f"Node {origin}", partial(node.look, url, chain))
    return list(looks.values())


async def _section(look: _Look) -> Section:
    try:
        async with asyncio.timeout(limits.LOOK_SECONDS):
            facts = await look.gather()
    except TimeoutError:
        return _undetermined(look, f"This took more than {limits.LOOK_SECONDS:g} s.", "Try again later.")
    except Exception:
        # Everything else still has to be reported.
        log.exception("a look failed")
        return _undetermined(look, "This failed; the log above says why.", "Report it as a bug.")
    rows = (
        Row(check.code, check.title, finding)
        for check in CHECKS
        if isinstance(facts, check.about)
        for finding in check.judge(facts)
    )
    return Section(look.title, tuple(rows))


def _undetermined(look: _Look, says: str, advice: str) -> Section:
    return Section(look.title, (Row("unfinished", "unfinished", unknown(says, advice)),))
