"""`read`: resources of our own server and of others, as text, as JSON, and as files."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.bridge.scripts import error, result
from tests.bridge.standins import Loop, program
from tests.cli.others import EVERYTHING, offering, other
from tests.cli.running import Ended, run

from qortal_mcp.cli.main import main
from qortal_mcp.protocol.versions import REVISIONS
from qortal_mcp.qortal.resources import GUIDE_TEXT


@pytest.mark.promise("Command line", "`read` shows a resource, and lists them without a URI.")
def test_without_an_address_everything_that_can_be_read_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "--sample"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Resources\n  qortal://node (Node, application/json)\n")
    assert "\nTemplates\n  qortal://block/{height} (Block, application/json)\n" in shown
    assert shown.endswith("\nqortal-mcp read URI shows one.\n")
    assert main(["read", "--sample", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["resources"][0]["uri"] == "qortal://node"
    assert listed["resourceTemplates"][0]["uriTemplate"] == "qortal://block/{height}"


@pytest.mark.promise("Command line", "`read` shows a resource, and lists them without a URI.")
def test_a_text_is_shown_as_it_is_and_json_as_call_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "qortal://guide", "--sample"]) == 0
    assert capsys.readouterr().out == GUIDE_TEXT
    assert main(["read", "qortal://name/Bob", "--sample"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("name            Bob\n")
    assert shown.endswith("from sample.\n")
    assert main(["call", "get_name", "name=Bob", "--sample"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["read", "qortal://name/Bob", "--sample", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert main(["read", "qortal://name/Bob", "--sample", "--raw"]) == 0
    (part,) = json.loads(capsys.readouterr().out)["contents"]
    assert json.loads(part["text"]) == whole


def test_json_of_another_server_is_readable_with_its_numbers_as_they_are(loop: Loop) -> None:
    text = '{"rows": [{"a": 1.50, "b": "x"}, {"a": 200, "b": "y"}]}'
    contents = [{"uri": "memo:1", "mimeType": "application/json", "text": text}]
    script = offering(resources__read=[result({"contents": contents})])
    with other(loop, program, script) as (target, _):
        shown = run("read", "memo:1", "--server", target).out
        whole = run("read", "memo:1", "--server", target, "--json").out
    assert shown == "rows (2)\n       a  b\n    1.50  x\n  200     y\n"
    assert whole == '{"rows":[{"a":1.50,"b":"x"},{"a":200,"b":"y"}]}\n'


@pytest.mark.parametrize("revision", REVISIONS)
def test_it_is_asked_in_any_revision(revision: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "qortal://guide", "--sample", "--raw", "--revision", revision]) == 0
    assert ("resultType" in json.loads(capsys.readouterr().out)) == (revision == "2026-07-28")


ENDS = [
    pytest.param(
        "qortal://nothing", 2, "Unknown resource qortal://nothing. See qortal-mcp read.", id="unknown"
    ),
    pytest.param("qortal://name/nobody", 1, "Name not found.", id="not-on-the-chain"),
]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("uri", "code", "line"), ENDS)
def test_what_is_not_there_says_so(
    uri: str, code: int, line: str, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", uri, "--sample", "--revision", revision]) == code
    assert capsys.readouterr().err == f"qortal-mcp: {line}\n"


def test_a_node_that_is_not_there_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "qortal://node", "--node", "http://127.0.0.1:9"]) == 3
    assert "Node unreachable" in capsys.readouterr().err


def test_data_is_described_and_saved_on_request(tmp_path: Path) -> None:
    words = ("read", "test://static-binary", "--server", EVERYTHING)
    assert run(*words).out == "image/png, 70 bytes; --output FILE saves it\n"
    file = tmp_path / "picture.png"
    assert run(*words, "--output", str(file)) == Ended(0, "", "")
    assert file.read_bytes().startswith(b"\x89PNG")
    assert [one.name for one in tmp_path.iterdir()] == ["picture.png"]


def test_a_file_that_is_there_is_replaced_only_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "guide.md"
    file.write_text("mine")
    words = ["read", "qortal://guide", "--sample", "--output", str(file)]
    assert main(words) == 2
    assert "is there already; --force replaces it" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert main([*words, "--force"]) == 0
    assert file.read_text() == GUIDE_TEXT


def test_a_file_holds_the_text_to_the_last_hidden_character(loop: Loop, tmp_path: Path) -> None:
    hidden = "a\x1b[31m\u202eb"
    script = offering(resources__read=[result({"contents": [{"uri": "memo:1", "text": hidden}]})])
    with other(loop, program, script) as (target, _):
        assert run("read", "memo:1", "--server", target).out == "a\\u{001B}[31m\\u{202E}b\n"
        assert run("read", "memo:1", "--output", str(tmp_path / "x"), "--server", target).code == 0
    assert (tmp_path / "x").read_text() == hidden


PARTS = [
    pytest.param([], 0, "The resource is empty.\n", id="nothing"),
    pytest.param([5], 0, "contents that are neither text nor data; --raw shows it\n", id="not-contents"),
    pytest.param(
        [{"uri": "a:1", "text": "x"}, {"uri": "a:2", "mimeType": "x/y", "blob": "QUJD"}],
        0,
        "a:1\nx\na:2 (x/y)\nx/y, 3 bytes; --raw shows it\n",
        id="several",
    ),
    pytest.param([{"uri": "a:1", "mimeType": "application/json", "text": "{no"}], 0, "{no\n", id="not-json"),
    pytest.param([{"uri": "a:1", "mimeType": "x/a+json", "text": "[1]"}], 0, "[\n  1\n]\n", id="some-json"),
]


@pytest.mark.parametrize(("contents", "code", "shown"), PARTS)
def test_contents_of_any_kind_are_shown(contents: list[Any], code: int, shown: str, loop: Loop) -> None:
    script = offering(resources__read=[result({"contents": contents})])
    with other(loop, program, script) as (target, _):
        ended = run("read", "memo:1", "--repair", "none", "--server", target)
    assert (ended.code, ended.out) == (code, shown)


UNSAVED = [
    pytest.param([{"uri": "a:1", "text": "x"}, {"uri": "a:2", "text": "y"}], "has 2 parts", id="several"),
    pytest.param([{"uri": "a:1", "blob": "not Base64!"}], "is not Base64", id="not-base64"),
]


@pytest.mark.parametrize(("contents", "why"), UNSAVED)
def test_what_cannot_be_one_file_is_not_written(
    contents: list[Any], why: str, loop: Loop, tmp_path: Path
) -> None:
    script = offering(resources__read=[result({"contents": contents})])
    with other(loop, program, script) as (target, _):
        words = ("read", "memo:1", "--output", str(tmp_path / "x"), "--repair", "none", "--server", target)
        ended = run(*words)
    assert (ended.code, ended.out) == (1, "")
    assert why in ended.err
    assert not list(tmp_path.iterdir())


def test_large_data_is_saved_whole(loop: Loop, tmp_path: Path) -> None:
    data = bytes(range(256)) * 20_000
    blob = base64.b64encode(data).decode()
    script = offering(resources__read=[result({"contents": [{"uri": "memo:1", "blob": blob}]})])
    with other(loop, program, script) as (target, _):
        assert "5,120,000 bytes" in run("read", "memo:1", "--server", target).out
        assert run("read", "memo:1", "--output", str(tmp_path / "x"), "--server", target).code == 0
    assert (tmp_path / "x").read_bytes() == data


def test_a_server_without_resources_says_so(loop: Loop) -> None:
    refuses = [error(-32601, "no")]
    script = offering(resources__list=refuses, resources__templates__list=refuses, resources__read=refuses)
    with other(loop, program, script) as (target, _):
        assert run("read", "--server", target).out == "The server offers no resources.\n"
        ended = run("read", "memo:1", "--server", target)
    assert ended.code == 1
    assert ended.err.endswith("qortal-mcp: The server answered with error -32601: no.\n")


WRONG = [
    pytest.param(["qortal://guide", "--json", "--raw"], id="two-forms"),
    pytest.param(["--output", "x"], id="output-of-a-list"),
    pytest.param(["qortal://guide", "--output", "x", "--json"], id="output-as-json"),
    pytest.param(["qortal://guide", "--force"], id="force-alone"),
]


@pytest.mark.parametrize("words", WRONG)
def test_options_that_do_nothing_together_are_wrong_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", *words, "--sample"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_that_is_not_there_is_said_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["read", "qortal://guide", "--sample", "--output", "/nowhere/x"]) == 3
    assert "its folder does not exist" in capsys.readouterr().err


def test_a_resource_is_written_to_standard_output_as_it_is() -> None:
    ended = run("read", "qortal://guide", "--sample", "--output", "-")
    whole = run("read", "qortal://guide", "--sample", "--json").json[0]["text"]
    assert (ended.code, ended.out, ended.err) == (0, whole, "")
