"""Is a node healthy, and if not, why? Pure judgements on what is known about it, each with what to do next.

A judgement is one function in `JUDGEMENTS`; it gets the facts and reports a problem or nothing.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from .endpoints import ENDPOINTS
from .endpoints.record import Endpoint
from .words.times import span

# Core neither synchronizes nor mints with fewer peers, unless its setting minBlockchainPeers says otherwise.
FEW_PEERS = 3
# Clocks that differ by less do no harm; a slow answer can look like several seconds.
MOST_DRIFT_SECONDS = 30
_NO_VERSION = (0, 0, 0)
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")


class Condition(Struct, frozen=True, kw_only=True):
    """What is known about a node; None for what it does not tell."""

    height: int
    is_synchronizing: bool
    is_minting_possible: bool
    peers: int
    sync_percent: int | None = None
    # Peers for QDN data; Core counts them since 6.0.
    data_peers: int | None = None
    version: str | None = None
    is_test_net: bool | None = None
    # The sample chain stands still: it has no peers, and its clock says nothing.
    is_sample: bool = False
    # Negative for a newest block in the future.
    tip_age_seconds: float | None = None
    # Whether the node has a clock; it takes its time from time servers, and reports none until they answer.
    has_clock: bool | None = None
    # How far its clock is ahead of this machine's.
    drift_seconds: int | None = None
    max_tip_age_seconds: float = 900.0
    max_tip_lead_seconds: float = 120.0

    @property
    def is_behind(self) -> bool:
        return self.tip_age_seconds is not None and self.tip_age_seconds > self.max_tip_age_seconds


class Problem(Struct):
    problem: str
    advice: Annotated[str, Meta(description="What to do next.")]
    isSerious: Annotated[bool, Meta(description="Answers may be wrong or out of date.")] = True


Judgement = Callable[[Condition], Problem | None]


def problems_of(node: Condition) -> list[Problem]:
    """What is wrong with a node, the gravest first."""
    found = [problem for judge in JUDGEMENTS if (problem := judge(node)) is not None]
    return sorted(found, key=lambda problem: not problem.isSerious)


def is_healthy(problems: list[Problem]) -> bool:
    return not any(problem.isSerious for problem in problems)


def verdict(node: Condition, problems: list[Problem]) -> str:
    """One sentence for a person."""
    if not is_healthy(problems):
        others, gravest = len(problems) - 1, problems[0].problem.removesuffix(".")
        more = f", and {_counted(others, 'more problem')}" if others else ""
        return f"Not healthy: {gravest[0].lower()}{gravest[1:]}{more}."
    if node.is_sample:
        return "Healthy: this is the sample chain, which stands still."
    but = f", with {_counted(len(problems), 'thing')} to improve" if problems else ""
    age = "" if node.tip_age_seconds is None else f", newest block {span(max(0.0, node.tip_age_seconds))} old"
    return f"Healthy{but}: in sync at height {node.height}{age}, {_counted(node.peers, 'peer')}."


def why_no_minting(node: Condition) -> str | None:
    """Why a node does not mint, as far as it tells; None if it can."""
    if node.is_minting_possible:
        return None
    for judge in (has_no_blocks, has_no_clock, is_synchronizing, is_behind, has_no_peers, has_few_peers):
        if (problem := judge(node)) is not None:
            return problem.problem
    return (
        "The node has no minting key, or the key's account is not online yet (after a start this takes some minutes), is below "
        "level 1 or is not in the minting group. A node that only reads needs none."
    )


def has_no_blocks(node: Condition) -> Problem | None:
    if node.height > 0:
        return None
    return Problem(
        "The node has no blocks yet: its height is 0.",
        "It is starting or preparing its database. Wait a few minutes; if it stays so, look at its log file and let it bootstrap.",
    )


def is_synchronizing(node: Condition) -> Problem | None:
    if not node.is_synchronizing:
        return None
    done = "" if node.sync_percent is None else f" ({node.sync_percent} % done)"
    return Problem(
        f"The node is synchronizing{done}.",
        "Wait until it has caught up; until then its answers are out of date. If the percentage stands still, restart Qortal "
        "Core or let it bootstrap.",
    )


def is_behind(node: Condition) -> Problem | None:
    if not node.is_behind:
        return None
    assert node.tip_age_seconds is not None, "otherwise its age is unknown"
    return Problem(
        f"The node's newest block is {span(node.tip_age_seconds)} old, and blocks come about once a minute.",
        "Check its internet connection and its peers, then restart Qortal Core. If it does not catch up, let it bootstrap. "
        "Meanwhile another node can answer: --node.",
    )


def is_in_the_future(node: Condition) -> Problem | None:
    if node.tip_age_seconds is None or -node.tip_age_seconds <= node.max_tip_lead_seconds:
        return None
    return Problem(
        f"The node's newest block is {span(-node.tip_age_seconds)} in the future: the clock of the node or of this machine is wrong.",
        "Switch on automatic time on both machines.",
    )


def hides_its_newest_block(node: Condition) -> Problem | None:
    if node.is_sample or node.tip_age_seconds is not None or node.height == 0:
        return None
    return Problem(
        "The node does not tell its newest block, so nobody can say how old its data is.",
        "Ask again in a minute; if it stays so, restart Qortal Core.",
    )


def has_no_clock(node: Condition) -> Problem | None:
    if node.has_clock is not False:
        return None
    return Problem(
        "The node has no clock: no time server has answered it, and without one it neither synchronizes nor mints.",
        "Let it reach time servers (NTP, UDP port 123), or name others under ntpServers in its settings.json; then restart it.",
    )


def has_another_time(node: Condition) -> Problem | None:
    drift = node.drift_seconds
    if drift is None or abs(drift) <= MOST_DRIFT_SECONDS:
        return None
    return Problem(
        f"The node's clock is {span(abs(drift))} {'ahead of' if drift > 0 else 'behind'} this machine's.",
        "The node takes its time from time servers, so this machine's clock is the likelier one to be wrong: switch on automatic "
        "time here, then there.",
        isSerious=abs(drift) > node.max_tip_lead_seconds,
    )


def has_no_peers(node: Condition) -> Problem | None:
    # A test chain of a single node has no peers, and goes on by itself.
    is_alone = node.is_test_net is True and not node.is_behind
    if node.peers or node.is_sample or is_alone:
        return None
    return Problem(
        "The node has no peers, so it gets no new blocks.",
        f"Check its internet connection, and that a firewall lets it connect to others at TCP port {_port(node)}. After a start "
        "it takes a few minutes to find peers.",
    )


def has_few_peers(node: Condition) -> Problem | None:
    if not 0 < node.peers < FEW_PEERS or node.is_test_net is True:
        return None
    return Problem(
        f"The node has only {_counted(node.peers, 'peer')}; it needs {FEW_PEERS} to synchronize and to mint.",
        f"Wait some minutes after a start; then open TCP port {_port(node)} in its firewall and router.",
        isSerious=False,
    )


def has_no_data_peers(node: Condition) -> Problem | None:
    if node.data_peers != 0 or not node.peers or node.is_test_net is True:
        return None
    return Problem(
        "The node has no peers for QDN data, so it cannot fetch what others published.",
        "Open TCP port 12394 in its firewall and router.",
        isSerious=False,
    )


def is_old(node: Condition) -> Problem | None:
    lacking = lacking_in(node.version)
    if not lacking:
        return None
    have = version_of(node.version or "") or _NO_VERSION
    newest = max((endpoint.since for endpoint in lacking), key=lambda since: version_of(since) or have)
    return Problem(
        f"The node runs Core {'.'.join(map(str, have))}, which lacks {len(lacking)} of the {len(ENDPOINTS)} reads that tools here use.",
        f"Update Qortal Core to {newest} or later.",
        isSerious=False,
    )


JUDGEMENTS: tuple[Judgement, ...] = (
    has_no_blocks,
    is_synchronizing,
    is_behind,
    is_in_the_future,
    hides_its_newest_block,
    has_no_clock,
    has_no_peers,
    has_another_time,
    has_few_peers,
    has_no_data_peers,
    is_old,
)


def lacking_in(version: str | None) -> list[Endpoint[Any]]:
    """What a version of Core does not offer yet; nothing if it cannot be read."""
    have = version_of(version or "")
    if have is None:
        return []
    return [endpoint for endpoint in ENDPOINTS if (version_of(endpoint.since) or _NO_VERSION) > have]


def version_of(text: str) -> tuple[int, int, int] | None:
    """The numbers of a version such as `qortal-6.1.8-bb6b1bf`; None if there are none."""
    match = _VERSION.search(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def _port(node: Condition) -> int:
    return 62392 if node.is_test_net else 12392


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
