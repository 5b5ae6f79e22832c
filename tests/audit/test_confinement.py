"""Judging is bounded: what a hostile server asks for costs one check its result, never the audit its end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from docgen.generated import ROOT
from msgspec import structs
from tests.audit.audits import LIMITS
from tests.audit.seeds import file_of
from tests.audit.stub import Server
from tests.audit.wires import http_server
from tests.cli.running import SECONDS, environment

from qortal_mcp.audit.confinement.confined import confined_judge
from qortal_mcp.audit.evidence import Evidence, Heard, Step, Visit, from_file, to_file
from qortal_mcp.audit.judging import baseline
from qortal_mcp.audit.judging.judge import INCOMPLETE, VIOLATES, judge
from qortal_mcp.audit.limits import AuditLimits
from qortal_mcp.audit.visiting.runner import Order, collect

MISMATCH = "structured-content-schema-mismatch"
# Each pattern takes a twentieth of a second for each name before the library gives up: half an hour in all.
SLOW = {
    "type": "object",
    "patternProperties": {rf"(\w+\s?)+(?=z{at})$": {} for at in range(300)},
}
VALUE = {"a" * 30 + str(at): 1 for at in range(100)}
SLOW_SERVER = Server(
    tool={"outputSchema": SLOW},
    result={"content": [{"type": "text", "text": json.dumps(VALUE)}], "structuredContent": VALUE},
)
# Enough for any honest check on a busy machine.
QUICK = AuditLimits(check_seconds=3.0)


async def slow_evidence() -> Evidence:
    async with http_server(SLOW_SERVER) as url:
        return await collect(Order(target=url, revisions=("2025-11-25",), limits=LIMITS))


def listed(tools: list[Any], id_: int = 1) -> Evidence:
    reply = json.dumps({"jsonrpc": "2.0", "id": id_, "result": {"tools": tools}}).encode() + b"\n"
    step = Step(
        name="tools/list",
        text=json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/list"}),
        heard=(Heard.of(reply),),
    )
    visit = Visit(name="2025-11-25", transport="stdio", revision="2025-11-25", steps=(step,))
    return Evidence(target="x", transport="stdio", visits=(visit,))


@pytest.mark.parametrize("seed", ["incumbent-now", "maxmcp-G2", "incumbent-after"])
async def test_the_bounded_way_reports_what_the_pure_one_does(seed: str) -> None:
    evidence = from_file(file_of(seed).read_bytes())
    assert await confined_judge(evidence) == judge(evidence)


async def test_a_baseline_counts_in_the_bounded_way_too() -> None:
    evidence = from_file(file_of("incumbent-now").read_bytes())
    entries = json.loads(baseline.write(judge(evidence)))["known"]
    for number, entry in enumerate(entries):
        entry |= {"reason": f"it's {number}", "severity": "MUST" if number % 2 else "advice"}
    known = baseline.read(json.dumps({"known": entries}).encode())
    report = await confined_judge(evidence, known)
    assert report == judge(evidence, known)
    assert {bool(one.known) for one in report.findings} == {True, False}


@pytest.mark.promise(
    "Audit",
    "A check that a hostile schema or list would keep busy for ever is stopped and named; the others count.",
)
async def test_a_check_that_takes_too_long_is_a_gap_that_names_it_and_the_others_count() -> None:
    report = await confined_judge(await slow_evidence(), limits=QUICK)
    (gap,) = [gap for gap in report.gaps if gap.weighs]
    assert (gap.what, gap.reason) == (MISMATCH, "stopped on tools/call t: it took more than 3 s")
    assert report.verdict == INCOMPLETE
    assert gap.reason in report.because
    assert MISMATCH not in report.judged
    assert [one.reason for one in report.not_judged if one.code == MISMATCH] == [gap.reason]
    assert {"structured-text-differ", "tool-malformed", "content-type-header"} <= set(report.judged)
    assert report.model_sees


async def test_what_was_found_before_the_time_was_over_counts() -> None:
    broken = listed([{"name": "t", "outputSchema": SLOW}])
    call = Step(
        name="tools/call",
        subject="t",
        text='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}',
        heard=(Heard.of(json.dumps({"jsonrpc": "2.0", "id": 2, "result": SLOW_SERVER.result}).encode()),),
    )
    visit = structs.replace(broken.visits[0], steps=(*broken.visits[0].steps, call))
    evidence = structs.replace(broken, visits=(visit,))
    limits = AuditLimits(judge_least_seconds=3.0)
    report = await confined_judge(evidence, limits=limits, seconds=0.0)
    assert report.verdict == VIOLATES
    assert "input-schema-missing" in report.because
    assert (report.tools, report.tools_called, report.revisions) == (1, 1, ("2025-11-25",))
    reason = "stopped on tools/call t: the time for judging was over"
    assert [gap.what for gap in report.gaps if gap.reason == reason] == [MISMATCH, "judging"]
    assert "integer-unsafe" in {one.code for one in report.not_judged}


@pytest.mark.promise(
    "Audit",
    "A check that a hostile schema or list would keep busy for ever is stopped and named; the others count.",
)
@pytest.mark.parametrize("way", ["tools", "content"])
async def test_a_list_is_judged_up_to_a_stated_number_of_items(way: str) -> None:
    limits = AuditLimits(list_items=10)
    if way == "tools":
        evidence = listed([{"name": f"t{at}"} for at in range(25)])
    else:
        call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
        reply = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "?"}] * 25}}
        heard = (Heard.of(json.dumps(reply).encode()),)
        step = Step(name="tools/call", subject="t", text=call, heard=heard)
        visit = Visit(name="2025-11-25", transport="stdio", revision="2025-11-25", steps=(step,))
        evidence = Evidence(target="x", transport="stdio", visits=(visit,))
    report = await confined_judge(evidence, limits=limits)
    reason = "a list was longer than an audit reads; 15 items were not judged"
    assert [gap.what for gap in report.gaps if gap.reason == reason and gap.weighs] == [
        "tools/list" if way == "tools" else "tools/call"
    ]
    assert 1 <= len([one for one in report.findings if "t1" in one.where or "content[" in one.where]) <= 20
    assert not [one for one in report.findings if "t24" in one.where or "[24]" in one.where]


def test_the_pages_of_a_list_count_together() -> None:
    pages = [listed([{"name": f"t{page}-{at}"} for at in range(8)], page) for page in range(3)]
    steps = tuple(page.visits[0].steps[0] for page in pages)
    evidence = listed([])
    visit = structs.replace(evidence.visits[0], steps=steps)
    report = judge(structs.replace(evidence, visits=(visit,)), limits=AuditLimits(list_items=10))
    assert report.tools == 10


async def test_memory_is_bounded_and_what_needs_more_is_a_gap() -> None:
    """Nine megabytes that take hundreds once they are read."""
    evidence = listed([[]] * 3_000_000)
    report = await confined_judge(evidence, limits=AuditLimits(judge_bytes=200 * 1024 * 1024))
    (gap,) = [gap for gap in report.gaps if gap.weighs]
    assert gap.what == "judging"
    assert gap.reason == "stopped while reading the answers: it needed more memory than an audit gives it"
    assert report.verdict == INCOMPLETE


async def test_a_cancelled_judgement_ends_its_process() -> None:
    task = asyncio.create_task(confined_judge(await slow_evidence()))
    started = await asyncio.to_thread(children_of, os.getpid())
    task.cancel()
    async with asyncio.timeout(SECONDS):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not alive(started)


def children_of(pid: int) -> set[int]:
    """The processes it has started, once there is one."""
    end = time.monotonic() + SECONDS
    while not (words := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return set(map(int, words))


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists()}


@pytest.mark.promise("Audit", "Ctrl-C and SIGTERM end an audit at once, whatever it is busy with.")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_judgement_at_once(tmp_path: Path, number: signal.Signals, code: int) -> None:
    capture = tmp_path / "slow.jsonl"
    capture.write_bytes(to_file(asyncio.run(slow_evidence())))
    process = subprocess.Popen(
        [sys.executable, "-m", "qortal_mcp", "audit", str(capture)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        started = children_of(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, said) == (code, b"")
    assert not alive(started)


def test_nothing_in_the_folder_one_stands_in_is_imported(tmp_path: Path) -> None:
    for name in ("json", "msgspec", "asyncio", "jsonschema_rs"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('from the wrong folder')")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "qortal_mcp", "audit", "--json", file_of("incumbent-now")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["verdict"] == VIOLATES


@pytest.mark.promise("Audit", "An audit needs no extra: everything it uses is installed with the command.")
def test_an_audit_needs_no_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [one for one in project["dependencies"] if one.startswith("jsonschema-rs")]
    assert not any(
        "jsonschema" in one for extra in project["optional-dependencies"].values() for one in extra
    )
