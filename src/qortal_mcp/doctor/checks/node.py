"""What can be wrong with a node. Whether it is well is judged by `qortal.health`; here that is sorted into checks."""

from collections.abc import Callable, Iterator

from ...qortal import health
from ...qortal.endpoints import ENDPOINTS
from ...qortal.health import Condition, Judgement
from ...qortal.node.failures import NotANode, NotSecured
from ...qortal.words.times import span
from ...server.tool_errors import ToolError
from ..check import NOT_CHECKED, Finding, check, good, problem, unknown, warning
from ..looks.node import NodeFacts

_SILENT = ("NODE_UNREACHABLE", "NODE_TIMEOUT")
_ADDRESS = (
    "Correct the address given with --node: Qortal Core listens on port 12391, on a test network on 62391."
)


@check("node-reachable", "reachable", NodeFacts, "Does something answer at the address, in time?")
def reachable(facts: NodeFacts) -> Iterator[Finding]:
    failure = facts.failure
    if facts.is_built_in:
        yield good("built in")
    elif facts.condition is not None:
        yield good(f"it answers, in {facts.milliseconds:,} ms")
    elif failure is None or failure.code not in _SILENT:
        yield good("it answers")
    else:
        yield _silence(failure)


def _silence(failure: ToolError) -> Finding:
    if isinstance(failure, NotSecured):
        return problem(str(failure), "Correct the address given with --node, or the certificate there.")
    if failure.code == "NODE_TIMEOUT":
        return problem(
            str(failure),
            "Restart Qortal Core there and look at its log file, or name another node with --node URL.",
        )
    return problem(
        "Nothing answers there.",
        "Start Qortal Core there, name another node with --node URL, or use --sample for none.",
    )


@check("node-allowed", "allowed", NodeFacts, "May this machine read it, or is it missing in `apiWhitelist`?")
def allowed(facts: NodeFacts) -> Iterator[Finding]:
    failure = facts.failure
    if failure is None or failure.code == "NODE_SYNCING":
        yield good("this machine may read it")
    elif failure.code == "NODE_REFUSED":
        yield problem(
            "It refuses this machine.",
            "Add this machine's address to apiWhitelist in the node's settings.json and restart Qortal Core, or run "
            "qortal-mcp on that machine.",
        )
    else:
        yield NOT_CHECKED


@check(
    "node-is-qortal", "Qortal node", NodeFacts, "Is it Qortal Core, on the main network, and not a website?"
)
def is_qortal(facts: NodeFacts) -> Iterator[Finding]:
    failure, condition = facts.failure, facts.condition
    if condition is not None:
        yield _which_chain(condition, is_built_in=facts.is_built_in)
    elif failure is None or failure.code in (*_SILENT, "NODE_REFUSED"):
        yield NOT_CHECKED
    elif failure.code == "NODE_SYNCING":
        yield good("yes")
    elif isinstance(failure, NotANode):
        yield problem("Something else than Qortal Core answers there.", _ADDRESS)
    else:
        yield problem(
            str(failure), "Check the address given with --node, and the log file of Qortal Core there."
        )


def _which_chain(node: Condition, *, is_built_in: bool) -> Finding:
    if is_built_in:
        return good("the sample chain: test data, as chosen")
    wanted = "unless this is what you want."
    if node.is_sample:
        return warning(
            "It serves the sample chain: test data, not the real Qortal chain.",
            f"Name a real node with --node URL, {wanted}",
        )
    if node.is_test_net:
        return warning(
            "It is on a test network.", f"Name a node of the main network with --node URL, {wanted}"
        )
    return good("yes")


def _judged(
    *judgements: Judgement, well: Callable[[Condition], Finding]
) -> Callable[[NodeFacts], Iterator[Finding]]:
    """What these judgements find, or else how well it is."""

    def judge(facts: NodeFacts) -> Iterator[Finding]:
        node = facts.condition
        if node is None:
            is_syncing = facts.failure is not None and facts.failure.code == "NODE_SYNCING"
            yield _syncing() if is_syncing and health.is_synchronizing in judgements else NOT_CHECKED
            return
        found = [one for each in judgements if (one := each(node)) is not None]
        for one in found:
            yield (problem if one.isSerious else warning)(one.problem, one.advice)
        if not found:
            yield well(node)

    return judge


def _syncing() -> Finding:
    return problem("The node is synchronizing and does not answer yet.", "Wait until it has caught up.")


def _age(node: Condition) -> Finding:
    if node.is_sample:
        return good("stands still")
    if node.tip_age_seconds is None:
        return NOT_CHECKED
    return good(f"{span(max(0.0, node.tip_age_seconds))} old")


def _drift(node: Condition) -> Finding:
    if node.is_sample:
        return good("stands still")
    if node.drift_seconds is None:
        return unknown("The node does not tell its time.", "Compare it with this machine's by hand.")
    return good(f"{span(abs(node.drift_seconds))} from this machine's")


def _peers(node: Condition) -> Finding:
    return good("none needed" if node.is_sample else str(node.peers))


in_sync = check("node-sync", "in sync", NodeFacts, "Has it blocks, and all of them?")(
    _judged(
        health.has_no_blocks, health.is_synchronizing, well=lambda node: good(f"yes, at height {node.height}")
    )
)
newest_block = check(
    "node-newest-block",
    "newest block",
    NodeFacts,
    "Is the newest block younger than `--max-tip-age`, and not in the future?",
)(_judged(health.is_behind, health.is_in_the_future, health.hides_its_newest_block, well=_age))
clock = check("node-clock", "clock", NodeFacts, "Does its clock agree with the one of this machine?")(
    _judged(health.has_no_clock, health.has_another_time, well=_drift)
)
peers = check("node-peers", "peers", NodeFacts, "Does it have enough peers to follow the chain?")(
    _judged(health.has_no_peers, health.has_few_peers, health.has_no_data_peers, well=_peers)
)


@check("node-core-version", "Core version", NodeFacts, "Which reads does its version of Core lack?")
def core_version(facts: NodeFacts) -> Iterator[Finding]:
    node = facts.condition
    if node is None:
        yield NOT_CHECKED
        return
    have, old = health.version_of(node.version or ""), health.is_old(node)
    if have is None:
        yield unknown("The node does not tell its version.", "Look it up in the node's window or log file.")
    elif old is not None:
        lacking = (endpoint.template for endpoint in health.lacking_in(node.version))
        yield warning(old.problem, old.advice, lacking)
    else:
        yield good(f"{'.'.join(map(str, have))}, has all {len(ENDPOINTS)} reads that tools here use")
