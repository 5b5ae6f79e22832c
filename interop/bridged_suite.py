"""The conformance suite at `examples/everything.py` behind a bridge, spoken to in both eras and in one only."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from interop.conformance import Remark, judge, run_suite
from interop.eras import LEGACY, MODERN, front
from interop.programs import ROOT, Programs
from interop.remarks import allowed
from interop.runner import Failed
from interop.servers import PYTHON, Target, everything

_EVERYTHING = (str(PYTHON), str(ROOT / "examples" / "everything.py"))
_ON_STDIO = ("--", *_EVERYTHING)
# By the end of a check's name: the revision that the suite speaks in front, and what the bridge is told about the server behind,
# unless the example listens.
SUITES: dict[str, tuple[str, tuple[str, ...]]] = {
    LEGACY: (LEGACY, ()),
    MODERN: (MODERN, ()),
    f"stdio-{LEGACY}": (LEGACY, _ON_STDIO),
    f"stdio-{MODERN}": (MODERN, _ON_STDIO),
    f"{LEGACY}-to-modern": (LEGACY, ("--server-revision", MODERN, *_ON_STDIO)),
    f"{MODERN}-to-legacy": (MODERN, ("--server-revision", LEGACY, *_ON_STDIO)),
}


async def run_bridged_suite(name: str, programs: Programs) -> str:
    """Runs a suite through the bridge and directly. Only what interop/remarks.toml lists may differ."""
    revision, words = SUITES[name]
    async with everything() as direct, _bridged(words) as target:
        found, expected = await asyncio.gather(
            *(run_suite(programs, one, revision) for one in (target, direct))
        )
    if found.scenarios != expected.scenarios:
        raise Failed(f"{found}; directly {expected}")
    remarked = {remark.place for remark in found.remarks}
    lost = [
        Remark(place, "MISSING", "not made, or not passed")
        for place in sorted(expected.passed - found.passed - remarked)
    ]
    both = (*allowed(f"{revision} through the bridge"), *allowed(f"{name} through the bridge"))
    return judge(replace(found, remarks=[*found.remarks, *lost]), dict.fromkeys(both))


@asynccontextmanager
async def _bridged(words: tuple[str, ...]) -> AsyncIterator[Target]:
    if words:
        async with front(words, "http") as target:
            yield target
        return
    async with everything() as server, front((server.url,), "http") as target:
        yield target
