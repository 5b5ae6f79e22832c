"""`serve`: where it listens, whom it lets in, what operators see, how it ends. And `sample-node` beside it."""

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import ALICE, Listening, listening, run
from tests.cli.strangers import http_node, http_stranger
from tests.qortal.live_chain import live_answer

from qortal_mcp import __version__
from qortal_mcp.cli.main import main
from qortal_mcp.cli.serve import command
from qortal_mcp.qortal.manifest import llms_txt, manifest
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


@pytest.fixture(scope="module")
def sample() -> Iterator[Listening]:
    with listening("serve", "--sample") as server:
        yield server


@pytest.mark.promise("Command line", "`serve` says where it listens, with the real port.")
def test_it_says_where_it_listens_with_the_real_port(sample: Listening) -> None:
    assert sample.url.startswith("http://127.0.0.1:")
    assert sample.url.endswith("/mcp")
    assert ":0/" not in sample.url


def events(server: Listening, last: str) -> list[dict[str, Any]]:
    """The log lines up to an event, behind the one that says where it listens."""
    first, *lines = server.wait_for(lambda said: last in said and said.endswith("\n"))
    assert first == f"Listening on {server.url}"
    return [json.loads(line) for line in lines]


@pytest.mark.promise(
    "Operations", "Sample data are never given for real ones: the start and the answers say what they are."
)
def test_it_says_that_its_data_are_samples(sample: Listening) -> None:
    line = events(sample, "sample chain")[0]
    assert line["level"] == "info"
    assert line["event"] == "answers come from the sample chain: test data, not the real Qortal chain"


def test_it_says_which_node_it_reads_and_that_it_answers() -> None:
    with listening("sample-node") as node, listening("serve", "--node", node.url) as server:
        reads, answers = events(server, "the node answers")
        assert (reads["event"], reads["qortal_mcp.node"]) == ("will ask this node", node.url)
        assert (answers["event"], answers["qortal_mcp.node"]) == ("the node answers", node.url)
        assert answers["qortal_mcp.height"] > 0


def test_it_says_which_nodes_it_reads_and_that_none_answers() -> None:
    urls = ("http://127.0.0.1:9", "http://127.0.0.1:10")
    with listening("serve", "--node", urls[0], "--node", urls[1]) as server:
        reads, *_, last = events(server, "no usable node answers; tools will fail until one does")
        assert reads["qortal_mcp.node"] == ", ".join(urls)
        assert last["level"] == "warning"


@pytest.mark.promise(
    "Operations", "A node that never answers delays neither the start nor the end of the server."
)
def test_a_node_that_never_answers_delays_neither_start_nor_end() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with listening("serve", "--node", f"http://127.0.0.1:{silent.getsockname()[1]}") as server:
            assert server.ask("/healthz")[0] == 200
            assert server.stop() == 0
            assert "Traceback" not in server.err


def test_it_speaks_mcp_there(sample: Listening) -> None:
    status, body = sample.ask("/mcp", INITIALIZE)
    assert status == 200
    assert json.loads(body)["result"]["serverInfo"]["version"] == __version__
    status, body = sample.ask("/mcp", call("get_balance", {"address": ALICE}))
    assert json.loads(body)["result"]["structuredContent"]["balance"] == "1001427.50833805"


ROUTES = [
    pytest.param("/healthz", b'"ok"', id="healthz"),
    pytest.param("/readyz", b'"isSynchronizing":false', id="readyz"),
    pytest.param("/metrics", b"mcp_server_operation_duration_seconds", id="metrics"),
    pytest.param("/mcp-manifest.json", b'"endpoint":"/mcp"', id="manifest"),
    pytest.param("/llms.txt", b"get_balance", id="llms"),
]


@pytest.mark.parametrize(("path", "part"), ROUTES)
def test_operators_find_their_routes(sample: Listening, path: str, part: bytes) -> None:
    status, body = sample.ask(path)
    assert status == 200
    assert part in body


@pytest.mark.promise(
    "Transports", "There are no REST routes and no OAuth: those paths, like any unknown path, are 404."
)
@pytest.mark.parametrize(
    "path", ["/health", "/tools/node_status", "/docs", "/.well-known/oauth-authorization-server"]
)
def test_anything_else_is_not_found(sample: Listening, path: str) -> None:
    assert sample.ask(path)[0] == 404


@pytest.mark.promise(
    "Operations",
    "`/mcp-manifest.json` names the server, its version, its revisions, its tools and how to connect, as the server itself does.",
)
def test_the_manifest_that_is_served_is_the_one_of_the_server(sample: Listening) -> None:
    server = make_server(Node.sample())
    assert json.loads(sample.ask("/mcp-manifest.json")[1]) == json.loads(json.dumps(manifest(server)))
    assert sample.ask("/llms.txt")[1].decode() == llms_txt(server)


@pytest.mark.promise("Read-only and secrets", "No address, argument, token or key is logged by default.")
def test_the_log_names_methods_and_outcomes_but_no_arguments() -> None:
    with listening("serve", "--sample", "--log-level", "debug") as server:
        server.ask("/mcp", call("get_balance", {"address": "Qnonsense"}))
        server.stop()
        lines = [json.loads(line) for line in server.err.splitlines() if line.startswith("{")]
    failed = [line for line in lines if line.get("qortal_mcp.outcome") == "INVALID_ARGUMENT"]
    assert failed[0]["qortal_mcp.tool"] == "get_balance"
    assert failed[0]["request_id"]
    assert "Qnonsense" not in server.err
    assert not [line for line in lines if line["logger"].startswith(("uvicorn", "aiohttp", "asyncio"))]


@pytest.mark.promise("Operations", "A signal ends the server with exit code 0.")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_exit_code_0(number: signal.Signals) -> None:
    with listening("serve", "--sample") as server:
        server.ask("/mcp", INITIALIZE)
        assert server.stop(number) == 0
        assert "Traceback" not in server.err


@pytest.mark.promise("Operations", "At the default level nothing about a call is logged.")
def test_at_the_default_level_nothing_about_a_call_is_logged() -> None:
    with listening("serve", "--sample") as server:
        for _ in range(3):
            server.ask("/mcp", call("get_balance", {"address": ALICE}))
        server.stop()
        assert ALICE not in server.err
        assert "get_balance" not in server.err


@pytest.mark.promise(
    "Operations", "`/healthz` tells whether the process lives, `/readyz` whether the node answers."
)
def test_a_node_that_does_not_answer_is_not_ready_but_alive() -> None:
    with listening("serve", "--node", "http://127.0.0.1:9") as server:
        assert server.ask("/healthz")[0] == 200
        status, body = server.ask("/readyz")
        assert status == 503
        assert json.loads(body) == {"node": "http://127.0.0.1:9", "height": None, "isSynchronizing": None}


@pytest.mark.promise("Nodes", "A website or another service given as a node is recognised and called that.")
def test_a_website_as_a_node_is_called_that_once_at_the_start() -> None:
    with http_stranger(lambda *_: (200, {"content-type": "text/html"}, b"<html>Welcome</html>")) as page:
        website = page.removesuffix("/mcp")
        with listening("serve", "--node", website) as server:
            said = events(server, "no usable node answers; tools will fail until one does")
            assert [line["event"] for line in said if line["level"] == "warning"] == [
                "this is not a Qortal node",
                "no usable node answers; tools will fail until one does",
            ]
            assert server.ask("/readyz")[0] == 503
            _, body = server.ask("/mcp", call("get_balance", {"address": ALICE}))
            assert (
                json.loads(body)["result"]["content"][0]["text"] == "Node error. This is not a Qortal node."
            )


@pytest.mark.promise(
    "Operations",
    "`/readyz` is 503 if the newest block is older than `--max-tip-age`, whatever the node says.",
)
@pytest.mark.parametrize(("words", "status"), [((), 503), (("--max-tip-age", "2d"), 200)])
def test_a_stale_node_is_not_ready(words: tuple[str, ...], status: int) -> None:
    def stale(target: str) -> tuple[int, dict[str, str], bytes]:
        reply = live_answer(target, age_seconds=23 * 3600)
        return reply.status, {"content-type": reply.content_type}, reply.body

    with http_node(stale) as url, listening("serve", "--node", url, *words) as server:
        said = events(server, "the node answers")
        assert said[-1]["level"] == ("info" if status == 200 else "warning")
        found, body = server.ask("/readyz")
        assert found == status
        assert json.loads(body)["tipAgeSeconds"] // 3600 == 23
        _, body = server.ask("/mcp", call("get_balance", {"address": ALICE}))
        notes = json.loads(body)["result"]["structuredContent"].get("notes")
        assert notes == (None if status == 200 else ["The node is behind: its newest block is 23 hours old."])


@pytest.fixture(params=["file", "variable"])
def with_token(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listening]:
    file = tmp_path / "token"
    file.write_text("planted-token-of-tests\n")
    words = ("--token-file", str(file)) if request.param == "file" else ()
    env = {} if request.param == "file" else {"QORTAL_MCP_TOKEN": "planted-token-of-tests"}
    with listening("serve", "--sample", "--log-level", "debug", *words, env=env) as server:
        yield server


@pytest.mark.promise(
    "Access", "With a token, only those who send it are served; `/healthz` alone stays open."
)
def test_with_a_token_only_those_who_send_it_are_served(with_token: Listening) -> None:
    good = {"Authorization": "Bearer planted-token-of-tests"}
    assert with_token.ask("/mcp", INITIALIZE)[0] == 401
    assert with_token.ask("/mcp", INITIALIZE, {"Authorization": "Bearer other"})[0] == 401
    assert with_token.ask("/mcp", INITIALIZE, good)[0] == 200
    assert with_token.ask("/metrics")[0] == 401
    assert with_token.ask("/healthz")[0] == 200
    _, body = with_token.ask("/mcp-manifest.json", headers=good)
    assert json.loads(body)["authentication"]["type"] == "bearer"
    with_token.stop()
    assert "planted" not in with_token.err


@pytest.mark.promise(
    "Access", "Beyond loopback the server does not start without a token unless `--without-token` is given."
)
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_beyond_loopback_it_wants_a_token_or_to_be_told_that_none_is_needed(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--sample", "--listen", address]) == 2
    shown = capsys.readouterr().err
    assert "--token-file" in shown
    assert "--without-token" in shown


def test_a_name_is_judged_by_what_it_stands_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolver(host: str, port: int, **more: Any) -> list[Any]:
        if host == "nosuch.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6, 1, 6, "", ("2001:db8::1", port, 0, 0)),
            (socket.AF_INET, 1, 6, "", (host, port)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    assert main(["serve", "--sample", "--listen", "nosuch.example:80"]) == 3
    assert capsys.readouterr().err == (
        "qortal-mcp: Cannot listen on nosuch.example:80: the host nosuch.example cannot be resolved.\n"
    )
    assert main(["serve", "--sample", "--listen", "outside.example:80"]) == 2
    assert "--token-file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["serve", "sample-node"])
def test_a_host_that_can_be_no_name_is_one_clear_line(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--listen", "a..b:80"]) == 3
    assert "the host a..b cannot be resolved." in capsys.readouterr().err


def test_beyond_loopback_without_allowed_hosts_it_says_whom_it_refuses() -> None:
    words = ("serve", "--sample", "--without-token", "--log-format", "text")
    for more, is_warned in (((), True), (("--allow-host", "mcp.example"), False)):
        server = Listening((*words, *more, "--listen", "0.0.0.0:0"), None)
        server.stop()
        assert ("--allow-host NAME[:PORT]" in server.err) is is_warned
    with listening(*words) as at_home:
        at_home.stop()
        assert "--allow-host" not in at_home.err


@pytest.mark.promise("Access", "A Host or an Origin is allowed by name.")
def test_a_host_must_be_allowed_by_name(sample: Listening) -> None:
    status, body = sample.ask("/mcp", INITIALIZE, {"Host": "evil.example"})
    assert status == 421
    assert b"--allow-host" in body
    with listening(
        "serve", "--sample", "--allow-host", "good.example", "--allow-host", "two.example"
    ) as server:
        assert server.ask("/mcp", INITIALIZE, {"Host": "good.example"})[0] == 200
        assert server.ask("/mcp", INITIALIZE, {"Host": "two.example"})[0] == 200


@pytest.mark.promise("Access", "A Host or an Origin is allowed by name.")
def test_an_origin_must_be_allowed_by_name() -> None:
    env = {"QORTAL_MCP_ALLOW_ORIGIN": "https://one.example, https://two.example"}
    with listening("serve", "--sample", env=env) as server:
        assert server.ask("/mcp", INITIALIZE, {"Origin": "https://two.example"})[0] == 200
        status, body = server.ask("/mcp", INITIALIZE, {"Origin": "https://evil.example"})
        assert status == 403
        assert b"--allow-origin" in body


@pytest.mark.promise(
    "Limits and abuse", "A rate limit holds for each caller, and callers are remembered within bounds."
)
def test_a_rate_limit_holds_for_one_caller() -> None:
    with listening("serve", "--sample", "--rate-limit", "1") as server:
        answers = [server.ask("/mcp", call("validate_address", {"address": ALICE}))[1] for _ in range(5)]
    assert b"Rate limit exceeded." in answers[-1]
    assert b"isValid" in answers[0]


def test_an_address_in_use_is_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = run("serve", "--sample", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert ended.code == 3
    assert ended.err.startswith("qortal-mcp: Cannot listen on 127.0.0.1:")
    assert len(ended.err.splitlines()) == 1
    assert "--listen HOST:PORT" in ended.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--listen", "127.0.0.1:70000"], "65535"),
        (["--token-file", "/nonexistent/token"], "--token-file cannot be read"),
        (["--rate-limit", "fast"], "--rate-limit must be a number"),
        (["--allow-host", "http://a"], "--allow-host must be NAME"),
        (["--allow-origin", "a.example"], "--allow-origin must be SCHEME://HOST"),
    ],
)
def test_settings_that_cannot_be_used_are_wrong_usage(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--sample", *words]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.promise(
    "Read-only and secrets", "No flag takes a secret; the server's token comes from a file or a variable."
)
def test_no_flag_takes_a_secret() -> None:
    assert not {"--token", "--api-key"} & {flag for parameter in command.params for flag in parameter.opts}


@pytest.mark.promise("Command line", "`sample-node` serves the sample chain as a node of its own.")
def test_the_sample_chain_can_be_a_node_of_its_own() -> None:
    with listening("sample-node") as node:
        status, body = node.ask("/admin/status")
        assert status == 200
        assert json.loads(body)["height"] > 0
        assert node.ask("/admin/status", method="POST")[0] == 405
        words = ("call", "get_balance", f"address={ALICE}", "--json")
        over_http, in_process = run(*words, "--node", node.url), run(*words, "--sample")
        assert over_http.code == 0, over_http.err
        assert over_http.json["balance"] == in_process.json["balance"]
        assert over_http.json["asOf"]["node"] == node.url
        assert over_http.json["notes"] == in_process.json["notes"]
        assert over_http.json["notes"][0].startswith("Sample data")
        assert node.stop() == 0
        assert "Traceback" not in node.err
