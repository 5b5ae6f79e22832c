"""Registered names of the sample chain."""

from ..source import RawReply
from .chain import Chain
from .checks import valid_address
from .parameters import Paging, Parameters
from .replies import Routes, as_json


def names_of(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    paging = Paging(parameters)
    return as_json(paging.of(chain["namesByAddress"].get(valid_address(address), [])))


def primary_name(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    return as_json(chain["primaryNames"].get(valid_address(address), {"owner": address}))


ROUTES: Routes = {
    "/names/address/{address}": names_of,
    "/names/primary/{address}": primary_name,
}
