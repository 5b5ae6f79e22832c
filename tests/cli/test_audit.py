"""`audit`: exit codes, the forms of a report, captures, baselines, and what never leaves or reaches the terminal."""

import json
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from docgen.examples import EXAMPLES
from tests.audit.seeds import file_of
from tests.cli.running import COMMAND, SECONDS, Ended, environment, listening, run
from tests.cli.strangers import Answered, http_program, http_stranger, program

from qortal_mcp.audit.checks import CHECKS
from qortal_mcp.audit.evidence import from_file
from qortal_mcp.audit.judging.clients import measured_codes
from qortal_mcp.cli.main import main
from qortal_mcp.repairs.chosen import REPAIRS

BAD = str(file_of("incumbent-now"))
WORSE = str(file_of("incumbent-before"))
GOOD = str(file_of("incumbent-after"))
# One revision is enough where the question is not about revisions.
QUICK = ("--revision", "2025-11-25", "--timeout", "10")
ECHOING = """
def bend(message, reply):
    if message["method"] == "initialize":
        reply["result"]["protocolVersion"] = message["params"]["protocolVersion"]
    return reply
"""


def audit(*words: str, env: Mapping[str, str] | None = None) -> Ended:
    return run("audit", *words, env=env)


def codes(ended: Ended) -> set[str]:
    return {one["code"] for one in ended.json["findings"]}


def line_of(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """The one line that a command line ends with."""
    assert main(["audit", *words]) == code
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.count("\n") == 1
    assert seen.err.startswith("qortal-mcp: ")
    return seen.err.removeprefix("qortal-mcp: ").rstrip()


@pytest.fixture
def unused_port() -> Iterator[int]:
    with socket.socket() as bound:  # bound but not listening: connecting is refused
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.promise(
    "Audit", "The exit code is 0 for a server that conforms, 1 for one that violates the specification."
)
def test_a_server_that_conforms_is_exit_code_0() -> None:
    ended = audit(GOOD)
    assert (ended.code, ended.err) == (0, "")
    assert "\nCONFORMS\nno violation found in 2" in ended.out
    assert ended.out.count("CONFORMS") == 1


@pytest.mark.promise(
    "Audit", "The exit code is 0 for a server that conforms, 1 for one that violates the specification."
)
def test_a_server_that_violates_is_exit_code_1_with_the_worst_first() -> None:
    ended = audit(BAD)
    assert (ended.code, ended.err) == (1, "")
    assert "VIOLATES (7 MUST in 8 places, 1 SHOULD, 4 portability, 1 advice)" in ended.out
    heads = [
        line.split()[0]
        for line in ended.out.splitlines()
        if line.startswith(("MUST", "SHOULD", "portab", "advice"))
    ]
    assert heads == ["MUST"] * 7 + ["SHOULD"] + ["portability"] * 4 + ["advice"]


@pytest.mark.promise("Audit", "A report names the clients that break, with what they said.")
def test_a_report_names_the_clients_that_break_and_a_line_to_see_it() -> None:
    shown = audit(BAD).out
    assert (
        "breaks    Claude Code, Gemini CLI, TypeScript SDK v1, TypeScript SDK v2, Python SDK v1, Python"
        in shown
    )
    assert "try       curl -sS -i http://127.0.0.1:8000/mcp " in shown


@pytest.mark.promise("Transports", "All five revisions are served on stdio, HTTP and WebSocket.")
@pytest.mark.promise(
    "Audit", "The Qortal server itself conforms, with every tool called, on stdio, HTTP and WebSocket."
)
@pytest.mark.parametrize("wire", ["stdio", "http", "websocket"])
def test_our_own_server_conforms_on_every_wire_in_every_revision_with_every_tool(
    tmp_path: Path, wire: str
) -> None:
    calls = tmp_path / "calls"
    calls.write_text("".join(f"{tool} {json.dumps(arguments)}\n" for tool, arguments in EXAMPLES.items()))
    words = ("--json", "--calls", str(calls))
    all_tools = ("--sample", "--toolsets", "all")
    if wire == "stdio":
        ended = audit(*words, "--", *COMMAND, "stdio", *all_tools)
    else:
        with listening("serve", *all_tools) as server:
            base = server.url.removesuffix("/mcp")
            ended = audit(*words, f"{base}/mcp" if wire == "http" else f"{base.replace('http', 'ws')}/ws")
    report = ended.json
    assert (ended.code, report["findings"], report["gaps"]) == (0, [], [])
    assert len(report["revisions"]) == 5
    assert report["tools"] == report["toolsCalled"] > 40


@pytest.mark.promise(
    "Audit", "Too little seen of a server, or nobody there, is exit code 3 and never a verdict."
)
def test_a_server_of_which_too_little_is_seen_is_exit_code_3(tmp_path: Path) -> None:
    ended = audit(*QUICK, "--no-calls", "--", *program(tmp_path))
    assert ended.code == 3
    assert "INCOMPLETE" in ended.out
    assert "no tool call succeeded; name calls with --call" in ended.out


@pytest.mark.promise(
    "Audit", "Too little seen of a server, or nobody there, is exit code 3 and never a verdict."
)
def test_an_address_where_nobody_is_is_exit_code_3_and_one_line(unused_port: int) -> None:
    for scheme in ("http", "ws"):
        ended = audit(f"{scheme}://127.0.0.1:{unused_port}/mcp")
        assert (ended.code, ended.out) == (3, "")
        assert ended.err == ("qortal-mcp: Cannot reach the server: connection refused.\n")


@pytest.mark.promise(
    "Audit", "What is not an MCP server is said not to be one, and nothing is found wrong with it."
)
def test_a_program_that_repeats_what_it_is_sent_is_not_a_server() -> None:
    ended = audit("--json", "--", "cat")
    assert (ended.code, ended.json["verdict"], ended.json["findings"]) == (3, "incomplete", [])
    assert ended.json["because"] == "server: this program repeats what it is sent; it is not an MCP server"


class Website(BaseHTTPRequestHandler):
    """One page at /, and nothing anywhere else; nobody may POST to the page."""

    def do_GET(self) -> None:
        self._answer(200 if self.path == "/" else 404)

    def do_POST(self) -> None:
        self._answer(405 if self.path == "/" else 404)

    def _answer(self, status: int) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        page = b"<html>Welcome</html>"
        self.send_response(status)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *words: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def website() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Website) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


NOTHING_HERE = "nothing is served at this path (HTTP 404); MCP servers often use /mcp, /sse or /ws"
NO_SERVER = "this does not look like an MCP server"


@pytest.mark.promise(
    "Audit", "What is not an MCP server is said not to be one, and nothing is found wrong with it."
)
def test_a_website_is_not_a_server_and_a_wrong_path_is_named_once(website: str) -> None:
    page = audit("--json", f"http://{website}/")
    assert (page.code, page.json["because"]) == (3, f"server: {NO_SERVER} (HTTP 405)")
    assert page.json["findings"] == []
    elsewhere = audit(f"http://{website}/nope")
    assert (elsewhere.code, " ".join(elsewhere.out.split()).count(NOTHING_HERE)) == (3, 1)
    for path, words in (("/", f"{NO_SERVER} (HTTP 200)"), ("/nope", NOTHING_HERE)):
        ended = audit(f"ws://{website}{path}")
        assert (ended.code, ended.err) == (3, f"qortal-mcp: Cannot reach the server: {words}.\n")


def test_a_program_that_ends_at_once_is_exit_code_3_with_its_last_words() -> None:
    ended = audit("--", "sh", "-c", "echo the key is missing >&2; exit 7")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "qortal-mcp: Cannot reach the server: the program ended with exit code 7 and said: the key is missing.\n"
    )


def test_a_program_that_does_not_exist_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no-such-program" in line_of(capsys, "--", "no-such-program", code=3)


HELP = "See qortal-mcp audit --help."
WRONG = [
    pytest.param([], f"Give one address, one capture, or -- and a command. {HELP}", id="nothing"),
    pytest.param(["a", "b"], f"Give one address, one capture, or -- and a command. {HELP}", id="two"),
    pytest.param([BAD, "--", "x"], f"Give one address, one capture, or -- and a command. {HELP}", id="both"),
    pytest.param(["--"], f"There is no command after --. {HELP}", id="no-command"),
    pytest.param(
        ["ftp://x"], f"An address begins with http://, https://, ws:// or wss://. {HELP}", id="scheme"
    ),
    pytest.param(
        ["http://:secret@[x"], f"The address has no host, or a port that does not exist. {HELP}", id="address"
    ),
    pytest.param(
        ["http://h:0/"], f"The address has no host, or a port that does not exist. {HELP}", id="port"
    ),
    pytest.param(
        ["nowhere"], f"Cannot read the capture nowhere: No such file or directory. {HELP}", id="no-file"
    ),
    pytest.param(
        [BAD, "--call", "x"], f"--call needs a server; a capture is only read. {HELP}", id="call-of-file"
    ),
    pytest.param(
        [BAD, "--revision", "2025-11-25"],
        f"--revision needs a server; a capture is only read. {HELP}",
        id="revision-of-file",
    ),
    pytest.param(
        [BAD, "--capture", "x"], f"--capture needs a server; a capture is only read. {HELP}", id="again"
    ),
    pytest.param(
        ["--call-all", "--no-calls", "http://h"],
        f"--call-all and --no-calls contradict each other. {HELP}",
        id="calls",
    ),
    pytest.param(
        ["--junit", "x", "--sarif", "./x", BAD],
        f"Two outputs have the same file. {HELP}",
        id="one-file-for-two",
    ),
    pytest.param(
        ["--diff", BAD, GOOD, "http://h"],
        f"--diff contacts no server; leave the rest out. {HELP}",
        id="diff-of-server",
    ),
    pytest.param(
        ["--explain", "all", BAD],
        f"--explain contacts no server; leave the rest out. {HELP}",
        id="explain-of-file",
    ),
    pytest.param(
        ["--explain", "pingnot-answered"],
        "Unknown code pingnot-answered. Did you mean ping-not-answered? `--explain all` lists them.",
        id="code",
    ),
    pytest.param(
        ["--call", "t {bad", "http://h"],
        "The arguments of --call t are not JSON: Expecting property name enclosed in double quotes: "
        f"line 1 column 2 (char 1). {HELP}",
        id="call-no-json",
    ),
    pytest.param(
        ["--call", "t [1]", "http://h"],
        f"The arguments of --call t must be a JSON object. {HELP}",
        id="call-no-object",
    ),
    pytest.param(
        ["--call", 't {"a": NaN}', "http://h"],
        f"The arguments of --call t are not JSON: NaN is not a JSON value. {HELP}",
        id="call-nan",
    ),
    pytest.param(
        ["--call", " ", "http://h"],
        f"--call does not name a tool; write 'TOOL' or 'TOOL {{\"name\": …}}'. {HELP}",
        id="call-nothing",
    ),
    pytest.param(
        ["--header-file", "x", "--", "true"],
        f"--header-file is for addresses; a program has no headers. {HELP}",
        id="headers-of-program",
    ),
]


@pytest.mark.parametrize(("words", "line"), WRONG)
def test_wrong_usage_is_exit_code_2_and_one_clear_line(
    capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert line_of(capsys, *words) == line


def test_a_foreign_file_is_said_to_be_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"\xff\xfe{}\n")
    assert "is not a capture: the first line does not say that this is a capture" in line_of(
        capsys, str(foreign)
    )


def test_a_file_that_was_cut_off_is_said_to_be_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(Path(BAD).read_bytes()[:-100])
    assert "is not a capture: line " in line_of(capsys, str(cut))


def test_a_baseline_that_is_none_is_said_to_be(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    wrong = tmp_path / "baseline"
    for data, words in (
        ("{}", "Object missing required field `known`"),
        ('{"known":[{"code":"a","where":"b","reason":" "}]}', "no reason is given for a"),
        ("nonsense", "is not a baseline: "),
    ):
        wrong.write_text(data)
        assert words in line_of(capsys, "--baseline", str(wrong), BAD)


def test_a_file_of_headers_that_is_wrong_is_said_by_its_line_and_never_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = tmp_path / "headers"
    for data in ("x: y\nhunter2hunter2", "x: y\nhunter2 hunter2: 1", "x: y\nhunter2: a\x1bb"):
        wrong.write_text(data)
        line = line_of(capsys, "--header-file", str(wrong), "http://127.0.0.1:9/")
        assert "Line 2 of the header file" in line
        assert "hunter2" not in line


@pytest.mark.parametrize("option", ["--junit", "--sarif", "--markdown", "--capture", "--write-baseline"])
def test_a_file_that_cannot_be_written_is_said_before_the_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    # Nothing listens there: had the work begun, that would be the answer.
    words = (option, str(tmp_path / "none" / "x"), "http://127.0.0.1:9/mcp")
    assert line_of(capsys, *words, code=3).endswith("its folder does not exist.")
    assert line_of(capsys, option, str(tmp_path), "http://127.0.0.1:9/mcp", code=3).endswith(
        "it is a folder."
    )


def test_a_file_that_is_not_a_capture_is_not_replaced_by_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    notes, link = tmp_path / "notes.json", tmp_path / "link"
    notes.write_text('{"mine": 1}')
    link.symlink_to(notes)
    for path in (notes, link):
        line = line_of(capsys, "--capture", str(path), "http://127.0.0.1:9/mcp", code=3)
        assert line == (
            f"Cannot write the capture {path}: the file is there and is not a capture; choose another name."
        )
    assert notes.read_text() == '{"mine": 1}'


def test_a_capture_or_an_empty_file_is_replaced_by_a_capture(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for before in (b"", Path(BAD).read_bytes()):
        kept.write_bytes(before)
        assert audit(*QUICK, "--capture", str(kept), "--", *program(tmp_path)).code == 0
        assert sys.executable in from_file(kept.read_bytes()).target


def test_json_has_the_verdict_the_findings_and_what_was_not_judged() -> None:
    ended = audit("--json", BAD)
    report = ended.json
    assert ended.code == 1
    assert ended.out.count("\n") == 1
    assert {
        "verdict",
        "because",
        "target",
        "revisions",
        "findings",
        "judged",
        "notJudged",
        "modelSees",
    } <= set(report)
    assert (report["verdict"], report["target"]) == ("violates", "http://127.0.0.1:8000/mcp")
    assert report["revisions"] == ["2025-03-26", "2025-06-18"]
    wanted = {"code", "severity", "where", "evidence", "expected", "clause", "clients", "fix", "reproduce"}
    for finding in report["findings"]:
        assert wanted <= set(finding)
        assert finding["severity"] in ("MUST", "SHOULD", "portability", "advice")
    assert all(
        {"client", "version", "outcome", "seen"} == set(one)
        for f in report["findings"]
        for one in f["clients"]
    )
    assert all({"code", "reason"} == set(one) for one in report["notJudged"])
    assert not {one["code"] for one in report["notJudged"]} & set(report["judged"])


def written(tmp_path: Path, option: str, *words: str) -> str:
    path = tmp_path / "report"
    audit(option, str(path), *words)
    return path.read_text(encoding="utf-8")


@pytest.mark.promise("Audit", "JUnit, SARIF and Markdown reports are what their readers accept.")
def test_junit_fails_for_must_and_should_and_skips_what_was_not_judged(tmp_path: Path) -> None:
    report = audit("--json", WORSE).json
    suites = ElementTree.fromstring(written(tmp_path, "--junit", WORSE))
    assert suites.tag == "testsuites"
    (suite,) = suites
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    failed = {name for name, case in cases.items() if case.find("failure") is not None}
    skipped = {name for name, case in cases.items() if case.find("skipped") is not None}
    assert failed == {one["code"] for one in report["findings"] if one["severity"] in ("MUST", "SHOULD")}
    assert skipped == {one["code"] for one in report["notJudged"]}
    counted = {name: int(suite.attrib[name]) for name in ("tests", "failures", "skipped", "errors")}
    assert counted == {"tests": len(cases), "failures": len(failed), "skipped": len(skipped), "errors": 0}
    assert {case.attrib["classname"] for case in cases.values()} == {"mcp"}
    failure = cases["content-type-unknown"].find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "MUST", "message": "MUST: A block with a type that does not exist"}
    assert "breaks: Codex CLI, Claude Code" in (failure.text or "")
    # What is only portability or advice is told, and stops nobody.
    assert "requestId" in (cases["rpc-extra-member"].findtext("system-out") or "")


def test_junit_has_no_case_for_what_has_no_business_with_the_server(tmp_path: Path) -> None:
    names = {
        case.attrib["name"]
        for case in ElementTree.fromstring(written(tmp_path, "--junit", GOOD)).iter("testcase")
    }
    assert "ping-not-answered" in names
    assert not names & {"stdout-pollution", "websocket-binary-frame", "modern-error-code"}


@pytest.mark.promise("Audit", "JUnit, SARIF and Markdown reports are what their readers accept.")
def test_sarif_has_what_the_standard_demands(tmp_path: Path) -> None:
    log = json.loads(written(tmp_path, "--sarif", BAD))
    assert log["version"] == "2.1.0"
    (one,) = log["runs"]
    driver = one["tool"]["driver"]
    assert driver["name"] == "qortal-mcp audit"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
    assert len(one["results"]) == len(audit("--json", BAD).json["findings"])
    for result in one["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in ("error", "warning", "note")
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "mcp-server"
        assert place["logicalLocations"][0]["fullyQualifiedName"]
    prints = [result["partialFingerprints"]["codeAndPlace/v1"] for result in one["results"]]
    assert len(set(prints)) == len(prints)
    levels = {result["ruleId"]: result["level"] for result in one["results"]}
    assert (levels["ping-not-answered"], levels["batch-refused"]) == ("error", "warning")
    assert (levels["origin-not-checked"], levels["unknown-tool-in-result"]) == ("error", "note")


def test_sarif_says_which_server_it_is_about(tmp_path: Path) -> None:
    log = json.loads(written(tmp_path, "--sarif", BAD))
    assert log["runs"][0]["properties"]["target"] == "http://127.0.0.1:8000/mcp"


@pytest.mark.promise("Audit", "JUnit, SARIF and Markdown reports are what their readers accept.")
def test_markdown_is_a_plan_by_priority_with_before_after_how_and_test(tmp_path: Path) -> None:
    plan = written(tmp_path, "--markdown", BAD)
    heads = [line for line in plan.splitlines() if line.startswith("## ")]
    assert heads == [
        "## First: what the specification demands",
        "## Then: what the specification recommends",
        "## Then: legal, but it breaks a client",
        "## Worth knowing",
        "## What models get from each call",
        "## What this audit did not check",
    ]
    item = plan.partition("(`structured-content-not-object`, MUST)")[2].partition("\n## ")[0]
    parts = [
        "**Now**",
        "**Afterwards**: ",
        "**How**: ",
        "**Who breaks on it**",
        "**The test to add**: ",
        "```sh\ncurl ",
    ]
    places = [item.index(part) for part in parts]
    assert places == sorted(places)
    assert '[{"tradeAddress":"Aa"' in item[places[0] : places[1]]
    numbers = [int(line.split()[1].rstrip(".")) for line in plan.splitlines() if line.startswith("### ")]
    assert numbers == list(range(1, 14))


def test_all_reports_can_be_written_at_once_and_the_report_is_still_shown(tmp_path: Path) -> None:
    options = [("--junit", "j"), ("--sarif", "s"), ("--markdown", "m"), ("--write-baseline", "b")]
    ended = audit(*(word for option, name in options for word in (option, str(tmp_path / name))), BAD)
    assert ended.code == 1
    assert "VIOLATES" in ended.out
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b", "j", "m", "s"]


def test_a_report_can_go_to_a_pipe_and_through_a_link(tmp_path: Path) -> None:
    ended = audit("--markdown", "/dev/stdout", GOOD)
    assert ended.code == 0
    assert "# MCP audit of `http://127.0.0.1:8000/mcp`" in ended.out
    link, real = tmp_path / "link", tmp_path / "real"
    link.symlink_to(real)
    assert audit("--markdown", str(link), GOOD).code == 0
    assert link.is_symlink()
    assert real.read_text().startswith("# MCP audit of ")


def test_a_report_takes_the_place_of_an_older_one_whole(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("old " * 10_000)
    audit("--junit", str(report), GOOD)
    assert report.read_text().startswith("<?xml ")
    assert report.read_text().endswith("</testsuites>\n")
    assert [one.name for one in tmp_path.iterdir()] == ["report"]


@pytest.mark.promise("Audit", "A capture gives the same report as the server it came from.")
def test_a_capture_is_judged_again_with_the_same_findings(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    live = audit("--json", *QUICK, "--capture", str(kept), "--", *program(tmp_path, ECHOING))
    again = audit("--json", str(kept))
    assert codes(live) == {"protocol-version-echoed"}
    assert (again.code, again.json) == (live.code, live.json)


@pytest.mark.promise(
    "Audit", "The difference of two audits says what was fixed, and fails where something got worse."
)
def test_a_difference_says_what_got_better_and_fails_where_something_got_worse() -> None:
    better = audit("--diff", BAD, GOOD)
    assert better.code == 0
    assert better.out.startswith("violates -> conforms\n\nFixed: 14\n")
    assert "\nWorse: 0\n" in better.out
    changed = audit("--diff", WORSE, BAD)
    assert changed.code == 1
    assert (
        "    MUST  content-type-unknown  tools/call validate_address: result.content[0].type" in changed.out
    )
    assert "    MUST  structured-content-not-object  tools/call list_trade_offers" in changed.out


def test_a_difference_as_json_has_both_lists() -> None:
    told = audit("--diff", BAD, GOOD, "--json").json
    assert set(told) == {"oldVerdict", "newVerdict", "fixed", "worse", "uncovered", "unseen", "left"}
    assert (len(told["fixed"]), told["worse"], told["left"]) == (14, [], 0)


def with_reasons(baseline: Path, reason: str, without: str = "") -> None:
    """Give the reasons that a new baseline leaves open, and drop the entries of a code."""
    known = json.loads(baseline.read_text())["known"]
    kept = [{**entry, "reason": reason} for entry in known if entry["code"] != without]
    baseline.write_text(json.dumps({"known": kept}))


def test_a_new_baseline_counts_only_once_its_reasons_are_given(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    audit("--write-baseline", str(baseline), BAD)
    ended = audit("--baseline", str(baseline), BAD)
    assert ended.code == 2
    assert "no reason is given for structured-content-not-object" in ended.err


@pytest.mark.promise(
    "Audit", "What a baseline knows is reported but does not count, and what is new still fails."
)
def test_what_a_baseline_knows_is_told_but_does_not_count(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    assert audit("--write-baseline", str(baseline), BAD).code == 1
    file = json.loads(baseline.read_text())
    assert [set(entry) for entry in file["known"]] == [{"code", "where", "reason", "severity"}] * 14
    with_reasons(baseline, "the clients of this house do not mind")
    ended = audit("--json", "--baseline", str(baseline), BAD)
    assert (ended.code, ended.json["verdict"]) == (0, "conforms")
    assert {one["known"] for one in ended.json["findings"]} == {"the clients of this house do not mind"}
    assert "14 known" in audit("--baseline", str(baseline), BAD).out
    plan = written(tmp_path, "--markdown", "--baseline", str(baseline), BAD)
    assert "## Known and accepted" in plan
    suite = ElementTree.fromstring(written(tmp_path, "--junit", "--baseline", str(baseline), BAD))
    assert suite.attrib["failures"] == "0"


@pytest.mark.promise(
    "Audit", "What a baseline knows is reported but does not count, and what is new still fails."
)
def test_what_is_new_beside_a_baseline_still_fails(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    audit("--write-baseline", str(baseline), BAD)
    with_reasons(baseline, "a good reason", without="ping-not-answered")
    ended = audit("--json", "--baseline", str(baseline), BAD)
    assert ended.code == 1
    assert ended.json["because"].endswith(": ping-not-answered")


def test_a_baseline_that_is_no_longer_needed_is_said_to_be(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    audit("--write-baseline", str(baseline), BAD)
    with_reasons(baseline, "a good reason")
    ended = audit("--baseline", str(baseline), GOOD)
    assert ended.code == 0
    assert ended.err.startswith(
        "14 entries of the baseline no longer found, such as structured-content-not-object at "
    )


def test_reasons_that_were_given_stay_when_a_baseline_is_written_again(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    audit("--write-baseline", str(baseline), BAD)
    with_reasons(baseline, "a good reason")
    audit("--baseline", str(baseline), "--write-baseline", str(baseline), BAD)
    assert {entry["reason"] for entry in json.loads(baseline.read_text())["known"]} == {"a good reason"}


def test_a_code_is_explained_with_what_real_clients_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--explain", "content-type-unknown"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("content-type-unknown  A block with a type that does not exist\n")
    assert "Codex CLI, Claude Code" in shown
    assert "fix        " in shown


@pytest.mark.promise("Audit", "Every code can be explained with `--explain`.")
def test_every_code_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    codes = list(dict.fromkeys([*(check.code for check in CHECKS), *(one.code for one in REPAIRS)]))
    for code in codes:
        assert main(["audit", "--explain", code]) == 0
    assert main(["audit", "--explain", "all"]) == 0
    listed = capsys.readouterr().out.splitlines()[-len(codes) :]
    assert [line.split()[1] for line in listed] == codes


def test_a_code_that_only_a_repair_has_is_explained_by_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--explain", "meta-not-object"]) == 0
    first, _, audit, bridge, *_ = capsys.readouterr().out.splitlines()
    assert first == "meta-not-object  _meta of a result is not an object"
    assert audit == "An audit does not look for this; a bridge repairs it."
    assert bridge == "bridge     at safe: The member is left out, and kept among what was taken out."


@pytest.mark.promise("Audit", "What each measured client does with a defect can be asked with `--clients`.")
def test_what_clients_do_is_said_for_one_code_in_each_of_its_forms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", "--clients", "notification-status"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("notification-status  A notification gets a status other than 202\n")
    assert "Measured on 2026-11-15" in shown
    first, last = (
        shown.index("200 without a body:\n    none of the server's tools are offered: Codex CLI 0.166.0"),
        shown.index("204:\n    not affected: Codex CLI 0.166.0"),
    )
    assert first < last


def test_clients_without_a_code_lists_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--clients"]) == 0
    listed = capsys.readouterr().out.splitlines()[2:]
    codes = [line.split()[0] for line in listed]
    assert set(codes) == set(measured_codes())
    assert listed[codes.index("blank-line")].split(maxsplit=1)[1] == "Gemini CLI"
    assert listed[codes.index("line-ending-crlf")].split(maxsplit=1)[1] == "nobody breaks"


def test_a_code_that_was_not_measured_or_does_not_exist_is_said_to_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", "--clients", "origin-not-checked"]) == 0
    assert "This was not measured with real clients." in capsys.readouterr().out
    assert main(["audit", "--clients", "no-such-code"]) == 2
    assert "no-such-code" in capsys.readouterr().err


def test_calls_for_tools_that_were_not_called_can_be_pasted(tmp_path: Path) -> None:
    first = audit(*QUICK, "--", *program(tmp_path))
    options = [line.strip() for line in first.out.splitlines() if line.strip().startswith("--call ")]
    assert options == ['--call \'find {"word": "a"}\'', '--call \'wipe {"disk": "a"}\'']
    kept = tmp_path / "kept"
    again = [word for option in options for word in shlex.split(option)]
    assert audit(*QUICK, *again, "--capture", str(kept), "--", *program(tmp_path)).code == 0
    assert called(kept) == {"look": {}, "find": {"word": "a"}, "wipe": {"disk": "a"}}


def called(kept: Path) -> dict[str, Any]:
    """Each tool that a capture shows called, with its arguments."""
    steps = [json.loads(line) for line in kept.read_text().splitlines()[1:]]
    sent = [json.loads(step["text"])["params"] for step in steps if step["name"] == "tools/call"]
    return {one["name"]: one["arguments"] for one in sent}


def test_only_what_is_read_only_and_needs_no_arguments_is_called(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ended = audit(*QUICK, "--capture", str(kept), "--", *program(tmp_path))
    assert ended.code == 0
    assert called(kept) == {"look": {}}
    shown = " ".join(ended.out.split())
    assert "as they do not declare readOnlyHint; name them with --call: wipe" in shown
    assert "as they need arguments; name them with --call, or use --call-all: find" in shown


@pytest.mark.promise("Audit", "No tool that may change something is called unless a person names it.")
def test_call_all_makes_up_arguments_for_read_only_tools_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert audit(*QUICK, "--call-all", "--capture", str(kept), "--", *program(tmp_path)).code == 0
    assert called(kept) == {"look": {}, "find": {"word": "a"}}


def test_no_calls_calls_only_what_is_named(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    words = ("--no-calls", "--call", 'wipe {"disk": "d"}', "--capture", str(kept))
    assert audit(*QUICK, *words, "--", *program(tmp_path)).code == 0
    assert called(kept) == {"wipe": {"disk": "d"}}


@pytest.mark.parametrize(
    "text",
    [
        '# two calls\nfind {"word": "x"}\n\nwipe {"disk": "d"}\n',
        '[{"tool": "find", "arguments": {"word": "x"}}, {"name": "wipe", "arguments": {"disk": "d"}}]',
    ],
    ids=["lines", "array"],
)
def test_calls_are_read_from_a_file(tmp_path: Path, text: str) -> None:
    kept, calls = tmp_path / "kept", tmp_path / "calls"
    calls.write_text(text)
    words = ("--no-calls", "--calls", str(calls), "--capture", str(kept))
    assert audit(*QUICK, *words, "--", *program(tmp_path)).code == 0
    assert called(kept) == {"find": {"word": "x"}, "wipe": {"disk": "d"}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("find\nfind {", "line 2: find are not JSON"),
        ("[1]", 'each entry is {"tool": "…", "arguments": {…}}'),
        ("[", "is not JSON"),
        ("\xff", "is not UTF-8"),
    ],
)
def test_a_file_of_calls_that_is_wrong_is_said_to_be(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: str
) -> None:
    calls = tmp_path / "calls"
    calls.write_bytes(text.encode("latin-1") if text == "\xff" else text.encode())
    assert words in line_of(capsys, "--calls", str(calls), "http://127.0.0.1:9/mcp")


def test_a_named_tool_that_is_not_there_leaves_the_audit_incomplete(tmp_path: Path) -> None:
    ended = audit(*QUICK, "--call", "nope", "--", *program(tmp_path))
    assert ended.code == 3
    assert "tool nope: it is not in the list of tools" in ended.out


def test_only_the_revisions_asked_for_are_looked_at(tmp_path: Path) -> None:
    words = ("--revision", "2025-06-18", "--revision", "2024-11-05", "--call", "look")
    ended = audit("--json", *words, "--", *program(tmp_path))
    # The last visit asks for a version that does not exist, and is answered with the newest.
    assert {"2024-11-05", "2025-06-18"} <= set(ended.json["revisions"])
    assert "2025-03-26" not in ended.json["revisions"]


def test_the_report_says_that_only_some_revisions_were_asked_for(tmp_path: Path) -> None:
    capture = tmp_path / "capture"
    words = ("--revision", "2025-06-18", "--capture", str(capture), "--call", "look")
    ended = audit(*words, "--", *program(tmp_path))
    for shown in (ended.out, audit(str(capture)).out):
        assert "\nchecked   2025-06-18 only, as asked\n" in shown
        assert "\nspeaks " not in shown


def test_a_failed_call_is_shown_as_one_with_the_words_of_the_server(tmp_path: Path) -> None:
    failing = """
def bend(message, reply):
    if message["method"] == "tools/call" and message["params"].get("name") == "look":
        reply["result"] = {"content": [{"type": "text", "text": "the | lamp is off"}], "isError": True}
    return reply
"""
    plan = tmp_path / "plan.md"
    ended = audit(*QUICK, "--markdown", str(plan), "--call", "look", "--", *program(tmp_path, failing))
    assert re.search(r"^tools +\d, \d called, 0 succeeded; ", ended.out, re.MULTILINE)
    assert "    failed calls: look\n        server said           look: the | lamp is off\n" in ended.out
    assert "| `look` failed: the \\| lamp is off |" in plan.read_text()


def test_a_revision_that_the_server_does_not_speak_leaves_the_audit_incomplete(tmp_path: Path) -> None:
    ended = audit("--json", *QUICK, "--revision", "2026-07-28", "--", *program(tmp_path))
    assert (ended.code, ended.json["verdict"]) == (3, "incomplete")
    assert "revision 2026-07-28: the server does not speak it" in ended.json["because"]


SECRET = "hunter2-hunter2-hunter2"
FORMS = ("--capture", "--junit", "--sarif", "--markdown", "--write-baseline")


def everything(tmp_path: Path, *words: str, forms: Sequence[str] = FORMS) -> str:
    """All that an audit writes anywhere."""
    files = [tmp_path / option.strip("-") for option in forms]
    options = [word for option, path in zip(forms, files, strict=True) for word in (option, str(path))]
    ended = audit(*options, *words)
    assert "Traceback" not in ended.err
    as_json = audit("--json", *words)
    kept = [path.read_text() for path in files if path.exists()]
    assert len(kept) in (0, len(files))
    return "\n".join([ended.out, ended.err, as_json.out, as_json.err, *kept])


def telling(inner: Callable[..., Answered]) -> Callable[[str, Mapping[str, str], bytes], Answered]:
    """A server that repeats every header it gets in every reply."""

    def answer(verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
        status, more, said = inner(verb, headers, body)
        told = said.replace(b'"stranger"', json.dumps(f"stranger {dict(headers)}").encode())
        return status, {**more, "x-told": headers.get("authorization", "")}, told

    return answer


@pytest.mark.promise(
    "Audit", "Secrets in headers, addresses and command lines never appear in a report or a capture."
)
def test_headers_from_a_file_are_sent_and_never_shown_even_where_the_server_repeats_them(
    tmp_path: Path,
) -> None:
    file = tmp_path / "headers"
    file.write_text(f"Authorization: Bearer {SECRET}\nX-Plain: {SECRET}2\n")
    sent: list[str] = []
    inner = telling(http_program(ECHOING))

    def answer(verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
        sent.append(headers.get("authorization", "") + headers.get("x-plain", ""))
        return inner(verb, headers, body)

    with http_stranger(answer) as url:
        seen = everything(tmp_path, *QUICK, "--header-file", str(file), url)
    assert set(sent) == {f"Bearer {SECRET}{SECRET}2"}
    assert "protocol-version-echoed" in seen
    assert SECRET not in seen


@pytest.mark.promise(
    "Audit", "Secrets in headers, addresses and command lines never appear in a report or a capture."
)
def test_secrets_in_an_address_are_never_shown(tmp_path: Path) -> None:
    with http_stranger(http_program(ECHOING)) as url:
        address = url.replace("://", f"://me:{SECRET}@") + f"?x=1&api_key={SECRET}3"
        seen = everything(tmp_path, *QUICK, address)
    assert "?x=1&api_key=***" in seen
    assert SECRET not in seen


@pytest.mark.promise(
    "Audit", "Secrets in headers, addresses and command lines never appear in a report or a capture."
)
def test_secrets_on_the_command_line_of_a_program_are_never_shown(tmp_path: Path) -> None:
    argv = [
        *program(tmp_path, ECHOING),
        "--token",
        SECRET,
        f"--api-key={SECRET}1",
        "--header",
        f"Authorization: Bearer {SECRET}2",
        f"https://me:{SECRET}3@host/?a=b&token={SECRET}4",
        f'{{"password": "{SECRET}5"}}',
    ]
    seen = everything(tmp_path, *QUICK, "--", *argv)
    assert "--token '***' '--api-key=***' --header 'Authorization: ***'" in seen
    assert SECRET not in seen


def test_secrets_are_not_shown_where_nobody_is_reached(unused_port: int) -> None:
    ended = audit(f"http://me:{SECRET}@127.0.0.1:{unused_port}/?token={SECRET}")
    assert ended.code == 3
    assert SECRET not in ended.err
    dying = audit("--", "sh", "-c", 'echo "bad token: $1" >&2; exit 1', "sh", "--token", SECRET)
    assert dying.code == 3
    assert SECRET not in dying.err


# Escapes of terminals in both notations, bidi, line breaks of every kind, half a character, and marks of Markdown and XML.
EVIL = "x\x1b[2J\x9b31m\u202eevil\r\n\u2028fake: line\x00\ud800|`*</failure>"
HOSTILE = f"""
EVIL = {EVIL!a}
TOOLS[0]["name"] = EVIL
TOOLS[0]["title"] = EVIL
TOOLS[0]["inputSchema"]["properties"] = {{EVIL: True}}

def bend(message, reply):
    if message["method"] == "initialize":
        reply["result"]["serverInfo"] = {{"name": EVIL, "version": EVIL}}
        reply[EVIL] = EVIL
    if message["method"] == "tools/call" and "result" in reply:
        reply["result"] = {{"content": [{{"type": EVIL, "text": EVIL}}], EVIL: 1}}
    if message["method"] == "nope":
        print(EVIL.encode("utf-8", "replace").decode())
    return reply
"""
RAW = ("\x1b", "\x9b", "\u202e", "\u2028", "\x00", "\r")


@pytest.mark.promise("Audit", "A hostile server cannot steer the terminal, nor a report.")
def test_nothing_that_steers_a_terminal_reaches_it_or_a_report(tmp_path: Path) -> None:
    # A capture keeps what came, to the byte.
    forms = [one for one in FORMS if one != "--capture"]
    words = (*QUICK, "--call", "find {}", "--", *program(tmp_path, HOSTILE))
    seen = everything(tmp_path, *words, forms=forms)
    assert "content-type-unknown" in seen
    assert [mark for mark in RAW if mark in seen] == []
    assert not any(line.startswith(("fake: line", "evil")) for line in seen.splitlines())


def test_the_reports_on_a_hostile_server_can_be_read_by_their_readers(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    audit(*QUICK, "--call", "find {}", "--capture", str(kept), "--", *program(tmp_path, HOSTILE))
    suites = ElementTree.fromstring(written(tmp_path, "--junit", str(kept)))
    assert any("\\u{202E}evil" in (failure.text or "") for failure in suites.iter("failure"))
    assert json.loads(written(tmp_path, "--sarif", str(kept)))["runs"][0]["results"]
    plan = written(tmp_path, "--markdown", str(kept)).splitlines()
    assert sum(line.startswith("```") for line in plan) % 2 == 0


def test_on_a_terminal_only_our_own_colours_steer_it(tmp_path: Path) -> None:
    seen = on_a_terminal(*QUICK, "--", *program(tmp_path, HOSTILE))
    assert "content-type-unknown" in seen
    ours = re.compile(r"\r?\x1b\[(?:\d+m|K)")
    assert ours.search(seen)
    # A terminal ends lines with both characters.
    plain = ours.sub("", seen).replace("\r\n", "\n")
    assert [mark for mark in RAW if mark in plain] == []


def on_a_terminal(*words: str) -> str:
    """What a person would see, progress included."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "audit", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment(), "TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux says so at the end
            break
        if not data:
            break
        seen += data
    process.wait(SECONDS)
    os.close(ours)
    return seen.decode()


def test_a_programs_last_words_cannot_steer_the_terminal() -> None:
    ended = audit("--", "sh", "-c", r"printf 'bad \033[31m\033]0;x\007 end' >&2; exit 1")
    assert ended.code == 3
    assert "\x1b" not in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.promise("Audit", "A signal ends the audit and the program that it started.")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_audit_and_the_program_it_started(tmp_path: Path, number: int, code: int) -> None:
    pid = tmp_path / "pid"
    script = f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    process = subprocess.Popen(
        [*COMMAND, "audit", "--", sys.executable, "-I", "-S", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    child = int(waited(lambda: pid.exists() and pid.read_text()))
    process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err) == (code, b"", b"")
    waited(lambda: not is_running(child))


def test_tests_are_written_for_a_capture_too_and_never_over_others(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    ended = audit("--emit-tests", str(folder), BAD)
    assert ended.code == 1
    assert ended.err == f"Tests are in {folder}: run pytest {folder}, or {folder / 'mcp_audit.sh'}.\n"
    assert sorted(path.name for path in folder.iterdir()) == ["mcp_audit.sh", "test_mcp_audit.py"]
    tests = folder / "test_mcp_audit.py"
    compile(tests.read_text(), str(tests), "exec")
    assert os.access(folder / "mcp_audit.sh", os.X_OK)
    tests.write_text("mine")
    again = audit("--emit-tests", str(folder), BAD)
    assert (again.code, again.out) == (3, "")
    assert again.err == f"qortal-mcp: {tests} exists already; tests are never overwritten.\n"
    assert tests.read_text() == "mine"


def test_no_tests_are_written_where_nothing_was_found(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    ended = audit("--emit-tests", str(folder), GOOD)
    assert (ended.code, ended.err) == (0, "Nothing was found that a test can show; no tests were written.\n")
    assert not folder.exists()


def test_tests_are_not_written_where_there_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for folder in (file, tmp_path / "a" / "b"):
        ended = audit("--emit-tests", str(folder), BAD)
        assert (ended.code, ended.err) == (
            3,
            f"qortal-mcp: Cannot write tests into {folder}: it is not a folder.\n",
        )


@pytest.mark.promise("Audit", "An interrupted audit keeps its capture: what was seen so far can be judged.")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_audit_keeps_its_capture(tmp_path: Path, number: int, code: int) -> None:
    busy, capture = tmp_path / "busy", tmp_path / "kept.jsonl"
    hanging = f"""
def bend(message, reply):
    if message["method"] == "tools/call":
        import time
        open({str(busy)!r}, "w").close()
        time.sleep(600)
    return reply
"""
    process = subprocess.Popen(
        [*COMMAND, "audit", *QUICK, "--capture", str(capture), "--", *program(tmp_path, hanging)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    waited(busy.exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS)
    line = f"Interrupted; what was seen so far is in {capture}.\n"
    assert (process.returncode, out, err.decode()) == (code, b"", line)
    again = audit("--json", str(capture))
    assert again.code == 3
    assert "audit: stopped: it was interrupted" in again.json["because"]
    assert again.json["tools"] == 3


def test_an_audit_interrupted_before_it_has_seen_anything_leaves_no_capture(tmp_path: Path) -> None:
    pid, capture = tmp_path / "pid", tmp_path / "kept.jsonl"
    script = f"open({str(pid)!r}, 'w').close()\nimport time\ntime.sleep(600)\n"
    process = subprocess.Popen(
        [*COMMAND, "audit", "--capture", str(capture), "--", sys.executable, "-I", "-S", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    waited(pid.exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (
        130,
        b"Interrupted before anything was seen; there is no capture.\n",
    )
    assert list(tmp_path.iterdir()) == [pid]


# A daemon as they are made: in a session of its own, its parent gone, deaf to what can be refused. It starts another.
_DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.setsid() if os.getpid() == os.getpgid(0) else None
        os.fork()
        if {closes}:
            os.closerange(0, 3)
        with open({pids!r}, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
        time.sleep(600)
    os._exit(0)
"""


@pytest.mark.promise("Audit", "A signal ends the audit and the program that it started.")
@pytest.mark.parametrize("closes", [True, False], ids=["closed-pipes", "open-pipes"])
def test_what_a_program_under_audit_left_behind_ends_with_it(tmp_path: Path, closes: bool) -> None:
    pids = tmp_path / "pids"
    pids.touch()
    words = program(tmp_path, _DAEMON.format(pids=str(pids), closes=closes))
    ended = audit(*QUICK, "--", *words)
    assert ended.code == 0
    started = [int(line) for line in pids.read_text().split()]
    assert len(started) >= 2
    assert not [pid for pid in started if is_running(pid)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_a_program_left_behind_ends_also_if_a_signal_ends_the_audit(
    tmp_path: Path, number: int, code: int
) -> None:
    pids = tmp_path / "pids"
    pids.touch()
    words = program(tmp_path, _DAEMON.format(pids=str(pids), closes=False))
    process = subprocess.Popen(
        [*COMMAND, "audit", "--", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    started = int(waited(lambda: pids.read_text().strip()).split()[0])
    # By then the audit waits for the end of a program whose pipes somebody else keeps open.
    waited(lambda: is_running(started))
    process.send_signal(number)
    assert process.wait(timeout=SECONDS) == code
    assert not [pid for line in pids.read_text().split() if is_running(pid := int(line))]


def waited(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_whole_audit_has_a_limit_of_time(tmp_path: Path) -> None:
    slow = "def bend(message, reply):\n    import time\n    time.sleep(0.4)\n    return reply\n"
    ended = audit("--max-time", "1", "--", *program(tmp_path, slow))
    assert ended.code == 3
    assert "audit: stopped: 1 s are over" in ended.out


def test_the_help_says_what_is_called_and_how_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Usage: qortal-mcp audit [OPTIONS] (URL | FILE | -- COMMAND [ARGUMENT]...)" in shown
    assert "Arguments are never made up for a tool that may change something." in shown
    assert "Exit codes: 0 conforms; 1 violates" in shown
