"""What the sample node says about itself. Its clock stands still, so that answers stay the same."""

from ...node.source import RawReply
from ..chain import Chain
from ..core.parameters import Parameters
from ..core.replies import Routes, as_json, as_text


def status(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["status"])


def info(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["info"])


def summary(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["node"]["summary"])


def uptime(chain: Chain, parameters: Parameters) -> RawReply:
    return as_text(str(chain["node"]["uptime"]))


ROUTES: Routes = {
    "/admin/status": status,
    "/admin/info": info,
    "/admin/summary": summary,
    "/admin/uptime": uptime,
}
