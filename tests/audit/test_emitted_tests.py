"""`--emit-tests`: the files it writes fail with the server that was audited, and pass with one that is right."""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec import structs
from tests.audit.audits import LIMITS, served
from tests.audit.cases import CASES
from tests.audit.cases import Case as Broken
from tests.audit.stub import HttpAsk, HttpReply, Server
from tests.audit.test_reproduce import needs_curl
from tests.audit.wires import command, http_server
from tests.cli.running import SECONDS
from tests.cli.strangers import program

from qortal_mcp.audit.emitting import emit, replay
from qortal_mcp.audit.emitting.cases import NOT_AT_ONCE, Case, cases_of
from qortal_mcp.audit.evidence import Evidence, Visit
from qortal_mcp.audit.judging.check import ADVICE
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.visiting.runner import Order, Target, collect

# One broken server for each code and wire.
BROKEN = list(
    {
        (case.code, case.over): case
        for case in reversed(CASES)
        if case.over in ("stdio", "http") and case.code is not None and case.code not in NOT_AT_ONCE
    }.values()
)
BY_CODE = {(case.code, case.over): case for case in BROKEN}


async def seen_of(case: Broken, target: Target) -> Evidence:
    limits = structs.replace(LIMITS, **dict(case.limits))
    return await collect(Order(target=target, revisions=case.revisions, limits=limits))


@contextlib.asynccontextmanager
async def right(case: Broken) -> AsyncIterator[Target]:
    if case.over == "stdio":
        yield command("right")
        return
    async with http_server(Server(streams=case.server.streams, sessions=case.server.sessions)) as url:
        yield url


def is_as_before(case: Case, target: Target) -> bool:
    """What an emitted test asserts, the other way round."""
    if isinstance(target, str):
        answer = replay.ask_address(target, list(case.requests))
    else:
        answer = replay.ask_program(list(target), list(case.lines), until_end=case.until_end)
    found = replay.described(answer, case.question, list(case.place))
    return not answer.is_reached or found == case.recorded


# All of them take a minute; those left out differ from their neighbours in what is wrong, not in how it is seen.
@pytest.mark.parametrize("case", BROKEN[::5], ids=lambda case: f"{case.code}-{case.over}")
async def test_a_finding_is_seen_again_and_no_longer_with_a_right_server(
    case: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "SECONDS", 3.0)
    async with served(case) as target:
        seen = await seen_of(case, target)
        report = judge(seen)
        cases = cases_of(report, seen)
        today = [await asyncio.to_thread(is_as_before, one, target) for one in cases]
    async with right(case) as target:
        fixed = [await asyncio.to_thread(is_as_before, one, target) for one in cases]
    assert today == [True] * len(cases)
    assert fixed == [False] * len(cases)
    assert len(cases) == len([one for one in report.findings if one.severity != ADVICE])


def emitted(folder: Path, seen: Evidence) -> Path:
    for name, text in emit.files_of(judge(seen), seen).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def outcome(words: Sequence[str], folder: Path, target: Target, **env: str) -> tuple[int, str]:
    override = (
        {"MCP_AUDIT_URL": target} if isinstance(target, str) else {"MCP_AUDIT_COMMAND": " ".join(target)}
    )
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "MCP_AUDIT_SECONDS": "3", **override, **env},
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout.decode()


PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-p",
    "no:cacheprovider",
    "-q",
    "-c",
    os.devnull,
    "--rootdir",
    ".",
    emit.TESTS,
)
SHELL = ("sh", emit.SCRIPT)
EMITTED = [
    BY_CODE["unknown-method-code", "http"],
    BY_CODE["structured-content-schema-mismatch", "http"],
    BY_CODE["message-joined", "stdio"],
]


@pytest.mark.promise(
    "Audit", "Emitted tests fail with the server that was audited and pass once it is fixed."
)
@pytest.mark.parametrize("case", EMITTED, ids=lambda case: str(case.code))
async def test_the_file_for_pytest_fails_today_and_passes_once_it_is_fixed(
    tmp_path: Path, case: Broken
) -> None:
    async with served(case) as target:
        folder = emitted(tmp_path, await seen_of(case, target))
        code, said = await asyncio.to_thread(outcome, PYTEST, folder, target)
    count = (folder / emit.TESTS).read_text().count("\ndef test_")
    assert code == 1
    assert f"{count} failed" in said
    assert "passed" not in said
    async with right(case) as target:
        code, said = await asyncio.to_thread(outcome, PYTEST, folder, target)
    assert (code, f"{count} passed" in said) == (0, True)


@pytest.mark.promise(
    "Audit", "Emitted tests fail with the server that was audited and pass once it is fixed."
)
@needs_curl
@pytest.mark.parametrize("case", EMITTED, ids=lambda case: str(case.code))
async def test_the_script_fails_today_and_passes_once_it_is_fixed(tmp_path: Path, case: Broken) -> None:
    async with served(case) as target:
        folder = emitted(tmp_path, await seen_of(case, target))
        code, said = await asyncio.to_thread(outcome, SHELL, folder, target)
    assert code == 1
    assert {line.split()[0] for line in said.splitlines()} == {"FAIL"}
    async with right(case) as target:
        code, said = await asyncio.to_thread(outcome, SHELL, folder, target)
    assert code == 0
    assert {line.split()[0] for line in said.splitlines()} == {"ok"}


def test_a_server_that_is_not_there_passes_nothing(tmp_path: Path) -> None:
    case = BY_CODE["unknown-method-code", "http"]

    async def emit_them() -> Target:
        async with served(case) as target:
            emitted(tmp_path, await seen_of(case, target))
            return target

    target = asyncio.run(emit_them())
    code, said = outcome(PYTEST, tmp_path, target)
    assert (code, "passed" in said) == (1, False)
    code, said = outcome(SHELL, tmp_path, target)
    assert (code, "ok " in said) == (1, False)


def test_the_names_of_the_tests_are_sentences(tmp_path: Path) -> None:
    seen = asyncio.run(_seen_on_stdio("message-joined"))
    names = re.findall(
        r"^def test_(\w+)\(\):$", (emitted(tmp_path, seen) / emit.TESTS).read_text(), re.MULTILINE
    )
    assert all(name.count("_") >= 3 for name in names)
    assert len(set(names)) == len(names) > 0


async def _seen_on_stdio(code: str) -> Evidence:
    case = BY_CODE[code, "stdio"]
    return await seen_of(case, command(case.name))


SECRET = "hunter2-hunter2"


async def test_secrets_are_read_when_the_tests_run_and_written_nowhere(tmp_path: Path) -> None:
    def guarded(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        return reply if ask.headers.get("authorization") == f"Bearer {SECRET}" else HttpReply(401)

    case = BY_CODE["unknown-method-code", "http"]
    headers = tmp_path / "headers"
    headers.write_text(f"Authorization: Bearer {SECRET}\n")
    async with http_server(Server(bend=case.server.bend, http=guarded)) as url:
        order = Order(
            target=url,
            revisions=case.revisions,
            limits=LIMITS,
            headers=(("authorization", f"Bearer {SECRET}"),),
        )
        folder = emitted(tmp_path, await collect(order))
        assert SECRET not in "".join((folder / name).read_text() for name in (emit.TESTS, emit.SCRIPT))
        for words in (PYTEST, SHELL):
            code, said = await asyncio.to_thread(
                outcome, words, folder, url, MCP_AUDIT_HEADER_FILE=str(headers)
            )
            assert (code, " passed" in said, "ok " in said) == (1, False, False)
    async with http_server(Server(http=guarded)) as url:
        for words in (PYTEST, SHELL):
            code, _ = await asyncio.to_thread(outcome, words, folder, url, MCP_AUDIT_HEADER_FILE=str(headers))
            assert code == 0
        code, said = await asyncio.to_thread(outcome, PYTEST, folder, url)
        assert (code, " passed" in said) == (1, False)
        headers.write_text("Authorization: Bearer of-old\n")
        code, said = await asyncio.to_thread(outcome, SHELL, folder, url, MCP_AUDIT_HEADER_FILE=str(headers))
        assert (code, "ok " in said) == (1, False)
    assert outcome(SHELL, folder, url)[0] not in (0, 1)


# What would end a string, a comment or a command, if it could.
EVIL = 'x\'"""\n$(touch pwned)`touch pwned`; touch pwned #\\'
HOSTILE = f"""
EVIL = {EVIL!a}
TOOLS[0]["name"] = EVIL

def bend(message, reply):
    if message["method"] == "tools/call" and "result" in reply:
        reply["result"] = {{"content": [{{"type": EVIL, "text": EVIL}}], EVIL: 1}}
    return reply
"""


def test_nothing_that_a_server_wrote_is_run(tmp_path: Path) -> None:
    words = program(tmp_path, HOSTILE)
    order = Order(target=words, revisions=("2025-11-25",), limits=structs.replace(LIMITS, exit_seconds=0.5))
    folder = tmp_path / "emitted"
    folder.mkdir()
    emitted(folder, asyncio.run(collect(order)))
    for how in (PYTEST, SHELL):
        code, said = outcome(how, folder, words)
        assert (code, " passed" in said, "ok " in said) == (1, False, False)
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("transport", ["websocket", "sse"])
def test_there_are_no_tests_for_what_no_plain_client_speaks(transport: str) -> None:
    visit = Visit(name="v", transport="websocket")
    seen = Evidence(target="ws://127.0.0.1/", transport=transport, visits=(visit,))  # type: ignore[arg-type]
    with pytest.raises(emit.NotPossible, match="programs and for Streamable HTTP only"):
        emit.files_of(judge(seen), seen)
