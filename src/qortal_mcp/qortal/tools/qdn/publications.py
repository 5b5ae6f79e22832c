"""Transactions that put something on QDN, newest first: all of them, or each resource once.

Core lists every version of a resource as a transaction of its own. Which one is the latest, and its title, stands in the
listing of resources, which is asked for each resource that is met.
"""

from typing import Any

from msgspec import UNSET, Struct

from ....server.tool_errors import ToolError
from ....text import original
from ...endpoints.arbitrary import PUBLICATIONS, RESOURCES
from ...endpoints.record import Endpoint
from ...endpoints.transactions import TRANSACTION
from ...limits import QDN_ONCE_REQUESTS, QDN_PAGES_BACK
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.arbitrary import Publication, Resource
from ...replies.transactions import Transaction
from ...words.base58 import is_bytes
from ...words.services import find_service
from .published import DEFAULT

# The fewest and the most publications requested from Core at once.
_FEWEST, _MOST = 10, 20

# Service, name and identifier.
Key = tuple[int, str, str | None]


class Wanted(Struct, frozen=True, kw_only=True):
    """Which publications. Core combines all that is given."""

    service: str | None = None
    name: str | None = None
    address: str | None = None
    group_id: int | None = None
    status: str = "CONFIRMED"
    first_block: int | None = None
    blocks: int | None = None
    newest_first: bool = True

    async def page(self, reading: Reading, limit: int, offset: int) -> list[Publication]:
        return await reading.get(
            PUBLICATIONS,
            startBlock=self.first_block,
            blockLimit=self.blocks,
            txGroupId=self.group_id,
            service=self.service,
            name=self.name,
            address=self.address,
            confirmationStatus=self.status,
            limit=limit,
            offset=offset,
            reverse=self.newest_first,
        )

    def has(self, version: Transaction) -> bool:
        """Whether a version of a resource that is listed here is listed here as well."""
        height = None if version.blockHeight is UNSET else version.blockHeight
        if self.status != "BOTH" and (height is not None) != (self.status == "CONFIRMED"):
            return False
        if self.first_block is not None and (height is None or height < self.first_block):
            return False
        if self.first_block is not None and self.blocks is not None and height is not None:
            return height < self.first_block + self.blocks
        return self.group_id is None and self.address in (None, version.creatorAddress)


class Published(Struct, frozen=True):
    """One row of Core's list: its offset, the transaction, and what the listing says about the resource."""

    at: int
    publication: Publication
    listed: Resource | None = None


class Found(Struct, frozen=True):
    rows: list[Published]
    # How many of Core's rows were looked at.
    read: int
    # Where the next page begins; None after the last row.
    following: int | None
    is_cut: bool = False
    # Whether a resource may have been on an earlier page already.
    may_repeat: bool = False


async def every_version(reading: Reading, wanted: Wanted, limit: int, offset: int) -> Found:
    rows = (await wanted.page(reading, limit, offset))[:limit]
    # Core does not say whether more follow, so a full page is followed by one that may be empty.
    following = offset + len(rows) if len(rows) >= limit else None
    return Found([Published(offset + number, row) for number, row in enumerate(rows)], len(rows), following)


async def each_once(reading: Reading, wanted: Wanted, limit: int, offset: int) -> Found:
    """Each resource at the place of its newest version among those wanted. Raises: ToolError."""
    walk = _Walk(reading, wanted, offset)
    window = min(max(limit, _FEWEST), _MOST)
    found: list[Published] = []
    at = offset
    while True:
        rows = (await wanted.page(reading, window, at))[:window]
        await walk.look_up(rows)
        for row in rows:
            if len(found) == limit:
                return Found(found, at - offset, at, may_repeat=walk.may_repeat)
            if await walk.is_newest(row):
                found.append(Published(at, row, walk.listed.get(_key(row))))
            at += 1
        if len(rows) < window:
            return Found(found, at - offset, None, may_repeat=walk.may_repeat)
        if len(found) == limit:
            return Found(found, at - offset, at, may_repeat=walk.may_repeat)
        if walk.asked >= QDN_ONCE_REQUESTS or not reading.has_room:
            return Found(found, at - offset, at, is_cut=True, may_repeat=walk.may_repeat)


class _Walk:
    def __init__(self, reading: Reading, wanted: Wanted, offset: int) -> None:
        self.asked = 0
        self.may_repeat = False
        self.listed: dict[Key | None, Resource | None] = {}
        self._reading = reading
        self._wanted = wanted
        self._offset = offset
        # Every newer row is read by this call.
        self._begins = offset == 0 and wanted.newest_first
        self._shown: set[Key] = set()
        self._elsewhere: dict[Key, bool] = {}
        self._earlier: set[Key | None] | None = None

    async def look_up(self, rows: list[Publication]) -> None:
        """Ask the listing about resources that are new here."""
        keys = [key for row in rows if (key := _key(row)) is not None and key not in self.listed]
        keys = list(dict.fromkeys(keys))
        found = await side_by_side(*(listed(self._reading, key) for key in keys))
        self.listed |= zip(keys, found, strict=True)
        self.asked += 1 + len(keys)

    async def is_newest(self, row: Publication) -> bool:
        """Whether a row is the newest version of its resource; true only once for each resource."""
        key = _key(row)
        if key is None:
            return True
        if key in self._shown:
            return False
        latest = None if (resource := self.listed[key]) is None else resource.latestSignature
        is_certain = self._begins or latest == row.signature
        if not is_certain and (await self._is_elsewhere(key, latest) or await self._was_earlier(key)):
            return False
        self._shown.add(key)
        return True

    async def _is_elsewhere(self, key: Key, latest: str | None) -> bool:
        """Whether the latest version has a place of its own in the list. One that is not in a block yet, for example,
        has none among the confirmed."""
        if key not in self._elsewhere:
            self.asked += latest is not None
            version = await transaction(self._reading, latest)
            self._elsewhere[key] = version is not None and self._wanted.has(version)
        return self._elsewhere[key]

    async def _was_earlier(self, key: Key) -> bool:
        """Whether a page before has a version of it, if these are few enough to be read again."""
        if self._earlier is None:
            starts = range(0, self._offset, _MOST)
            self.may_repeat = len(starts) > QDN_PAGES_BACK
            if self.may_repeat:
                starts = range(0)
            self.asked += len(starts)
            sizes = ((min(_MOST, self._offset - start), start) for start in starts)
            pages = await side_by_side(*(self._wanted.page(self._reading, *size) for size in sizes))
            self._earlier = {_key(row) for page in pages for row in page}
        return key in self._earlier


def _key(row: Publication) -> Key | None:
    """What makes a resource; None for data without a name, of which there are no versions."""
    if row.name is None:
        return None
    return row.service, row.name, None if row.identifier == DEFAULT else row.identifier


async def listed(reading: Reading, key: Key) -> Resource | None:
    """What the listing says about a resource, if anything. Private services are never asked for."""
    code, name, identifier = key
    service = find_service(str(code))
    if service is None or service.is_private:
        return None
    rows = await _tolerant(
        reading,
        RESOURCES,
        service=service.name,
        name=original(name),
        identifier=None if identifier is None else original(identifier),
        default=True if identifier is None else None,
        includemetadata=True,
        limit=1,
    )
    return rows[0] if rows else None


async def transaction(reading: Reading, signature: str | None) -> Transaction | None:
    if signature is None or not is_bytes(signature, 64):
        return None
    found: Transaction | None = await _tolerant(reading, TRANSACTION, signature=signature)
    return found


async def _tolerant(reading: Reading, endpoint: Endpoint[Any], **values: Any) -> Any:
    """None if the node does not have it, or if what it said before cannot be asked for."""
    try:
        return await reading.optional(endpoint, **values)
    except ToolError as exc:
        if exc.code != "INVALID_ARGUMENT":
            raise
        return None
