"""The line that a finding prints: run in a shell, it shows the defect again."""

import base64
import html
import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.audit.seeds import file_of
from tests.cli.strangers import Answer, Answered, http_program, http_stranger, program

from qortal_mcp.audit.evidence import Evidence, Gap, Heard, Http, Step, Transport, Visit, from_file, to_file
from qortal_mcp.audit.judging.finding import Finding
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.judging.reproduce import line
from qortal_mcp.audit.limits import AuditLimits
from qortal_mcp.audit.secrets import safe_url, taken_out, values_in, without, without_secrets
from qortal_mcp.audit.visiting.calls import Call, Permission
from qortal_mcp.audit.visiting.runner import Order, Target, collect

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
LEAVE = Permission(named=(Call("look", {"word": "it's \u202e æ"}),))
BARE = """
def bend(message, reply):
    if message["method"] == "tools/call" and "result" in reply:
        reply["result"] = {"bare": message["params"]["arguments"]}
    if message["method"] == "initialize" and message["params"]["protocolVersion"] == "1999-01-01":
        reply["result"]["protocolVersion"] = "1999-01-01"
    return reply
"""


async def found(target: Target) -> dict[str, Finding]:
    limits = AuditLimits(request_seconds=10, probe_seconds=10, start_seconds=10, exit_seconds=0.5)
    order = Order(target=target, revisions=("2025-11-25",), permission=LEAVE, limits=limits)
    return {one.code: one for one in judge(await collect(order)).findings}


def shell(line: str) -> str:
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=30, check=False)
    return done.stdout.decode()


def replies(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@pytest.mark.promise("Audit", "The command beside a finding shows the defect again.")
async def test_the_line_for_a_program_gives_the_same_reply_again(tmp_path: Path) -> None:
    findings = await found(program(tmp_path, BARE))
    line = findings["result-bare-payload"].reproduce
    assert line.isprintable()
    assert replies(shell(line))[-1]["result"] == {"bare": {"word": "it's \u202e æ"}}
    assert '"protocolVersion": "1999-01-01"' in shell(findings["protocol-version-echoed"].reproduce)


async def test_the_line_for_a_program_that_will_not_end_shows_that_it_goes_on(tmp_path: Path) -> None:
    stays = "import atexit, time\natexit.register(time.sleep, 600)\n"
    finding = (await found(program(tmp_path, stays)))["exit-after-input"]
    assert finding.reproduce.endswith('; echo "exit code $?"')
    assert "| timeout 10 " in finding.reproduce
    assert shell(finding.reproduce.replace("timeout 10", "timeout 1")).endswith("exit code 124\n")


@pytest.mark.promise("Audit", "The command beside a finding shows the defect again.")
@needs_curl
async def test_the_line_for_an_address_gives_the_same_reply_again() -> None:
    with http_stranger(http_program(BARE)) as url:
        findings = await found(url)
        said = shell(findings["result-bare-payload"].reproduce)
        assert said.startswith("HTTP/1.1 200 ")
        assert replies(said)[-1]["result"] == {"bare": {"word": "it's \u202e æ"}}
        assert '"1999-01-01"' in shell(findings["protocol-version-echoed"].reproduce)


def with_sessions() -> Answer:
    """A server that wants sessions, told that the handshake is over, and that forgets nothing."""
    inner = http_program(BARE)
    opened: set[str] = set()
    ready: set[str] = set()

    def answer(verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
        session = headers.get("mcp-session-id", "")
        method = json.loads(body).get("method") if verb == "POST" and body.startswith(b"{") else ""
        if method == "initialize":
            new = f"s-{len(opened)}"
            opened.add(new)
            status, more, said = inner(verb, headers, body)
            return status, {**more, "Mcp-Session-Id": new}, said
        if verb == "DELETE":
            return 200, {}, b""
        if session not in opened:
            return 404, {}, b""
        if method == "notifications/initialized":
            ready.add(session)
        elif session not in ready and verb == "POST" and not headers.get("origin"):
            return 400, {}, b"not initialized"
        return inner(verb, headers, body)

    return answer


@needs_curl
async def test_the_line_for_a_session_opens_one_of_its_own() -> None:
    with http_stranger(with_sessions()) as url:
        findings = await found(url)
        call = findings["result-bare-payload"].reproduce
        assert call.startswith("S=$(curl ")
        assert '-H "mcp-session-id: $S"' in call
        assert replies(shell(call))[-1]["result"] == {"bare": {"word": "it's \u202e æ"}}
        # It ends its own session first, and finds it alive.
        after = findings["session-not-checked"].reproduce
        assert "-X DELETE" in after
        assert shell(after).startswith("HTTP/1.1 200 ")


def test_the_line_for_a_websocket_tells_whether_it_opens_for_a_strange_page() -> None:
    finding = next(one for one in judge(seed("maxmcp-G2")).findings if one.code == "origin-not-checked")
    assert finding.reproduce.startswith("curl -sS -i -m 2 http://127.0.0.1:7400/ -H 'connection: Upgrade'")
    assert "-H 'origin: https://attacker.example'" in finding.reproduce


def test_the_line_for_a_websocket_sends_the_handshake_first() -> None:
    finding = next(one for one in judge(seed("maxmcp-G2")).findings if one.code == "ping-not-answered")
    head, _, tail = finding.reproduce.partition(" | ")
    assert tail == "python -m websockets ws://127.0.0.1:7400/"
    assert head.index("initialize") < head.index("notifications/initialized") < head.index('"ping"')


def seed(name: str) -> Evidence:
    return from_file(file_of(name).read_bytes())


HIDDEN = [
    (["x", "--token", "abc"], ["x", "--token", "***"]),
    (["x", "--token=abc", "-v"], ["x", "--token=***", "-v"]),
    (["API_KEY=abc", "x"], ["API_KEY=***", "x"]),
    (["x", "-H", "Authorization: Bearer abc"], ["x", "-H", "Authorization: ***"]),
    (["x", "-H", "X-Api-Key:abc"], ["x", "-H", "X-Api-Key: ***"]),
    (["x", "Bearer abc"], ["x", "Bearer ***"]),
    (["x", "https://u:p@h/m?a=1&token=abc#f"], ["x", "https://h/m?a=1&token=***"]),
    (["x", "--url=https://u:p@h/"], ["x", "--url=https://h/"]),
    (["x", '{"apiKey":"abc","a":"b"}'], ["x", '{"apiKey":"***","a":"b"}']),
    (["x", "--verbose", "plain", "C:\\a"], ["x", "--verbose", "plain", "C:\\a"]),
]


@pytest.mark.parametrize(("argv", "shown"), HIDDEN, ids=str)
def test_a_command_line_is_shown_without_its_secrets(argv: list[str], shown: list[str]) -> None:
    assert list(without_secrets(argv)) == shown


def test_an_address_that_is_none_is_not_shown_at_all() -> None:
    assert safe_url("http://[::1:hunter2") == "***"


def test_a_secret_is_taken_out_of_every_part_of_the_evidence() -> None:
    secret = "hunter2-hunter2"
    secrets = values_in(("x", "--token", secret), ())
    assert secrets == {secret}
    told = to_file(taken_out(repeating(secret), secrets)).decode()
    assert secret not in told
    assert told.count("***") >= 6


def repeating(secret: str) -> Evidence:
    http = Http(path=f"/{secret}", sent=(("a", secret),), headers=(("b", secret),), status=200)
    step = Step(name="ping", text=secret, heard=(Heard(text=secret),), http=http, remark=secret)
    visit = Visit(name="v", transport="http", steps=(step,))
    return Evidence(target="t", transport="http", visits=(visit,), gaps=(Gap("a", secret),))


SPOKEN = "Sup3r/Secret+Token\"1'é"
REPEATED = {
    "plain": SPOKEN,
    "small": SPOKEN.lower(),
    "json": json.dumps(SPOKEN),
    "json-in-json": json.dumps(json.dumps(SPOKEN)),
    "all-escaped": "".join(f"\\u{ord(one):04X}" for one in SPOKEN),
    "some-escaped": SPOKEN.replace("S", "\\u0053").replace("/", "\\/"),
    "percent": quote(SPOKEN, safe=""),
    "html": html.escape(SPOKEN),
    "hex": SPOKEN.encode().hex(),
    "sixteen-bit": SPOKEN.encode("utf-16-le").decode("latin-1"),
    "latin-1": SPOKEN.encode().decode("latin-1"),
    **{f"base64-{at}": base64.b64encode(b"?" * at + SPOKEN.encode() + b"??").decode() for at in range(3)},
    "base64-url": base64.urlsafe_b64encode(SPOKEN.encode()).decode(),
}


@pytest.mark.parametrize("how", REPEATED)
def test_a_secret_is_taken_out_however_it_is_written(how: str) -> None:
    secrets = values_in("http://h/", (("authorization", f"Bearer {SPOKEN}"),))
    text = REPEATED[how]
    heard = (Heard(text=f"<{text}>", event=text, event_id=text), Heard(base64=b"\xff" + text.encode()))
    http = Http(path=text, sent=((text, text),), headers=((text, text),))
    step = Step(name="tools/call", subject=text, text=text, heard=heard, http=http, remark=text)
    visit = Visit(name="v", transport="http", revision="2025-11-25", steps=(step,))
    gaps = (Gap(text, text),)
    seen = taken_out(
        Evidence(target=text, argv=(text,), transport="http", visits=(visit,), gaps=gaps), secrets
    )
    inner = text.strip('"')[4:16]
    assert inner.lower() not in repr(seen).lower()
    assert b"***" in seen.visits[0].steps[0].heard[1].base64
    assert repr(seen).count("***") >= 15


def test_name_and_password_of_an_address_are_taken_out_as_a_client_sends_them() -> None:
    sent = base64.b64encode(b"usr:pa ss").decode()
    assert sent[:-2] not in without(f"Basic {sent}", values_in("http://usr:pa%20ss@h/", ()))
    assert "pa ss-word" not in without("pa ss-word", values_in("x://u:pa%20ss-word@h/", ()))
    assert without("a-token", values_in("http://a-token@h/", ())) == "***"
    header = (("authorization", f"Basic {base64.b64encode(b'usr:hunter2!').decode()}"),)
    assert without("it is hunter2!", values_in("http://h/", header)) == "it is ***"
    assert without("s3ss1on-id", values_in("http://h/", (("cookie", "a=b; id=s3ss1on-id"),))) == "***"


def test_what_every_message_holds_is_no_secret() -> None:
    assert values_in("http://h/", (("accept", "application/json"), ("content-type", "text/plain"))) == set()


@pytest.mark.parametrize("target", ["ws://[", "http://[", "-o/tmp/x"])
@pytest.mark.parametrize("transport", ["http", "websocket", "sse"])
def test_a_strange_capture_has_lines_that_open_no_file(target: str, transport: Transport) -> None:
    step = Step(name="ping", text="@/etc/passwd", http=Http(method="POST"))
    odd = Step(name="ping", http=Http(method="A\0; reboot"))
    visit = Visit(name="v", transport=transport, steps=(step, odd))
    seen = Evidence(target=target, transport=transport, visits=(visit,))
    for one in visit.steps:
        words = shlex.split(line(seen, visit, one))
        assert "-d" not in words
        assert "reboot" not in words
    if transport == "http":
        words = shlex.split(line(seen, visit, step))
        assert words[words.index("@/etc/passwd") - 1] == "--data-raw"
        if target.startswith("-"):
            assert words[words.index(target) - 1] == "--url"
