"""Answers of the sample chain that follow from other data of it, for everyone on it and not only where recorded."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.sample.core.java import java_hash_order
from qortal_mcp.qortal.sample.reader import answer


def ask(target: str) -> Any:
    reply = answer(target)
    assert reply.status == 200, target
    return json.loads(reply.body)


@pytest.mark.parametrize(
    ("family", "path"),
    [
        ("groupsByOwner", "/groups/owner/{}"),
        ("groupsByMember", "/groups/member/{}"),
        ("groupKicks", "/groups/kicks/member?address={}"),
        ("activeChats", "/chat/active/{}?encoding=BASE64"),
        ("namesByAddress", "/names/address/{}"),
        ("primaryNames", "/names/primary/{}"),
    ],
)
def test_everyone_on_the_chain_gets_what_core_told_of_them(family: str, path: str) -> None:
    for address, told in sample_chain()[family].items():
        assert ask(path.format(address)) == told


def test_every_name_is_found_by_itself_and_in_capitals() -> None:
    for name, told in sample_chain()["nameByName"].items():
        assert ask(f"/names/{quote(name, safe='')}") == told
        assert ask(f"/names/{quote(name.upper(), safe='')}") == told


def test_every_pair_of_people_has_the_chat_that_core_told_of() -> None:
    for pair, told in sample_chain()["chatDirect"].items():
        one, other = pair.split("/")
        assert ask(f"/chat/messages?involving={one}&involving={other}&encoding=BASE64") == told


@pytest.mark.parametrize(
    ("numbers", "order"),
    [
        ([], []),
        ([7, 8], [8, 7]),
        ([1, 2, 3, 6], [1, 2, 3, 6]),
        ([8, 3, 5], [8, 3, 5]),
        (range(1, 9), [*range(1, 9)]),
    ],
)
def test_small_numbers_come_in_the_order_of_java(numbers: Any, order: list[int]) -> None:
    assert java_hash_order(numbers) == order


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/groups/abc", 400),
        ("/groups/owner", 400),
        ("/groups/members/", 400),
        ("/groups/3/members", 404),
        ("/polls/apps", 404),
        ("/chat/messages?txGroupId=3&involving=x", 400),
        ("/chat/messages/count", 400),
        ("/names/" + "x" * 8200, 414),
        ("/names/search", 400),
        ("/chat/groupstats", 500),
    ],
)
def test_wrong_questions_get_what_core_gives_them(target: str, status: int) -> None:
    assert answer(target).status == status


def test_owners_admins_and_members_are_told_apart() -> None:
    alice = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
    path = f"/groups/member/{alice}"
    assert [row["groupId"] for row in ask(f"{path}?ownerOnly=true")] == [2, 3]
    assert [row["groupId"] for row in ask(f"{path}?adminOnly=true")] == [1, 2, 3]
    assert not any("isAdmin" in row for row in ask(f"{path}?adminOnly=true"))
    assert ask("/groups/members/3?onlyAdmins=true") == sample_chain()["groupAdmins"]["3"]
