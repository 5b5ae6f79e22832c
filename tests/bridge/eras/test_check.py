"""`bridge --check` of a server that speaks only 2026-07-28."""

import asyncio

from tests.bridge.eras.single_era import SingleEra
from tests.bridge.in_process import serving
from tests.cli.running import run


async def test_refusing_a_handshake_is_nothing_to_repair() -> None:
    async with serving(SingleEra("2026-07-28")) as url:
        ended = await asyncio.to_thread(run, "bridge", "--check", url)
    assert ended.code == 0, ended.out
    assert "NOTHING TO REPAIR" in ended.out
    assert "revision  2026-07-28" in ended.out


async def test_a_server_without_the_chosen_revision_is_refused_with_its_name() -> None:
    async with serving(SingleEra("2025-06-18")) as url:
        words = ("bridge", "--check", "--server-revision", "2026-07-28", url)
        ended = await asyncio.to_thread(run, *words)
    assert ended.code == 3
    assert "the server does not speak 2026-07-28" in ended.err
