"""`bridge --capture`: what `audit` says about a capture, who can read it, and what is never in it. Through the real command."""

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from tests.audit.audits import served
from tests.audit.cases import CASES
from tests.audit.wires import command
from tests.cli.running import COMMAND, SECONDS, environment, listening, run
from tests.cli.strangers import http_stranger

from qortal_mcp.audit.evidence import Evidence, from_file
from qortal_mcp.bridge.capture.capture import Behind, Capture, CaptureLimits
from qortal_mcp.client.transcript import Record

BY_NAME = {case.name: case for case in CASES}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "c", "version": "1"},
}


def request(id_: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


TALK: list[dict[str, Any]] = [
    request(1, "initialize", **HELLO),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    request(2, "tools/list"),
    request(3, "tools/call", name="t", arguments={}),
]


def lines(messages: Sequence[object]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def found_in(file: Path) -> tuple[set[str], set[str]]:
    """The codes that an audit of a capture finds, but for how fast programs start: before repair, and after."""
    found = run("audit", "--json", str(file)).json["findings"]
    sides: tuple[set[str], set[str]] = (set(), set())
    for one in found:
        if one["code"] != "slow-start":
            sides[one["where"].startswith("after repair: ")].add(one["code"])
    return sides


async def captured(case: str, file: Path) -> None:
    """A client on stdio talks to a case's server through a bridge."""
    async with served(BY_NAME[case]) as target:
        server = [target] if isinstance(target, str) else ["--", *target]
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *("bridge", "--capture", str(file), *server),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        async with asyncio.timeout(SECONDS):
            await process.communicate(lines(TALK))


@pytest.mark.promise(
    "Bridge",
    "A capture holds what the server said and what clients got: an audit finds the defects before repair, and none after.",
)
@pytest.mark.parametrize(
    ("case", "codes"),
    [
        pytest.param("bare-payload", {"result-bare-payload"}, id="http"),
        pytest.param("http-sse-empty", {"sse-no-reply"}, id="http-stream"),
        pytest.param("http-legacy-sse", {"legacy-sse-transport"}, id="http+sse"),
        pytest.param("ws-binary", {"websocket-binary-frame"}, id="websocket"),
        pytest.param("banner-call", {"stdout-pollution"}, id="text-between-messages"),
        pytest.param("pretty-call", {"message-multi-line"}, id="several-lines"),
        pytest.param("content-length", {"lsp-framing"}, id="content-length-frames"),
        pytest.param("notif-reply-null", {"notification-answered"}, id="answered-notification"),
        pytest.param("ok", set(), id="a-good-server"),
    ],
)
async def test_an_audit_finds_what_was_wrong_before_repair_and_nothing_after(
    case: str, codes: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "capture"
    await captured(case, file)
    assert found_in(file) == (codes, set())
    shown = run("audit", str(file)).out
    # How fast programs start is a matter of the machine.
    assert "bridge    in what 1 client got after repair, nothing is wrong" in shown or "slow-start" in shown


def test_what_is_not_repaired_is_found_after_it_too(tmp_path: Path) -> None:
    file = tmp_path / "capture"
    run(
        *("bridge", "--repair", "none", "--capture", str(file), "--", *command("bare-payload")),
        stdin=lines(TALK),
    )
    assert found_in(file) == ({"result-bare-payload"}, {"result-bare-payload"})
    report = run("audit", "--json", str(file)).json
    after = next(one for one in report["findings"] if one["where"].startswith("after repair"))
    assert "| qortal-mcp bridge -- " in after["reproduce"]
    assert '1 place below begins with "after repair"' in run("audit", str(file)).out


_OLD_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_an_audit_of_a_capture_names_the_revision_of_the_server_and_suggests_no_calls(tmp_path: Path) -> None:
    file = tmp_path / "capture"
    newer = [{**TALK[0], "params": {**TALK[0]["params"], "protocolVersion": "2025-11-25"}}, *TALK[1:3]]
    run("bridge", "--capture", str(file), "--", sys.executable, "-c", _OLD_SERVER, stdin=lines(newer))
    evidence = from_file(file.read_bytes())
    assert [visit.revision for visit in evidence.visits] == ["2025-06-18", "2025-11-25"]
    report = run("audit", "--json", str(file)).json
    assert report["revisions"] == ["2025-06-18"]
    assert "--call" not in run("audit", str(file)).out


@pytest.mark.promise(
    "Bridge",
    "A capture can be read by its owner alone, and holds none of the secrets that the bridge was given.",
)
def test_a_capture_is_its_owners_alone_and_replaces_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "capture"
    file.touch(0o644)
    run("bridge", "--capture", str(file), "--", *command("ok"))
    file.chmod(0o644)
    run("bridge", "--capture", str(file), "--", *command("ok"), stdin=lines(TALK))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [visit.name for visit in from_file(file.read_bytes()).visits] == ["server 1", "client 1"]
    assert [one.name for one in tmp_path.iterdir()] == ["capture"]


def test_a_file_that_is_not_a_capture_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text('{"mine": 1}')
    ended = run("bridge", "--capture", str(file), "--", *command("ok"), stdin=lines(TALK))
    assert (ended.code, ended.out, file.read_text()) == (3, "", '{"mine": 1}')
    assert ended.err == (
        f"qortal-mcp: Cannot write the capture {file}: the file is there and is not a capture; choose another name.\n"
    )


def test_a_capture_is_not_written_through_a_link(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_text("mine")
    link.symlink_to(target)
    ended = run("bridge", "--capture", str(link), "--", *command("ok"))
    assert ended.code == 3
    assert "it is a link or a device, not a file" in ended.err
    assert target.read_text() == "mine"


def _echoing(headers: Any, body: bytes) -> bytes:
    """A result that repeats the token it was sent."""
    message = json.loads(body)
    results = {
        "initialize": {**HELLO, "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": f"you sent {headers['authorization']}"}]},
    }
    return json.dumps(
        {"jsonrpc": "2.0", "id": message.get("id"), "result": results[message["method"]]}
    ).encode()


@pytest.mark.promise(
    "Bridge",
    "A capture can be read by its owner alone, and holds none of the secrets that the bridge was given.",
)
def test_no_secret_is_in_a_capture(tmp_path: Path) -> None:
    secret = "s3cret-token-of-the-music-tool"
    file, headers = tmp_path / "capture", tmp_path / "headers"
    headers.write_text(f"Authorization: Bearer {secret}\n")

    def answer(verb: str, sent: Any, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if verb != "POST" or b'"id"' not in body:
            return (202 if verb == "POST" else 405), {}, b""
        return 200, {"content-type": "application/json"}, _echoing(sent, body)

    with http_stranger(answer) as url:
        ended = run(
            *("bridge", "--capture", str(file), "--header-file", str(headers), url), stdin=lines(TALK)
        )
    assert secret in ended.out  # the client gets what the server says
    data = file.read_text()
    assert secret not in data
    assert "you sent ***" in data
    evidence = from_file(data.encode())
    assert evidence.has_secret_headers
    assert not any(
        name == "authorization"
        for visit in evidence.visits
        for step in visit.steps
        if step.http
        for name, _ in step.http.sent
    )


def _shows(file: Path, *names: str) -> bool:
    if not file.exists():
        return False
    evidence = from_file(file.read_bytes())
    return set(names) <= {step.name for visit in evidence.visits for step in visit.steps}


def test_with_listen_every_client_has_a_part_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "capture"
    with listening(
        "bridge", "--listen", "127.0.0.1:0", "--capture", str(file), "--", *command("bare-payload")
    ) as server:
        accept = {"Accept": "application/json, text/event-stream"}
        for _ in range(2):  # the same ids twice: two clients without a session
            for message in TALK[2:]:
                status, _ = server.ask("/mcp", message, accept)
                assert status == 200
        server.stop()
    evidence = from_file(file.read_bytes())
    clients = [visit for visit in evidence.visits if visit.is_repaired]
    assert [[step.subject for step in visit.named("tools/call")] for visit in clients] == [["t"], ["t"]]
    assert {visit.transport for visit in clients} == {"http"}
    assert found_in(file) == ({"result-bare-payload"}, set())


async def test_with_listen_sessions_and_sockets_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "capture"
    words = ("bridge", "--listen", "127.0.0.1:0", "--capture", str(file))
    with listening(*words, "--", *command("progress-unasked")) as server:
        async with ClientSession(headers={"Accept": "application/json, text/event-stream"}) as web:
            session: dict[str, str] = {}
            for message in TALK:
                async with web.post(f"{server.url}", json=message, headers=session) as reply:
                    assert reply.status in (200, 202)
                    session = session or {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}
            async with web.ws_connect(server.url.replace("/mcp", "/ws"), protocols=("mcp",)) as socket:
                for message in TALK:
                    await socket.send_json(message)
                    while "id" in message and (await socket.receive_json()).get("id") != message["id"]:
                        pass
        assert await asyncio.to_thread(server.stop) == 0
    clients = [visit for visit in from_file(file.read_bytes()).visits if visit.is_repaired]
    assert [(visit.transport, visit.revision) for visit in clients] == [
        ("http", "2025-06-18"),
        ("websocket", "2025-06-18"),
    ]
    for visit in clients:
        assert [step.name for step in visit.steps] == [message["method"] for message in TALK]
        assert {step.end for step in visit.steps} == {"answered", "sent"}


def test_a_killed_bridge_leaves_a_whole_capture(tmp_path: Path) -> None:
    file = tmp_path / "capture"
    process = subprocess.Popen(
        [*COMMAND, "bridge", "--capture", str(file), "--", *command("bare-payload")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    with process, contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        assert process.stdin is not None
        process.stdin.write(lines(TALK))
        process.stdin.flush()
        _wait_for(file)
        process.send_signal(signal.SIGKILL)
        process.wait(SECONDS)
    assert found_in(file) == ({"result-bare-payload"}, set())


def _wait_for(file: Path) -> None:
    """Until the file holds the call: it is written every few seconds."""

    async def wait() -> None:
        async with asyncio.timeout(SECONDS):
            while not _shows(file, "tools/call"):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.05)

    asyncio.run(wait())


def _said(data: bytes) -> Record:
    return Record(direction="sent", kind="message", data=data, at=1.0)


def test_a_full_capture_keeps_the_beginning_and_says_what_is_missing() -> None:
    capture = Capture(Behind(target="x", argv=("x",)), CaptureLimits(records=3, bytes=1000, connections=2))
    watch = capture.server()
    for number in range(5):
        watch(_said(lines([request(number, "ping")])))
    for _ in range(3):
        capture.client("stdio")(_said(b"{}"))
    evidence: Evidence = capture.snapshot()()
    assert [[step.name for step in visit.steps] for visit in evidence.visits] == [["ping"] * 3]
    assert [gap.reason for gap in evidence.gaps] == ["it was full: 5 later messages and heads are not in it"]


def test_an_existing_folder_is_named_before_anything_is_started(tmp_path: Path) -> None:
    ended = run("bridge", "--capture", str(tmp_path), "--", sys.executable, "-c", "1")
    assert ended.code == 3
    assert str(tmp_path) in ended.err
    assert os.listdir(tmp_path) == []
