"""The single votes of a poll: who voted how, and whether an account voted."""

import hashlib
import json
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.words.base58 import address_of, encode
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .outcomes import answer_of, error_of
from .pages import every_page
from .told_node import ToldNode, fails
from .world import ALICE, BOB, NOBODY

POLL = "Best fruit?"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="polls")


def votes_on_chain(poll: str) -> list[tuple[str, int]]:
    """Who chose which place, by the addresses that Core itself gives the keys."""
    owners = {key: address for address, key in sample_chain()["publicKeys"].items()}
    return [
        (owners[vote["voterPublicKey"]], vote["optionIndex"])
        for vote in sample_chain()["pollVotes"][poll]["votes"]
    ]


@pytest.mark.promise(
    "Data of the chain", "Who voted how in a poll is one call, and pages reach every vote once."
)
@pytest.mark.parametrize("votes", [1, 2, 3, 5, 100])
async def test_pages_reach_every_vote_by_option(call: Call, votes: int) -> None:
    pages = await every_page(call, "get_poll", name=POLL, votes=votes)
    rows = [row for page in pages for row in page["votes"]]
    assert [page["page"]["returned"] for page in pages] == [len(page["votes"]) for page in pages]
    options = [option["name"] for option in pages[0]["options"]]
    assert sorted((row["voter"], options.index(row["option"])) for row in rows) == sorted(
        votes_on_chain(POLL)
    )
    assert [options.index(row["option"]) for row in rows] == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("name", [POLL, "app-library-APP-rating-Bob", "empty poll"])
async def test_single_votes_and_their_weights_add_up_to_the_result(call: Call, name: str) -> None:
    answer = await answer_of(call, "get_poll", name=name, votes=100)
    for option in answer["options"]:
        cast = [row for row in answer["votes"] if row["option"] == option["name"]]
        assert (len(cast), sum(row["weight"] for row in cast)) == (option["votes"], option["weight"])
    assert len(answer["votes"]) == answer["totalVotes"]


async def test_votes_are_listed_only_if_asked_for(call: Call) -> None:
    answer = await answer_of(call, "get_poll", name=POLL)
    assert not {"votes", "page"} & answer.keys()


@pytest.mark.promise("Data of the chain", "Whether an account voted in a poll, and how, is one call.")
@pytest.mark.parametrize(("voter", "option"), [(ALICE, "Apple"), (BOB, "Banana"), ("@Bob", "Banana")])
async def test_how_an_account_voted(call: Call, voter: str, option: str) -> None:
    answer = await answer_of(call, "get_poll", name=POLL, voter=voter)
    assert [row["option"] for row in answer["votes"]] == [option]
    assert answer["page"] == {"returned": 1}


@pytest.mark.parametrize("voter", [NOBODY, "QQQZzLbaR4AkpBqrc49r2VWsB8B8qSdesW"])
async def test_an_account_that_did_not_vote_is_said_not_to_have(call: Call, voter: str) -> None:
    answer = await answer_of(call, "get_poll", name=POLL, voter=voter)
    assert answer["votes"] == []
    assert answer["notes"][0] == f"No vote: {voter} has not voted in this poll."


@pytest.mark.parametrize("option", ["Banana", "banana"])
async def test_votes_for_one_option(call: Call, option: str) -> None:
    pages = await every_page(call, "get_poll", name=POLL, option=option, votes=1)
    rows = [row for page in pages for row in page["votes"]]
    assert {row["voter"] for row in rows} == {voter for voter, place in votes_on_chain(POLL) if place == 1}
    whole = await answer_of(call, "get_poll", name=POLL, option=option)
    assert whole["votes"] == rows


async def test_an_account_that_chose_something_else(call: Call) -> None:
    answer = await answer_of(call, "get_poll", name=POLL, voter=ALICE, option="Banana")
    assert answer["votes"] == []
    assert answer["notes"][0] == f"No vote: {ALICE} has not voted for this option."


async def test_an_option_that_the_poll_does_not_have_is_refused(call: Call) -> None:
    assert (await error_of(call, "get_poll", name=POLL, option="Durian")).startswith("Invalid option.")


async def test_an_option_with_hidden_characters_is_asked_for_as_it_is_shown(call: Call) -> None:
    name = "Hidden \\u{202E}poll\\u{202C} text"
    answer = await answer_of(call, "get_poll", name=name, option="\\u{202E}evil")
    assert answer["votes"] == []


async def test_votes_of_a_poll_that_cannot_be_asked_for_are_not_said_to_be_none(call: Call) -> None:
    answer = await answer_of(call, "get_poll", name="governance/2026 #1", votes=5)
    assert "votes" not in answer
    assert answer["notes"][0].startswith("The votes of a poll whose name contains /")


def key(number: int) -> str:
    return encode(hashlib.sha256(str(number).encode()).digest())


def node_with(votes: list[dict[str, Any]], option: str = "One") -> ToldNode:
    counts = [{"optionName": option, "voteCount": len(votes)}, {"optionName": "Two", "voteCount": 0}]
    poll = {"pollName": "empty poll", "owner": ALICE, "published": 1, "description": "x" * 4000}
    options = [{"optionName": option}, {"optionName": "Two"}]

    def tell(target: str) -> Any:
        if target.startswith("/polls/votes/"):
            return {"totalVotes": len(votes), "voteCounts": counts, "votes": votes}
        if target.startswith("/polls/empty"):
            return {**poll, "pollOptions": options}
        address = target.removeprefix("/addresses/")
        if target == f"/addresses/{address}" and len(address) == 34:
            return {"address": address, "level": 1, "blocksMinted": 10, "blocksMintedPenalty": -20}
        return None

    return ToldNode(tell)


async def test_many_votes_stay_within_the_bounds_of_requests_and_bytes() -> None:
    votes = [{"voterPublicKey": key(number), "optionIndex": 0} for number in range(450)]
    source = node_with(votes, option="o" * 400)
    node = Node([source])
    call = caller(make_server(node, toolsets="polls"))
    result = await call("get_poll", name="empty poll", votes=100)
    assert len(source.asked) < 120
    assert len(json.dumps(result["structuredContent"]).encode()) < 64 * 1024
    pages = await every_page(call, "get_poll", name="empty poll", votes=100)
    await node.close()
    voters = [row["voter"] for page in pages for row in page["votes"]]
    assert sorted(voters) == sorted(address_of(key(number)) for number in range(450))
    # A penalty larger than what was minted does not count against anybody.
    assert {row["weight"] for page in pages for row in page["votes"]} == {0}


async def test_votes_that_make_no_sense_are_shown_as_what_they_are() -> None:
    votes = [
        {"voterPublicKey": "not a key\u202e", "optionIndex": 0},
        {"voterPublicKey": key(1), "optionIndex": 99},
    ]
    node = Node([node_with(votes)])
    answer = await answer_of(
        caller(make_server(node, toolsets="polls")), "get_poll", name="empty poll", votes=9
    )
    await node.close()
    assert answer["votes"] == [
        {"voter": None, "option": "One", "weight": None, "publicKey": "not a key\\u{202E}"},
        {"voter": address_of(key(1)), "option": None, "weight": 0},
    ]


async def test_a_voter_whose_account_cannot_be_read_has_no_weight() -> None:
    source = ToldNode(lambda target: fails(124) if target == f"/addresses/{ALICE}" else None)
    node = Node([source])
    answer = await answer_of(caller(make_server(node, toolsets="polls")), "get_poll", name=POLL, voter=ALICE)
    await node.close()
    assert answer["votes"] == [{"voter": ALICE, "option": "Apple", "weight": None}]


async def test_a_python_without_ripemd_shows_public_keys_and_says_so(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = hashlib.new

    def without_ripemd(name: str, data: bytes = b"") -> Any:
        if name == "ripemd160":
            raise ValueError("unsupported hash type ripemd160")
        return new(name, data)

    monkeypatch.setattr(hashlib, "new", without_ripemd)
    answer = await answer_of(call, "get_poll", name=POLL, voter=ALICE)
    (row,) = answer["votes"]
    assert (row["voter"], row["option"]) == (None, "Apple")
    assert row["publicKey"] == sample_chain()["publicKeys"][ALICE]
    assert "RIPEMD-160" in answer["notes"][0]
