"""Ask the chosen server, whichever it is."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from msgspec import UNSET, Raw

from ....protocol.errors import METHOD_NOT_FOUND
from ....protocol.jsonrpc import UNREADABLE
from ....repairs import values
from .. import failures
from ..own_server import Response, opened
from ..until_stopped import until_stopped
from . import refusals
from .chosen import Chosen, OwnServer

T = TypeVar("T")
# Pages of one list, and what is in them. The largest real catalogues have some 1,000 tools.
_MOST_PAGES = 200
_MOST_ITEMS = 20_000


class Asker(Protocol):
    """One server that answers requests."""

    async def ask(self, method: str, params: object) -> Response:
        """Raises: Undetermined, if there is no server."""


def use(chosen: Chosen, work: Callable[[Asker], Awaitable[T]]) -> T:
    """Open the server, do some work with it, close it. Raises: Undetermined; what the work raises."""

    async def run() -> T:
        if isinstance(chosen, OwnServer):
            async with opened(chosen.chain, chosen.revision) as asker:
                return await work(asker)
        from .other import connected

        async with connected(chosen) as other:
            return await work(other)

    return until_stopped(run())


def result_of(chosen: Chosen, method: str, params: object) -> Raw:
    """The result of one request. Raises: WrongUsage, Bad, Undetermined."""

    async def work(asker: Asker) -> Raw:
        return good(chosen, await asker.ask(method, params))

    return use(chosen, work)


def good(chosen: Chosen, response: Response) -> Raw:
    """The result, if it is one. Raises: WrongUsage, Bad, Undetermined."""
    if response.error is not UNSET:
        raise refusals.refused(chosen, response.error)
    return response.result


async def listed(chosen: Chosen, asker: Asker, method: str, member: str) -> list[dict[str, Any]]:
    """Every item of a list, over all its pages; none if the server does not have this list.

    Raises: Bad, Undetermined.
    """
    items: list[dict[str, Any]] = []
    cursors: set[str] = set()
    params: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        response = await asker.ask(method, params)
        if response.error is not UNSET and response.error.code == METHOD_NOT_FOUND:
            break
        page = members_of(good(chosen, response))
        found = page.get(member)
        items += [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors or len(items) >= _MOST_ITEMS:
            break
        cursors.add(cursor)
        params = {"cursor": cursor}
    return items[:_MOST_ITEMS]


def members_of(result: Raw) -> dict[str, Any]:
    """The members of a result. Raises: Undetermined."""
    try:
        found = values.read(result)
    except UNREADABLE:
        raise failures.Undetermined("The server's answer cannot be read; --raw shows it.") from None
    return found if isinstance(found, dict) else {}
