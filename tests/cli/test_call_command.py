"""`call`: arguments as people type them, three forms of the answer, exit codes that scripts can tell apart."""

import contextlib
import json
import os
import pty
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.bridge.scripts import error, result, serving, text, tool
from tests.bridge.standins import Loop, program
from tests.cli.others import EVERYTHING, OURS, other
from tests.cli.running import ALICE, COMMAND, environment, listening, run
from tests.cli.strangers import http_node
from tests.cli.terminals import terminal

from qortal_mcp.cli.input import call_arguments
from qortal_mcp.cli.main import main
from qortal_mcp.cli.running.failures import WrongUsage
from qortal_mcp.protocol.versions import REVISIONS


@pytest.fixture
def unused_port() -> Iterator[int]:
    with socket.socket() as bound:  # bound but not listening: connecting is refused
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextlib.contextmanager
def silent_node() -> Iterator[tuple[socket.socket, str]]:
    """A node that takes questions and never answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(30)
        yield silent, f"http://127.0.0.1:{silent.getsockname()[1]}"


@pytest.mark.promise(
    "Command line",
    "`call` shows a readable view; `--json` gives the structured answer and `--raw` the whole result.",
)
def test_the_readable_view_is_the_default() -> None:
    ended = run("call", "get_balance", f"address={ALICE}", "--sample")
    assert ended.code == 0
    assert "balance    1,001,427.50833805" in ended.out
    assert "Note: Sample data" in ended.out
    assert "As of block " in ended.out
    assert "\x1b" not in ended.out
    assert ended.err == ""


@pytest.mark.promise(
    "Command line",
    "`call` shows a readable view; `--json` gives the structured answer and `--raw` the whole result.",
)
def test_json_is_the_structured_answer() -> None:
    answer = run("call", "validate_address", f"address={ALICE}", "--sample", "--json")
    assert answer.json == {"isValid": True}


@pytest.mark.promise(
    "Command line",
    "`call` shows a readable view; `--json` gives the structured answer and `--raw` the whole result.",
)
def test_raw_is_the_whole_result_and_its_text_equals_its_structure() -> None:
    result = run("call", "get_balance", f"address={ALICE}", "--sample", "--raw").json
    assert list(result) == ["content", "structuredContent", "isError"]
    assert result["isError"] is False
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_all_three_forms_come_from_the_same_answer() -> None:
    words = ("call", "get_balance", f"address={ALICE}", "--sample")
    assert run(*words, "--json").json == run(*words, "--raw").json["structuredContent"]


@pytest.mark.promise("Command line", "The exit code is 0 for a good answer and 1 for an error of the tool.")
def test_a_tool_error_is_exit_code_1_and_one_line() -> None:
    ended = run("call", "get_balance", "address=12345", "--sample")
    assert (ended.code, ended.out, ended.err) == (1, "", "qortal-mcp: Invalid Qortal address.\n")


def test_a_tool_error_in_raw_form_is_shown_whole_and_still_exit_code_1() -> None:
    ended = run("call", "get_balance", "address=nonsense", "--sample", "--raw")
    assert ended.code == 1
    assert ended.json["isError"] is True
    assert ended.json["_meta"]["qortal-mcp/error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.promise(
    "Command line",
    "What could not be determined, such as an answer of a node that is not there, is exit code 3.",
)
@pytest.mark.parametrize("form", [(), ("--json",), ("--raw",)])
def test_a_node_that_cannot_be_reached_is_exit_code_3(unused_port: int, form: tuple[str, ...]) -> None:
    ended = run("call", "get_node_status", "--node", f"http://127.0.0.1:{unused_port}", *form)
    assert ended.code == 3
    assert "Node unreachable." in ended.out + ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("form", [(), ("--raw",)])
def test_something_else_than_a_node_is_exit_code_3(form: tuple[str, ...]) -> None:
    with http_node(lambda _: (200, {"content-type": "text/html"}, b"<html>Welcome</html>")) as website:
        ended = run("call", "get_balance", f"address={ALICE}", "--node", website, *form)
    assert ended.code == 3
    assert "Node error. This is not a Qortal node." in ended.out + ended.err


def _answering_forbidden(node: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            asked, _ = node.accept()
            with asked:
                asked.recv(65536)
                asked.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def test_a_node_that_refuses_is_exit_code_3() -> None:
    with silent_node() as (node, url):
        answering = threading.Thread(target=_answering_forbidden, args=(node,))
        answering.start()
        ended = run("call", "get_node_status", "--node", url)
        node.shutdown(socket.SHUT_RDWR)
        answering.join()
    assert ended.code == 3
    assert ended.err == (
        "qortal-mcp: Node refused this client. Add this machine to the node's setting apiWhitelist.\n"
    )


@pytest.mark.promise("Command line", "`call` prints its error as one line, and no log line before it.")
def test_an_error_is_not_preceded_by_a_log_line_unless_it_is_asked_for(unused_port: int) -> None:
    words = ("call", "get_node_status", "--node", f"http://127.0.0.1:{unused_port}")
    (line,) = run(*words).err.splitlines()
    assert line.startswith("qortal-mcp: Node unreachable.")
    for asked in (run(*words, "--log-level", "info"), run(*words, env={"QORTAL_MCP_LOG_LEVEL": "warning"})):
        first, last = asked.err.splitlines()
        assert "node failed" in first
        assert not first.startswith("{")
        assert last == line
    as_json, _ = run(*words, "--log-level", "info", "--log-format", "json").err.splitlines()
    assert json.loads(as_json)["event"] == "node failed"


def test_a_misspelt_and_a_missing_argument_are_named() -> None:
    assert run("call", "get_balance", f"addres={ALICE}", "--sample").err == (
        "qortal-mcp: Unknown argument addres. Did you mean address? Valid arguments: address, asset_id.\n"
    )
    assert run("call", "get_balance", "--sample").err == "qortal-mcp: Missing argument address.\n"


@pytest.mark.promise("Command line", "Wrong usage is one line on standard error and exit code 2.")
def test_an_unknown_tool_is_exit_code_2_with_the_nearest_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "get_balanse", "--sample"]) == 2
    shown = capsys.readouterr().err
    assert shown == "qortal-mcp: Unknown tool get_balanse. Did you mean get_balance? See qortal-mcp tools.\n"


def test_a_tool_whose_toolset_is_off_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "list_assets", "--sample"]) == 2
    assert capsys.readouterr().err == (
        "qortal-mcp: The tool list_assets is off, as its toolset assets is off. "
        "Turn it on with --toolsets +assets.\n"
    )


def test_wrong_arguments_are_the_tools_error_and_not_wrong_usage() -> None:
    for words in (["colour=red"], ["address=nonsense"], []):
        assert run("call", "get_balance", *words, "--sample").code == 1


def test_help_behind_the_name_of_a_tool_is_about_that_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "get_balance", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: qortal-mcp call get_balance address=… [asset_id=…] [OPTIONS]\n")
    assert "asset_id  integer, from 0; default 0" in shown
    assert main(["call", "get_balanse", "--help"]) == 2
    assert "Unknown tool get_balanse." in capsys.readouterr().err


def test_a_person_who_waits_is_told_for_whom_and_a_script_is_not() -> None:
    with silent_node() as (node, url):
        words = [*COMMAND, "call", "get_node_status", "--node", url]
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=theirs, env=environment({"TERM": "dumb"})
        ) as process:
            os.close(theirs)
            asked, _ = node.accept()
            assert os.read(ours, 1000).decode().strip() == f"Waiting for {url} …"
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
            asked.close()
        os.close(ours)


def test_the_word_that_somebody_is_waited_for_vanishes_with_the_answer() -> None:
    with silent_node() as (node, url), terminal("call", "get_node_status", "--node", url) as at_terminal:
        asked, _ = node.accept()
        at_terminal.until(f"Waiting for {url} …")
        node.close()
        asked.close()
        assert at_terminal.ended() == 3
        assert [line for line in at_terminal.screen if "Waiting" in line] == []


@pytest.mark.promise("Text of strangers", "Nothing that a stranger wrote can steer a terminal.")
def test_a_hostile_tool_name_is_shown_harmlessly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "\x1b[2J" + "x" * 500, "--sample"]) == 2
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert len(shown) < 300


def test_an_old_name_of_a_tool_still_works() -> None:
    assert run("call", "list_hidden_trade_offers", "--sample", "--json").code == 0


def test_arguments_may_come_as_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "validate_address", "--args", f'{{"address":"{ALICE}"}}', "--sample", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"isValid": True}


READ = [
    pytest.param(["height=5"], None, {"height": 5}, id="number"),
    pytest.param(["name=alice"], None, {"name": "alice"}, id="text"),
    pytest.param(['name="5"'], None, {"name": "5"}, id="quoted-text"),
    pytest.param(["query=a=b=c"], None, {"query": "a=b=c"}, id="value-with-equals"),
    pytest.param(["query="], None, {"query": ""}, id="empty"),
    pytest.param(["on=true", "off=null"], None, {"on": True, "off": None}, id="words-of-json"),
    pytest.param(['types=["PAYMENT"]'], None, {"types": ["PAYMENT"]}, id="list"),
    pytest.param(["n=NaN"], None, {"n": "NaN"}, id="not-json"),
    pytest.param(["b=2"], '{"a":1}', {"a": 1, "b": 2}, id="object-and-words"),
    pytest.param([], None, {}, id="none"),
]


@pytest.mark.promise("Command line", "A value given to `call` is JSON if it parses, and text otherwise.")
@pytest.mark.parametrize(("words", "whole", "expected"), READ)
def test_a_value_is_json_if_it_parses_and_text_otherwise(
    words: list[str], whole: str | None, expected: dict[str, Any]
) -> None:
    found = {name: json.loads(bytes(raw)) for name, raw in call_arguments.read(words, whole).items()}
    assert found == expected


def test_a_number_reaches_the_tool_as_it_was_typed() -> None:
    assert bytes(call_arguments.read(["amount=0.10000000"], None)["amount"]) == b"0.10000000"


MISTAKES = [
    pytest.param(["alice"], None, "KEY=VALUE", id="no-equals"),
    pytest.param(["=alice"], None, "KEY=VALUE", id="no-key"),
    pytest.param(["a=1", "a=2"], None, "twice", id="twice"),
    pytest.param(["a=1"], '{"a":1}', "twice", id="twice-over-two-ways"),
    pytest.param([], "[1]", "--args must be a JSON object", id="not-an-object"),
    pytest.param([], "{", "--args must be a JSON object", id="not-json"),
    pytest.param(["a=\udcff"], None, "not UTF-8", id="bytes-that-are-no-text"),
]


@pytest.mark.parametrize(("words", "whole", "reason"), MISTAKES)
def test_arguments_that_cannot_be_read_are_wrong_usage(
    words: list[str], whole: str | None, reason: str
) -> None:
    with pytest.raises(WrongUsage, match=reason):
        call_arguments.read(words, whole)


def test_json_and_raw_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "get_node_status", "--sample", "--json", "--raw"]) == 2


def test_what_the_next_page_is_called_with_gives_the_next_page() -> None:
    first = run("call", "list_trade_offers", "limit=2", "--sample", "--json").json
    following = run(
        "call", "list_trade_offers", "--args", json.dumps(first["page"]["next"]), "--sample", "--json"
    )
    assert following.json["offers"][0] not in first["offers"]


def test_an_interrupt_while_the_node_thinks_is_clean() -> None:
    with (
        silent_node() as (silent, url),
        subprocess.Popen(
            [*COMMAND, "call", "get_node_status", "--node", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as process,
    ):
        asked, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == (b"", b"")
        assert process.returncode == 130
        asked.close()


def test_what_a_tool_takes_as_text_is_text_also_where_it_looks_like_a_number() -> None:
    paid = run("call", "find_payments", f"sender={ALICE}", "amount=12.5", "--sample", "--json")
    assert {row["amount"] for row in paid.json["payments"]} == {"12.50000000"}
    old = run("call", "find_payments", f"senderAddress={ALICE}", "amount=12.50", "--sample", "--json")
    assert old.json == paid.json
    for name in ("123", "true", "1e5"):
        ended = run("call", "get_name", f"name={name}", "--sample")
        assert ended.err == "qortal-mcp: Name not found.\n"
    assert run("call", "search_transactions", "types=PAYMENT", "limit=1", "--sample", "--json").code == 0


def test_a_node_that_is_not_there_is_told_with_what_to_do(unused_port: int) -> None:
    ended = run("call", "get_node_status", "--node", f"http://127.0.0.1:{unused_port}")
    assert ended.code == 3
    last = ended.err.splitlines()[-1]
    assert "Is Qortal Core running there? Use --node for another node, or --sample for none." in last


TYPED: list[Any] = [
    pytest.param({"type": "string"}, "5", "5", id="text-like-a-number"),
    pytest.param({"type": "string"}, '{"a": 1}', '{"a": 1}', id="text-like-json"),
    pytest.param({"type": "string"}, "null", "null", id="text-like-null"),
    pytest.param({"type": ["string", "null"]}, "true", "true", id="text-or-null"),
    pytest.param({"anyOf": [{"type": "string"}, {"type": "null"}]}, "7", "7", id="any-of-text"),
    pytest.param({"enum": ["1", "2"]}, "1", "1", id="choice"),
    pytest.param({"$ref": "#/$defs/word"}, "5", "5", id="reference"),
    pytest.param({"type": "string"}, "", "", id="empty"),
    pytest.param({"type": "integer"}, "5", 5, id="number"),
    pytest.param({"type": ["string", "integer"]}, "5", 5, id="text-or-number"),
    pytest.param({"type": "array"}, '["a"]', ["a"], id="list"),
    pytest.param({"type": "boolean"}, "true", True, id="truth"),
    pytest.param({"type": "integer"}, "many", "many", id="not-a-number"),
    pytest.param({}, "x=y", "x=y", id="anything"),
    pytest.param(True, "5", 5, id="not-an-object"),
]


@pytest.mark.parametrize(("schema", "typed", "sent"), TYPED)
def test_the_schema_of_another_servers_tool_says_how_a_value_is_read(
    schema: Any, typed: str, sent: Any, loop: Loop
) -> None:
    inputs = {"type": "object", "$defs": {"word": {"type": "string"}}, "properties": {"a": schema}}
    script = serving({"take": [text("taken")]}, entries=[tool("take", inputSchema=inputs)])
    with other(loop, program, script) as (target, server):
        words = ("call", "take", f"a={typed}", "--args", '{"b": 1.50}', "--repair", "none")
        assert run(*words, "--server", target).out == "taken\n"
        (asked,) = server.calls("take")
    assert asked["params"]["arguments"] == {"a": sent, "b": 1.5}


ANSWERS: list[Any] = [
    pytest.param({"content": []}, "\n", id="nothing"),
    pytest.param(
        {"content": [{"type": "text", "text": "a\n"}, {"type": "text", "text": "b"}]}, "a\nb\n", id="texts"
    ),
    pytest.param(
        {"content": [{"type": "text", "text": '{"n": 1}'}], "structuredContent": {"n": 1}},
        "n  1\n",
        id="same",
    ),
    pytest.param(
        {"content": [{"type": "text", "text": "One!"}], "structuredContent": {"n": 1}},
        "n  1\nOne!\n",
        id="more",
    ),
    pytest.param(
        {"content": [{"type": "text", "text": "a\nb"}], "structuredContent": {"result": "a\nb"}},
        "a\nb\n",
        id="wrapped-text",
    ),
    pytest.param(
        {
            "content": [{"type": "text", "text": str(n)} for n in (1, 2)],
            "structuredContent": {"result": [1, 2]},
        },
        "result  1, 2\n",
        id="wrapped-list",
    ),
    pytest.param(
        {
            "content": [],
            "structuredContent": {"uptime": 5000, "price": 1.10, "notes": "x", "page": 5, "asOf": []},
        },
        "uptime  5000\nprice   1.1\nnotes   x\npage    5\nasOf (0)\n",
        id="names-mean-nothing",
    ),
    pytest.param({"content": [], "structuredContent": [1]}, "[\n  1\n]\n", id="not-an-object"),
    pytest.param({"content": [{"type": "new"}, 5]}, None, id="unknown-blocks"),
]


@pytest.mark.parametrize(("value", "shown"), ANSWERS)
def test_the_answer_of_another_servers_tool_is_shown_once(value: Any, shown: str | None, loop: Loop) -> None:
    with other(loop, program, serving({"look": [result(value)]})) as (target, _):
        ended = run("call", "look", "--repair", "none", "--server", target)
    assert (ended.code, ended.err) == (0, "")
    if shown is None:
        shown = "a block of the type new; --raw shows it\na block of the type –; --raw shows it\n"
    assert ended.out == shown


def test_json_is_the_structured_answer_of_another_server_or_its_content(loop: Loop) -> None:
    content = [{"type": "text", "text": "x"}]
    script = serving(
        {
            "both": [result({"content": content, "structuredContent": {"n": 10**30}})],
            "text": [result({"content": content})],
        }
    )
    with other(loop, program, script) as (target, _):
        assert run("call", "both", "--json", "--server", target).json == {"n": 10**30}
        assert run("call", "text", "--json", "--server", target).json == content
        assert run("call", "text", "--raw", "--server", target).json == {"content": content}


def test_the_failures_of_another_server_have_their_exit_codes(loop: Loop) -> None:
    said = {"fail": [text("It is\nbroken", is_error=True)], "refuse": [error(-32099, "Not today")]}
    with other(loop, program, serving(said)) as (target, _):
        failed = run("call", "fail", "--server", target)
        assert (failed.code, failed.out, failed.err) == (1, "", "qortal-mcp: It is broken.\n")
        raw = run("call", "fail", "--raw", "--server", target)
        assert (raw.code, raw.json["isError"]) == (1, True)
        refused = run("call", "refuse", "--repair", "none", "--server", target)
        assert (refused.code, refused.out) == (1, "")
        assert refused.err == "qortal-mcp: The server answered with error -32099: Not today.\n"
        unknown = run("call", "fial", "--server", target)
        assert (unknown.code, unknown.out) == (2, "")
        assert "Unknown tool fial. Did you mean fail?" in unknown.err
        for words in (
            ["call", "fail", "x"],
            ["call", "fail", "--args", "[]"],
            ["call", "fail", "a=1", "a=2"],
        ):
            assert run(*words, "--server", target).code == 2


def test_wrong_words_are_said_before_a_server_is_started() -> None:
    assert run("call", "x", "y", "--server", "/nowhere").code == 2


def test_a_node_that_another_server_of_ours_cannot_reach_is_exit_code_3() -> None:
    target = OURS.replace("--sample", "--node http://127.0.0.1:9")
    ended = run("call", "get_node_status", "--server", target)
    assert (ended.code, ended.out) == (3, "")
    assert "Node unreachable" in ended.err


def test_pictures_sounds_and_resources_are_described() -> None:
    shown = run("call", "test_multiple_content_types", "--server", EVERYTHING).out
    assert shown.startswith("Multiple content types test:\nimage/png, 70 bytes; --raw shows it\n")
    assert 'test://mixed-content-resource (application/json)\n{\n  "test": "data",\n' in shown
    assert run("call", "test_audio_content", "--server", EVERYTHING).out == (
        "audio/wav, 44 bytes; --raw shows it\n"
    )


def test_a_link_is_shown_with_its_address(loop: Loop) -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 1234, "description": "It.\nIs."}
    with other(loop, program, serving({"look": [result({"content": [link]})]})) as (target, _):
        assert run("call", "look", "--server", target).out == "a  file:///a (1,234 bytes)\n  It. Is.\n"


def test_the_help_about_one_tool_is_about_our_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "get_block", "--help"]) == 0
    assert "height" in capsys.readouterr().out
    assert main(["call", "get_block", "--server", "x", "--help"]) == 0
    assert "Call one tool and show its answer." in capsys.readouterr().out


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_own_tools_are_called_in_any_revision(revision: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["call", "validate_address", f"address={ALICE}", "--sample", "--revision", revision]
    assert main(words) == 0
    assert "isValid" in capsys.readouterr().out
    assert main([*words, "--raw"]) == 0
    assert ("resultType" in json.loads(capsys.readouterr().out)) == (revision == "2026-07-28")


def test_an_answer_is_confirmed_by_a_second_node() -> None:
    with listening("sample-node") as one, listening("sample-node") as other:
        words = ("call", "get_balance", f"address={ALICE}", "--node", one.url, "--node", other.url)
        ended = run(*words, "--confirm", "2", "--json")
        assert (ended.code, ended.json["asOf"]["confirmedBy"]) == (0, [one.url, other.url])
        ended = run(*words, env={"QORTAL_MCP_CONFIRM": "2"})
        assert f"from {one.url}, confirmed by {other.url}." in " ".join(ended.out.split())
        assert "confirmedBy" not in run(*words, "--json").json["asOf"]


@pytest.mark.promise("Nodes", "`--confirm N` with fewer than N different nodes is refused at the start.")
@pytest.mark.parametrize("command", [("call", "get_node_status"), ("stdio",), ("serve",), ("tools",)])
def test_too_few_nodes_to_confirm_are_wrong_usage(command: tuple[str, ...]) -> None:
    ended = run(*command, "--node", "http://127.0.0.1:9", "--confirm", "2")
    assert (ended.code, ended.out) == (2, "")
    assert "--confirm 2 needs 2 different nodes, and 1 is given: repeat --node." in ended.err
