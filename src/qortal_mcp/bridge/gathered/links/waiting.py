"""Waiting for several servers, for a short time, and not again for who was waited for in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from ..member import Member


async def within(
    seconds: float, client: object, works: Mapping[Member, Callable[[], Awaitable[object]]]
) -> None:
    """Let a client's handshake wait until these servers are done, or for so long. What takes longer is ended."""
    tasks = {
        member: asyncio.ensure_future(work())
        for member, work in works.items()
        if member.is_worth_waiting_for()
    }
    try:
        if tasks:
            await asyncio.wait(tasks.values(), timeout=seconds)
        for member, task in tasks.items():
            member.was_waited_for(in_vain=not task.done(), greeted=client)
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
