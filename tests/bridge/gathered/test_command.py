"""`bridge --servers` and `--server`: the real command, its file, its signals and what operators see."""

import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.bridge.behind import NOTING, Noting, is_running
from tests.bridge.fronts import Stdio, call, stdio
from tests.cli.running import Listening, listening, run

Json = dict[str, Any]
CHANGED = "notifications/tools/list_changed"


class Servers:
    """A client's file with servers that write down what they receive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "mcp.json"

    def noting(self, name: str) -> Noting:
        return Noting(self.folder / f"{name}.log")

    def entry(self, name: str, **more: Any) -> Json:
        return {"command": sys.executable, "args": [NOTING, str(self.folder / f"{name}.log")], **more}

    def write(self, entries: Mapping[str, Any]) -> None:
        """As editors do: another file in its place."""
        new = self.folder / "new"
        new.write_text(json.dumps({"mcpServers": entries}))
        os.replace(new, self.path)

    def of(self, *names: str) -> "Servers":
        self.write({name: self.entry(name) for name in names})
        return self


@pytest.fixture
def servers(tmp_path: Path) -> Servers:
    return Servers(tmp_path)


def listed(front: Stdio) -> set[str]:
    """The servers whose tools are listed."""
    return {one["name"].partition("__")[0] for one in front.ask("tools/list", {})["result"]["tools"]}


def heard(front: Stdio, method: str) -> int:
    return sum(one.get("method") == method for one in front.messages)


@pytest.mark.promise(
    "Bridge", "`bridge --servers FILE` offers all servers of a client's own file, each under its name."
)
def test_all_servers_of_a_file_and_of_the_command_line_are_offered(servers: Servers) -> None:
    servers.of("ann", "bob")
    more = f"eve={sys.executable} {NOTING} {servers.folder / 'eve.log'}"
    with stdio("--servers", str(servers.path), "--server", more) as front:
        assert listed(front) == {"ann", "bob", "eve"}
        for name in ("ann", "bob", "eve"):
            call(front, f"{name}__note", {"n": name})
            (received,) = servers.noting(name).messages("tools/call")
            assert received["params"] == {"name": "note", "arguments": {"n": name}}
    for name in ("ann", "bob", "eve"):
        assert not any(map(is_running, servers.noting(name).pids()))


def test_programs_get_the_small_environment_and_what_their_entry_says(tmp_path: Path) -> None:
    text = "import json, os, sys; json.dump(dict(os.environ, cwd=os.getcwd()), open(sys.argv[1], 'w'))"
    entry = {
        "command": sys.executable,
        "args": ["-c", text, str(tmp_path / "seen")],
        "env": {"GIVEN": "${FROM_OUTSIDE}/x"},
        "cwd": str(tmp_path),
    }
    other = {"command": sys.executable, "args": [NOTING, str(tmp_path / "log")]}
    (tmp_path / "mcp.json").write_text(json.dumps({"servers": {"a": entry, "b": other}}))
    env = {"FROM_OUTSIDE": "value", "PRIVATE": "not for children"}
    with stdio("--servers", str(tmp_path / "mcp.json"), env=env) as front:
        call(front, "b__note")
        call(front, "a__x")
        seen = json.loads((tmp_path / "seen").read_text())
    assert (seen["GIVEN"], seen["cwd"]) == ("value/x", str(tmp_path))
    assert "PRIVATE" not in seen


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ("--servers", "FILE", "http://127.0.0.1:9/mcp"),
            "give a single address or command alone",
            id="target",
        ),
        pytest.param(("--server", "x", "--", "y"), "give a single address or command alone", id="command"),
        pytest.param(
            ("--servers", "FILE", "--capture", "c"), "--capture is for a single server", id="capture"
        ),
        pytest.param(
            ("--servers", "FILE", "--header-file", "h"), "--header-file is for a single server", id="headers"
        ),
        pytest.param(
            ("--servers", "FILE", "--server-token-file", "h"), "--server-token-file is for", id="token"
        ),
        pytest.param(("--servers", "NONE"), "No such file", id="no-file"),
        pytest.param(("--servers", "BROKEN"), "line 1, column 16", id="broken"),
        pytest.param(
            ("--servers", "USELESS"),
            "no server that can be used. a: The variable NOPE is not set.",
            id="useless",
        ),
        pytest.param(("--servers", "MANY"), "at most 200", id="many"),
        pytest.param(("--server", "x 'y"), "--server: A quotation mark is not closed.", id="quotes"),
        pytest.param(
            ("--tools-by-search", "http://127.0.0.1:9/mcp"), "--tools-by-search belongs to", id="search"
        ),
        pytest.param(("--server", "x", "--check", "--call", "note"), "named as in x__TOOL", id="call"),
    ],
)
def test_wrong_usage_is_explained(servers: Servers, words: tuple[str, ...], said: str) -> None:
    servers.of("ann")
    files = {
        "FILE": "",
        "NONE": "",
        "BROKEN": '{"mcpServers": !}',
        "USELESS": '{"mcpServers": {"a": {"command": "${NOPE}"}, "b": {"command": "x", "disabled": true}}}',
        "MANY": json.dumps({"mcpServers": {f"s{number}": {"command": "x"} for number in range(201)}}),
    }
    for name, text in files.items():
        if text:
            (servers.folder / name).write_text(text)
    paths = {name: str(servers.folder / name) for name in files} | {"FILE": str(servers.path)}
    ended = run("bridge", *(paths.get(word, word) for word in words))
    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_one_broken_entry_leaves_the_others_alone(servers: Servers) -> None:
    servers.write({"ann": servers.entry("ann"), "bad": {"command": "${NOPE}"}, "off": {"disabled": True}})
    with stdio("--servers", str(servers.path)) as front:
        assert listed(front) == {"ann"}
        failed = call(front, "bad__x")["result"]
        assert failed["content"][0]["text"] == "bad cannot be used: The variable NOPE is not set."
        assert "The variable NOPE is not set." in front.err


@pytest.mark.promise(
    "Bridge",
    "The file of `--servers` is read again when it changes and on SIGHUP; only changed servers restart.",
)
def test_the_file_is_read_again_and_only_changed_servers_restart(servers: Servers) -> None:
    entries = {name: servers.entry(name) for name in ("kept", "goes", "changes")}
    servers.write(entries)
    with stdio("--servers", str(servers.path)) as front:
        assert listed(front) == set(entries)
        del entries["goes"]
        entries["changes"] = servers.entry("changed")
        entries["comes"] = servers.entry("comes")
        servers.write(entries)
        front.wait_for(lambda: heard(front, CHANGED) > 0)
        # A list that is asked for before a new server is there is followed by another notice.
        while listed(front) != {"kept", "changes", "comes"}:
            count = heard(front, CHANGED)
            front.wait_for(lambda count=count: heard(front, CHANGED) > count)  # type: ignore[misc]
        for name in ("kept", "changes", "comes"):
            call(front, f"{name}__note")
        assert len(servers.noting("kept").pids()) == 1
        assert not any(map(is_running, servers.noting("changes").pids()))
        assert servers.noting("changed").messages("tools/call")


@pytest.mark.promise(
    "Bridge",
    "The file of `--servers` is read again when it changes and on SIGHUP; only changed servers restart.",
)
def test_a_signal_makes_it_read_a_file_that_looks_the_same(servers: Servers) -> None:
    servers.of("ann", "bob")
    with stdio("--servers", str(servers.path)) as front:
        assert listed(front) == {"ann", "bob"}
        before = servers.path.stat()
        servers.path.write_text(servers.path.read_text().replace('"bob": {', '"eve": {'))
        os.utime(servers.path, ns=(before.st_atime_ns, before.st_mtime_ns))
        front.process.send_signal(signal.SIGHUP)
        front.wait_for(lambda: heard(front, CHANGED) > 0)
        call(front, "eve__note")
        assert len(servers.noting("ann").pids()) == 1


def test_a_half_written_file_changes_nothing_and_is_reported_once(servers: Servers) -> None:
    servers.of("ann")
    with stdio("--servers", str(servers.path)) as front:
        assert listed(front) == {"ann"}
        for _ in range(2):
            servers.path.write_text('{"mcpServers": {"ann": ')
            front.process.send_signal(signal.SIGHUP)
            front.wait_for(lambda: "the servers stay as they are" in front.err)
        call(front, "ann__note")
        servers.of("ann", "bob")
        front.wait_for(lambda: heard(front, CHANGED) > 0)
        call(front, "bob__note")
        assert front.err.count("the servers stay as they are") == 1
        assert len(servers.noting("ann").pids()) == 1


def facts(front: Listening) -> tuple[int, Json]:
    status, body = front.ask("/readyz")
    return status, json.loads(body)


def test_operators_see_which_servers_are_up(servers: Servers) -> None:
    servers.write(
        {"ann": servers.entry("ann"), "dead": {"url": "http://127.0.0.1:9/mcp"}, "bad": {"url": "x"}}
    )
    with listening("bridge", "--servers", str(servers.path)) as front:
        front.wait_for(lambda said: "connected" in said and "cannot reach" in said)
        status, found = facts(front)
        assert (status, found["ready"]) == (200, True)
        states = {name: one["ready"] for name, one in found["servers"].items()}
        assert states == {"ann": True, "dead": False, "bad": False}
        assert found["servers"]["dead"]["connections"][0]["error"] == "connection refused"
        assert "does not begin with http://" in found["servers"]["bad"]["error"]
        page = front.ask("/metrics")[1].decode()
        assert "mcp_bridge_servers 3" in page
        assert "mcp_bridge_servers_ready 1" in page


def test_nothing_is_ready_while_no_server_is(servers: Servers) -> None:
    servers.write({"dead": {"url": "http://127.0.0.1:9/mcp"}})
    with listening("bridge", "--servers", str(servers.path)) as front:
        assert facts(front)[0] == 503


_MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_stateless_clients_over_http_use_all_servers(servers: Servers) -> None:
    servers.of("ann", "bob")
    with listening("bridge", "--servers", str(servers.path)) as front:

        def ask(method: str, **params: Any) -> Json:
            headers = {
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": method,
                **({"mcp-name": params["name"]} if "name" in params else {}),
            }
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _MODERN}}
            answer: Json = json.loads(front.ask("/mcp", message, headers)[1])
            return answer

        names = {one["name"].partition("__")[0] for one in ask("tools/list")["result"]["tools"]}
        assert names == {"ann", "bob"}
        result = ask("tools/call", name="bob__note", arguments={"n": 5})["result"]
        assert result["content"][0]["text"] == "5"
        page = front.ask("/metrics")[1].decode()
        assert 'gen_ai_tool_name="bob__note"' in page
        assert len(re.findall(r'operation_duration_seconds_count\{mcp_method_name="tools/call"', page)) == 1


def test_secrets_of_a_file_are_never_shown(servers: Servers) -> None:
    secret = "sk-verysecret-0123456789"
    text = f"import sys; sys.exit('bad key ' + {secret!r})"
    entries = {
        "env": {
            "command": sys.executable,
            "args": ["-c", "import os, sys; sys.exit('bad ' + os.environ['API_KEY'])"],
            "env": {"API_KEY": "${SECRET}"},
        },
        "args": {
            "command": sys.executable,
            "args": ["-c", text.replace(repr(secret), "sys.argv[1]"), "${SECRET}"],
        },
        "url": {"url": "http://127.0.0.1:9/${SECRET}", "headers": {"x-api-key": "${SECRET}"}},
        "ann": servers.entry("ann"),
    }
    servers.write(entries)
    env = {"SECRET": secret}
    for extra in ((), ("--json",)):
        ended = run(
            "bridge", "--check", "--start-timeout", "6", *extra, "--servers", str(servers.path), env=env
        )
        assert ended.code == 3
        assert secret not in ended.out + ended.err
        assert "bad" in ended.out + ended.err
    with stdio("--start-timeout", "6", "--servers", str(servers.path), env=env) as front:
        for name in entries:
            call(front, f"{name}__x")
        call(front, "ann__note")
        assert secret not in front.err + b"".join(front.lines).decode()


@pytest.mark.promise(
    "Bridge", "`bridge --check` shows how many tokens the tools of each server cost a model."
)
def test_check_shows_each_server_under_its_name_and_what_its_tools_weigh(servers: Servers) -> None:
    servers.write(
        {"ann": servers.entry("ann"), "bob": servers.entry("bob"), "dead": {"url": "http://127.0.0.1:9/"}}
    )
    words = ("bridge", "--check", "--start-timeout", "6", "--servers", str(servers.path))
    ended = run(*words, "--call", "ann__note")
    assert ended.code == 3
    lines = ended.out.splitlines()
    assert [line for line in lines if line.startswith("===")] == [
        "=== ann ===",
        "=== bob ===",
        "=== dead ===",
    ]
    assert "NOT REACHED" in lines
    weights = lines[lines.index("Tokens that a model reads before it can use the tools") + 1 :]
    numbers = {
        row[0]: int(row[1].replace("~", "").replace(",", ""))
        for row in (line.replace("by search", "search").split() for line in weights)
    }
    assert numbers["all"] == numbers["ann"] + numbers["bob"]
    assert set(numbers) == {"ann", "bob", "all", "search"}
    found = json.loads(run(*words, "--json").out)
    assert [one["name"] for one in found] == ["ann", "bob", "dead"]
    assert found[0]["tokens"] == numbers["ann"]
    assert "connection refused" in found[2]["error"]


def test_options_hold_for_all_servers(servers: Servers) -> None:
    servers.of("ann", "bob")
    hide = ("--hide-tool", "ann__look", "--hide-tool", "misfit")
    with stdio("--servers", str(servers.path), "--read-only", *hide) as front:
        names = {one["name"] for one in front.ask("tools/list", {})["result"]["tools"]}
        assert names == {"ann__die_looking", "bob__look", "bob__die_looking"}
        assert "error" in call(front, "ann__look")
        assert "error" in call(front, "bob__note")


def test_tools_by_search_over_the_real_command(servers: Servers) -> None:
    servers.of("ann", "bob")
    with stdio("--servers", str(servers.path), "--tools-by-search") as front:
        names = [one["name"] for one in front.ask("tools/list", {})["result"]["tools"]]
        assert names == ["find_tools", "describe_tool", "call_read_only_tool", "call_tool"]
        answer = call(front, "call_tool", {"name": "bob__note", "arguments": {"n": 7}})
        assert answer["result"]["content"][0]["text"] == "7"


def test_a_revision_can_be_chosen_for_the_servers(servers: Servers) -> None:
    servers.of("ann")
    with stdio("--servers", str(servers.path), "--server-revision", "2024-11-05") as front:
        call(front, "ann__note")
        (hello,) = servers.noting("ann").messages("initialize")
        assert hello["params"]["protocolVersion"] == "2024-11-05"


def test_a_tool_stays_hidden_when_another_entry_takes_the_name_of_its_server(servers: Servers) -> None:
    for names in (("a_b",), ("a-b", "a_b")):
        servers.of(*names)
        with stdio("--servers", str(servers.path), "--hide-tool", "a_b__note") as front:
            tools = [one["name"] for one in front.ask("tools/list", {})["result"]["tools"]]
        assert tools
        assert [name for name in tools if name.endswith("__note")] == (
            ["a-b__note"] if len(names) > 1 else []
        )


def test_a_bridge_that_starts_itself_through_a_shell_ends(servers: Servers) -> None:
    words = f"{sys.executable} -m qortal_mcp bridge --servers {servers.path}"
    servers.write({"ann": servers.entry("ann"), "again": {"command": "sh", "args": ["-c", words]}})
    with stdio("--servers", str(servers.path)) as front:
        assert "ann" in listed(front)
    deep = {"_QORTAL_MCP_NESTED": "4"}
    ended = run("bridge", "--check", "--servers", str(servers.path), env=deep)
    assert ended.code == 2
    assert "one of the servers is the bridge itself" in ended.err


def test_secrets_in_a_command_are_shown_nowhere(servers: Servers) -> None:
    hidden = ("hunter2secret", "AKIA0123456789ABCDEF", "fallback-s3cret")
    words = ["--api-key", hidden[0], hidden[1], "${NO_SUCH_PASSWORD:-" + hidden[2] + "}"]
    servers.write({"ann": {"command": sys.executable, "args": ["-c", "raise SystemExit(1)", *words]}})
    ended = run("bridge", "--check", "--servers", str(servers.path))
    assert not any(one in ended.out + ended.err for one in hidden)


def test_a_hidden_value_at_the_end_of_an_address_takes_no_bracket_with_it(servers: Servers) -> None:
    servers.write({"away": {"url": "http://127.0.0.1:9/mcp?token=hunter2secret"}})
    ended = run("bridge", "--servers", str(servers.path), "--check", "--start-timeout", "5")
    assert "away (http://127.0.0.1:9/mcp?token=***):" in ended.out.replace("\n    ", " ")
