"""Groups of the sample chain, and who is in them."""

from datetime import UTC, datetime
from typing import Any

from ...node.source import RawReply
from ..chain import Chain
from ..core.checks import long_ago, valid_address
from ..core.parameters import Paging, Parameters, path_integer
from ..core.replies import Routes, as_json, core_error

Row = dict[str, Any]


def groups(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(Paging(parameters).of(chain["groups"]))


def balances(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(Paging(parameters).of(chain["groupBalances"]))


def group(chain: Chain, parameters: Parameters, groupid: str) -> RawReply:
    return as_json(_known(chain["groupById"], groupid))


def owned(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """Core does not count the members here."""
    valid_address(address)
    return as_json([_uncounted(row) for row in chain["groups"] if row["owner"] == address])


def joined(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    valid_address(address)
    if parameters.flag("ownerOnly"):
        return as_json([row for row in chain["groups"] if row["owner"] == address])
    administered = _groups_of(chain, "groupAdmins", address)
    if parameters.flag("adminOnly"):
        return as_json(administered)
    return as_json(
        [{**row, "isAdmin": row in administered} for row in _groups_of(chain, "groupMembers", address)]
    )


def members(chain: Chain, parameters: Parameters, groupid: str) -> RawReply:
    """The list of admins is paged like the list of members, so a page may miss admins."""
    only_admins, paging = parameters.flag("onlyAdmins"), Paging(parameters)
    found, admins = _known(chain["groupMembers"], groupid), _known(chain["groupAdmins"], groupid)
    rows = shown_admins = paging.of(admins["members"])
    if not only_admins:
        names = {row["member"] for row in shown_admins}
        rows = [_flagged(row, row["member"] in names) for row in paging.of(found["members"])]
    return as_json({**found, "members": rows})


def invites_of(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """Core does not check that it is an address."""
    return as_json(_by_person(chain["groupInvites"], "invitee", address))


def requests_of(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    return as_json(_by_person(chain["groupJoinRequests"], "joiner", valid_address(address)))


def requests_for(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """Requests in the groups that an account administers."""
    return as_json(
        [
            {"group": _uncounted(row), "joinRequests": chain["groupJoinRequests"][str(row["groupId"])]}
            for row in _groups_of(chain, "groupAdmins", valid_address(address))
        ]
    )


def kicks(chain: Chain, parameters: Parameters) -> RawReply:
    group_id, address = parameters.integer("groupId"), parameters.text("address") or ""
    before, after = parameters.long("before"), parameters.long("after")
    paging = Paging(parameters)
    valid_address(address)
    if long_ago(before) or long_ago(after):
        raise core_error(125)
    return as_json(
        paging.of(
            [
                row
                for row in chain["groupKicks"].get(address, [])
                if group_id in (None, row["groupId"])
                and (before is None or row["timestamp"] < before)
                and (after is None or row["timestamp"] > after)
            ]
        )
    )


def _of_group(family: str) -> Any:
    """Lists of one group; empty for a group that does not exist."""

    def rows(chain: Chain, parameters: Parameters, groupid: str) -> RawReply:
        return as_json(chain[family].get(str(path_integer("groupid", groupid)), []))

    return rows


def _top(kind: str) -> Any:
    """The accounts that did it, or had it done to them, most often in a year."""

    def rows(chain: Chain, parameters: Parameters, year: str) -> RawReply:
        wanted, paging = path_integer("year", year), Paging(parameters)
        paging.reverse = False  # not a parameter here
        return as_json(paging.of(chain["groupTop"][kind] if wanted == _year_of(chain) else []))

    return rows


def _year_of(chain: Chain) -> int:
    """All blocks of this chain are of one year."""
    return datetime.fromtimestamp(chain["blocks"][-1]["timestamp"] / 1000, UTC).year


def _known(family: dict[str, Row], groupid: str) -> Row:
    found = family.get(str(path_integer("groupid", groupid)))
    if found is None:
        raise core_error(1101)
    return found


def _groups_of(chain: Chain, family: str, address: str) -> list[Row]:
    """Groups with this account among their members or admins, by name."""
    return [
        row
        for row in chain["groups"]
        if any(one["member"] == address for one in chain[family][str(row["groupId"])]["members"])
    ]


def _by_person(family: dict[str, list[Row]], role: str, address: str) -> list[Row]:
    rows = [row for rows in family.values() for row in rows if row[role] == address]
    return sorted(rows, key=lambda row: int(row["groupId"]))


def _flagged(row: Row, is_admin: bool) -> Row:
    plain = {name: value for name, value in row.items() if name != "isAdmin"}
    return {**plain, "isAdmin": True} if is_admin else plain


def _uncounted(row: Row) -> Row:
    return {**row, "memberCount": 0}


ROUTES: Routes = {
    "/groups": groups,
    "/groups/balances": balances,
    "/groups/{groupid}": group,
    "/groups/owner/{address}": owned,
    "/groups/member/{address}": joined,
    "/groups/members/{groupid}": members,
    "/groups/invites/{address}": invites_of,
    "/groups/invites/group/{groupid}": _of_group("groupInvites"),
    "/groups/joinrequests/{groupid}": _of_group("groupJoinRequests"),
    "/groups/joinrequests/address/{address}": requests_of,
    "/groups/joinrequests/admin/{address}": requests_for,
    "/groups/bans/{groupid}": _of_group("groupBans"),
    "/groups/kicks/member": kicks,
    "/groups/topbans/{year}": _top("bans"),
    "/groups/topkicks/{year}": _top("kicks"),
    "/groups/topjoins/{year}": _top("joins"),
    "/groups/topleaves/{year}": _top("leaves"),
}
