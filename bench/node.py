"""HTTP: tools/call that needs the node, uncached and cached, against a stub node that answers at once."""

import contextlib
import json
import shutil
import urllib.request
from dataclasses import replace
from pathlib import Path

from bench.contestants import BARE, LOCAL_TOOL, NODE_TOOL, OURS, running, stub_node
from bench.figures import Budget, Figure, compare
from bench.http import LOOPS, check_loop
from bench.load.job import Job
from bench.processes import Child
from bench.run import Run, by_name
from bench.strain import generate, strain
from bench.wire import call, call_varying, headers

PART = "node"
_BARE = "bare + aiohttp"
_FRESH = f"{OURS}, uncached"
_CACHED = f"{OURS}, cached"
_LOCAL = f"{OURS}, {LOCAL_TOOL}"
_LOCAL_BUDGET = 1.4  # of the part `http`
_CACHED_BUDGET = 1.3


def measure(run: Run) -> list[Figure]:
    subjects = (_BARE, _FRESH, BARE, _CACHED, _LOCAL)
    cpu = {loop: by_name(subjects) for loop in LOOPS}
    left = by_name((_FRESH,))
    with contextlib.ExitStack() as stack:
        stub = stack.enter_context(stub_node())
        url = f"http://127.0.0.1:{stub.port()}"
        ours = {
            loop: stack.enter_context(running(f"{OURS} {loop}", run.contestants.ours(loop, "--node", url)))
            for loop in LOOPS
        }
        fixtures = _record(run.contestants.fixtures, ours[LOOPS[0]])
        who = replace(run.contestants, fixtures=fixtures)
        servers: dict[tuple[str, str], Child] = {}
        for loop in LOOPS:
            asks = stack.enter_context(running(f"{_BARE} {loop}", who.other(_BARE, loop, "--node", url)))
            echoes = stack.enter_context(running(f"{BARE} {loop}", who.other(BARE, loop)))
            servers |= {(loop, subject): ours[loop] for subject in (_FRESH, _CACHED, _LOCAL)}
            servers |= {(loop, _BARE): asks, (loop, BARE): echoes}
            for subject in subjects:
                child = servers[loop, subject]
                strain(child, _job(subject, child.port(), 500, seed=0))
                check_loop(child, loop)
        for number, (loop, subject) in run.turns([(loop, subject) for loop in LOOPS for subject in subjects]):
            child = servers[loop, subject]
            before = asked(url)
            cost = strain(child, _job(subject, child.port(), run.scaled(4_000), seed=number))
            cpu[loop][subject].append(cost.cpu_us)
            if subject == _FRESH:
                left[subject].append((asked(url) - before) / run.scaled(4_000))
            run.say(f"node, round {number}: {subject}, {loop} {cost.cpu_us:.1f} µs, {cost.per_second:,.0f}/s")
    figures = []
    for loop in LOOPS:
        fresh = {name: cpu[loop][name] for name in (_BARE, _FRESH)}
        echoed = {name: cpu[loop][name] for name in (BARE, _CACHED)}
        kept = {name: cpu[loop][name] for name in (_LOCAL, _CACHED)}
        quantity = f"CPU of {NODE_TOOL}, {loop}"
        figures += compare(PART, quantity, "µs", fresh, reference=_BARE, budgets={_FRESH: Budget(1.25)})
        # What the budgets of a local tool and of a cached answer allow together, however cheap the local tool is.
        both = Budget(round(_LOCAL_BUDGET * _CACHED_BUDGET, 2))
        figures += compare(
            PART, f"{quantity}, the same bytes", "µs", echoed, reference=BARE, budgets={_CACHED: both}
        )
        figures += compare(
            PART, quantity, "µs", kept, reference=_LOCAL, budgets={_CACHED: Budget(_CACHED_BUDGET)}
        )
    return [*figures, Figure(PART, "requests to the node per call", _FRESH, "", tuple(left[_FRESH]))]


def _job(subject: str, port: int, requests: int, *, seed: int) -> Job:
    tool = LOCAL_TOOL if subject == _LOCAL else NODE_TOOL
    is_afresh = subject in (_BARE, _FRESH)
    return Job(
        port=port,
        headers=headers(tool),
        body=call_varying(tool) if is_afresh else call(tool),
        requests=requests,
        varying="address" if is_afresh else "nothing",
        # A cached answer carries the time it was read at, which may change within a job.
        is_same=subject == _LOCAL,
        marks=['"id":7', '"isError":false', '"isValid":true' if subject == _LOCAL else '"balance":'],
        seed=seed,
    )


def _record(fixtures: Path, ours: Child) -> Path:
    """What our server answers for the tool, so that the bare one can give the same answer."""
    folder = fixtures / "node"
    shutil.copytree(fixtures, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node"))
    reply = generate(OURS, _job(_CACHED, ours.port(), 1, seed=0)).first_reply
    result = json.dumps(json.loads(reply)["result"], separators=(",", ":"), ensure_ascii=False)
    (folder / "tools_call.json").write_text(result)
    return folder


def asked(url: str, beginning: str = "/") -> int:
    """How many requests the stub has seen whose path starts with `beginning`."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/asked", timeout=10) as reply:
        counts: dict[str, int] = json.loads(reply.read())
    return sum(count for path, count in counts.items() if path.startswith(beginning))
