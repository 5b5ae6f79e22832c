"""Completed trades of the sample chain: lists, ledgers, prices."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ....node.source import RawReply
from ....words.amounts import units, written
from ....words.base58 import is_bytes
from ....words.chains import find_chain
from ...chain import Chain
from ...core.parameters import Paging, Parameters
from ...core.replies import Routes, as_json, as_text, core_error, page
from .past import COIN, KIND, TRADER, TRADER_KEY, is_past, past_trades, trades_of_trader

Row = dict[str, Any]

_MOST_AT_ONCE = 100
_PRICED_TRADES = 10
_ONE = 10**8
_KEY_BYTES = 32
# The order in which the recorded Core went through the kinds of contract, as seen in trades of one block.
_KINDS = (
    "DogecoinACCTv3",
    "RavencoinACCTv3",
    "DigibyteACCTv3",
    "PirateChainACCTv3",
    "LitecoinACCTv3",
    "BitcoinACCTv3",
)
_LEDGER_HEAD = "Market,Currency,Quantity,Commission Paid,Commission Currency,Total Price,Date Time,Exchange\n"


def chain_asked(parameters: Parameters) -> str | None:
    """Core treats an unknown chain as if none was given."""
    return _known_chain(parameters.text("foreignBlockchain") or "")


def trades(chain: Chain, parameters: Parameters) -> RawReply:
    """Limit and offset apply to each kind of contract; the merged list is cut to the limit again."""
    paging, after = Paging(parameters), parameters.long("minimumTimestamp")
    if (paging.limit is not None and paging.limit > _MOST_AT_ONCE) or _is_no_time(after):
        raise core_error(125)
    buyer = _account(chain, parameters.text("buyerPublicKey"))
    seller = _account(chain, parameters.text("sellerPublicKey"))
    coin = chain_asked(parameters)
    found = _by_kind(chain, coin)
    begin = None if after is None else _block_time(chain, after)
    if after is not None and begin is None:
        if not is_past(chain, coin, after):
            return as_json([])
        found += [(KIND, row) for row in past_trades(chain)]
        begin = after
    kinds: dict[str, list[Row]] = defaultdict(list)
    for kind, row in found:
        if (
            buyer in (None, row.get("buyerReceivingAddress"))
            and seller in (None, row["sellerAddress"])
            and (begin is None or row["tradeTimestamp"] > begin)
        ):
            kinds[kind].append(row)
    shown = _in_time([row for rows in kinds.values() for row in _page(paging, rows)], reverse=paging.reverse)
    return as_json(shown if paging.all else shown[: paging.limit])


def ledger(chain: Chain, parameters: Parameters, publicKey: str) -> RawReply:
    """A sale of QORT is a purchase of coins, counted in coins; a purchase is counted in QORT."""
    after = parameters.long("minimumTimestamp")
    account = _account(chain, publicKey)
    if _is_no_time(after):
        raise core_error(125)
    begin = None if after is None else _block_time(chain, after)
    if after is not None and begin is None:
        raise page(500)
    rows = [row for _, row in _by_kind(chain, None)]
    rows += trades_of_trader(chain) if account == TRADER else []
    lines = []
    for row in _in_time(rows):
        if begin is not None and row["tradeTimestamp"] <= begin:
            continue
        coin = _ticker(chain, row)
        coins, qort = row["foreignAmount"], row["qortAmount"]
        when = datetime.fromtimestamp(row["tradeTimestamp"] // 1000, UTC)
        tail = f"{when:%Y%m%d %H:%M},Qortal\n"
        if row["sellerAddress"] == account:
            lines.append(f"{coin},QORT,{coins},{written(0)},{coin},{qort},{tail}")
        if row.get("buyerReceivingAddress") == account:
            lines.append(f"QORT,{coin},{qort},{written(0)},{coin},{coins},{tail}")
    return RawReply(200, "text/csv", (_LEDGER_HEAD + "".join(lines)).encode())


def price(chain: Chain, parameters: Parameters, blockchain: str) -> RawReply:
    """Of the newest trades, only one per block counts: the last one looked at."""
    most, inverse = parameters.integer("maxtrades"), parameters.flag("inverse")
    name = _known_chain(blockchain)
    if name is None:
        raise core_error(125)
    most = _PRICED_TRADES if most is None else most
    if most < 0:
        raise core_error(5)
    newest = _in_time([row for _, row in _by_kind(chain, name)], reverse=True)[:most]
    counted = {row["tradeTimestamp"]: row for row in newest}.values()
    qort = sum(units(row["qortAmount"]) for row in counted)
    coins = sum(units(row["foreignAmount"]) for row in counted)
    if not coins or not qort:
        raise page(500)
    return as_text(str(coins * _ONE // qort if inverse else qort * _ONE // coins))


def _by_kind(chain: Chain, name: str | None) -> list[tuple[str, Row]]:
    """Trades with their kind of contract, in the order in which Core comes across them."""
    found = [(chain["trades"][row["atAddress"]], row) for row in chain["completedTrades"]]
    rows = [(one["acctName"], row) for one, row in found if name in (None, one["foreignBlockchain"])]
    rows.sort(key=lambda pair: str(pair[1]["atAddress"]), reverse=True)
    return sorted(rows, key=lambda pair: _KINDS.index(pair[0]) if pair[0] in _KINDS else len(_KINDS))


def _in_time(rows: Sequence[Row], reverse: bool = False) -> list[Row]:
    """Trades of one block keep their order, in both directions."""
    return sorted(rows, key=lambda row: int(row["tradeTimestamp"]), reverse=reverse)


def _page(paging: Paging, rows: list[Row]) -> list[Row]:
    if paging.offset < 0:
        raise core_error(5)
    ordered = _in_time(rows, reverse=paging.reverse)[paging.offset :]
    return ordered if paging.all else ordered[: paging.limit]


def _ticker(chain: Chain, row: Row) -> str:
    found = find_chain(chain["trades"].get(row["atAddress"], {}).get("foreignBlockchain", COIN))
    assert found is not None, "the chain was read from a Core that knows them all"
    return found.ticker


def _known_chain(name: str) -> str | None:
    found = find_chain(name)
    return name if found is not None and found.name == name else None


def _account(chain: Chain, public_key: str | None) -> str | None:
    """The account of a key. Every trader has signed something, so an unused key belongs to no account."""
    if public_key is None:
        return None
    if not is_bytes(public_key, _KEY_BYTES):
        raise core_error(112)
    if public_key == TRADER_KEY:
        return TRADER
    return next((address for address, key in chain["publicKeys"].items() if key == public_key), "")


def _is_no_time(after: int | None) -> bool:
    return after is not None and after <= 0


def _block_time(chain: Chain, after: int) -> int | None:
    """The time of the newest block at that time; only later blocks count. None before the second one: the first does
    not count as a block."""
    if after < int(chain["blocks"][1]["timestamp"]):
        return None
    return max(int(block["timestamp"]) for block in chain["blocks"] if block["timestamp"] <= after)


ROUTES: Routes = {
    "/crosschain/trades": trades,
    "/crosschain/ledger/{publicKey}": ledger,
    "/crosschain/price/{blockchain}": price,
}
