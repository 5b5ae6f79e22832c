"""What the sample node tells about itself. Its clock stands still, so that answers stay the same."""

from ..source import RawReply
from .chain import Chain
from .parameters import Parameters
from .replies import Routes, as_json


def status(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["status"])


def info(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["info"])


ROUTES: Routes = {
    "/admin/status": status,
    "/admin/info": info,
}
