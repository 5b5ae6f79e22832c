"""How the report looks, and that it comes in time whatever hangs."""

import json
from pathlib import Path

import pytest
from tests.cli.running import Ended, run
from tests.cli.terminals import terminal
from tests.doctor.examined import closed, doctor, silent

from qortal_mcp.cli.output.terminal import columns

# An operating system whose look-ups of one name take for ever.
SLOW_NAMES = """\
import socket, time

look_up = socket.getaddrinfo


def slow(host, *rest, **more):
    if host == "slow.example":
        time.sleep(300)
    return look_up(host, *rest, **more)


socket.getaddrinfo = slow
"""


def shown(home: Path, *words: str, **env: str) -> Ended:
    return run("doctor", *words, env={"HOME": str(home), **env})


def test_the_report_reads_as_one_screen(tmp_path: Path) -> None:
    with closed() as port:
        ended = shown(tmp_path, "--node", f"http://127.0.0.1:{port}", "--listen", "127.0.0.1:0")
    lines = ended.out.splitlines()
    at = lines.index(f"Node http://127.0.0.1:{port}")
    assert lines[at + 1 : at + 5] == [
        "  PROBLEM  reachable     Nothing answers there.",
        "                         → Start Qortal Core there, name another node with --node URL, or use",
        "                           --sample for none.",
        "  unknown  not checked   allowed, Qortal node, in sync, newest block, clock, peers, Core version",
    ]
    assert lines[-1].startswith("1 problem, ")
    assert len(lines) <= 40
    assert "\x1b" not in ended.out
    assert ended.err == ""


def test_if_all_is_well_the_last_line_says_so(tmp_path: Path) -> None:
    ended = shown(tmp_path, "--sample", "--listen", "127.0.0.1:0")
    assert ended.out.splitlines()[-1] == "All is well."
    assert ended.code == 0


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    words = ("--toolsets", "nope", "--listen", "0.0.0.0:0")
    with closed() as port:
        ended = shown(tmp_path, "--node", f"http://127.0.0.1:{port}", *words, COLUMNS=str(width))
    # A path that is wider by itself is never broken, so that it can be copied.
    assert max(columns(line) for line in ended.out.splitlines() if " " in line.strip()) <= width


def test_without_unicode_the_report_is_plain(tmp_path: Path) -> None:
    with closed() as port:
        ended = shown(tmp_path, "--node", f"http://127.0.0.1:{port}", PYTHONIOENCODING="ascii", COLUMNS="120")
    assert "> Start Qortal Core" in ended.out


@pytest.mark.promise("Doctor", "Colours and progress of `doctor` are for terminals alone.")
def test_a_terminal_gets_colours_and_progress_and_keeps_only_the_report(tmp_path: Path) -> None:
    with silent() as port:
        words = ("doctor", "--node", f"http://127.0.0.1:{port}", "--listen", "127.0.0.1:0")
        with terminal(*words, env={"HOME": str(tmp_path)}) as opened:
            opened.until("Looking at ")
            opened.until("PROBLEM")
            assert opened.ended() == 1
    assert b"\x1b[31m" in opened.raw
    assert not any("Looking at" in line for line in opened.screen)


def test_colours_can_be_switched_off(tmp_path: Path) -> None:
    words = ("doctor", "--sample", "--listen", "127.0.0.1:0")
    with terminal(*words, env={"HOME": str(tmp_path), "NO_COLOR": "1"}) as opened:
        assert opened.ended() == 0
    assert "All is well." in opened.screen
    assert b"m" not in {part[-1:] for part in opened.raw.split(b"\x1b[")[1:]}
    assert b"\x1b[3" not in opened.raw


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    with silent() as port:
        words = ("doctor", "--node", f"http://127.0.0.1:{port}")
        with terminal(*words, env={"HOME": str(tmp_path)}) as opened:
            opened.until("Looking at ")
            opened.typed(b"\x03")
            assert opened.ended() == 130


def test_the_json_report_is_one_object_with_counts_that_agree(tmp_path: Path) -> None:
    with closed() as port:
        examined = doctor(tmp_path, "--node", f"http://127.0.0.1:{port}", "--listen", "127.0.0.1:0")
    report = json.loads(examined.ended.out)
    states = [check["state"] for section in report["sections"] for check in section["checks"]]
    assert report["outcome"] == "problem"
    assert report["problems"] == states.count("problem") == 1
    assert report["warnings"] == states.count("warning")
    assert report["unknown"] == states.count("unknown")
    for section in report["sections"]:
        for check in section["checks"]:
            assert bool(check.get("advice")) is (check["state"] != "good")


@pytest.mark.promise("Doctor", "`doctor` ends in time, even if the system itself hangs.")
def test_names_that_are_looked_up_for_ever_hold_up_nothing(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_NAMES)
    slow = {"PYTHONPATH": str(tmp_path)}
    examined = doctor(tmp_path, "--sample", "--listen", "slow.example:8000", env=slow)
    assert examined.one("unfinished")["state"] == "unknown"
    assert {each["state"] for each in examined.section("Sample chain").values()} == {"good"}
    assert examined.code == 3
    examined = doctor(tmp_path, "--node", "http://slow.example", "--listen", "127.0.0.1:0", env=slow)
    assert "in time" in examined.one("node-reachable")["says"]
    assert examined.code == 1


def test_a_folder_that_is_gone_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert doctor(tmp_path, "--sample", "--listen", "127.0.0.1:0").code == 0
