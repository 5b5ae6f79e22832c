"""The foreign chains that QORT is traded against."""

from msgspec import Struct


class Chain(Struct, frozen=True):
    name: str
    ticker: str
    # How many kinds of trade contract Core knows for it. Core cuts a page after merging them, so that
    # only a page of a single kind is sure to be whole.
    contracts: int


CHAINS = (
    Chain("BITCOIN", "BTC", 2),
    Chain("LITECOIN", "LTC", 2),
    Chain("DOGECOIN", "DOGE", 2),
    Chain("DIGIBYTE", "DGB", 1),
    Chain("RAVENCOIN", "RVN", 1),
    Chain("PIRATECHAIN", "ARRR", 1),
)

_FOUND = {key: chain for chain in CHAINS for key in (chain.name, chain.ticker)}


def find_chain(text: str) -> Chain | None:
    """By long name or ticker, in any case."""
    return _FOUND.get(text.strip().upper())
