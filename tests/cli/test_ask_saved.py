"""`ask --save` and `--replay`: a private file that shows a run again, and files of strangers that cannot do harm."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agent.scripted_endpoint import ScriptedEndpoint, calls, says
from tests.cli.running import Ended, run
from tests.cli.terminals import terminal

TITLE = {"type": "title", "format": "qortal-mcp/run", "version": 1}
SCRIPT = (
    calls(
        ("get_node_status", {}),
        ("get_balance", {"address": "12345", "amount": 1.10, "large": 12345678901234567890, "text": "é\x1b"}),
        text="Let me look.",
    ),
    says("Block 596, not 77."),
)
# What must not reach a terminal: it moves the cursor, rings, hides or reorders.
HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\r\u202e\u200b"
CONTROLS = set("\x1b\x07\x9b\u202e\u200b")


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint([*SCRIPT, *SCRIPT]) as opened:
        yield opened


def ask(endpoint: ScriptedEndpoint, *words: str) -> Ended:
    env = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted"}
    return run("ask", "how high?", "--sample", *words, env=env)


def lines_of(path: Path, *lines: Any) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def ended(**members: Any) -> dict[str, Any]:
    return {"type": "ended", "run": {"question": "q", "answer": "a", **members}}


def test_a_run_is_shown_again_as_it_was(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    saved = str(tmp_path / "run.jsonl")
    first = ask(endpoint, "--trace", "--save", saved)
    again = run("ask", "--replay", saved, "--trace")
    assert (first.code, again.code) == (0, 0)
    assert first.out == again.out == "Let me look.\nBlock 596, not 77.\n"
    assert again.err == f"> how high?\n{first.err}"
    assert 'get_balance {"address":"12345","amount":1.1,"large":12345678901234567890,' in first.err
    short = run("ask", "--replay", saved)
    assert short.out == first.out
    assert "Not from a tool: 77" in short.err
    assert "get_balance" not in short.err


def test_the_json_of_a_saved_run_is_that_of_the_run(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    saved = str(tmp_path / "run.jsonl")
    first = ask(endpoint, "--json", "--save", saved)
    assert first.json["calls"][1]["arguments"]["text"] == "é\x1b"
    assert run("ask", "--replay", saved, "--json").out == first.out


def test_the_file_is_private_and_replaces_an_older_run(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    saved = tmp_path / "run.jsonl"
    saved.write_text(json.dumps(TITLE) + "\n")
    saved.chmod(0o644)
    assert ask(endpoint, "--save", str(saved)).code == 0
    assert saved.stat().st_mode & 0o777 == 0o600
    assert len(saved.read_text().splitlines()) > 3
    assert list(tmp_path.iterdir()) == [saved]


def _link(path: Path) -> None:
    (path.parent / "target").write_text("")
    path.symlink_to(path.parent / "target")


def _notes(path: Path) -> None:
    path.write_text("dear diary\n")


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        pytest.param(_link, "it is a link or a device, not a file", id="a-link"),
        pytest.param(
            _notes, "the file is there and is not a saved run; choose another name", id="another-file"
        ),
        pytest.param(
            lambda path: path.write_text("x" * 10_000_000), "is not a saved run", id="one-long-line"
        ),
        pytest.param(lambda path: path.mkdir(), "it is a folder", id="a-folder"),
        pytest.param(os.mkfifo, "it is a link or a device", id="a-pipe"),
    ],
)
def test_what_is_not_a_run_is_never_written_over(
    endpoint: ScriptedEndpoint, tmp_path: Path, prepare: Any, said: str
) -> None:
    path = tmp_path / "file"
    prepare(path)
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir() if one.is_file()}
    done = ask(endpoint, "--save", str(path))
    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir() if one.is_file()} == before
    assert endpoint.requests == []


def test_a_folder_that_is_not_there_is_reported_before_anybody_is_asked(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    done = ask(endpoint, "--save", str(tmp_path / "none" / "run.jsonl"))
    assert done.code == 3
    assert "its folder does not exist" in done.err
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "its first line does not say that it is a saved run", id="empty"),
        pytest.param(b"\xff\xfe\x00", "its first line does not say", id="rubbish"),
        pytest.param(b"[" * 100_000, "its first line does not say", id="deep"),
        pytest.param(b'{"type":"title","format":"other","version":1}\n', "its first line", id="other-format"),
        pytest.param(
            b'{"type":"title","format":"qortal-mcp/run","version":2}\n', "its first line", id="version"
        ),
        pytest.param(json.dumps(TITLE).encode(), "it holds no run that ended", id="only-a-title"),
        pytest.param(
            json.dumps(TITLE).encode() + b'\n{"type":"ended","ru', "line 2 cannot be read", id="cut"
        ),
        pytest.param(json.dumps(TITLE).encode() + b'\n{"type":"other"}', "line 2 cannot be read", id="event"),
        pytest.param(
            json.dumps(TITLE).encode() + b'\n{"type":"text","text":"\xff"}',
            "line 2 cannot be read",
            id="utf-8",
        ),
        pytest.param(
            json.dumps(TITLE).encode() + b"\n" + json.dumps(TITLE).encode(),
            "line 2 begins a second run",
            id="two",
        ),
    ],
)
def test_a_file_that_is_not_a_run_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(data)
    done = run("ask", "--replay", str(path))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_file_of_300_mb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with path.open("wb") as file:
        file.truncate(300 * 2**20)
    done = run("ask", "--replay", str(path))
    assert done.code == 2
    assert "is larger than 256 MiB" in done.err


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    done = run("ask", "--replay", str(tmp_path / "none"))
    assert done.code == 2
    assert "No such file or directory" in done.err


def test_the_name_of_a_file_is_inert_in_an_error(tmp_path: Path) -> None:
    done = run("ask", "--replay", str(tmp_path / "\x1b]0;title\x07"))
    assert done.code == 2
    assert "\\u{001B}]0;title\\u{0007}: No such file" in done.err


def _hostile(path: Path) -> str:
    call = {"tool": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "ok": False, "text": HOSTILE, "server": HOSTILE}
    call["warnings"] = [HOSTILE]
    source = {"tool": HOSTILE, "server": HOSTILE, "time": HOSTILE, "node": HOSTILE, "as_of": HOSTILE}
    claim = {"text": HOSTILE, "kind": "name", "start": 0, "end": 1}
    return lines_of(
        path,
        TITLE,
        {"type": "asked", "question": HOSTILE},
        {"type": "calling", "tool": HOSTILE, "arguments": HOSTILE, "server": HOSTILE},
        {"type": "called", "call": call},
        {"type": "notice", "text": HOSTILE},
        {"type": "text", "text": HOSTILE},
        ended(
            answer=HOSTILE,
            calls=[call],
            sources=[source],
            grounding={"checked": 1, "notFromATool": [claim]},
            problem=HOSTILE,
            ended="endpoint",
            model=HOSTILE,
            endpoint=HOSTILE,
        ),
    )


@pytest.mark.parametrize("words", [(), ("--trace",), ("--json",)], ids=["plain", "trace", "json"])
def test_what_a_stranger_saved_is_inert_when_it_is_shown(tmp_path: Path, words: tuple[str, ...]) -> None:
    saved = _hostile(tmp_path / "run.jsonl")
    done = run("ask", "--replay", saved, *words)
    assert done.code == 3
    assert CONTROLS & set(done.out + done.err) == set()
    if "--json" in words:
        assert done.json["answer"] == HOSTILE
    else:
        assert done.out == "\\u{001B}[2J\\u{001B}]0;title\\u{0007}\\u{009B}31m\\u{000D}\\u{202E}\\u{200B}\n"


def test_it_is_inert_at_a_terminal_too(tmp_path: Path) -> None:
    with terminal("ask", "--replay", _hostile(tmp_path / "run.jsonl"), "--trace") as opened:
        assert opened.ended() == 3
        sequences = [part[:3] for part in opened.raw.split(b"\x1b")[1:]]
        assert set(sequences) == {b"[2m", b"[0m"}  # our own
        assert any("\\u{001B}[2J" in line for line in opened.screen)
