"""What a number of users needs: processes and nodes, by arithmetic from measured figures, and a simulation that checks it.

`scripts/simulate --users 1000000` prints both; docs/scale.md explains them.
"""

import argparse
import heapq
import math
import random
from collections.abc import Sequence
from itertools import accumulate
from statistics import mean
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, structs

from bench.costs import Cost, QuestionCost, question_costs


class Measured(Struct, frozen=True, kw_only=True):
    """Figures of docs/performance.md, and of a Core that was measured."""

    # CPU of one call answered from memory, and of one request to a node with its reply.
    call_seconds: float = 30e-6
    request_seconds: float = 67e-6
    # CPU of one look into a store that processes share, or of one answer put there.
    store_seconds: float = 36e-6
    # Requests that a Core on two cores works on at once.
    node_at_once: int = 2


# Calls that are simulated: fewer say nothing about the slowest of a hundred, more take minutes.
_FEWEST_CALLS, _MOST_CALLS = 500, 5_000_000

Some = Annotated[float, Meta(gt=0, le=1_000_000)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Assumed(Struct, frozen=True, kw_only=True):
    """What nobody can measure beforehand. Each has its option."""

    users: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1_000_000
    # Of all users, those who ask something in the busiest hour, and how often.
    active_share: Annotated[float, Meta(gt=0, le=1)] = 0.05
    questions_an_hour: Some = 6.0
    calls_a_question: Some = 1.5
    # The busiest minute beside the mean of its hour.
    peak: Some = 3.0
    # Questions about the chain, the market and the like, and how many different ones there are; a few are asked most of the time.
    public_share: Share = 0.5
    public_questions: Annotated[int, Meta(ge=1, le=100_000)] = 200
    # Of the calls about an account, those that repeat one about the same account while the newest block is the same.
    repeated_share: Share = 0.2
    block_seconds: Some = 60.0
    # How busy a process or a node may be: above that, queues grow quickly.
    most_busy: Annotated[float, Meta(gt=0, lt=1)] = 0.6

    @property
    def calls_a_second(self) -> float:
        questions = self.users * self.active_share * self.questions_an_hour / 3600
        return questions * self.calls_a_question * self.peak

    @property
    def blocks(self) -> int:
        """For how many the callers are simulated."""
        return max(3, math.ceil(_FEWEST_CALLS / (self.calls_a_second * self.block_seconds)))


class Deployment(Struct, frozen=True):
    processes: int
    nodes: int
    shares_cache: bool


class Seen(Struct, frozen=True):
    """What a simulated deployment went through."""

    calls: int
    from_memory: float
    node_busy: float
    cpu_busy: float
    median_seconds: float
    p99_seconds: float


class Costs(Struct, frozen=True):
    """The mean question of either kind."""

    public_first: Cost
    public_again: Cost
    personal_first: Cost
    personal_again: Cost

    @classmethod
    def of(cls, questions: Sequence[QuestionCost]) -> "Costs":
        def average(is_personal: bool, part: str) -> Cost:
            found = [getattr(each, part) for each in questions if each.is_personal is is_personal]
            return Cost(mean(each.requests for each in found), mean(each.seconds for each in found))

        return cls(
            average(False, "first"), average(False, "again"), average(True, "first"), average(True, "again")
        )


def weights(assumed: Assumed) -> list[float]:
    """How much of the public questions each one has: the second half as much as the first, the third a third."""
    total = sum(1 / place for place in range(1, assumed.public_questions + 1))
    return [1 / place / total for place in range(1, assumed.public_questions + 1)]


def public_misses(assumed: Assumed, caches: int) -> float:
    """Answers a second that no cache has: each cache fetches a question once a block, if anybody asks it there."""
    rate = assumed.calls_a_second * assumed.public_share / caches
    a_block = sum(1 - math.exp(-rate * weight * assumed.block_seconds) for weight in weights(assumed))
    return caches * a_block / assumed.block_seconds


class Demand(Struct, frozen=True):
    """What a second of calls takes, in seconds of CPU and of nodes."""

    cpu_seconds: float
    node_seconds: float
    from_memory: float


def demand(assumed: Assumed, costs: Costs, measured: Measured, processes: int, shares_cache: bool) -> Demand:
    calls = assumed.calls_a_second
    caches = 1 if shares_cache else processes
    public, personal = calls * assumed.public_share, calls * (1 - assumed.public_share)
    first_public = public_misses(assumed, caches)
    # A balancer sends a repeated question to any process.
    first_personal = personal * (1 - assumed.repeated_share / caches)
    parts = (
        (first_public, costs.public_first),
        (public - first_public, costs.public_again),
        (first_personal, costs.personal_first),
        (personal - first_personal, costs.personal_again),
    )
    requests = sum(rate * cost.requests for rate, cost in parts)
    cpu = calls * measured.call_seconds + requests * measured.request_seconds
    if shares_cache:  # each request looks into the store, and what the node had to answer is put there
        cpu += 2 * requests * measured.store_seconds
    return Demand(
        cpu,
        sum(rate * cost.seconds for rate, cost in parts),
        1 - (first_public + first_personal) / calls,
    )


def needed(assumed: Assumed, costs: Costs, measured: Measured, *, shares_cache: bool) -> Deployment:
    """The fewest processes and nodes that stay below the bound. A process reads from one node, so there are no more nodes than processes."""
    processes, nodes = 1, 0
    while True:
        found = demand(assumed, costs, measured, processes, shares_cache)
        nodes = math.ceil(found.node_seconds / (measured.node_at_once * assumed.most_busy))
        enough = max(nodes, math.ceil(found.cpu_seconds / assumed.most_busy))
        if enough <= processes:
            return Deployment(processes, max(1, nodes), shares_cache)
        processes = enough


def simulate(
    assumed: Assumed,
    costs: Costs,
    measured: Measured,
    deployment: Deployment,
    *,
    seed: int = 1,
) -> Seen:
    """Let callers ask for some blocks: by chance when, what and at which process."""
    chance = random.Random(seed)
    places = range(assumed.public_questions)
    cumulated = list(accumulate(weights(assumed)))
    nodes = [[0.0] * measured.node_at_once for _ in range(deployment.nodes)]
    # When the answer to a question is there, by cache; a new block empties all of them.
    kept: dict[tuple[int, int], float] = {}
    end, now, block = assumed.blocks * assumed.block_seconds, 0.0, 0
    waited: list[float] = []
    hits = 0
    node_seconds = cpu_seconds = 0.0
    while (now := now + chance.expovariate(assumed.calls_a_second)) < end:
        if now // assumed.block_seconds > block:
            block = int(now // assumed.block_seconds)
            kept.clear()
        process = chance.randrange(deployment.processes)
        cache = 0 if deployment.shares_cache else process
        is_public = chance.random() < assumed.public_share
        if is_public:
            (question,) = chance.choices(places, cum_weights=cumulated)
            there = kept.get((cache, question))
        else:
            question = -1
            caches = 1 if deployment.shares_cache else deployment.processes
            there = now if chance.random() < assumed.repeated_share / caches else None
        if there is None:
            cost = costs.public_first if is_public else costs.personal_first
        else:
            cost = costs.public_again if is_public else costs.personal_again
            hits += 1
        free = nodes[process % deployment.nodes]
        begun = max(now, free[0])
        done = begun + cost.seconds
        heapq.heapreplace(free, done)
        node_seconds += cost.seconds
        cpu = measured.call_seconds + cost.requests * measured.request_seconds
        if deployment.shares_cache:
            cpu += 2 * cost.requests * measured.store_seconds
        cpu_seconds += cpu
        if is_public and there is None:
            kept[cache, question] = done
        waited.append(max(done, there or 0.0) - now + cpu)
    waited.sort()
    return Seen(
        len(waited),
        hits / len(waited),
        node_seconds / (end * deployment.nodes * measured.node_at_once),
        cpu_seconds / (end * deployment.processes),
        waited[len(waited) // 2],
        waited[len(waited) * 99 // 100],
    )


class Row(Struct, frozen=True):
    assumed: Assumed
    deployment: Deployment
    seen: Seen


def rows(assumed: Assumed, users: Sequence[int], measured: Measured | None = None) -> list[Row]:
    """For each number of users: what is needed with caches of their own and with a shared one, and how it does."""
    measured = measured or Measured()
    costs = Costs.of(question_costs())
    found = []
    for number in users:
        each = structs.replace(assumed, users=number)
        for shares_cache in (False, True):
            deployment = needed(each, costs, measured, shares_cache=shares_cache)
            found.append(Row(each, deployment, simulate(each, costs, measured, deployment)))
    return found


HEAD = (
    "users",
    "calls a second",
    "cache",
    "processes",
    "nodes",
    "from memory",
    "CPU busy",
    "nodes busy",
    "median",
    "99 %",
)


def cells(row: Row) -> tuple[str, ...]:
    assumed, deployment, seen = row.assumed, row.deployment, row.seen
    return (
        f"{assumed.users:,}",
        f"{assumed.calls_a_second:,.1f}",
        "shared" if deployment.shares_cache else "each its own",
        str(deployment.processes),
        str(deployment.nodes),
        f"{seen.from_memory:.0%}",
        f"{seen.cpu_busy:.0%}",
        f"{seen.node_busy:.0%}",
        f"{seen.median_seconds * 1000:.0f} ms",
        f"{seen.p99_seconds * 1000:.0f} ms",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/simulate", description=__doc__.splitlines()[0] if __doc__ else None
    )
    for field in structs.fields(Assumed):
        parser.add_argument(f"--{field.encode_name.replace('_', '-')}", help=f"default {field.default:,}")
    given = {name: text for name, text in vars(parser.parse_args()).items() if text is not None}
    for name, text in given.items():
        try:
            msgspec.convert({name: text}, Assumed, strict=False)
        except msgspec.ValidationError as exc:
            said = str(exc).partition(" - at")[0].partition(", got")[0]
            said = said.replace("Expected `int`", "a whole number").replace("Expected `float`", "a number")
            parser.error(f"--{name.replace('_', '-')} must be {said}")
    chosen = msgspec.convert(given, Assumed, strict=False)
    if chosen.calls_a_second * chosen.blocks * chosen.block_seconds > _MOST_CALLS:
        parser.error(f"{chosen.calls_a_second:,.0f} calls a second are more than can be simulated here")
    lines = [HEAD, *map(cells, rows(chosen, [chosen.users]))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
