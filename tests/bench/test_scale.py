"""The simulation behind docs/scale.md: it agrees with the arithmetic, and says what common sense says."""

import subprocess
import sys

import pytest
from bench.costs import Cost
from bench.scale import Assumed, Costs, Deployment, Measured, demand, needed, simulate
from msgspec.structs import replace

MEASURED = Measured()
COSTS = Costs(
    public_first=Cost(8, 0.04),
    public_again=Cost(1, 0.0005),
    personal_first=Cost(10, 0.016),
    personal_again=Cost(1, 0.0005),
)
MANY = Assumed(users=400_000)


@pytest.mark.parametrize("shares_cache", [False, True], ids=["caches-of-their-own", "shared-cache"])
def test_the_simulation_agrees_with_the_arithmetic(shares_cache: bool) -> None:
    deployment = Deployment(4, 4, shares_cache)
    computed = demand(MANY, COSTS, MEASURED, deployment.processes, shares_cache)
    seen = simulate(MANY, COSTS, MEASURED, deployment)
    assert seen.calls == pytest.approx(MANY.calls_a_second * MANY.blocks * MANY.block_seconds, rel=0.05)
    assert seen.from_memory == pytest.approx(computed.from_memory, rel=0.05)
    assert seen.node_busy * 4 * MEASURED.node_at_once == pytest.approx(computed.node_seconds, rel=0.05)
    assert seen.cpu_busy * 4 == pytest.approx(computed.cpu_seconds, rel=0.05)


def test_the_same_chance_gives_the_same_figures() -> None:
    deployment = Deployment(2, 1, True)
    assert simulate(MANY, COSTS, MEASURED, deployment) == simulate(MANY, COSTS, MEASURED, deployment)
    assert simulate(MANY, COSTS, MEASURED, deployment) != simulate(MANY, COSTS, MEASURED, deployment, seed=2)


@pytest.mark.parametrize("users", [1, 1_000, 100_000, 1_000_000, 30_000_000])
def test_what_is_needed_stays_below_the_bound(users: int) -> None:
    assumed = replace(MANY, users=users)
    for shares_cache in (False, True):
        deployment = needed(assumed, COSTS, MEASURED, shares_cache=shares_cache)
        computed = demand(assumed, COSTS, MEASURED, deployment.processes, shares_cache)
        assert computed.cpu_seconds <= assumed.most_busy * deployment.processes
        assert computed.node_seconds <= assumed.most_busy * MEASURED.node_at_once * deployment.nodes
        # A process reads from one node.
        assert 1 <= deployment.nodes <= deployment.processes


def test_a_shared_cache_spares_the_nodes() -> None:
    own = simulate(MANY, COSTS, MEASURED, Deployment(8, 8, False))
    shared = simulate(MANY, COSTS, MEASURED, Deployment(8, 8, True))
    assert shared.from_memory > own.from_memory
    assert shared.node_busy < own.node_busy


def test_callers_wait_when_there_are_too_few_nodes() -> None:
    enough = simulate(MANY, COSTS, MEASURED, Deployment(8, 8, True))
    too_few = simulate(replace(MANY, users=2_000_000), COSTS, MEASURED, Deployment(8, 1, True))
    assert too_few.node_busy > 1
    assert too_few.p99_seconds > 10 * enough.p99_seconds


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--users", "-5"], "--users must be a whole number >= 1"),
        (["--users", "many"], "--users must be a whole number"),
        (["--active-share", "0"], "--active-share must be a number > 0.0"),
        (["--users", "900000000"], "more than can be simulated"),
    ],
)
def test_what_cannot_be_simulated_is_refused(words: list[str], why: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.scale", *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert why in done.stderr


def test_one_user_is_simulated_for_long_enough_to_ask() -> None:
    one = replace(MANY, users=1)
    assert simulate(one, COSTS, MEASURED, Deployment(1, 1, False)).calls > 100
