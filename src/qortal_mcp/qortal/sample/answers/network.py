"""Supply, peers and developer endpoints of the sample chain."""

from ...node.source import RawReply
from ...words.transaction_types import TRANSACTION_TYPES
from ..chain import Chain
from ..core.parameters import Parameters
from ..core.replies import Routes, as_json, as_text, bad_parameter, nothing


def supply(chain: Chain, parameters: Parameters) -> RawReply:
    return as_text(chain["supply"])


def peers(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["peers"])


def clock(chain: Chain, parameters: Parameters) -> RawReply:
    return as_text(chain["clock"])


def layout(chain: Chain, parameters: Parameters, txtype: str) -> RawReply:
    if txtype not in TRANSACTION_TYPES:
        raise bad_parameter("txtype")
    found = chain["layouts"].get(txtype)
    return as_json(found) if isinstance(found, list) else nothing()


ROUTES: Routes = {
    "/stats/supply/circulating": supply,
    "/peers/summary": peers,
    "/utils/timestamp": clock,
    "/utils/layout/{txtype}": layout,
}
