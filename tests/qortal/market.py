"""A market of any size: a chain that holds as many trades as wanted, and answers as the sample chain does."""

import hashlib
from typing import Any

import msgspec

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import Chain, sample_chain
from qortal_mcp.qortal.words import base58
from qortal_mcp.qortal.words.contract_templates import TEMPLATES

from .live_chain import live_answer
from .world import ALICE, ALICE_KEY

KINDS = {
    "LitecoinACCTv1": "LITECOIN",
    "LitecoinACCTv3": "LITECOIN",
    "BitcoinACCTv3": "BITCOIN",
    "RavencoinACCTv3": "RAVENCOIN",
}
OPEN, TAKEN, DONE = "OFFERING", "TRADING", "REDEEMED"


def address_of(number: int) -> str:
    """The address of a contract."""
    body = bytes([base58.CONTRACT_VERSION]) + number.to_bytes(20)
    return base58.encode(body + hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4])


class Market:
    """A source whose chain holds these contracts, oldest first: kind and mode. Everything else is the sample's.

    Completed ones were completed in the order given, `per_block` of them in one block.
    """

    origin = "market"

    def __init__(self, contracts: list[tuple[str, str]], *, per_block: int = 1) -> None:
        self.asked: list[str] = []
        families = {name: sample_chain()[name] for name in ("node", "blocks", "publicKeys")}
        trades = [trade(number, kind, mode) for number, (kind, mode) in enumerate(contracts)]
        done = [row for row in trades if row["mode"] == DONE]
        # The completed trades of a long market take more blocks than the sample has.
        last = families["blocks"][-1]
        times = [last["timestamp"] + 60_000 * (index // per_block + 1) for index in range(len(done))]
        families["blocks"] = [
            *families["blocks"],
            *(
                {**last, "height": last["height"] + number, "timestamp": time}
                for number, time in enumerate(sorted(set(times)), 1)
            ),
        ]
        self.completed = [completed(row, time) for row, time in zip(done, times, strict=True)]
        self._chain = Chain(
            msgspec.json.encode(
                {
                    **families,
                    "trades": {row["qortalAtAddress"]: row for row in trades},
                    "contracts": {row["qortalAtAddress"]: contract(row) for row in trades},
                    "hiddenOffers": [],
                    "transactions": [],
                    "completedTrades": self.completed,
                }
            )
        )

    async def fetch(self, request: Request) -> RawReply:
        self.asked.append(request.target)
        return live_answer(request.target, chain=self._chain)

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


def trade(number: int, kind: str, mode: str) -> dict[str, Any]:
    return {
        "qortalAtAddress": address_of(number),
        "qortalCreator": ALICE,
        "qortAmount": "1.00000000",
        "expectedForeignAmount": "0.10000000",
        "foreignBlockchain": KINDS[kind],
        "acctName": kind,
        "mode": mode,
        "creationTimestamp": 1794770000000 + number,
    }


def contract(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "ATAddress": row["qortalAtAddress"],
        "creatorPublicKey": ALICE_KEY,
        "creation": row["creationTimestamp"],
        "codeHash": TEMPLATES[row["acctName"]],
        "isFinished": row["mode"] == DONE,
    }


def completed(row: dict[str, Any], timestamp: int) -> dict[str, Any]:
    return {
        "tradeTimestamp": timestamp,
        "qortAmount": row["qortAmount"],
        "foreignAmount": row["expectedForeignAmount"],
        "atAddress": row["qortalAtAddress"],
        "sellerAddress": ALICE,
        "buyerReceivingAddress": ALICE,
    }
