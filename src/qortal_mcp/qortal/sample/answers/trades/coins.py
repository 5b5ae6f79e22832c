"""Foreign chains as the sample node sees them: no network is reachable, fees come from its settings."""

import hashlib
from collections.abc import Callable

from ....node.source import RawReply
from ....words import base58
from ....words.base58 import is_bytes
from ....words.chains import CHAINS, find_chain
from ...chain import Chain
from ...core.parameters import Parameters, path_integer
from ...core.replies import Routes, as_json, as_text, core_error, page

_HASH_BYTES = 20
# Versions of script addresses on the test networks that the node was set to.
_SCRIPT_VERSION = 196


def _status(coin: str) -> Callable[..., RawReply]:
    def status(chain: Chain, parameters: Parameters) -> RawReply:
        return as_json(chain["coins"][coin]["status"])

    return status


def _fee(coin: str, kind: str) -> Callable[..., RawReply]:
    def fee(chain: Chain, parameters: Parameters) -> RawReply:
        return as_text(str(chain["coins"][coin][kind]))

    return fee


def height(chain: Chain, parameters: Parameters) -> RawReply:
    raise core_error(1201)


def script_address(
    chain: Chain,
    parameters: Parameters,
    blockchain: str,
    refundPKH: str,
    locktime: str,
    redeemPKH: str,
    hashOfSecret: str,
) -> RawReply:
    """The address that holds coins during a trade: for the holder of the secret, or after a time for their owner."""
    unlocked = path_integer("locktime", locktime)
    found = find_chain(blockchain)
    if found is None or found.name != blockchain:
        raise page(500)
    if not (is_bytes(refundPKH, _HASH_BYTES) and is_bytes(redeemPKH, _HASH_BYTES)):
        raise core_error(112)
    if not is_bytes(hashOfSecret, _HASH_BYTES):
        raise core_error(125)
    script = b"".join(
        (
            bytes.fromhex("7dada97614") + base58.decode(refundPKH),
            bytes.fromhex("87637504") + (unlocked & 0xFFFFFFFF).to_bytes(4, "little"),
            bytes.fromhex("b16714") + base58.decode(redeemPKH),
            bytes.fromhex("88a914") + base58.decode(hashOfSecret),
            bytes.fromhex("8768"),
        )
    )
    return as_text(_address(script))


def _address(script: bytes) -> str:
    try:
        ripemd = hashlib.new("ripemd160", hashlib.sha256(script).digest())
    except ValueError:  # an OpenSSL without it
        raise page(500) from None
    body = bytes([_SCRIPT_VERSION]) + ripemd.digest()
    return base58.encode(body + hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4])


ROUTES: Routes = {
    f"/crosschain/{coin}/{kind}": route
    for coin in (chain.ticker.lower() for chain in CHAINS)
    for kind, route in {
        "status": _status(coin),
        "height": height,
        "feekb": _fee(coin, "feekb"),
        "feerequired": _fee(coin, "feerequired"),
    }.items()
} | {
    "/crosschain/htlc/address/{blockchain}/{refundPKH}/{locktime}/{redeemPKH}/{hashOfSecret}": script_address,
}
