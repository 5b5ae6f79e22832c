"""`ask` with one question: where it comes from, where the answer goes, and how it ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent.scripted_endpoint import Reply, Request, ScriptedEndpoint, calls, refuses, says
from tests.cli.running import COMMAND, SECONDS, Ended, environment, run
from tests.cli.terminals import terminal

from qortal_mcp.cli.running import failures
from qortal_mcp.qortal.tools import definitions, select

# Tools of the toolsets that are on by default.
ALL = len(definitions(select()))

HEIGHT = "How high is the chain?"
LONG = "line\n" * 5000


_REPLIES: dict[str, Reply] = {
    HEIGHT: says("Block 596, not 77."),
    "cut": says("half an answer", finish="length"),
    "empty": says(""),
    "refused": refuses(400, "no"),
    "long": says(LONG, piece=500),
    "slow": says("word " * 1000, pause=0.05),
}


def _reply(request: Request) -> Reply:
    """By the question."""
    question, *since = [one for one in request.body["messages"] if one["role"] != "system"]
    text = question["content"]
    if text == "endless" or (not since and text in (HEIGHT, "slow")):
        return calls(("get_node_status", {}), text="Let me look." if text == HEIGHT else "")
    return _REPLIES.get(text, says("You said so."))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(_reply) as opened:
        yield opened


def settings(endpoint: ScriptedEndpoint) -> dict[str, str]:
    return {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted"}


def ask(endpoint: ScriptedEndpoint, *words: str, stdin: bytes = b"") -> Ended:
    return run("ask", "--sample", *words, env=settings(endpoint), stdin=stdin)


def asked_last(endpoint: ScriptedEndpoint) -> str:
    question: str = endpoint.chats[-1].body["messages"][-1]["content"]
    return question


@pytest.mark.parametrize(
    ("words", "stdin", "question"),
    [
        pytest.param(("who is it?",), b"", "who is it?", id="one-word"),
        pytest.param(("who", "is", "it?"), b"", "who is it?", id="several-words"),
        pytest.param((), b"who\nis it?\n", "who\nis it?", id="a-pipe"),
        pytest.param(("-",), b"who is it?\n", "who is it?", id="a-pipe-by-name"),
        pytest.param((), b"caf\xe9 \xff\n", "caf\ufffd \ufffd", id="a-pipe-that-is-not-utf-8"),
        pytest.param((os.fsdecode(b"caf\xe9"),), b"", "caf\ufffd", id="a-word-that-is-not-utf-8"),
        pytest.param(("--", "--trace?"), b"", "--trace?", id="after-two-dashes"),
    ],
)
def test_the_question_is_taken_from_words_or_a_pipe(
    endpoint: ScriptedEndpoint, words: tuple[str, ...], stdin: bytes, question: str
) -> None:
    done = ask(endpoint, *words, stdin=stdin)
    assert (done.code, done.out, done.err) == (0, "You said so.\n", "")
    assert asked_last(endpoint) == question


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        pytest.param(("",), b"", "There is no question.", id="empty"),
        pytest.param(("-",), b" \n", "There is no question.", id="empty-pipe"),
        pytest.param(("x" * 32_001,), b"", "The question is longer than 32,000 characters.", id="long"),
        pytest.param((), b"\xff" * 200_000, "The question is longer than 32,000 characters.", id="long-pipe"),
        pytest.param(
            ("--replay", "a", "--dry-run"), b"", "--replay and --dry-run cannot be combined.", id="two-modes"
        ),
        pytest.param(("--replay", "a", "why?"), b"", "--replay takes no question", id="replay-and-question"),
        pytest.param(("--eval", "a", "--save", "b"), b"", "--eval takes no question", id="eval-and-save"),
        pytest.param(("hi", "--server", "'"), b"", "--server: the command cannot be read", id="half-a-quote"),
        pytest.param(("hi", "--server", " "), b"", "--server", id="no-command"),
    ],
)
def test_wrong_usage_is_reported_and_nobody_is_asked(
    endpoint: ScriptedEndpoint, words: tuple[str, ...], stdin: bytes, said: str
) -> None:
    before = len(endpoint.requests)
    done = ask(endpoint, *words, stdin=stdin)
    assert done.code == failures.WRONG_USAGE
    assert done.out == ""
    assert said in done.err
    assert "Traceback" not in done.err
    assert len(endpoint.requests) == before


def test_a_closed_input_is_no_question(endpoint: ScriptedEndpoint) -> None:
    done = shell(endpoint, f"{shlex.join(COMMAND)} ask --sample <&-")
    assert (done.code, done.out) == (2, "")
    assert done.err == "qortal-mcp: There is no question. See qortal-mcp ask --help.\n"


def test_the_answer_goes_to_output_and_everything_about_it_to_errors(endpoint: ScriptedEndpoint) -> None:
    done = ask(endpoint, HEIGHT)
    assert done.code == 0
    assert done.out == "Let me look.\nBlock 596, not 77.\n"
    blank, title, source, claims = done.err.splitlines()
    assert (blank, title) == ("", "Sources:")
    assert source.startswith("  get_node_status · sample · height 596 · ")
    assert claims == "Not from a tool: 77"


def test_why_nothing_was_looked_up_is_said_once() -> None:
    node = ("--node", "http://127.0.0.1:1")
    script = [calls(("get_fee", {"type": "PAYMENT"}), ("get_node_status", {})), says("It costs 7 QORT.")]
    shown = []
    for words in ((), ("--trace",)):
        with ScriptedEndpoint(script) as endpoint:
            shown.append(run("ask", "what does it cost?", *node, *words, env=settings(endpoint)).err)
    lines = shown[0].splitlines()
    assert lines[:2] == ["", "Sources: none. No call succeeded:"]
    assert lines[2].startswith("  get_fee: Node unreachable. Tried http://127.0.0.1:1.")
    assert lines[3].startswith("  get_node_status: Node unreachable.")
    assert lines[4:] == ["Not from a tool: 7"]
    assert shown[1].count("Node unreachable") == 2


def test_with_several_servers_a_source_names_its_own(endpoint: ScriptedEndpoint) -> None:
    done = ask(endpoint, HEIGHT, "--server", "no-such-program-here")
    assert done.code == 0
    assert "\n  get_node_status · qortal · sample · height 596 · " in done.err


def test_a_trace_says_what_was_called_and_what_it_took(endpoint: ScriptedEndpoint) -> None:
    done = ask(endpoint, HEIGHT, "--trace")
    lines = done.err.splitlines()
    assert done.out == "Let me look.\nBlock 596, not 77.\n"
    assert lines[0] == "get_node_status {} ok"
    assert lines[1].strip().split(" · ")[3:] == ["round 1", "qortal"]
    assert lines[-1].startswith(f"scripted at {endpoint.base_url}: 1 call in 1 round, ")


def test_json_has_everything_and_a_trace_does_not_disturb_it(endpoint: ScriptedEndpoint) -> None:
    done = ask(endpoint, HEIGHT, "--json", "--trace")
    assert done.code == 0
    found = done.json
    assert (found["question"], found["answer"]) == (HEIGHT, "Block 596, not 77.")
    assert [claim["text"] for claim in found["grounding"]["notFromATool"]] == ["77"]
    assert [call["tool"] for call in found["calls"]] == ["get_node_status"]
    assert found["ended"] == "answer"
    assert done.err.startswith("get_node_status {} ok\n")
    assert ask(endpoint, HEIGHT, "--json").err == ""


@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_what_is_waited_for_is_shown_beside_json_and_leaves_nothing(
    endpoint: ScriptedEndpoint, kind: str, tmp_path: Path
) -> None:
    """A terminal that cannot clear a line gets none."""
    with (
        (tmp_path / "out").open("wb") as out,
        terminal(
            "ask", HEIGHT, "--sample", "--json", env={**settings(endpoint), "TERM": kind}, stdout=out
        ) as opened,
    ):
        assert opened.ended() == 0
    said = [text in opened.raw for text in (b"Waiting for the model", b"get_node_status {}", b"\x1b")]
    assert said == [kind == "xterm"] * 3
    assert opened.screen == [""]
    assert json.loads((tmp_path / "out").read_bytes())["answer"] == "Block 596, not 77."


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        pytest.param(("hi",), 0, "You said so.", "", id="answered"),
        pytest.param(
            ("cut",), 3, "half an answer\n\n[The model's answer ended in the middle.]", "", id="cut"
        ),
        pytest.param(("empty",), 3, "", "The model gave no answer", id="no-answer"),
        pytest.param(("refused",), 3, "", "refuses the request (400)", id="refused"),
        pytest.param(
            ("endless", "--max-rounds", "1"), 3, "[Stopped after 1 round of tool calls", "", id="rounds"
        ),
        pytest.param(("slow", "--max-time", "0.2"), 3, "[Stopped after 0.2 s", "", id="time"),
    ],
)
def test_each_ending_has_its_exit_code(
    endpoint: ScriptedEndpoint, words: tuple[str, ...], code: int, out: str, err: str
) -> None:
    done = ask(endpoint, *words)
    assert done.code == code
    assert out in done.out
    assert err in done.err
    assert bool(done.err) == bool(err) or "Sources" in done.err
    as_json = ask(endpoint, *words, "--json")
    assert as_json.code == code
    assert as_json.json["question"] == words[0]


def test_without_tools_the_answer_says_so(endpoint: ScriptedEndpoint) -> None:
    done = run("ask", "hi", "--server", "no-such-program-here", env=settings(endpoint))
    assert done.code == 3
    assert done.out.startswith("You said so.\n\n[No tools were available, so nothing here was looked up.")
    assert "no-such-program-here" in done.err


def shell(endpoint: ScriptedEndpoint, line: str) -> Ended:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        capture_output=True,
        timeout=SECONDS,
        env=environment(settings(endpoint)),
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    ("redirected", "code", "out", "err"),
    [
        pytest.param("| head -1", 0, "line\n", "", id="closed-early"),
        pytest.param("> /dev/full", 3, "", "Cannot write the output: No space left on device.", id="full"),
        pytest.param(">&-", 3, "", "Cannot write the output: Bad file descriptor.", id="closed"),
    ],
)
def test_an_output_that_takes_no_more_ends_the_command(
    endpoint: ScriptedEndpoint, redirected: str, code: int, out: str, err: str
) -> None:
    done = shell(endpoint, f"{shlex.join(COMMAND)} ask --sample long {redirected}")
    assert (done.code, done.out) == (code, out)
    assert done.err == (f"qortal-mcp: {err}\n" if err else "")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupt", "stop"]
)
def test_a_signal_ends_the_answer_and_the_servers(
    endpoint: ScriptedEndpoint, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    saved = tmp_path / "run.jsonl"
    server = shlex.join([*COMMAND, "stdio", "--sample"])
    process = subprocess.Popen(
        [*COMMAND, "ask", "slow", "--server", server, "--save", str(saved)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(settings(endpoint)),
    )
    assert process.stdout is not None
    assert process.stdout.read(9) == b"word word"
    [child] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(number)
    rest, err = process.communicate(timeout=SECONDS)
    assert process.returncode == code
    assert rest.endswith(b"\n")
    assert err == b""
    assert list(tmp_path.iterdir()) == []
    ends = time.monotonic() + SECONDS
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < ends


def test_a_dry_run_lists_what_would_be_offered(endpoint: ScriptedEndpoint) -> None:
    before = len(endpoint.requests)
    done = ask(endpoint, "--dry-run")
    assert (done.code, done.err) == (0, "")
    *tools, prompt, total, how = done.out.splitlines()
    assert len(tools) == ALL
    assert tools[0].split()[0] == "get_node_status"
    assert prompt.startswith("instructions for the model ")
    assert total.startswith("total ")
    assert how.startswith("Tokens are ")
    found = ask(endpoint, "--dry-run", "--json").json
    assert [tool["name"] for tool in found["tools"]] == [line.split()[0] for line in tools]
    assert found["totalTokens"] == found["promptTokens"] + sum(tool["tokens"] for tool in found["tools"])
    assert len(endpoint.requests) == before


def test_a_dry_run_of_several_servers_says_which_is_down() -> None:
    other = shlex.join([sys.executable, "-m", "qortal_mcp", "stdio", "--sample", "--toolsets", "blocks"])
    servers = ("--server", other, "--server", "no-such-program-here")
    done = run("ask", "--sample", "--dry-run", *servers)
    assert done.code == 0
    names = [line.split()[0] for line in done.out.splitlines()]
    assert len(set(names)) == len(names)
    assert any("no-such-program-here" in line for line in done.out.splitlines())
    found = run("ask", "--sample", "--dry-run", "--json", *servers).json
    assert [server.get("tools", 0) for server in found["servers"]] == [ALL, len(found["tools"]) - ALL, 0]
    assert "no-such-program-here" in found["servers"][2]["problem"]
    assert {tool["server"] for tool in found["tools"]} == {one["name"] for one in found["servers"][:2]}


def test_a_dry_run_without_any_tool_could_not_be_determined() -> None:
    done = run("ask", "--dry-run", "--server", "no-such-program-here")
    assert done.code == 3
    assert "no-such-program-here" in done.out


def test_the_help_fits_a_terminal() -> None:
    done = run("ask", "--help", env={"COLUMNS": "80"})
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_server_that_does_not_start_is_not_waited_for_longer_than_a_question(
    endpoint: ScriptedEndpoint,
) -> None:
    done = ask(endpoint, "what is new?", "--max-time", "0.5", "--server", "sleep 100")
    assert "sleep did not answer within 0.5 s" in done.err
