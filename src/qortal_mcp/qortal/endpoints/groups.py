"""Groups: members, invitations, join requests, bans and kicks."""

from typing import Any

from ..limits import PAGE_ROWS
from ..replies.groups import (
    Ban,
    Group,
    GroupBalance,
    GroupMembers,
    GroupRequests,
    Invite,
    JoinRequest,
    Kick,
    YearCount,
)
from ..words.arguments import Address, ChatTime, GroupNumber, Limit, Offset, Year
from .record import HOURS, MINUTE, UNTIL_NEXT_BLOCK, Endpoint, Same, json_of

_PAGE = {"limit": Limit, "offset": Offset, "reverse": bool}
_FIRST_PAGE = {"limit": PAGE_ROWS}
_BY_GROUP = {"groupid": GroupNumber}
_BY_ADDRESS = {"address": Address}

GROUPS = Endpoint(
    "/groups",
    json_of(list[Group]),
    UNTIL_NEXT_BLOCK,
    query=_PAGE,
    defaults=_FIRST_PAGE,
    returns="All groups, by name.",
)
GROUP_BALANCES = Endpoint(
    "/groups/balances",
    json_of(list[GroupBalance]),
    MINUTE,
    query=_PAGE,
    defaults=_FIRST_PAGE,
    returns="Groups by the total balance of their members, in whole QORT; `reverse` for the richest first.",
    since="6.1.5",
    same=Same.AT_ONE_BLOCK,
)
GROUP = Endpoint(
    "/groups/{groupid}",
    json_of(Group),
    UNTIL_NEXT_BLOCK,
    path=_BY_GROUP,
    returns="One group.",
    noun="Group",
)
GROUPS_OWNED = Endpoint(
    "/groups/owner/{address}",
    json_of(list[Group]),
    UNTIL_NEXT_BLOCK,
    path=_BY_ADDRESS,
    returns="Every group an account owns; members are not counted here.",
)
GROUPS_JOINED = Endpoint(
    "/groups/member/{address}",
    json_of(list[Group]),
    UNTIL_NEXT_BLOCK,
    path=_BY_ADDRESS,
    query={"adminOnly": bool, "ownerOnly": bool},
    returns="Every group an account is in, administers or owns.",
)
GROUP_MEMBERS = Endpoint(
    "/groups/members/{groupid}",
    json_of(GroupMembers),
    UNTIL_NEXT_BLOCK,
    path=_BY_GROUP,
    query={"onlyAdmins": bool, **_PAGE},
    defaults=_FIRST_PAGE,
    returns="Members by address. `isAdmin` is reliable only with `onlyAdmins`: admins are paged like members.",
    noun="Group",
)
INVITES_OF = Endpoint(
    "/groups/invites/{address}",
    json_of(list[Invite]),
    UNTIL_NEXT_BLOCK,
    path=_BY_ADDRESS,
    returns="Every invitation for an account, expired ones included.",
)
INVITES_TO = Endpoint(
    "/groups/invites/group/{groupid}",
    json_of(list[Invite]),
    UNTIL_NEXT_BLOCK,
    path=_BY_GROUP,
    returns="Every invitation to a group, expired ones included.",
)
REQUESTS_TO = Endpoint(
    "/groups/joinrequests/{groupid}",
    json_of(list[JoinRequest]),
    UNTIL_NEXT_BLOCK,
    path=_BY_GROUP,
    returns="Every open request to join a group.",
)
REQUESTS_OF = Endpoint(
    "/groups/joinrequests/address/{address}",
    json_of(list[JoinRequest]),
    UNTIL_NEXT_BLOCK,
    path=_BY_ADDRESS,
    returns="Every open request of an account to join a group.",
    since="5.0.7",
)
REQUESTS_FOR = Endpoint(
    "/groups/joinrequests/admin/{address}",
    json_of(list[GroupRequests]),
    UNTIL_NEXT_BLOCK,
    path=_BY_ADDRESS,
    returns="The groups an account administers, with the open requests to join each.",
    since="6.1.0",
)
BANS = Endpoint(
    "/groups/bans/{groupid}",
    json_of(list[Ban]),
    UNTIL_NEXT_BLOCK,
    path=_BY_GROUP,
    returns="Every ban of a group, expired ones included.",
)
KICKS = Endpoint(
    "/groups/kicks/member",
    json_of(list[Kick]),
    UNTIL_NEXT_BLOCK,
    query={"address": Address, "groupId": GroupNumber, "before": ChatTime, "after": ChatTime, **_PAGE},
    defaults=_FIRST_PAGE,
    returns="When an account was kicked out of groups, oldest first; `address` is required.",
    since="6.1.4",
)


def _most_often(what: str, verb: str) -> Endpoint[list[YearCount]]:
    return Endpoint(
        f"/groups/top{what}/{{year}}",
        json_of(list[YearCount]),
        HOURS,
        path={"year": Year},
        query={"limit": Limit, "offset": Offset},
        defaults=_FIRST_PAGE,
        returns=f"Accounts that {verb} most often in a year.",
        since="6.1.5",
        same=Same.AT_ONE_BLOCK,
    )


TOP_BANS = _most_often("bans", "were banned from groups")
TOP_KICKS = _most_often("kicks", "were kicked out of groups")
TOP_JOINS = _most_often("joins", "joined groups")
TOP_LEAVES = _most_often("leaves", "left groups")

FAMILY: tuple[Endpoint[Any], ...] = (
    GROUPS,
    GROUP_BALANCES,
    GROUP,
    GROUPS_OWNED,
    GROUPS_JOINED,
    GROUP_MEMBERS,
    INVITES_OF,
    INVITES_TO,
    REQUESTS_TO,
    REQUESTS_OF,
    REQUESTS_FOR,
    BANS,
    KICKS,
    TOP_BANS,
    TOP_KICKS,
    TOP_JOINS,
    TOP_LEAVES,
)
