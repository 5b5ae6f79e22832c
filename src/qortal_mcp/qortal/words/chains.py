"""The foreign chains whose coins QORT is traded for."""

from msgspec import Struct

from .contract_templates import TEMPLATES


class Chain(Struct, frozen=True):
    name: str
    ticker: str
    # The kinds of trade contract that Core knows for it. Core pages through each kind separately and cuts what it
    # has merged, so only lists of a single kind can be paged as usual.
    contracts: tuple[str, ...]

    @property
    def code_hashes(self) -> tuple[str, ...]:
        return tuple(TEMPLATES[contract] for contract in self.contracts)


CHAINS = (
    Chain("BITCOIN", "BTC", ("BitcoinACCTv1", "BitcoinACCTv3")),
    Chain("LITECOIN", "LTC", ("LitecoinACCTv1", "LitecoinACCTv3")),
    Chain("DOGECOIN", "DOGE", ("DogecoinACCTv1", "DogecoinACCTv3")),
    Chain("DIGIBYTE", "DGB", ("DigibyteACCTv3",)),
    Chain("RAVENCOIN", "RVN", ("RavencoinACCTv3",)),
    Chain("PIRATECHAIN", "ARRR", ("PirateChainACCTv3",)),
)

_FOUND = {key: chain for chain in CHAINS for key in (chain.name, chain.ticker)}


def find_chain(text: str) -> Chain | None:
    """By long name or ticker, in any case."""
    return _FOUND.get(text.strip().upper())
