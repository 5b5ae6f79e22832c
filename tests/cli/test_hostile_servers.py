"""Servers that mean harm, or are dead, from the terminal: nothing steers it, nothing hangs it, every end has its exit code."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.bridge.scripts import Http, error, result, serving, text, tool
from tests.bridge.standins import Loop, http, program
from tests.cli.others import EACH_COMMAND, noting, offering, other
from tests.cli.running import run

HIDDEN = "\x1b]0;owned\x07\x1b[31mred\u202e\u200bend"


@pytest.mark.parametrize("words", EACH_COMMAND)
def test_nothing_that_a_stranger_wrote_steers_the_terminal(words: list[str], loop: Loop) -> None:
    bad = {"greet": [text(HIDDEN)]}
    entry = {
        "name": "greet",
        "description": HIDDEN,
        "inputSchema": {"type": "object", "properties": {HIDDEN: {"type": HIDDEN, "description": HIDDEN}}},
    }
    prompts = result({"messages": [{"role": HIDDEN, "content": {"type": "text", "text": HIDDEN}}]})
    script = serving(
        bad,
        entries=[entry],
        handshake={
            "protocolVersion": "$VERSION",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": HIDDEN, "version": HIDDEN},
        },
        resources__read=[result({"contents": [{"uri": HIDDEN, "mimeType": HIDDEN, "text": HIDDEN}]})],
        prompts__get=[prompts],
        completion__complete=[result({"completion": {"values": [HIDDEN]}})],
    )
    with other(loop, program, script) as (target, _):
        for form in ([], ["--raw"]) if words[0] != "tools" else ([], ["--json"], ["--tokens"]):
            ended = run(*words, *form, "--server", target)
            shown = ended.out + ended.err
            assert ended.code == 0
            assert "red" in shown or form == ["--tokens"]
            assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(shown)


@pytest.mark.parametrize("words", EACH_COMMAND)
def test_the_errors_of_a_stranger_steer_nothing_either(words: list[str], loop: Loop) -> None:
    methods = ("tools__list", "tools__call", "resources__read", "prompts__get", "completion__complete")
    script = offering(**{name: [error(-32000, HIDDEN)] for name in methods})
    with other(loop, program, script) as (target, _):
        ended = run(*words, "--repair", "none", "--server", target)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("qortal-mcp: The server answered with error -32000: \\u{001B}]0;owned")
    assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(ended.err)


def cyclic(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"$ref": "#"}, **more}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "anyOf": [schema, {"type": "null"}]}
        schema["anyOf"] = [{"$ref": "#"}] * 6
    return schema


HOSTILE_SCHEMAS = [
    pytest.param(cyclic(b={"$ref": "#/properties/b"}), id="refers-to-itself"),
    pytest.param(cyclic(b={"anyOf": [{"$ref": "#/properties/b"}] * 50}), id="refers-to-itself-often"),
    pytest.param(nested(100), id="deep"),
    pytest.param({"type": "object", "properties": {f"p{n}": {} for n in range(20_000)}}, id="wide"),
    pytest.param({"type": "object", "properties": {"a": True, "b": 5, "c": None, "d": []}}, id="not-objects"),
    pytest.param({"type": "object", "properties": {"a": {"type": ["string", 5, None]}}}, id="odd-types"),
    pytest.param({"type": "object", "properties": {"a": {"enum": list(range(9999))}}}, id="many-choices"),
    pytest.param({"type": "object", "required": [5, None, {}], "properties": {"a": {}}}, id="odd-required"),
    pytest.param(
        {"type": "object", "properties": {"a": {"minimum": 10**300, "type": "integer"}}}, id="numbers"
    ),
    pytest.param({"type": "object", "properties": {"a": {"default": [[[[[{}]]]]] * 999}}}, id="default"),
]


@pytest.mark.parametrize("level", ["none", "safe"])
@pytest.mark.parametrize("schema", HOSTILE_SCHEMAS)
def test_a_hostile_schema_neither_stops_nor_delays_anything(
    schema: dict[str, Any], level: str, loop: Loop
) -> None:
    entry = {"name": "greet", "inputSchema": schema, "outputSchema": schema}
    with other(loop, program, serving({"greet": [text("Hello.")]}, entries=[entry])) as (target, _):
        begun = time.monotonic()
        for words in (["tools"], ["tools", "greet"], ["tools", "--tokens"], ["call", "greet", "a=1"]):
            ended = run(*words, "--repair", level, "--server", target)
            assert ended.code in (0, 1)
            assert "Traceback" not in ended.err
            assert max(map(len, ended.out.splitlines()), default=0) < 1000
    assert time.monotonic() - begun < 25


def test_a_tool_that_is_not_one_is_left_out_of_the_list(loop: Loop) -> None:
    entries: Any = [5, None, [], {"name": 5}, {}, tool("good")]
    with other(loop, program, serving({}, entries=entries)) as (target, _):
        ended = run("tools", "--repair", "none", "--server", target)
    assert ended.code == 0
    assert "\n  good\n" in ended.out


HUGE = [
    pytest.param({"content": [{"type": "text", "text": "x" * 5_000_000}]}, id="text"),
    pytest.param({"content": [], "structuredContent": {f"k{n}": n for n in range(200_000)}}, id="members"),
    pytest.param(
        {"content": [], "structuredContent": {"rows": [{f"k{n}": n} for n in range(19_000)]}}, id="odd-rows"
    ),
    pytest.param({"content": [{"type": "text", "text": "x"}] * 100_000}, id="blocks"),
    pytest.param({"content": [{"type": "image", "mimeType": "x/y", "data": "A" * 9_000_000}]}, id="image"),
]


@pytest.mark.parametrize("value", HUGE)
def test_a_huge_result_is_shown_in_seconds(value: dict[str, Any], loop: Loop) -> None:
    with other(loop, http(), serving({"greet": [result(value)]})) as (target, _):
        begun = time.monotonic()
        ended = run("call", "greet", "--server", target)
    assert (ended.code, "Traceback" in ended.err) == (0, False)
    assert time.monotonic() - begun < 20
    assert ended.out.strip()


DEEP = b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"a":%b1%b}}}'


@pytest.mark.parametrize("depth", [200, 900, 20_000])
@pytest.mark.parametrize("form", [[], ["--json"], ["--raw"]], ids=["view", "json", "raw"])
def test_a_deep_result_is_shown_or_refused_in_a_line(depth: int, form: list[str], loop: Loop) -> None:
    deep = DEEP % (b"[" * depth, b"]" * depth)
    with other(loop, program, serving({"greet": [deep]})) as (target, _):
        ended = run("call", "greet", *form, "--repair", "none", "--server", target)
    assert ended.code in (0, 3)
    assert "Traceback" not in ended.err
    assert len(ended.err.splitlines()) <= 1


def test_a_result_that_is_too_long_for_any_client_is_exit_code_3(loop: Loop) -> None:
    with other(loop, program, serving({"greet": [text("x" * 17_000_000)]})) as (target, _):
        ended = run("call", "greet", "--server", target)
    assert (ended.code, ended.out) == (3, "")
    assert "Traceback" not in ended.err


SILENT: dict[str, Any] = {
    name: [] for name in ("tools__call", "resources__read", "prompts__get", "completion__complete")
}


@pytest.mark.promise(
    "Command line", "A server that does not answer ends a command with exit code 3, in `--timeout`."
)
@pytest.mark.parametrize("words", EACH_COMMAND[1:])
def test_a_server_that_never_answers_is_exit_code_3_in_time(words: list[str], loop: Loop) -> None:
    with other(loop, http(), offering(**SILENT)) as (target, _):
        begun = time.monotonic()
        ended = run(*words, "--timeout", "0.5", "--start-timeout", "20", "--server", target)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("qortal-mcp: The server timed out: no answer within 0.5 s (--timeout).")
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize("words", EACH_COMMAND)
def test_a_program_that_never_speaks_is_exit_code_3_in_time(words: list[str]) -> None:
    ended = run(*words, "--timeout", "0.5", "--server", "sleep 60")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == "qortal-mcp: Cannot reach sleep 60: no answer within 0.5 s (--start-timeout).\n"


@pytest.mark.parametrize("words", EACH_COMMAND)
def test_a_server_that_is_not_there_is_exit_code_3_with_a_reason(words: list[str]) -> None:
    ended = run(*words, "--start-timeout", "5", "--server", "http://127.0.0.1:9/mcp")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.splitlines()[-1] == (
        "qortal-mcp: Cannot reach http://127.0.0.1:9/mcp: connection refused. Is the server running?"
    )
    ended = run(*words, "--server", "sh -c 'echo the disk is full >&2; exit 3'")
    assert ended.code == 3
    assert ended.err.startswith("  | the disk is full\nqortal-mcp: Cannot ")


def test_a_server_that_dies_during_a_call_is_exit_code_3(tmp_path: Path) -> None:
    ended = run("call", "die", 'say=["no\\u001b[31m more"]', "--server", noting(tmp_path))
    assert (ended.code, ended.out) == (3, "")
    assert "Connection to the server was lost" in ended.err
    assert "\x1b" not in ended.err


def test_a_server_that_wants_a_sign_in_is_exit_code_3_and_says_what_to_do(loop: Loop) -> None:
    refusing = serving({}, initialize=[Http(401)])
    with other(loop, http(), refusing) as (target, _):
        ended = run("tools", "--start-timeout", "5", "--server", target)
    assert ended.code == 3
    assert "--server-token-file" in ended.err


@pytest.mark.parametrize("value", [None, "x", {"other": [1]}], ids=["null", "text", "object"])
def test_a_result_that_is_none_is_shown_as_it_is_without_repair(value: Any, loop: Loop) -> None:
    with other(loop, program, serving({"greet": [result(value)]})) as (target, _):
        assert run("call", "greet", "--repair", "none", "--server", target).json == value


def test_secrets_that_a_server_repeats_are_not_shown(loop: Loop, tmp_path: Path) -> None:
    secret = "s3cret-tok-en-value"
    (tmp_path / "token").write_text(secret)
    script = offering(
        tools__call=[result({"content": [{"type": "text", "text": f"you sent {secret}"}]})],
        resources__read=[error(-32000, f"not with {secret}")],
    )
    with other(loop, http(), script) as (target, server):
        token = ("--server-token-file", str(tmp_path / "token"), "--server", target)
        shown = [
            run("call", "greet", "name=Ada", *token),
            run("call", "greet", "name=Ada", "--raw", *token),
            run("read", "memo:1", *token),
        ]
        assert server.heard[0].headers["authorization"] == f"Bearer {secret}"
    assert [one.code for one in shown] == [0, 0, 1]
    assert shown[0].out == "you sent ***\n"
    assert all(secret not in one.out + one.err for one in shown)


def test_every_page_of_a_list_is_shown_but_not_without_end(loop: Loop) -> None:
    def pages(message: Any) -> Any:
        method = message.get("method") if isinstance(message, dict) else None
        if method == "prompts/list":
            at = int((message.get("params") or {}).get("cursor", 0))
            page = {"prompts": [{"name": f"p{at}"}], "nextCursor": str(at + 1)}
            return (result(page).replace(b"$ID", json.dumps(message["id"]).encode()),)
        return offering()(message)

    with other(loop, program, pages) as (target, _):
        found = run("prompt", "--json", "--server", target).json["prompts"]
    assert [one["name"] for one in found] == [f"p{n}" for n in range(200)]
