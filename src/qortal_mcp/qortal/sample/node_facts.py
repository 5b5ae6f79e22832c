"""What the sample node tells about itself. Its clock stands still, so that answers stay the same."""

from ..source import RawReply
from .chain import Chain
from .parameters import Parameters
from .replies import as_json


def status(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["status"])


def info(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["info"])


def last_block(chain: Chain, parameters: Parameters) -> RawReply:
    block = chain["blocks"][-1]
    if parameters.flag("includeOnlineSignatures"):
        signatures = chain["onlineAccountsSignatures"].get(str(block["height"]))
        if signatures is not None:
            block = {**block, "onlineAccountsSignatures": signatures}
    return as_json(block)
