"""`ask` without a question: a conversation at a real terminal."""

import contextlib
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from tests.agent.scripted_endpoint import Request, Said, Script, ScriptedEndpoint, calls, refuses, says
from tests.cli.running import SECONDS, run
from tests.cli.terminals import CTRL_C, CTRL_D, Terminal, terminal

from qortal_mcp.cli.output.terminal import columns
from qortal_mcp.qortal.tools import definitions, select

# Tools of the toolsets that are on by default.
ALL = len(definitions(select()))


@contextlib.contextmanager
def conversation(
    script: Script = (),
    *words: str,
    servers: tuple[str, ...] = ("--sample",),
    stdout: IO[bytes] | None = None,
) -> Iterator[tuple[Terminal, ScriptedEndpoint]]:
    with ScriptedEndpoint(script) as endpoint:
        env = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted"}
        with terminal("ask", *servers, *words, env=env, stdout=stdout) as opened:
            yield opened, endpoint


def said_to(endpoint: ScriptedEndpoint, number: int = -1) -> list[tuple[str, str]]:
    """The messages of a request without the first one, which is ours."""
    messages = endpoint.chats[number].body["messages"]
    return [(message["role"], message["content"]) for message in messages[1:]]


def shown_since(opened: Terminal, line: str) -> list[str]:
    """The screen below the newest line of that text."""
    lines = opened.screen
    at = len(lines) - 1 - lines[::-1].index(line)
    return lines[at + 1 :]


def test_a_follow_up_question_comes_with_the_earlier_question_and_answer() -> None:
    with conversation([calls(("get_node_status", {})), says("Height **596**."), says("I said 596.")]) as (
        opened,
        endpoint,
    ):
        opened.until("> ")
        opened.answered("how high?")
        opened.answered("and again?")
        opened.typed("/quit")
        assert opened.ended() == 0
    assert said_to(endpoint) == [
        ("user", "how high?"),
        ("assistant", "Height **596**."),
        ("user", "and again?"),
    ]
    screen = opened.screen
    assert screen[:5] == [
        f"scripted at {endpoint.base_url}, with {ALL} tools.",
        "/help shows the commands; Ctrl-D leaves.",
        "> how high?",
        "Height **596**.",
        "",
    ]
    assert screen[5] == "Sources:"
    assert screen[6].startswith("  get_node_status · sample · height 596 · ")
    assert screen[7:] == ["> and again?", "I said 596.", "> /quit", ""]


def test_what_the_model_says_before_a_call_stays_on_the_screen() -> None:
    script = [
        calls(("get_node_status", {}), text="Let me look."),
        calls(("get_balance", {"address": "x" * 500}), text="And there."),
        says("Done."),
    ]
    with conversation(script, "--trace") as (opened, _):
        opened.until("> ")
        opened.answered("go")
    lines = shown_since(opened, "> go")
    assert lines[0] == "Let me look."
    assert lines[1].startswith("get_node_status {} ok")
    assert lines[3] == "And there."
    assert lines[4].startswith('get_balance {"address":"xxx')
    assert "Done." in lines
    # What is cleared again was one line of the terminal: more could not be cleared.
    progress = [part.partition(b"\r")[0] for part in opened.raw.split(b"\x1b[K")[1:]]
    assert max(columns(part.decode()) for part in progress if part.endswith("…".encode())) < 80


def test_commands_are_answered_without_the_model(tmp_path: Path) -> None:
    saved = tmp_path / "talk.jsonl"
    with conversation([calls(("get_node_status", {})), says("596."), says("Who?")]) as (opened, endpoint):
        opened.until("> ")
        opened.answered("/save nothing.jsonl")
        assert shown_since(opened, "> /save nothing.jsonl") == ["There is nothing to save yet.", "> "]
        opened.answered("how high?")
        before = len(endpoint.chats)
        opened.answered("/help")
        commands = [line.split()[0] for line in shown_since(opened, "> /help")[:-1]]
        assert commands == ["/tools", "/trace", "/save", "/reset", "/quit"]
        opened.answered("/tools")
        tools = shown_since(opened, "> /tools")[:-1]
        assert tools[0].startswith("get_node_status: ")
        assert len(tools) == ALL
        assert max(map(len, tools)) <= 80
        opened.answered("/trace")
        assert shown_since(opened, "> /trace") == ["Calls are shown from now on.", "> "]
        opened.answered("/nope now")
        assert shown_since(opened, "> /nope now") == [
            "Unknown command /nope. /help shows the commands.",
            "> ",
        ]
        opened.answered("/save")
        assert shown_since(opened, "> /save") == ["Name a file: /save FILE", "> "]
        opened.answered(f"/save {saved}")
        assert f"The conversation is in {saved}." in opened.screen
        assert len(endpoint.chats) == before
        opened.answered("/reset")
        opened.answered("who?")
        assert said_to(endpoint) == [("user", "who?")]
    assert saved.stat().st_mode & 0o777 == 0o600
    again = run("ask", "--replay", str(saved))
    assert again.out == "596.\n"
    assert again.err.startswith("> how high?\n\nSources:\n  get_node_status")


def test_save_writes_after_each_answer(tmp_path: Path) -> None:
    saved = tmp_path / "talk.jsonl"
    with conversation([says("One."), says("Two.")], "--save", str(saved)) as (opened, _):
        opened.until("> ")
        opened.answered("first")
        assert run("ask", "--replay", str(saved)).out == "One.\n"
        opened.answered("second")
        assert run("ask", "--replay", str(saved)).out == "One.\nTwo.\n"


def test_ctrl_c_ends_an_answer_and_nothing_of_it_is_remembered() -> None:
    script = [says("Right."), says("word " * 2000, pause=0.02), says("Again.")]
    with conversation(script) as (opened, endpoint):
        opened.until("> ")
        opened.answered("first")
        opened.typed("a long one")
        opened.until("word word")
        opened.typed(CTRL_C)
        opened.until("Interrupted.\r\n> ")
        assert endpoint.was_left.wait(SECONDS)
        opened.answered("third")
        assert said_to(endpoint) == [("user", "first"), ("assistant", "Right."), ("user", "third")]
        # Nothing of the interrupted answer came after its end.
        assert shown_since(opened, "> third") == ["Again.", "> "]
        opened.typed(CTRL_D)
        assert opened.ended() == 0


def test_ctrl_c_before_the_first_word_leaves_a_clean_line() -> None:
    def answer(request: Request) -> Said:
        is_first = request.body["messages"][-1]["content"] == "hello?"
        return says("never", pause=30) if is_first else says("Here.")

    with conversation(answer) as (opened, _):
        opened.until("> ")
        opened.typed("hello?")
        opened.until("Waiting for the model")
        opened.typed(CTRL_C)
        opened.until("Interrupted.\r\n> ")
        assert shown_since(opened, "> hello?")[-2:] == ["Interrupted.", "> "]
        assert "Waiting" not in "\n".join(opened.screen)
        opened.answered("and now?")
        assert "Here." in opened.screen


@pytest.mark.parametrize(("key", "code"), [(CTRL_C, 130), (CTRL_D, 0)], ids=["ctrl-c", "ctrl-d"])
def test_at_the_prompt_the_program_ends(key: bytes, code: int) -> None:
    with conversation() as (opened, _):
        opened.until("> ")
        opened.typed(key)
        assert opened.ended() == code
        assert opened.screen[-1] == ""  # where the shell's next prompt goes
        assert b"Traceback" not in opened.raw


def test_a_line_can_be_edited_and_brought_back() -> None:
    with conversation([says("One."), says("Two.")]) as (opened, endpoint):
        opened.until("> ")
        opened.typed(b"how hgh?\x1b[D\x1b[D\x1b[Di\n")
        opened.until("One.")
        opened.until("> ")
        opened.typed(b"\x1b[A\n")
        opened.until("Two.")
    assert said_to(endpoint)[0] == ("user", "how high?")
    assert said_to(endpoint)[-1] == ("user", "how high?")


def test_an_endpoint_that_fails_ends_no_conversation() -> None:
    with conversation([refuses(401, "no"), says("Here again.")]) as (opened, endpoint):
        opened.until("> ")
        opened.answered("first")
        assert "401" in shown_since(opened, "> first")[0]
        opened.answered("second")
        assert shown_since(opened, "> second") == ["Here again.", "> "]
        assert said_to(endpoint) == [("user", "second")]


def test_a_line_that_is_too_long_is_refused() -> None:
    with conversation([says("Here.")]) as (opened, endpoint):
        opened.until("> ")
        opened.typed("x" * 40_000)
        opened.until("The question is longer than 32,000 characters.")
        opened.until("> ")
        opened.answered("short")
        assert said_to(endpoint) == [("user", "short")]


def test_bytes_that_are_not_text_end_no_conversation() -> None:
    with conversation([says("Here.")]) as (opened, endpoint):
        opened.until("> ")
        opened.typed(b"caf\xe9?\n")
        opened.until("Here.")
        [(_, question)] = said_to(endpoint)
    # Line editing may have taken the byte for a key.
    assert question in ("caf\ufffd?", "caf?")


def test_the_newest_of_the_history_is_kept() -> None:
    def long_answer(request: Request) -> Said:
        return says(f"answer {len(endpoint.chats)} " + "x" * 9_000, piece=0)

    with conversation(long_answer) as (opened, endpoint):
        opened.until("> ")
        for number in range(8):
            opened.answered(f"question {number}")
        asked = [text for role, text in said_to(endpoint) if role == "user"]
    assert asked == [f"question {number}" for number in range(2, 8)]


def test_ctrl_c_while_servers_are_connected_ends_the_program_and_theirs() -> None:
    with conversation(servers=("--server", _program("time.sleep(600)"))) as (opened, _):
        opened.until("Connecting")
        [child] = children(opened.process.pid)
        opened.typed(CTRL_C)
        assert opened.ended() == 130
        assert_ended(child)
        assert b"Traceback" not in opened.raw


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "stop"])
def test_a_signal_is_noticed_while_the_prompt_is_drawn(number: signal.Signals) -> None:
    with conversation(lambda request: says("Yes.")) as (opened, _):
        opened.until("> ")
        opened.answered("are you there?")
        opened.answered("/reset")
        opened.process.send_signal(number)
        assert opened.ended() == 128 + number


def test_a_stop_signal_at_the_prompt_ends_the_program_and_its_servers() -> None:
    server = f"{shlex.quote(sys.executable)} -m qortal_mcp stdio --sample"
    with conversation(servers=("--server", server)) as (opened, _):
        opened.until("> ")
        [child] = children(opened.process.pid)
        opened.process.send_signal(signal.SIGTERM)
        assert opened.ended() == 143
        assert_ended(child)


def test_a_server_whose_program_ends_is_reported_and_the_conversation_goes_on() -> None:
    server = _program("print('no such module', file=sys.stderr); sys.exit(4)")
    with conversation([says("Without it.")], servers=("--sample", "--server", server)) as (opened, _):
        opened.until("> ")
        greeting = opened.screen[:-1]
        assert greeting[0].endswith(f", with {ALL} tools.")
        assert "no such module" in " ".join(greeting[1:])
        opened.answered("hello?")
        assert "Without it." in opened.screen


def test_answers_alone_go_to_a_file(tmp_path: Path) -> None:
    answers = tmp_path / "answers.txt"
    with (
        answers.open("wb") as file,
        conversation([says("One."), says("Two.")], stdout=file) as (opened, _),
    ):
        for question in ("first", "second"):
            opened.until("> ")
            opened.typed(question)
        opened.until("model …")
        opened.until("> ")
        opened.typed(CTRL_D)
        assert opened.ended() == 0
    assert answers.read_text() == "One.\nTwo.\n"


def _program(body: str) -> str:
    return shlex.join([sys.executable, "-c", f"import sys, time; {body}"])


def children(pid: int) -> list[int]:
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        found = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if _parent(path) == pid]
        if found:
            return found
    return []


def _parent(stat: Path) -> int | None:
    with contextlib.suppress(OSError):
        return int(stat.read_text().rpartition(")")[2].split()[1])
    return None


def assert_ended(pid: int) -> None:
    ends = time.monotonic() + SECONDS
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < ends, f"{pid} still runs"
