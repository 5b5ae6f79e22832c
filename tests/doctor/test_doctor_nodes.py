"""Nodes with one thing wrong each, as `doctor` reports them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cli.running import listening
from tests.cli.strangers import Answered, http_node
from tests.doctor.examined import CODES, closed, doctor, silent
from tests.qortal.live_chain import live_answer

from qortal_mcp.doctor.checks import CHECKS
from qortal_mcp.doctor.looks.node import NodeFacts
from qortal_mcp.qortal.health import JUDGEMENTS, Condition, problems_of

STATUS = {
    "height": 596,
    "isSynchronizing": False,
    "syncPercent": 100,
    "isMintingPossible": True,
    "numberOfConnections": 20,
    "numberOfDataConnections": 12,
}
JSON = {"content-type": "application/json"}
HTML = {"content-type": "text/html"}
HOUR = 3600

Node = Callable[[str], Answered]


def node(age: float = 0.0, status: Any = None, info: Any = None, ahead_seconds: int = 0) -> Node:
    """A node of the main network that is well, apart from what is changed; its clock may be ahead."""

    def answer(target: str) -> Answered:
        reply = live_answer(target, age)
        said = json.loads(reply.body)
        if target == "/admin/status":
            said = {**STATUS, **(status or {})}
        elif target == "/admin/info":
            now = said["currentTimestamp"] + ahead_seconds * 1000
            said = {**said, "isTestNet": False, "currentTimestamp": now, **(info or {})}
        return reply.status, JSON, json.dumps(said).encode()

    return answer


def everywhere(status: int, body: bytes, headers: dict[str, str] = HTML) -> Node:
    return lambda target: (status, headers, body)


WRONG = [
    pytest.param(everywhere(200, b"<html>Welcome"), "node-is-qortal", "problem", "Something else", "12391", id="website"),
    pytest.param(everywhere(403, b"<html>Forbidden"), "node-allowed", "problem", "refuses", "apiWhitelist", id="whitelist"),
    pytest.param(
        everywhere(400, b"The plain HTTP request was sent to HTTPS port"),
        "node-is-qortal", "problem", "https://", "--node", id="https-at-a-plain-address",
    ),
    pytest.param(everywhere(502, b"<html>Bad gateway"), "node-is-qortal", "problem", "HTTP 502", "--node", id="proxy"),
    pytest.param(
        everywhere(400, b'{"error":8,"message":"x"}', JSON), "node-sync", "problem", "synchronizing", "Wait", id="only-syncing"
    ),
    pytest.param(
        node(status={"isSynchronizing": True, "syncPercent": 61}), "node-sync", "problem", "61 % done", "Wait", id="syncing"
    ),
    pytest.param(node(status={"height": 0}), "node-sync", "problem", "no blocks", "Wait", id="no-blocks"),
    pytest.param(node(age=23 * HOUR), "node-newest-block", "problem", "23 hours old", "peers", id="stale"),
    pytest.param(node(age=-2 * HOUR), "node-newest-block", "problem", "in the future", "automatic time", id="future"),
    pytest.param(node(ahead_seconds=2 * HOUR), "node-clock", "problem", "ahead of", "automatic time", id="clock"),
    pytest.param(node(ahead_seconds=-60), "node-clock", "warning", "behind", "automatic time", id="slow-clock"),
    pytest.param(node(status={"numberOfConnections": 0}), "node-peers", "problem", "no peers", "firewall", id="no-peers"),
    pytest.param(node(status={"numberOfConnections": 2}), "node-peers", "warning", "2 peers", "12392", id="few-peers"),
    pytest.param(
        node(info={"buildVersion": "qortal-4.5.0-abc"}), "node-core-version", "warning", "Core 4.5.0, which lacks", "6.1.6", id="old-core"
    ),
    pytest.param(
        node(info={"buildVersion": "who knows"}), "node-core-version", "unknown", "does not tell", "log file", id="no-version"
    ),
    pytest.param(node(info={"isTestNet": True}), "node-is-qortal", "warning", "test network", "--node", id="test-network"),
]  # fmt: skip


@pytest.mark.promise("Doctor", "`doctor` names what is wrong with a node, and the next step.")
@pytest.mark.parametrize(("answer", "check", "state", "says", "advice"), WRONG)
def test_what_is_wrong_with_a_node_is_named_with_the_next_step(
    tmp_path: Path, answer: Node, check: str, state: str, says: str, advice: str
) -> None:
    with http_node(answer) as url:
        examined = doctor(tmp_path, "--node", url)
    found = examined.one(check)
    assert found["state"] == state
    assert says in found["says"]
    assert advice in found["advice"]
    assert examined.code == CODES[state]


def test_a_node_that_is_well_has_nothing_to_improve(tmp_path: Path) -> None:
    with http_node(node()) as url:
        examined = doctor(tmp_path, "--node", url)
    checks = examined.section(f"Node {url}")
    assert {check["state"] for check in checks.values()} == {"good"}
    assert set(checks) == {check.code for check in CHECKS if check.about is NodeFacts}
    assert checks["node-sync"]["says"] == "yes, at height 596"
    assert checks["node-peers"]["says"] == "20"
    assert examined.code == 0


def test_a_port_where_nobody_listens_is_said_once_and_the_rest_is_not_checked(tmp_path: Path) -> None:
    with closed() as port:
        examined = doctor(tmp_path, "--node", f"http://127.0.0.1:{port}")
    first, *rest = examined.section(f"Node http://127.0.0.1:{port}").values()
    assert (first["state"], first["says"]) == ("problem", "Nothing answers there.")
    assert "Start Qortal Core" in first["advice"]
    assert {(each["state"], each["says"]) for each in rest} == {("unknown", "not checked")}
    assert examined.code == 1


def test_a_plain_port_behind_https_is_not_called_absent(tmp_path: Path) -> None:
    with http_node(node()) as url:
        examined = doctor(tmp_path, "--node", url.replace("http:", "https:"))
    assert "TLS" in examined.one("node-reachable")["says"]
    assert examined.one("node-reachable")["state"] == "problem"


@pytest.mark.promise("Doctor", "What does not answer in time never hides the other checks of `doctor`.")
def test_a_node_that_never_answers_hides_nothing_else(tmp_path: Path) -> None:
    with silent() as port, http_node(node()) as well:
        hanging = f"http://127.0.0.1:{port}"
        examined = doctor(tmp_path, "--node", hanging, "--node", well, "--listen", "127.0.0.1:0")
    assert "did not answer in time" in examined.section(f"Node {hanging}")["node-reachable"]["says"]
    assert {each["state"] for each in examined.section(f"Node {well}").values()} == {"good"}
    assert examined.one("server-port")["state"] == "good"
    assert examined.code == 1


def test_what_an_old_core_lacks_is_listed(tmp_path: Path) -> None:
    with http_node(node(info={"buildVersion": "qortal-6.1.5-abc"})) as url:
        lacking = doctor(tmp_path, "--node", url).one("node-core-version")["details"]
    assert lacking
    assert all(template.startswith("/") for template in lacking)


def test_a_node_that_hides_its_version_and_time_is_judged_by_the_rest(tmp_path: Path) -> None:
    def answer(target: str) -> Answered:
        return (404, HTML, b"no") if target == "/admin/info" else node()(target)

    with http_node(answer) as url:
        examined = doctor(tmp_path, "--node", url)
    states = {code: check["state"] for code, check in examined.section(f"Node {url}").items()}
    assert {code for code, state in states.items() if state == "unknown"} == {
        "node-clock",
        "node-core-version",
    }
    assert states["node-sync"] == states["node-newest-block"] == "good"
    assert examined.code == 3


def test_the_sample_chain_is_well(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample")
    assert {check["state"] for check in examined.section("Sample chain").values()} == {"good"}
    assert examined.code == 0


def test_a_node_that_serves_the_sample_chain_is_not_taken_for_a_real_one(tmp_path: Path) -> None:
    with listening("sample-node") as served:
        examined = doctor(tmp_path, "--node", served.url)
    assert "test data" in examined.one("node-is-qortal")["says"]
    assert examined.one("node-is-qortal")["state"] == "warning"


WELL = Condition(
    height=596,
    is_synchronizing=False,
    is_minting_possible=True,
    peers=20,
    data_peers=3,
    version="6.1.8",
    is_test_net=False,
    tip_age_seconds=30,
    has_clock=True,
    drift_seconds=0,
)
UNWELL = [
    replace(WELL, height=0, is_synchronizing=True, tip_age_seconds=7200.0, has_clock=False, peers=0, version="3.0.0"),
    replace(WELL, tip_age_seconds=-7200.0, drift_seconds=7200, peers=1, data_peers=0),
    replace(WELL, tip_age_seconds=None),
]  # fmt: skip


def test_the_unwell_nodes_of_this_file_have_every_problem_there_is() -> None:
    assert {judge for judge in JUDGEMENTS for each in UNWELL if judge(each) is not None} == set(JUDGEMENTS)


@pytest.mark.parametrize("condition", UNWELL)
def test_every_problem_of_a_node_is_reported_once(condition: Condition) -> None:
    said = [
        finding.says
        for check in CHECKS
        if check.about is NodeFacts
        for finding in check.judge(NodeFacts(condition=condition))
        if finding.state in ("problem", "warning")
    ]
    assert sorted(said) == sorted(problem.problem for problem in problems_of(condition))
