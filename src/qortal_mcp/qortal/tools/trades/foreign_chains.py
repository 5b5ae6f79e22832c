"""Foreign chains as the node sees them: whether trading is possible, and what it costs."""

from typing import Annotated

from msgspec import Meta, Struct

from ...endpoints.crosschain import COINS
from ...node.node import Node
from ...node.side_by_side import side_by_side
from ...words.arguments import OneChain
from ...words.chains import find_chain
from ..answers import Amount, Answer
from ..read_only import tool


class ForeignChainOf(Struct, frozen=True, forbid_unknown_fields=True):
    chain: OneChain


class ForeignChain(Answer):
    """Null: not reported by the node."""

    foreignCurrency: str
    ticker: str
    isEnabled: Annotated[bool | None, Meta(description="Whether the node trades with this chain.")]
    connectedServers: int | None
    knownServers: int | None
    height: Annotated[int | None, Meta(description="Of the foreign chain; null while unreachable.")]
    feePerKb: Amount | None
    feeRequired: Annotated[str | None, Meta(description="Fee for settling a trade.")]
    unit: Annotated[str, Meta(description="Of the fees.")]


@tool("Foreign chain")
async def get_foreign_chain(args: ForeignChainOf, node: Node) -> ForeignChain:
    """A foreign chain, such as Litecoin, as the node sees it: whether it is on, servers, height, fees."""
    chain = find_chain(args.chain)
    assert chain is not None, "the argument was checked"
    coin, reading = COINS[chain.name], node.reading()
    status, height, fee_per_kb, fee_required = await side_by_side(
        reading.optional(coin.status),
        reading.optional(coin.height),
        reading.optional(coin.fee_per_kb),
        reading.optional(coin.fee_required),
    )
    if status is None and fee_required is None and fee_per_kb is None and height is None:
        status = await reading.get(coin.status)  # its failure says what is wrong
    notes = []
    if status is not None and not status.enabled:
        notes.append(f"{chain.name} is off on this node.")
    elif height is None:
        notes.append(f"The node cannot reach the {chain.name} network at the moment.")
    return ForeignChain(
        chain.name,
        chain.ticker,
        None if status is None else status.enabled,
        None if status is None else status.connectedServers,
        None if status is None else status.knownServers,
        height,
        fee_per_kb,
        fee_required,
        chain.ticker,
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )
