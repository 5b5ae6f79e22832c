"""Trades that were added to the sample chain: where they are seen, and that everything else is as recorded."""

import json
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.answers.trades.past import COIN, TRADER, TRADER_KEY, past_trades
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.words.base58 import is_address

from .conftest import caller
from .outcomes import answer_of
from .pages import every_row

ADDED = past_trades(sample_chain())
RECORDED = sample_chain()["tradesByChain"]
FIRST_BLOCK = sample_chain()["blocks"][0]["timestamp"]


def ask(target: str) -> Any:
    return json.loads(answer(target).body)


def test_the_added_trades_lie_in_the_weeks_before_the_first_block() -> None:
    times = [row["tradeTimestamp"] for row in ADDED]
    assert times == sorted(set(times))
    assert times[-1] < FIRST_BLOCK
    assert FIRST_BLOCK - times[0] > 365 * 86_400_000
    assert all(is_address(row["atAddress"]) for row in ADDED)
    assert all(row["sellerAddress"] != row["buyerReceivingAddress"] for row in ADDED)
    assert len({row["atAddress"] for row in ADDED} | set(sample_chain()["contracts"])) == 1500 + 68


@pytest.mark.parametrize("chain", RECORDED)
@pytest.mark.parametrize("query", ["", "&limit=100", f"&minimumTimestamp={FIRST_BLOCK + 100_000}"])
def test_trades_of_each_coin_since_its_first_block_are_the_recorded_ones(chain: str, query: str) -> None:
    rows = ask(f"/crosschain/trades?foreignBlockchain={chain}{query}")
    assert [row["atAddress"] for row in rows] == [row["atAddress"] for row in RECORDED[chain]]


@pytest.mark.parametrize("chain", RECORDED)
def test_prices_are_the_recorded_ones(chain: str) -> None:
    assert ask(f"/crosschain/price/{chain}") == sample_chain()["tradePrices"][chain]


@pytest.mark.parametrize("after", [1, 1593450000000, FIRST_BLOCK - 7 * 86_400_000, FIRST_BLOCK])
@pytest.mark.parametrize("chain", [None, *RECORDED])
def test_before_the_first_block_only_their_own_coin_has_trades(chain: str | None, after: int) -> None:
    coin = "" if chain is None else f"&foreignBlockchain={chain}"
    rows = ask(f"/crosschain/trades?minimumTimestamp={after}{coin}&limit=100")
    assert bool(rows) == (chain == COIN and ADDED[0]["tradeTimestamp"] <= after < FIRST_BLOCK)


@pytest.mark.parametrize("address", sample_chain()["ledger"])
def test_ledgers_of_recorded_accounts_are_the_recorded_ones(address: str) -> None:
    key = sample_chain()["publicKeys"][address]
    assert answer(f"/crosschain/ledger/{key}").body.decode() == sample_chain()["ledger"][address][1]


def test_the_trader_is_no_account_of_the_recorded_chain() -> None:
    assert TRADER not in sample_chain()["accounts"]
    assert answer(f"/addresses/convert/{TRADER_KEY}").body.decode() == TRADER
    assert answer(f"/addresses/publickey/{TRADER}").body.decode() == TRADER_KEY


async def test_the_trader_is_found_in_the_list_and_in_the_ledger_and_each_trade_can_be_shown(
    node: Node,
) -> None:
    call = caller(make_server(node, toolsets="trades"))
    wanted = [row for row in ADDED if TRADER in (row["sellerAddress"], row["buyerReceivingAddress"])]
    ledger = await every_row(call, "get_trade_ledger", "trades", account=TRADER, limit=100)
    assert len(ledger) == len(wanted)
    since = ADDED[0]["tradeTimestamp"]
    bought = await every_row(
        call, "list_completed_trades", "trades", chain=COIN, buyer=TRADER, since=since, limit=100
    )
    assert {row["tradeAddress"] for row in bought} == {
        row["atAddress"] for row in wanted[1:] if row["buyerReceivingAddress"] == TRADER
    }
    shown = await answer_of(call, "get_trade", trade_address=bought[0]["tradeAddress"])
    assert (shown["mode"], shown["buyer"], shown["price"]) == ("REDEEMED", TRADER, bought[0]["price"])
