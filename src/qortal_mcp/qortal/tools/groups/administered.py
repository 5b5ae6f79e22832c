"""What waits in the groups that an account administers."""

from typing import Any, TypeVar

from ...endpoints.groups import GROUPS_JOINED, REQUESTS_FOR, REQUESTS_TO
from ...endpoints.record import Endpoint
from ...limits import ADMINISTERED_GROUPS, LOOKUPS_AT_ONCE
from ...node.failures import NodeFailure, not_supported
from ...node.node import Reading
from ...node.side_by_side import a_few_at_once
from ...replies.groups import Group, JoinRequest

T = TypeVar("T")


async def administered(reading: Reading, admin: str) -> list[Group]:
    """The groups that an account administers, by name. Raises: ToolError."""
    joined = await reading.get(GROUPS_JOINED, address=admin)
    if joined and all(row.isAdmin is None for row in joined):
        raise not_supported("It does not tell which groups an account administers.")
    return [row for row in joined if row.isAdmin]


async def requests_to(reading: Reading, admin: str, groups: list[Group]) -> list[JoinRequest]:
    """The open requests to join some groups of an admin. Raises: ToolError."""
    try:
        found = await reading.get(REQUESTS_FOR, address=admin)
    except NodeFailure as exc:
        if exc.code != "NOT_SUPPORTED":
            raise
        return await of_each(reading, REQUESTS_TO, groups)  # Core before 6.1.0
    wanted = {group.groupId for group in groups}
    return [row for each in found if each.group.groupId in wanted for row in each.joinRequests]


async def of_each(reading: Reading, by_group: Endpoint[list[T]], groups: list[Group]) -> list[T]:
    """The rows of several groups: Core lists them for one group. Raises: ToolError."""
    lists: list[list[Any]] = await a_few_at_once(
        (reading.follow(by_group, groupid=group.groupId) for group in groups[:ADMINISTERED_GROUPS]),
        LOOKUPS_AT_ONCE,
    )
    return [row for rows in lists for row in rows]
