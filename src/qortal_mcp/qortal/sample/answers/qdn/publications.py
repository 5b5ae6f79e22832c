"""QDN of the sample chain: the transactions that published something, and categories."""

from typing import Any

from ....node.source import RawReply
from ....words.services import SERVICES, service_name
from ...chain import Chain
from ...core.parameters import Paging, Parameters
from ...core.replies import Routes, as_json, core_error, page
from . import content, resources

_MOST_WITHOUT_CRITERIA = 20
_SERVICE_NAMES = {service.name for service in SERVICES}


def search(chain: Chain, parameters: Parameters) -> RawReply:
    start, blocks = parameters.integer("startBlock"), parameters.integer("blockLimit")
    group_id = parameters.integer("txGroupId")
    service = parameters.choice("service", _SERVICE_NAMES)
    name, address = parameters.text("name"), parameters.text("address")
    status = parameters.choice("confirmationStatus", ("CONFIRMED", "UNCONFIRMED", "BOTH"))
    paging = Paging(parameters)
    if not service and not address and (paging.limit is None or paging.limit > _MOST_WITHOUT_CRITERIA):
        raise core_error(125)
    if status != "CONFIRMED" and (start is not None or blocks is not None):
        raise core_error(125)
    if status is None:
        raise page(500)
    if start is None and blocks is not None:
        start = chain["height"] - blocks if paging.reverse else 1
    end = None if start is None or blocks is None else start + blocks

    def fits(row: dict[str, Any]) -> bool:
        height = row.get("blockHeight")
        return (
            (status == "BOTH" or (height is None) == (status == "UNCONFIRMED"))
            and (start is None or (height is not None and height >= start))
            and (end is None or (height is not None and height < end))
            and group_id in (None, row["txGroupId"])
            and service in (None, service_name(row["service"]))
            and (name is None or row.get("name", "").lower() == name.lower())
            and (not address or address in _participants(row))
        )

    return as_json(paging.of([row for row in chain["arbitraryTransactions"] if fits(row)]))


def categories(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["categories"])


def _participants(row: dict[str, Any]) -> set[str]:
    return {row["creatorAddress"], *(payment["recipient"] for payment in row.get("payments", []))}


ROUTES: Routes = {
    "/arbitrary/search": search,
    "/arbitrary/categories": categories,
    **resources.ROUTES,
    **content.ROUTES,
}
