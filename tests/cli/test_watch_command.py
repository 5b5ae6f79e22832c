"""`watch`: how things are, then what changes about them, while a node moves, goes away and comes back."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from queue import Queue
from typing import Any

import pytest
from tests.cli.running import ALICE, SECONDS, environment
from tests.console.browser.nodes import StubNode, stub_node

from qortal_mcp.cli.main import main
from qortal_mcp.cli.output.differences import Difference, change, differences
from qortal_mcp.cli.output.events import Event, Lines

BOB = "QixPbJUwsaHsVEofJdozU9zgVqkK6aYhrK"
TRADE = "AYSdZDKhkpafRVm1YzDcrGMo5hBd9qK8uZ"
# How the last line of an account begins.
LAST_BALANCE = "          5  TICKET"
# The command as it is, but it looks for new blocks as often as a node's newest block is asked for.
PROGRAM = """
import sys
from qortal_mcp.qortal import watching
watching._LOOK_SECONDS = 2.1
from qortal_mcp.cli.main import main
sys.exit(main(["watch", *sys.argv[1:]]))
"""


class Watching:
    """A `watch` that runs; `line` waits for its next line."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self) -> str:
        return self._lines.get(timeout=SECONDS)

    def until(self, begin: str) -> list[str]:
        """Its next lines, to the one that begins so."""
        lines = [self.line()]
        while not lines[-1].startswith(begin):
            lines.append(self.line())
        return lines

    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.line())
        return found

    def interrupted(self) -> tuple[int, str]:
        """The exit code after Ctrl-C, and what was written to standard error."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        assert self.process.stderr is not None
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        assert self._lines.empty(), self._lines.get()
        return code, self.process.stderr.read()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def watching(node: StubNode, *words: str) -> Iterator[Watching]:
    watch = Watching((*words, "--node", node.url))
    try:
        yield watch
    finally:
        watch.close()


@pytest.fixture
def node() -> Iterator[StubNode]:
    with stub_node() as node:
        yield node


def changing(which: Callable[[dict[str, Any]], bool], **members: Any) -> Callable[[Any], Any]:
    """Replies in which some objects have other members."""
    return lambda reply: {**reply, **members} if isinstance(reply, dict) and which(reply) else reply


def is_bob(reply: Mapping[str, Any]) -> bool:
    return reply.get("name") == "Bob"


@pytest.mark.promise(
    "Command line",
    "`watch` shows how a thing is, then one line per change, until Ctrl-C, which is exit code 0.",
)
def test_a_name_that_is_sold_is_one_line_with_old_and_new(node: StubNode) -> None:
    with watching(node, "name", "Bob") as watch:
        assert watch.line().endswith("block 596  name Bob")
        state = watch.until("  salePrice ")
        assert state[:3] == ["  name            Bob", "  isExactMatch    yes", f"  owner           {BOB}"]
        node.change = changing(is_bob, owner=ALICE, data="x\u202ey\n\x1b[31m")
        node.more_blocks = 1
        line = watch.line()
        assert line.endswith(
            f"block 597  owner {BOB} → {ALICE}; data bob data → x\\u{{202E}}y \\u{{001B}}[31m"
        )
        assert watch.interrupted() == (0, "")


@pytest.mark.promise("Command line", "`watch` says when the node stops answering and when it is back.")
def test_a_node_that_goes_away_and_comes_back_is_told_and_watching_goes_on(node: StubNode) -> None:
    with watching(node, "name", "Bob", "nobody-yet", "--json") as watch:
        first, absent = watch.event(), watch.event()
        assert (first["event"], first["uri"], first["height"]) == ("state", "qortal://name/Bob", 596)
        assert first["state"]["owner"] == BOB
        assert first["node"] == node.url
        assert absent == {
            "event": "absent",
            "uri": "qortal://name/nobody-yet",
            "reason": "Name not found.",
        }
        node.stop()
        away = watch.event()
        assert away["event"] == "unreachable"
        assert away["reason"].startswith("Node unreachable.")
        node.change = changing(is_bob, owner=ALICE)
        node.more_blocks = 2
        node.start()
        told = [watch.event(), watch.event()]
        back, change = sorted(told, key=lambda event: event["event"], reverse=True)
        assert (back["event"], back["height"]) == ("reachable", 598)
        assert (change["event"], change["height"]) == ("change", 598)
        assert change["changes"] == [{"member": "owner", "old": BOB, "new": ALICE}]
        assert watch.interrupted() == (0, "")


def test_the_chain_grows_line_by_line_and_once_ends_with_the_first(node: StubNode) -> None:
    with watching(node, "chain", "--once") as watch:
        assert watch.line().endswith("block 596  chain")
        watch.until("  whyNoMinting")
        node.more_blocks = 1
        assert "block 597  height 596 → 597" in watch.line()
        assert watch.ended() == (0, "")


def test_several_accounts_are_told_apart_and_an_account_may_be_a_name(node: StubNode) -> None:
    with watching(node, "address", ALICE, "@Bob") as watch:
        assert watch.line().endswith(f"block 596  address {ALICE}")
        watch.until(LAST_BALANCE)
        assert watch.line().endswith("block 596  address @Bob")
        assert watch.until(LAST_BALANCE)[0].split() == ["address", BOB]
        node.change = changing(lambda reply: reply.get("address") == BOB and "level" in reply, level=9)
        node.more_blocks = 1
        line = watch.line()
        assert "block 597  address @Bob: level " in line
        assert line.endswith(" → 9")
        assert watch.interrupted() == (0, "")


@pytest.mark.promise("Command line", "`watch` on the sample chain says that nothing will change.")
@pytest.mark.parametrize(
    "words",
    [["chain"], ["name", "Bob"], ["address", ALICE], ["trade", TRADE], ["name", "nobody"]],
    ids=" ".join,
)
def test_on_the_sample_chain_nothing_will_change(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", *words, "--sample"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(words) in lines[0]
    assert all(line.startswith("  ") for line in lines[1:-1])
    assert lines[-1] == "The sample chain stands still: nothing will change."
    assert main(["watch", *words, "--sample", "--json", "--once"]) == 3
    events = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert events == ["absent" if words[-1] == "nobody" else "state", "still"]


WRONG = [
    pytest.param([], "Choose from: address, name, trade, chain. See", id="nothing"),
    pytest.param(["block", "5"], "is not one of", id="kind"),
    pytest.param(["name"], "watch name needs at least one name.", id="no-name"),
    pytest.param(["chain", "x"], "watch chain takes no names.", id="chain-with-a-name"),
    pytest.param(["name", ""], "none of them empty", id="empty"),
    pytest.param(["name", *map(str, range(64))], "up to 63 things", id="too-many"),
    pytest.param(
        ["address", "nobody"], "Cannot watch the address: Invalid Qortal address.", id="not-an-address"
    ),
    pytest.param(
        ["trade", "@alice-test"], "Cannot watch the trade: Invalid Qortal address.", id="name-for-trade"
    ),
    pytest.param(["name", "Bob", "--toolsets", "-names"], "Cannot watch the name", id="toolset-off"),
]


@pytest.mark.parametrize(("words", "reason"), WRONG)
def test_what_cannot_be_watched_is_wrong_usage(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", *words, "--sample"]) == 2
    shown = capsys.readouterr()
    assert reason in shown.err
    assert shown.err.count("\n") == 1


def test_account_is_another_word_for_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "account", "@Bob", "--sample"]) == 0
    shown = capsys.readouterr().out
    assert main(["watch", "address", "@Bob", "--sample"]) == 0
    assert capsys.readouterr().out == shown


def test_a_long_change_is_folded_on_a_terminal_below_its_moment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    words = change({"owner": BOB, "data": "a"}, {"owner": ALICE, "data": "b"})
    event = Event(event="change", time="2026-11-15T21:05:45Z", height=597)
    Lines(as_json=False).write(event, words, "name Bob")
    assert capsys.readouterr().out.splitlines() == [
        "2026-11-15 21:05:45 UTC  block 597  name Bob:",
        f"  owner {BOB} →",
        f"  {ALICE}; data a → b",
    ]


def test_no_node_at_the_start_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "chain", "--node", "http://127.0.0.1:9"]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("qortal-mcp: Node unreachable.")


ROWS = [{"assetId": 0, "assetName": "QORT", "balance": "1.00000000"}]
CHANGES = [
    pytest.param({"a": 1}, {"a": 1}, [], "", id="nothing"),
    pytest.param({"a": 1}, {"a": None}, [Difference("a", 1, None)], "a 1 → –", id="null"),
    pytest.param({}, {"a": "x"}, [Difference("a", new="x")], "a – → x", id="appears"),
    pytest.param({"a": {"b": 1}}, {"a": {"b": 2}}, [Difference("a.b", 1, 2)], "a.b 1 → 2", id="deeper"),
    pytest.param(
        {"names": ["a", "b"]},
        {"names": ["b", "c"]},
        [Difference("names[]", old="a"), Difference("names[]", new="c")],
        "names − a; names + c",
        id="list",
    ),
    pytest.param(
        {"n": ["a", "b"]}, {"n": ["b", "a"]}, [Difference("n", ["a", "b"], ["b", "a"])], None, id="order"
    ),
    pytest.param(
        {"assets": ROWS},
        {"assets": [{**ROWS[0], "balance": "1234.50000000"}]},
        [Difference("assets[QORT].balance", "1.00000000", "1234.50000000")],
        "assets[QORT].balance 1 → 1,234.5",
        id="row",
    ),
    pytest.param(
        {"assets": ROWS},
        {"assets": [*ROWS, {"assetId": 1, "assetName": "A\x1b", "balance": "2.00000000"}]},
        [Difference("assets[]", new={"assetId": 1, "assetName": "A\x1b", "balance": "2.00000000"})],
        "assets + 1 A\\u{001B} 2",
        id="new-row",
    ),
    pytest.param(
        {"rows": [{"a": 1}, {"a": 1}]},
        {"rows": [{"a": 2}]},
        [Difference("rows", [{"a": 1}, {"a": 1}], [{"a": 2}])],
        "rows (2) → (1)",
        id="rows-alike",
    ),
]


@pytest.mark.parametrize(("old", "new", "found", "words"), CHANGES)
def test_what_is_different_is_said_member_by_member(
    old: dict[str, Any], new: dict[str, Any], found: list[Difference], words: str | None
) -> None:
    assert list(differences(old, new)) == found
    assert words is None or change(old, new) == words


def test_a_long_text_of_a_stranger_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    line = change({"data": "x" * 1000}, {"data": "y " * 1000})
    assert len(line) < 200
    assert line.count("…") == 2
