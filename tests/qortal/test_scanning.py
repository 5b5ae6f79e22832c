"""All transactions of a time are read, each once, however Core sorts and pages them."""

import asyncio
import itertools
import json
import random
from typing import Any

import pytest
from msgspec import UNSET

from qortal_mcp.qortal.endpoints.record import SETTLED_BLOCKS
from qortal_mcp.qortal.limits import SCAN_PAYMENTS, SCAN_STEP
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.replies.transactions import Transaction
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools.scanning.scan import Scanned, scan
from qortal_mcp.qortal.tools.scanning.spans import span_of
from qortal_mcp.qortal.words.times import iso
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.tool_errors import ToolError
from qortal_mcp.server.work import Work

from .busy_chain import DAY_MS, GENESIS_MS, BusyChain, payment, time_of
from .world import ALICE, BOB

# Of a call, with all that is not pages of transactions.
MOST_REQUESTS = 200


async def scanned(
    node: Node, since: int | None = None, until: int | None = None, **more: Any
) -> tuple[Scanned, list[Transaction]]:
    """One scan: how far it came, and what it took."""
    reading = node.reading()
    span = await span_of(
        reading, UNSET if since is None else iso(since), UNSET if until is None else iso(until)
    )
    rows: list[Transaction] = []
    return await scan(reading, span, rows.append, **more), rows


async def all_scans(node: Node, since: int | None = None, **more: Any) -> list[tuple[Scanned, Any]]:
    """Scans until the last is complete, each from where the one before stopped."""
    scans = [await scanned(node, since, **more)]
    while not scans[-1][0].complete:
        following = scans[-1][0].following()
        reading = node.reading()
        span = await span_of(reading, following["since"], following["until"])
        rows: list[Transaction] = []
        scans.append((await scan(reading, span, rows.append, **more), rows))
        assert len(scans) < 50, "it never ends"
    return scans


def signatures(rows: list[Any]) -> list[str]:
    return [row["signature"] if isinstance(row, dict) else row.signature for row in rows]


def rows_of(days: int, per_day: int, seed: int = 1) -> list[dict[str, Any]]:
    """Rows in a random order, each made up to an hour before its block, some payouts a little after it."""
    chance = random.Random(seed)
    rows = []
    for number in range(days * per_day):
        height = 1 + number * SCAN_STEP // per_day
        late = chance.random() < 0.1
        made = time_of(height) + (chance.randrange(4000) if late else -chance.randrange(3_600_000))
        rows.append(payment(number, height, max(made, GENESIS_MS), type="AT" if late else "PAYMENT"))
    chance.shuffle(rows)
    return rows


def test_transactions_of_the_sample_chain_do_not_come_in_the_order_of_blocks() -> None:
    heights = [row["blockHeight"] for row in sample_chain()["transactions"]]
    assert heights != sorted(heights)


async def test_every_transaction_of_the_sample_chain_is_taken_once(node: Node) -> None:
    result, rows = await scanned(node)
    assert result.complete
    assert sorted(signatures(rows)) == sorted(signatures(sample_chain()["transactions"]))
    heights = [int(str(row.blockHeight)) for row in rows]
    assert heights == sorted(heights)


@pytest.mark.parametrize(("first", "last"), [(100, 300), (305, 305), (577, 596), (1, 2)])
async def test_only_transactions_of_the_span_are_taken(node: Node, first: int, last: int) -> None:
    blocks = {block["height"]: block["timestamp"] for block in sample_chain()["blocks"]}
    result, rows = await scanned(node, blocks[first] - 1, blocks[last] + 1)
    wanted = [row for row in sample_chain()["transactions"] if first <= row["blockHeight"] <= last]
    assert (result.span.first, result.span.last) == (first, last)
    assert sorted(signatures(rows)) == sorted(signatures(wanted))


async def test_an_account_is_scanned_with_what_it_takes_part_in(node: Node) -> None:
    _, rows = await scanned(node, address=BOB)
    assert rows
    assert all(BOB in json.dumps(row_of(row.signature)) for row in rows)


def row_of(signature: Any) -> Any:
    return sample_chain()["transactionBySignature"][signature]


async def test_types_narrow_a_scan(node: Node) -> None:
    _, rows = await scanned(node, types=("BUY_NAME", "SELL_NAME"))
    assert {row.type for row in rows} == {"BUY_NAME", "SELL_NAME"}
    assert len(rows) == 5


@pytest.mark.parametrize("which", [{}, {"address": ALICE}, {"types": ("PAYMENT", "AT")}], ids=str)
async def test_a_scan_that_stops_goes_on_without_losing_or_doubling_a_row(which: dict[str, Any]) -> None:
    chain = BusyChain(12 * SCAN_STEP, rows_of(12, 300))
    scans = await all_scans(Node([chain]), requests=12, **which)
    assert len(scans) > 2
    taken = [signature for _, rows in scans for signature in signatures(rows)]
    assert sorted(taken) == sorted(signatures(chain.rows))
    for (before, _), (after, _) in itertools.pairwise(scans):
        assert after.span.first == before.last + 1


async def test_a_day_with_more_rows_than_one_call_may_read_is_read_in_several() -> None:
    chain = BusyChain(2 * SCAN_STEP, rows_of(1, 6000))
    scans = await all_scans(Node([chain]), requests=20)
    assert len(scans) > 2
    taken = [signature for _, rows in scans for signature in signatures(rows)]
    assert sorted(taken) == sorted(signatures(chain.rows))


async def test_one_hour_with_more_rows_than_one_call_may_read_is_refused() -> None:
    chain = BusyChain(100, [payment(number, 5) for number in range(2000)])
    with pytest.raises(ToolError) as refusal:
        await scanned(Node([chain]), requests=10)
    assert refusal.value.code == "TOO_LARGE"


@pytest.mark.promise(
    "Limits and abuse", "A sum over time makes at most 200 requests to the node in one call."
)
@pytest.mark.parametrize("which", [{}, {"address": ALICE}], ids=str)
@pytest.mark.parametrize("rows", [rows_of(10, 1600), rows_of(400, 3), rows_of(1, 16_000)], ids=len)
async def test_a_scan_makes_a_bounded_number_of_requests(
    rows: list[dict[str, Any]], which: dict[str, Any]
) -> None:
    chain = BusyChain(max(row["blockHeight"] for row in rows) + 10, rows)
    await scanned(Node([chain]), **which)
    assert len(chain.asked) <= MOST_REQUESTS


async def test_rows_before_the_span_do_not_use_up_a_call() -> None:
    """The day in which a span begins is requested from its first block, for the sake of the next call."""
    before = [payment(number, 1 + number % 1000) for number in range(3000)]
    chain = BusyChain(1500, [*before, payment(99_999, 1400)])
    result, rows = await scanned(Node([chain]), time_of(1300))
    assert (result.complete, signatures(rows)) == (True, ["99999"])
    assert len(chain.searches) < 13


async def test_rows_after_the_span_are_not_read() -> None:
    after = [payment(number, 500 + number % 900) for number in range(3000)]
    chain = BusyChain(1500, [*after, payment(99_999, 100)])
    result, rows = await scanned(Node([chain]), None, time_of(200))
    assert (result.complete, signatures(rows)) == (True, ["99999"])
    assert len(chain.searches) < 10


async def test_a_block_that_arrives_meanwhile_moves_no_row_into_a_sum_twice() -> None:
    class Growing(BusyChain):
        def _said(self, target: str) -> Any:
            if "offset=100&" in target and self.height == 50:
                self.height = 51
                self.rows.append(payment(7777, 51, GENESIS_MS))
            return super()._said(target)

    chain = Growing(50, [payment(number, 1 + number // 5) for number in range(245)])
    _, rows = await scanned(Node([chain]))
    assert sorted(signatures(rows)) == sorted(signature for signature in signatures(chain.rows)[:-1])


@pytest.mark.parametrize("looks", [(), (1.0,)], ids=["nobody looked", "somebody looked meanwhile"])
async def test_a_page_from_memory_never_lacks_a_block_that_came_since(looks: tuple[float, ...]) -> None:
    chain, clock = BusyChain(50, [payment(number, 1 + number) for number in range(50)]), [1000.0]
    node = Node([chain], now=lambda: clock[0])
    await node.tip()
    clock[0] += 1.5
    await scanned(node)
    for seconds in looks:  # for a moment after a look nobody asks whether there is a new block
        clock[0] += seconds
        await node.tip()
    chain.height += 1
    chain.rows.append(payment(777, chain.height))
    clock[0] += 1.5 if looks else 5.0
    result, rows = await scanned(node)
    assert result.span.last == chain.height
    assert signatures(rows) == signatures(chain.rows)


async def test_a_page_from_memory_never_holds_a_block_that_was_replaced_since() -> None:
    chain, clock = BusyChain(50, [payment(number, 1 + number) for number in range(50)]), [1000.0]
    node = Node([chain], now=lambda: clock[0])
    await node.tip()
    await scanned(node)
    chain.fork, chain.rows[-1] = 1, payment(777, chain.height)
    clock[0] += 5.0
    _, rows = await scanned(node)
    assert signatures(rows) == signatures(chain.rows)


class Forking(BusyChain):
    """A chain that gives its newest block up for another one, while its second page is read."""

    def _said(self, target: str) -> Any:
        if "offset=100&" in target and self.fork == 0:
            self.fork = 1
            self.rows = [row for row in self.rows if row["signature"] != "3"]
        return super()._said(target)


async def test_newest_blocks_that_are_replaced_while_they_are_read_lose_no_row_in_silence() -> None:
    """What the lost block had moves the rows after it to a page that was read before."""
    rows = [payment(number, 1 + number // 5) for number in range(245)]
    chain = Forking(50, [*rows[:3], payment(3, 50, rows[2]["timestamp"]), *rows[4:]])
    node = Node([chain])
    with pytest.raises(ToolError) as refusal:
        await scanned(node)
    assert (refusal.value.code, refusal.value.retryable) == ("NODE_ERROR", True)
    result, taken = await scanned(Node([chain]))
    assert result.complete
    assert sorted(signatures(taken)) == sorted(signatures(chain.rows))


async def test_others_have_a_turn_while_a_sum_is_made() -> None:
    """However much is read at once, it is added up in small parts."""
    turns, seen = 0, []

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    chain = BusyChain(50, [payment(number, 1 + number // 200) for number in range(5000)])
    reading = Node([chain]).reading()
    span = await span_of(reading, UNSET, UNSET)
    await scan(reading, span, lambda row: seen.append(turns))
    waiting.cancel()
    assert max(seen.count(turn) for turn in set(seen)) <= 1000
    assert len(seen) == 5000


def paying(number: int, height: int, payments: int) -> dict[str, Any]:
    paid = [{"recipient": f"Q{number}x{each}", "amount": "1.0", "assetId": 0} for each in range(payments)]
    return payment(number, height, type="MULTI_PAYMENT", amount="0", payments=paid)


async def test_payments_within_transactions_count_against_what_one_call_reads() -> None:
    chain = BusyChain(30 * SCAN_STEP, [paying(number, 1 + number * 40, 100) for number in range(1000)])
    scans = await all_scans(Node([chain]), address=ALICE)
    assert len(scans) > 2
    assert max(sum(len(row.payments) for row in rows) for _, rows in scans) <= SCAN_PAYMENTS
    taken = [signature for _, rows in scans for signature in signatures(rows)]
    assert sorted(taken) == sorted(signatures(chain.rows))


async def test_settled_pages_are_requested_once_and_for_all() -> None:
    chain = BusyChain(10 * SCAN_STEP, rows_of(10, 250))
    clock = [1000.0]
    node = Node([chain], now=lambda: clock[0])
    for _ in range(2):
        clock[0] += 365 * 24 * 3600.0
        await scanned(node)
    settled = (chain.height - SETTLED_BLOCKS) // SCAN_STEP
    repeated = [target for target in set(chain.searches) if chain.searches.count(target) > 1]
    # Of the day and more below the newest block, nothing was requested again.
    assert all(f"startBlock={first * SCAN_STEP + 1}&" not in "".join(repeated) for first in range(settled))
    assert repeated


@pytest.mark.parametrize(("status", "times"), [("APPROVED", 1), ("PENDING", 2)])
async def test_settled_pages_on_which_an_approval_is_pending_are_requested_again(
    status: str, times: int
) -> None:
    chain = BusyChain(4 * SCAN_STEP, [payment(1, 5, approvalStatus=status)])
    clock = [1000.0]
    node = Node([chain], now=lambda: clock[0])
    for _ in range(2):
        clock[0] += 3600.0
        await scanned(node, None, time_of(100))
    assert len(chain.searches) == times


async def test_a_span_without_blocks_is_empty(node: Node) -> None:
    blocks = {block["height"]: block["timestamp"] for block in sample_chain()["blocks"]}
    for since, until in ((blocks[5], blocks[6]), (blocks[596], None), (blocks[596] + DAY_MS, None)):
        result, rows = await scanned(node, since, until)
        assert (result.complete, rows) == (True, [])
        assert result.span.is_empty
        assert (result.covered.fromHeight, result.covered.toHeight) == (None, None)
        assert result.covered.since < result.covered.until


async def test_before_the_first_block_there_is_nothing(node: Node) -> None:
    result, rows = await scanned(node, 10**12, 10**12 + DAY_MS)
    assert (result.complete, result.span.is_empty, rows) == (True, True, [])


async def test_a_span_reaches_no_further_than_the_chain(node: Node) -> None:
    first, last = sample_chain()["blocks"][0], sample_chain()["blocks"][-1]
    result, rows = await scanned(node, 10**12, 2 * 10**12)
    assert (result.span.first, result.span.last) == (1, 596)
    assert (result.span.since_ms, result.span.until_ms) == (first["timestamp"] - 1, last["timestamp"] + 1)
    assert len(rows) == 557


async def test_a_span_can_hold_the_first_block_alone(node: Node) -> None:
    first = sample_chain()["blocks"][0]["timestamp"]
    result, rows = await scanned(node, first - 1, first + 1)
    assert (result.span.first, result.span.last) == (1, 1)
    assert {row.blockHeight for row in rows} == {1}


@pytest.mark.parametrize("tool", ["get_changes", "get_chain_activity", "search_transactions", "list_blocks"])
async def test_times_in_the_wrong_order_are_refused(call: Any, tool: str) -> None:
    for since, until in (("1h", "2h"), ("1h", "1h")):
        result = await call(tool, since=since, until=until)
        assert result["content"][0]["text"] == "Invalid until. It must be later than since."


class Confused(BusyChain):
    """A chain whose blocks lie outside of the time they were asked for."""

    def __init__(self, **members: int) -> None:
        super().__init__(12 * SCAN_STEP, rows_of(12, 300))
        self._members = members

    def _said(self, target: str) -> Any:
        said = super()._said(target)
        return {**said, **self._members} if target.startswith(("/blocks/byheight", "/blocks/time")) else said


@pytest.mark.parametrize(
    "members", [{"timestamp": 0}, {"timestamp": GENESIS_MS + 99 * DAY_MS}, {"height": 0}], ids=str
)
async def test_the_next_call_never_begins_where_this_one_did(members: dict[str, int]) -> None:
    with pytest.raises(ToolError) as refusal:
        await all_scans(Node([Confused(**members)]), GENESIS_MS + 2 * DAY_MS, requests=12)
    assert refusal.value.code == "NODE_ERROR"


class Forgetful(BusyChain):
    """A chain that has transactions of blocks it says it does not have."""

    def _said(self, target: str) -> Any:
        if target.startswith("/blocks/byheight"):
            return RawReply(404, "application/json", b'{"error":301,"message":"block unknown"}')
        return super()._said(target)


async def test_a_block_that_the_node_denies_is_not_one_that_the_caller_asked_for() -> None:
    with pytest.raises(ToolError) as refusal:
        await all_scans(Node([Forgetful(12 * SCAN_STEP, rows_of(12, 300))]), GENESIS_MS, requests=12)
    assert refusal.value.code == "NODE_ERROR"


class Stalled(BusyChain):
    """A chain whose pages never arrive after the first few."""

    def __init__(self, height: int, rows: list[dict[str, Any]]) -> None:
        super().__init__(height, rows)
        self.waits = asyncio.Event()
        self.left = 0

    async def fetch(self, request: Any) -> Any:
        if len(self.searches) > 3:
            self.waits.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.left += 1
        return await super().fetch(request)


def message(tool: str, **meta: Any) -> bytes:
    params = {"name": tool, "arguments": {"since": "30d"}, "_meta": meta}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


async def test_a_cancelled_scan_asks_no_more() -> None:
    chain = Stalled(10 * SCAN_STEP, rows_of(10, 500))
    work = make_server(Node([chain])).receive(message("get_changes"), Peer(lasting=False))
    assert isinstance(work, Work)

    async def nowhere(_: bytes) -> None: ...

    running = asyncio.create_task(work.run(nowhere))
    async with asyncio.timeout(5):
        await chain.waits.wait()
        asked = len(chain.asked)
        work.cancel()
        assert await running is None
    await asyncio.sleep(0)
    assert len(chain.asked) == asked


@pytest.fixture
async def sent() -> list[dict[str, Any]]:
    """The progress of a long scan, as a client sees it."""
    chain = BusyChain(15 * SCAN_STEP, rows_of(15, 400))
    work = make_server(Node([chain])).receive(
        message("get_changes", progressToken="mine"), Peer(lasting=False)
    )
    notices: list[dict[str, Any]] = []

    async def keep(notice: bytes) -> None:
        notices.append(json.loads(notice))

    assert isinstance(work, Work)
    await work.run(keep)
    return notices


async def test_a_long_scan_reports_progress_that_grows(sent: list[dict[str, Any]]) -> None:
    progress = [notice["params"] for notice in sent]
    assert {notice["method"] for notice in sent} == {"notifications/progress"}
    assert {params["progressToken"] for params in progress} == {"mine"}
    done = [params["progress"] for params in progress]
    assert len(done) > 5
    assert done == sorted(set(done))
    assert progress[-1]["progress"] == progress[-1]["total"] == 15 * SCAN_STEP
    assert progress[-1]["message"] == "6,000 transactions read"
