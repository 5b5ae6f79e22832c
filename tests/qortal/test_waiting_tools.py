"""Groups found by a part of their name, and what waits in the groups of an admin."""

from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .outcomes import answer_of, error_of
from .pages import every_row
from .told_node import Tell, ToldNode
from .world import ALICE, BOB, JUDY, NOBODY

# Owns and administers the group that Bob is invited to.
DILBERT = "Qci5m9k4rcwe4ruKrZZQKka4FzUUMut3er"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="groups")


@pytest.mark.promise("Data of the chain", "A group is found by a part of its name in any case.")
@pytest.mark.parametrize("query", ["lounge", "LOUNGE", "e", "😀 ü", "no such group"])
@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_a_group_is_found_by_a_part_of_its_name(call: Call, query: str, limit: int) -> None:
    rows = await every_row(call, "list_groups", "groups", query=query, limit=limit)
    assert [row["groupId"] for row in rows] == [
        row["groupId"] for row in sample_chain()["groups"] if query.lower() in row["groupName"].lower()
    ]


@pytest.mark.parametrize(("role", "ids"), [("owner", [3]), ("member", [3, 8])])
async def test_groups_of_an_address_are_found_by_name(call: Call, role: str, ids: list[int]) -> None:
    rows = await every_row(call, "list_groups", "groups", query="lounge", limit=1, **{role: ALICE})
    assert [row["groupId"] for row in rows] == ids


def group(number: int, name: str = "g", **more: Any) -> dict[str, Any]:
    return {
        "groupId": number,
        "owner": ALICE,
        "groupName": f"{name} {number}",
        "created": 1,
        "isOpen": True,
        **more,
    }


async def asked_of(tell: Tell, **arguments: Any) -> tuple[dict[str, Any], ToldNode]:
    source = ToldNode(tell)
    node = Node([source])
    tool = "list_group_events" if "kind" in arguments else "list_groups"
    answer = await answer_of(caller(make_server(node, toolsets="groups")), tool, **arguments)
    await node.close()
    return answer, source


def groups_from(last: int) -> Tell:
    def tell(target: str) -> Any:
        if not target.startswith("/groups?"):
            return None
        first = int(target.partition("offset=")[2].partition("&")[0]) + 1
        return [group(number) for number in range(first, min(first + 100, last + 1))]

    return tell


async def test_the_last_of_many_groups_is_found() -> None:
    answer, source = await asked_of(groups_from(1234), query="G 1234")
    assert [row["groupId"] for row in answer["groups"]] == [1234]
    assert "notes" not in answer
    assert len(source.asked) < 30


async def test_a_search_through_a_part_of_all_groups_says_so() -> None:
    answer, source = await asked_of(groups_from(10**6), query="g 999999")
    assert answer["groups"] == []
    assert answer["notes"][0].startswith("Only the first 1")
    assert len(source.asked) <= 200


def waiting_on_chain(address: str) -> list[tuple[int, str, str]]:
    """Requests and open invitations of the groups that list this account as an admin."""
    chain, now = sample_chain(), sample_chain()["blocks"][-1]["timestamp"]
    ids = [
        number
        for number, admins in chain["groupAdmins"].items()
        if address in [row["member"] for row in admins["members"]]
    ]
    return sorted(
        [
            (row["groupId"], row["joiner"], "join_request")
            for n in ids
            for row in chain["groupJoinRequests"][n]
        ]
        + [
            (row["groupId"], row["invitee"], "invite")
            for n in ids
            for row in chain["groupInvites"][n]
            if row.get("expiry", now + 1) > now
        ]
    )


@pytest.mark.promise(
    "Data of the chain",
    "Requests and invitations that wait in all groups of an admin are one call, without expired ones.",
)
@pytest.mark.parametrize("admin", [ALICE, BOB, DILBERT, "@Bob"])
@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_what_waits_in_the_groups_of_an_admin(call: Call, admin: str, limit: int) -> None:
    rows = await every_row(call, "list_group_events", "events", kind="waiting", admin=admin, limit=limit)
    assert sorted((row["groupId"], row["address"], row["kind"]) for row in rows) == waiting_on_chain(
        BOB if admin == "@Bob" else admin
    )
    names = {row["groupId"]: row["groupName"] for row in sample_chain()["groups"]}
    assert all(row["groupName"] == names[row["groupId"]] for row in rows)


async def test_expired_invitations_do_not_wait_and_are_marked_where_they_are_listed(call: Call) -> None:
    waiting = await answer_of(call, "list_group_events", kind="waiting", admin=BOB)
    assert JUDY not in {row["address"] for row in waiting["events"]}
    assert waiting["notes"][0] == "Expired invitations left out: 1."
    listed = await answer_of(call, "list_group_events", kind="invites", admin=BOB)
    assert [(row["address"], row["isExpired"]) for row in listed["events"]] == [(JUDY, True)]


async def test_what_waits_in_one_group_and_for_one_account(call: Call) -> None:
    of_group = await answer_of(call, "list_group_events", kind="waiting", group_id=6)
    assert [(row["kind"], row["address"]) for row in of_group["events"]] == [
        ("join_request", "QLx87ymf2ZXDMJmVYKAfGGbUD2dP6Xp1Ju"),
        ("invite", BOB),
    ]
    of_account = await answer_of(call, "list_group_events", kind="waiting", address=BOB)
    assert [(row["kind"], row["groupId"]) for row in of_account["events"]] == [("invite", 6)]
    of_both = await answer_of(call, "list_group_events", kind="waiting", admin=DILBERT, address=BOB)
    assert [(row["kind"], row["groupId"]) for row in of_both["events"]] == [("invite", 6)]


async def test_one_group_of_an_admin(call: Call) -> None:
    bans = await answer_of(call, "list_group_events", kind="bans", admin=ALICE, group_id=3)
    assert len(bans["events"]) == len(sample_chain()["groupBans"]["3"])
    other = await answer_of(call, "list_group_events", kind="waiting", admin=ALICE, group_id=4)
    assert (other["events"], other["notes"][0]) == ([], f"{ALICE} administers other groups or none.")


async def test_an_account_that_administers_nothing(call: Call) -> None:
    answer = await answer_of(call, "list_group_events", kind="waiting", admin=NOBODY)
    assert (answer["events"], answer["page"]) == ([], {"returned": 0})
    assert answer["notes"][0] == f"{NOBODY} administers no group."


async def test_kicks_of_an_admin_are_refused(call: Call) -> None:
    assert (await error_of(call, "list_group_events", kind="kicks", admin=BOB)).startswith("Invalid admin.")


def older(target: str) -> Any:
    """Core before 6.1.0 does not know this path."""
    return RawReply(404, "text/html", b"") if target.startswith("/groups/joinrequests/admin/") else None


@pytest.mark.parametrize("kind", ["waiting", "join_requests"])
async def test_an_older_core_is_asked_group_by_group(kind: str) -> None:
    old, _ = await asked_of(older, kind=kind, admin=BOB)
    new, _ = await asked_of(lambda target: None, kind=kind, admin=BOB)
    assert old["events"] == new["events"] != []


async def test_a_core_that_does_not_tell_admins_is_not_taken_to_have_none() -> None:
    source = ToldNode(lambda target: [group(1)] if target.startswith("/groups/member/") else None)
    node = Node([source])
    call = caller(make_server(node, toolsets="groups"))
    text = await error_of(call, "list_group_events", kind="waiting", admin=BOB)
    await node.close()
    assert text.startswith("Not supported by this node.")


async def test_the_admin_of_very_many_groups_hears_that_only_some_were_read() -> None:
    def tell(target: str) -> Any:
        if target.startswith("/groups/member/"):
            return [group(number, isAdmin=True) for number in range(1, 500)]
        if target.startswith("/groups/invites/group/"):
            number = int(target.rpartition("/")[2])
            return [{"groupId": number, "inviter": ALICE, "invitee": BOB}]
        return [] if target.startswith("/groups/joinrequests/") and "admin" not in target else older(target)

    answer, source = await asked_of(tell, kind="waiting", admin=ALICE, limit=100)
    assert [row["groupId"] for row in answer["events"]] == list(range(1, 91))
    assert answer["notes"] == ["Only the first 90 of 499 groups were read; give group_id for another."]
    assert len(source.asked) <= 200
    one, _ = await asked_of(tell, kind="waiting", admin=ALICE, group_id=400)
    assert [row["groupId"] for row in one["events"]] == [400]
