"""Blocks of the sample chain."""

from ..source import RawReply
from .chain import Chain
from .parameters import Parameters
from .replies import Routes, as_json


def last_block(chain: Chain, parameters: Parameters) -> RawReply:
    block = chain["blocks"][-1]
    if parameters.flag("includeOnlineSignatures"):
        signatures = chain["onlineAccountsSignatures"].get(str(block["height"]))
        if signatures is not None:
            block = {**block, "onlineAccountsSignatures": signatures}
    return as_json(block)


ROUTES: Routes = {
    "/blocks/last": last_block,
}
