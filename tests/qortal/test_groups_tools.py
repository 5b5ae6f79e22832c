"""Groups: what there is, who is in them, and what happens at their doors."""

import json
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .pages import every_row
from .world import ALICE, BOB, CHLOE, JUDY, NOBODY, WRONG_CHECKSUM

GRACE = "QQQZzLbaR4AkpBqrc49r2VWsB8B8qSdesW"
HEIDI = "QLx87ymf2ZXDMJmVYKAfGGbUD2dP6Xp1Ju"
IVAN = "Qa7AN7PAhrDcNakiZyJdd1tuQUDK7NEeLB"
FRANK = "Qf8YJdt9tKukGHtdi3nooP3BeY3wg66unK"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="groups")


@pytest.mark.parametrize("limit", [1, 3, 4, 8, 100])
async def test_pages_reach_the_last_group(call: Call, limit: int) -> None:
    rows = await every_row(call, "list_groups", "groups", limit=limit)
    assert [row["groupId"] for row in rows] == [row["groupId"] for row in sample_chain()["groups"]]


async def test_a_group_tells_its_owner_its_size_and_its_rules(call: Call) -> None:
    answer = (await call("get_group", group_id=3))["structuredContent"]
    assert answer["groupName"] == "Open Lounge"
    assert (answer["owner"], answer["ownerPrimaryName"]) == (ALICE, "alice-test")
    assert (answer["memberCount"], answer["adminCount"], answer["isOpen"]) == (5, 2, True)
    assert (answer["approvalThreshold"], answer["minimumBlockDelay"]) == ("ONE", 5)
    assert answer["updatedTime"] == "2026-11-15T19:15:56.710Z"


@pytest.mark.parametrize("group_id", [9, 2**31 - 1])
@pytest.mark.parametrize("tool", ["get_group", "list_group_members"])
async def test_an_unknown_group_is_not_found(call: Call, tool: str, group_id: int) -> None:
    assert (await call(tool, group_id=group_id))["content"][0]["text"] == "Group not found."


@pytest.mark.parametrize("group_id", [0, -1, 2**31, "x", 1.5, True, None])
async def test_what_cannot_be_a_group_is_refused(call: Call, group_id: object) -> None:
    assert (await call("get_group", group_id=group_id))["content"][0]["text"].startswith("Invalid group_id.")


async def test_groups_of_an_owner_have_their_members_counted(call: Call) -> None:
    rows = await every_row(call, "list_groups", "groups", owner=ALICE, limit=1)
    assert [(row["groupId"], row["memberCount"]) for row in rows] == [(2, 4), (3, 5)]


async def test_a_group_that_its_owner_left_is_counted_all_the_same() -> None:
    async with FaultyNode() as odd:
        odd.behaviours[f"/groups/member/{ALICE}"] = replies("[]")
        node = Node.at([odd.url])
        call = caller(make_server(node, toolsets="groups"))
        rows = (await call("list_groups", owner=ALICE))["structuredContent"]["groups"]
        await node.close()
    assert [(row["groupId"], row["memberCount"]) for row in rows] == [(2, 4), (3, 5)]


async def test_groups_of_a_member_say_where_it_is_an_admin(call: Call) -> None:
    rows = await every_row(call, "list_groups", "groups", member=BOB, limit=3)
    assert [(row["groupId"], row["isAdmin"]) for row in rows] == [(4, True), (5, True), (2, False), (3, True)]


@pytest.mark.parametrize("role", ["owner", "member"])
async def test_an_address_without_groups_has_an_empty_list(call: Call, role: str) -> None:
    answer = (await call("list_groups", **{role: NOBODY}))["structuredContent"]
    assert (answer["groups"], answer["page"]) == ([], {"returned": 0})


async def test_owner_and_member_together_are_refused(call: Call) -> None:
    result = await call("list_groups", owner=ALICE, member=BOB)
    assert result["content"][0]["text"] == "Invalid arguments. Give at most one of owner and member."


async def test_a_wrong_address_is_refused(call: Call) -> None:
    result = await call("list_groups", member=WRONG_CHECKSUM)
    assert result["content"][0]["text"].startswith("Invalid Qortal address.")


async def test_a_default_page_is_small(call: Call) -> None:
    assert len((await call("list_groups"))["content"][0]["text"].encode()) <= 8 * 1024


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
async def test_admins_are_known_on_every_page(call: Call, limit: int) -> None:
    rows = await every_row(call, "list_group_members", "members", group_id=3, limit=limit)
    whole = sample_chain()["groupMembers"]["3"]["members"]
    assert [row["member"] for row in rows] == [row["member"] for row in whole]
    assert [row["isAdmin"] for row in rows] == [row.get("isAdmin", False) for row in whole]
    assert [row["joined"] for row in rows] == [row["joined"] for row in whole]


async def test_only_admins(call: Call) -> None:
    rows = await every_row(call, "list_group_members", "members", group_id=3, only_admins=True, limit=1)
    assert [(row["member"], row["isAdmin"]) for row in rows] == [(ALICE, True), (BOB, True)]


async def test_a_page_of_members_tells_how_many_there_are(call: Call) -> None:
    answer = (await call("list_group_members", group_id=3, limit=1))["structuredContent"]
    assert (answer["memberCount"], answer["adminCount"]) == (5, 2)
    assert answer["page"] == {"returned": 1, "next": {"group_id": 3, "limit": 1, "offset": 1}}


class Crowd:
    """A group with more members and admins than Core gives at once, cut as Core cuts them."""

    def __init__(self, members: int, admins: int) -> None:
        self.members = [f"Qmember{number:04d}" for number in range(members)]
        self.admins = self.members[members - admins :]

    def body(self, target: str) -> str:
        query = dict(pair.split("=") for pair in target.partition("?")[2].split("&"))
        start, end = int(query.get("offset", 0)), int(query.get("offset", 0)) + int(query["limit"])
        admins = self.admins[start:end]
        if query.get("onlyAdmins") == "true":
            rows: list[dict[str, Any]] = [{"member": admin, "isAdmin": True} for admin in admins]
        else:
            rows = [{"member": each, "joined": 1794769973252} for each in self.members[start:end]]
            rows = [{**row, "isAdmin": True} if row["member"] in admins else row for row in rows]
        counts = {"memberCount": len(self.members), "adminCount": len(self.admins)}
        return json.dumps({**counts, "members": rows})


async def test_admins_of_a_large_group_are_all_known() -> None:
    crowd = Crowd(350, 230)
    async with FaultyNode() as large:

        async def behave(reader: Any, writer: Any) -> None:
            await replies(crowd.body(large.asked[-1]))(reader, writer)

        large.behaviours["/groups/members/3"] = behave
        node = Node.at([large.url])
        call = caller(make_server(node, toolsets="groups"))
        rows = await every_row(call, "list_group_members", "members", group_id=3, limit=100)
        await node.close()
    assert [row["member"] for row in rows] == crowd.members
    assert [row["member"] for row in rows if row["isAdmin"]] == crowd.admins


async def test_invitations_say_who_invited_whom_and_whether_they_expired(call: Call) -> None:
    (open_one,) = await every_row(call, "list_group_events", "events", kind="invites", address=BOB)
    (expired,) = await every_row(call, "list_group_events", "events", kind="invites", group_id=4)
    assert (open_one["groupId"], open_one["address"]) == (6, BOB)
    assert "expiry" not in open_one
    assert (expired["address"], expired["by"], expired["isExpired"]) == (JUDY, BOB, True)
    assert expired["expiryTime"] == "2026-11-15T19:15:46.287Z"


async def test_join_requests_of_a_group_and_of_an_address(call: Call) -> None:
    of_group = await every_row(call, "list_group_events", "events", kind="join_requests", group_id=4, limit=2)
    of_address = await every_row(call, "list_group_events", "events", kind="join_requests", address=GRACE)
    both = await every_row(
        call, "list_group_events", "events", kind="join_requests", group_id=4, address=GRACE
    )
    assert len(of_group) == 3
    assert of_address == both == [{"groupId": 4, "address": GRACE}]


async def test_bans_have_a_reason_a_time_and_an_end(call: Call) -> None:
    rows = await every_row(call, "list_group_events", "events", kind="bans", group_id=3, limit=1)
    assert [(row["address"], row["by"], row["reason"]) for row in rows] == [
        (HEIDI, ALICE, "spam \\u{202E}evil"),
        (JUDY, ALICE, "temporary"),
    ]
    assert rows[0]["time"] == "2026-11-15T19:15:53.654Z"
    assert "isExpired" not in rows[0]
    assert rows[1]["isExpired"] is True


async def test_kicks_of_an_address(call: Call) -> None:
    (kick,) = await every_row(call, "list_group_events", "events", kind="kicks", address=IVAN)
    assert (kick["groupId"], kick["reason"], kick["timestamp"]) == (3, "off topic", 1794770211571)
    elsewhere = await call("list_group_events", kind="kicks", address=IVAN, group_id=5)
    assert elsewhere["structuredContent"]["events"] == []


async def test_pages_reach_the_first_of_many_kicks() -> None:
    kicks = [
        {"member": FRANK, "groupId": 5, "reason": "", "timestamp": 1794770000000 + number}
        for number in range(23)
    ]
    async with FaultyNode() as strict:

        async def behave(reader: Any, writer: Any) -> None:
            query = dict(pair.split("=") for pair in strict.asked[-1].partition("?")[2].split("&"))
            start = int(query["offset"])
            rows = kicks[::-1][start : start + int(query["limit"])]
            await replies(json.dumps(rows))(reader, writer)

        strict.behaviours["/groups/kicks/member"] = behave
        node = Node.at([strict.url])
        call = caller(make_server(node, toolsets="groups"))
        rows = await every_row(call, "list_group_events", "events", kind="kicks", address=FRANK, limit=5)
        await node.close()
    assert [row["timestamp"] for row in rows] == [kick["timestamp"] for kick in kicks[::-1]]


@pytest.mark.parametrize("kind", ["invites", "join_requests", "bans"])
async def test_an_unknown_group_is_not_taken_for_an_empty_one(call: Call, kind: str) -> None:
    assert (await call("list_group_events", kind=kind, group_id=9))["content"][0][
        "text"
    ] == "Group not found."
    known = await call("list_group_events", kind=kind, group_id=7)
    assert known["structuredContent"]["events"] == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"kind": "invites"}, "Invalid arguments. Give group_id, address or admin."),
        (
            {"kind": "bans", "address": CHLOE},
            "Invalid group_id. A list of bans needs it or admin; address filters them.",
        ),
        (
            {"kind": "kicks", "group_id": 3},
            "Invalid address. Kicks are listed by address; group_id filters them.",
        ),
        (
            {"kind": "leaves", "group_id": 3},
            "Invalid kind. kind takes one of: bans, invites, join_requests, kicks, waiting.",
        ),
        ({"group_id": 3}, "Missing argument kind."),
    ],
)
async def test_lists_that_core_does_not_have_are_refused(
    call: Call, arguments: dict[str, object], text: str
) -> None:
    assert (await call("list_group_events", **arguments))["content"][0]["text"] == text


async def test_names_of_old_still_work(call: Call) -> None:
    owned = (await call("get_groups_by_owner", address=BOB))["structuredContent"]["groups"]
    joined = (await call("get_groups_by_member", address=BOB))["structuredContent"]["groups"]
    assert [row["groupId"] for row in owned] == [4]
    assert [row["groupId"] for row in joined] == [4, 5, 2, 3]
    members = (await call("get_group_members", groupId=3, onlyAdmins=True))["structuredContent"]
    assert [row["member"] for row in members["members"]] == [ALICE, BOB]
    for name, arguments, count in (
        ("get_group_invites_by_address", {"address": BOB}, 1),
        ("get_group_invites_by_group", {"group_id": 4}, 1),
        ("get_group_join_requests", {"group_id": 4}, 3),
        ("get_group_bans", {"group_id": 3}, 2),
    ):
        assert (await call(name, **arguments))["structuredContent"]["page"] == {"returned": count}
