"""Minting profiles and reward shares, as a client sees them on the sample chain."""

import json
from typing import Any

import jsonschema_rs
import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .test_tools import AS_OF, SAMPLE, answer_of, definition_of, error_of, follow
from .world import ALICE, BOB, CONTRACT, EMPTY, JUDY, NOBODY, WRONG_CHECKSUM

ERIN = "QVD92gWZnvjdT4Y8RksZW414JPpe6XK2bq"
IVAN = "Qa7AN7PAhrDcNakiZyJdd1tuQUDK7NEeLB"
HEIDI = "QLx87ymf2ZXDMJmVYKAfGGbUD2dP6Xp1Ju"
FAILS = '{"error":5,"message":"repository error"}'


@pytest.fixture
def call(node: Node) -> Call:
    return caller(make_server(node, toolsets="accounts"))


async def test_a_profile_tells_what_a_minter_mints_and_shares(call: Call) -> None:
    profile = await answer_of(call, "get_minting_profile", address=ALICE)
    assert (profile["level"], profile["blocksMinted"], profile["isFounder"]) == (4, 579, True)
    assert (profile["blocksMintedAdjustment"], profile["blocksMintedPenalty"]) == (0, 0)
    assert profile["sponsor"] is None
    assert [(share["recipient"], share["sharePercent"]) for share in profile["rewardShares"]] == [
        (ERIN, "25.00"),
        (ALICE, "0.00"),
    ]
    assert [share["isSelfShare"] for share in profile["rewardShares"]] == [False, True]


async def test_a_profile_counts_those_whose_share_has_ended_as_well(call: Call) -> None:
    sponsees = (await answer_of(call, "get_minting_profile", address=ALICE))["sponsees"]
    assert sponsees == {
        "count": 2,
        "names": ["erin-for-sale", "../admin/stop", "..."],
        "averageBalanceQort": 3822,
        "dealings": {
            "publications": 0,
            "assetTransfers": 1,
            "privilegeTransfers": 0,
            "sales": 8,
            "soldQort": 236,
            "purchases": 19,
            "boughtQort": 479,
        },
    }


@pytest.mark.parametrize(
    ("address", "sponsor"), [(IVAN, ALICE), (ERIN, ALICE), (BOB, None), (CONTRACT, None)]
)
async def test_a_profile_names_the_sponsor(call: Call, address: str, sponsor: str | None) -> None:
    assert (await answer_of(call, "get_minting_profile", address=address))["sponsor"] == sponsor


@pytest.mark.parametrize(("address", "was"), [(HEIDI, True), (EMPTY, True), (JUDY, False)])
async def test_a_profile_tells_of_transferred_privileges(call: Call, address: str, was: bool) -> None:
    assert (await answer_of(call, "get_minting_profile", address=address))["wasInPrivilegeTransfer"] is was


async def test_an_address_never_seen_is_not_found(call: Call) -> None:
    assert await error_of(call, "get_minting_profile", address=NOBODY) == (
        "NOT_FOUND",
        "Address not found on chain.",
    )


@pytest.mark.parametrize(
    "failure", [replies("<html>", 404, "text/html"), replies(FAILS, 500), replies("<html>", 500, "text/html")]
)
async def test_a_node_without_reports_still_gives_the_rest(failure: Any) -> None:
    async with FaultyNode() as old:
        for report in ("mintership", "sponsorship"):
            old.behaviours[f"/addresses/{report}/{ALICE}"] = failure
        old.behaviours[f"/addresses/sponsorship/{ALICE}/sponsor"] = failure
        node = Node.at([old.url])
        profile = await answer_of(
            caller(make_server(node, toolsets="accounts")), "get_minting_profile", address=ALICE
        )
        await node.close()
    assert profile["level"] == 4
    assert profile["sponsees"] is profile["dealings"] is profile["wasInPrivilegeTransfer"] is None
    assert "This node does not report on sponsorship." in profile["notes"]


async def test_more_shares_and_names_than_fit_are_cut_and_said() -> None:
    shares = [
        {
            "mintingAccount": ALICE,
            "recipient": BOB,
            "rewardSharePublicKey": f"{number}",
            "sharePercent": "1.00",
            "minterPublicKey": "k",
        }
        for number in range(21)
    ]
    names = [f"name-{number}\u202e" for number in range(101)]
    async with FaultyNode() as busy:
        busy.behaviours["/addresses/rewardshares"] = replies(json.dumps(shares))
        busy.behaviours[f"/addresses/sponsorship/{ALICE}"] = replies(
            json.dumps({"address": ALICE, "names": names, "nonRegisteredCount": -99})
        )
        node = Node.at([busy.url])
        profile = await answer_of(
            caller(make_server(node, toolsets="accounts")), "get_minting_profile", address=ALICE
        )
        await node.close()
    assert len(profile["rewardShares"]) == 20
    assert len(profile["sponsees"]["names"]) == 100
    assert profile["sponsees"]["names"][0] == "name-0\\u{202E}"
    assert profile["notes"][:2] == [
        "rewardShares lists the first 20; list_reward_shares returns all.",
        "sponsees.names lists 100 of 101.",
    ]


SHARES: list[Any] = [
    ({"minter": ALICE}, {ERIN, ALICE}),
    ({"recipient": ERIN}, {ERIN}),
    ({"involving": ERIN}, {ERIN}),
    ({"minter": ALICE, "recipient": ERIN}, {ERIN}),
    ({"minter": BOB, "recipient": ERIN}, set()),
    ({"involving": NOBODY}, set()),
]


@pytest.mark.parametrize(("filters", "recipients"), SHARES)
async def test_shares_are_found_by_either_side(
    call: Call, filters: dict[str, Any], recipients: set[str]
) -> None:
    shares = (await answer_of(call, "list_reward_shares", **filters))["rewardShares"]
    assert {share["recipient"] for share in shares} == recipients


@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_following_pages_reaches_every_share_once(call: Call, limit: int) -> None:
    everything = (await answer_of(call, "list_reward_shares", involving=ALICE, limit=100))["rewardShares"]
    assert len(everything) == 2
    assert (
        await follow(call, "list_reward_shares", "rewardShares", involving=ALICE, limit=limit) == everything
    )


BAD_CALLS: list[Any] = [
    ("list_reward_shares", {}, "Invalid arguments. Give at least one of minter, recipient and involving."),
    ("list_reward_shares", {"limit": 5}, "Invalid arguments."),
    ("list_reward_shares", {"minter": WRONG_CHECKSUM}, "Invalid Qortal address."),
    ("list_reward_shares", {"recipient": ""}, "Invalid Qortal address."),
    ("list_reward_shares", {"involving": "../admin/stop"}, "Invalid Qortal address."),
    ("list_reward_shares", {"minter": ALICE, "limit": 0}, "Invalid limit."),
    ("list_reward_shares", {"minter": ALICE, "offset": -1}, "Invalid offset."),
    ("get_minting_profile", {}, "Missing argument address."),
    ("get_minting_profile", {"address": "12345"}, "Invalid Qortal address."),
]


@pytest.mark.parametrize(("tool", "arguments", "sentence"), BAD_CALLS)
async def test_bad_arguments_never_reach_the_node(
    tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        code, text = await error_of(caller(make_server(node, toolsets="accounts")), tool, **arguments)
        await node.close()
    assert code == "INVALID_ARGUMENT"
    assert text.startswith(sentence)
    assert watched.asked == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_minting_profile", {"address": ALICE}),
        ("get_minting_profile", {"address": CONTRACT}),
        ("get_minting_profile", {"address": EMPTY}),
        ("list_reward_shares", {"involving": ALICE}),
        ("list_reward_shares", {"minter": NOBODY}),
    ],
)
async def test_an_answer_keeps_to_its_schema(node: Node, tool: str, arguments: dict[str, Any]) -> None:
    server = make_server(node, toolsets="accounts")
    answer = await answer_of(caller(server), tool, **arguments)
    definition = await definition_of(server, tool)
    assert definition is not None
    jsonschema_rs.validate(definition["outputSchema"], answer)
    assert answer["asOf"] == AS_OF
    assert answer["notes"][-1] == SAMPLE
