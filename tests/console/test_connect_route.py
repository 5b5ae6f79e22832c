"""`/console/connect`: what the page shows about clients, from the running server."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.door import Door, open_door

from qortal_mcp.connect.clients import CLIENTS

TOKEN = "a-token-of-thirty-two-characters"


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample", "--toolsets", "+chat") as running:
        yield running


@pytest.fixture(scope="module")
def guarded() -> Iterator[Door]:
    with open_door(
        "--sample", "--allow-host", "mcp.example", environment={"QORTAL_MCP_TOKEN": TOKEN}
    ) as running:
        yield running


def test_it_tells_of_every_client_with_this_server_s_command_and_address(door: Door) -> None:
    reply = door.get("/console/connect")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    told = reply.json
    assert [client["name"] for client in told["clients"]] == [client.name for client in CLIENTS]
    assert (told["endpoint"], told["needsToken"]) == (door.url, False)
    codex = {way["kind"]: [step["code"] for step in way["steps"]] for way in told["clients"][0]["ways"]}
    ours, theirs, _ = codex["stdio"]
    assert ours.startswith("/")
    assert ours.endswith(" install codex --sample --toolsets +chat")
    assert theirs.startswith("codex mcp add qortal -- /")
    assert theirs.endswith(" stdio --sample --toolsets +chat")
    ours, theirs, _ = codex["http"]
    assert ours.endswith(f" install codex --http {door.url} --no-token")
    assert theirs == f"codex mcp add qortal --url {door.url}"


def test_the_curl_command_works(door: Door) -> None:
    command = door.get("/console/connect").json["trial"]["code"]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=20, check=True)
    assert json.loads(done.stdout)["result"]["tools"]


def test_the_curl_command_works_with_a_token(guarded: Door) -> None:
    command = guarded.get("/console/connect", {"authorization": f"Bearer {TOKEN}"}).json["trial"]["code"]
    environment = {"PATH": "/usr/bin:/bin", "QORTAL_MCP_TOKEN": TOKEN}
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=20, check=True, env=environment
    )
    assert json.loads(done.stdout)["result"]["tools"]


@pytest.mark.promise("Console", "No token is written into what the console offers to copy.")
def test_it_needs_the_token_and_never_repeats_it(guarded: Door) -> None:
    assert guarded.get("/console/connect").status == 401
    reply = guarded.get("/console/connect", {"authorization": f"Bearer {TOKEN}"})
    assert reply.json["needsToken"] is True
    assert TOKEN.encode() not in reply.body


def test_the_address_is_the_one_that_the_browser_sees(guarded: Door) -> None:
    for url in ("https://mcp.example/mcp", "http://mcp.example/qortal/mcp"):
        headers = {"authorization": f"Bearer {TOKEN}", "host": "mcp.example"}
        told = guarded.get(f"/console/connect?url={quote(url, safe='')}", headers).json
        assert told["endpoint"] == url
        assert f"--url {url} " in told["clients"][0]["ways"][1]["steps"][1]["code"]
        assert "another machine" in told["clients"][0]["ways"][0]["steps"][0]["text"]


NOT_OURS = [
    pytest.param("https://elsewhere.example/mcp", id="another-host"),
    pytest.param("http://127.0.0.1:1/mcp", id="another-port"),
    pytest.param("file://{host}/mcp", id="another-scheme"),
    pytest.param("http://user@{host}/mcp", id="a-user"),
    pytest.param("http://{host}/mcp?x=1", id="a-query"),
    pytest.param("http://{host}/mcp#x", id="a-fragment"),
    pytest.param("http://{host}/$(reboot)/mcp", id="a-command"),
    pytest.param("http://{host}/../mcp\n", id="a-line-end"),
    pytest.param("http://{host}/a/../../mcp", id="a-way-up"),
    pytest.param("http://{host}/./mcp", id="a-dot"),
    pytest.param("http://{host}/other", id="another-path"),
    pytest.param("http://{host}/" + "a/" * 400 + "mcp", id="too-long"),
    pytest.param("http://[/mcp", id="not-an-address"),
]


@pytest.mark.parametrize("url", NOT_OURS)
def test_an_address_that_is_not_of_this_server_is_refused(door: Door, url: str) -> None:
    asked = quote(url.format(host=f"127.0.0.1:{door.port}"), safe="")
    reply = door.get(f"/console/connect?url={asked}")
    assert reply.status == 400
    assert reply.json["error"].startswith("url must be")


@pytest.mark.parametrize("query", ["url=a&url=b", "url=%ff", "url=http://%C3%A9/mcp"])
def test_a_query_that_cannot_be_read_is_refused(door: Door, query: str) -> None:
    assert door.get(f"/console/connect?{query}").status == 400


def test_it_can_only_be_read(door: Door) -> None:
    reply = door.send(b"{}", path="/console/connect")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


def test_the_page_reads_only_members_that_are_sent(door: Door) -> None:
    """The names in the typedefs of the view, against one answer of the server."""
    page = Path(__file__).parents[2] / "src/qortal_mcp/console/static/views/connect.js"
    told = door.get("/console/connect").json
    sent = {*told, *told["clients"][0]}
    for client in told["clients"]:
        for way in client["ways"]:
            sent |= set(way)
            for step in way["steps"]:
                sent |= {*step, *(name for file in step.get("files", []) for name in file)}
    typed = [line for line in page.read_text().splitlines() if line.startswith("/** @typedef {{")]
    named = {
        part.strip().partition(":")[0].rstrip("?")
        for line in typed
        if " Choice " not in line
        for part in line.partition("{{")[2].partition("}}")[0].split(",")
    }
    assert named == sent
