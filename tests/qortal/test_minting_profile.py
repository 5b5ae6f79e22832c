"""Does an account mint now, which level is next and when, what did it earn: on the sample chain, and on a made-up main net."""

import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .outcomes import answer_of
from .told_node import ToldNode, fails
from .world import ALICE, BOB, CHLOE, JUDY

ERIN = "QVD92gWZnvjdT4Y8RksZW414JPpe6XK2bq"
DILBERT = "Qci5m9k4rcwe4ruKrZZQKka4FzUUMut3er"
TIP = 2_300_500
MINUTE_MS = 60_000
OTHERS = [f"other{number}" for number in range(1000)]


def online(
    minter: str, level: int, recipient: str = "", key: str = "", member: bool = True
) -> dict[str, Any]:
    return {
        "timestamp": 1,
        "rewardSharePublicKey": key or minter,
        "minterAddress": minter,
        "recipientAddress": recipient or minter,
        "minterLevel": level,
        "isMinterMember": member,
    }


def share(minter: str, recipient: str, percent: str, key: str = "") -> dict[str, Any]:
    return {
        "mintingAccount": minter,
        "recipient": recipient,
        "sharePercent": percent,
        "rewardSharePublicKey": key or minter,
    }


class MainNet:
    """A main net node: a block a minute, batches at every thousand, and whatever a test sets."""

    def __init__(self) -> None:
        self.tip_ms = int(time.time() * 1000)
        self.info: dict[str, Any] = {"buildVersion": "qortal-6.1.8", "uptime": 1, "isTestNet": False}
        self.account = {"address": ALICE, "level": 5, "blocksMinted": 700_000, "blocksMintedPenalty": -1_000}
        self.online = [online(ALICE, 5), *(online(other, 5) for other in OTHERS[:3])]
        self.shares = [share(ALICE, ALICE, "0.00")]
        self.groups = [694]
        # Ranges of recorded blocks, and who was paid what in them.
        self.paid: dict[tuple[int, int], dict[str, str]] = {}
        self.changes: dict[str, Any] = {}

    def records(self, *payouts: int, **amounts: str) -> None:
        for height in payouts:
            self.paid[height - 10, height + 10] = dict(amounts)

    def at(self, height: int) -> dict[str, Any]:
        return {"signature": "x", "height": height, "timestamp": self.tip_ms - (TIP - height) * MINUTE_MS}

    def tell(self, target: str) -> Any:
        path, _, query = target.partition("?")
        asked = dict(pair.split("=", 1) for pair in query.split("&") if pair)
        offset, limit = int(asked.get("offset", 0)), int(asked.get("limit", 100))
        known: dict[str, Any] = {
            "/admin/info": self.info,
            "/blocks/last": self.at(TIP),
            f"/addresses/{ALICE}": self.account,
            "/addresses/online": self.online,
            "/addresses/rewardshares": self.shares,
            f"/groups/member/{ALICE}": [
                {"groupId": each, "owner": "x", "groupName": "x", "created": 1, "isOpen": True}
                for each in self.groups
            ],
            "/assets/balancedynamicranges": [
                {"begin": begin, "end": end, "isRewardDistribution": True}
                for begin, end in sorted(self.paid, reverse=True)
            ][offset : offset + limit],
        }
        known |= self.changes
        if path in known:
            return known[path]
        if found := re.fullmatch(r"/blocks/timestamp/(\d+)", path):
            return self.at(max(2, TIP - -(-(self.tip_ms - int(found[1])) // MINUTE_MS)))
        if found := re.fullmatch(r"/blocks/byheight/(\d+)", path):
            return self.at(int(found[1]))
        if found := re.fullmatch(r"/assets/balancedynamicamounts/(\d+)/(\d+)", path):
            rows = self.paid[int(found[1]), int(found[2])].items()
            return [{"address": name, "amount": amount} for name, amount in rows][offset : offset + limit]
        return None

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[tuple[Call, ToldNode]]:
        source = ToldNode(self.tell)
        node = Node([source])
        yield caller(make_server(node, toolsets="accounts")), source
        await node.close()

    async def profile(self, **arguments: Any) -> dict[str, Any]:
        async with self.asked() as (call, _):
            return await answer_of(call, "get_minting_profile", address=ALICE, **arguments)


@pytest.fixture
def main_net() -> MainNet:
    return MainNet()


@pytest.mark.promise(
    "Data of the chain",
    "`get_minting_profile` says whether an account mints now and if not why, its next level and when.",
)
async def test_a_minter_hears_that_it_mints_and_when_it_rises(main_net: MainNet) -> None:
    profile = await main_net.profile()
    assert (profile["isMintingNow"], profile["whyNotMinting"], profile["isInMintingGroup"]) == (
        True,
        None,
        True,
    )
    level = profile["nextLevel"]
    assert (level["level"], level["blocksNeeded"], level["blocksLeft"]) == (6, 964_000, 265_000)
    assert level["atHeight"] == 2_301_000 + 264_000
    minutes = level["atHeight"] - TIP
    expected = time.strftime(
        "%Y-%m-%dT%H:%M:%S", time.gmtime((main_net.tip_ms + minutes * MINUTE_MS) // 1000)
    )
    assert level["time"].startswith(expected)


async def test_the_expected_payout_is_the_tiers_part_of_a_batch(main_net: MainNet) -> None:
    payout = (await main_net.profile())["expectedPayout"]
    # Tiers above have nobody online, so that theirs is paid to this one.
    batch = Decimal("3.00") * 1000
    assert Decimal(payout["amount"]) == batch * 77 / 100 / 4
    assert (payout["height"], payout["unit"]) == (2_301_000, "QORT")
    assert payout["assumes"].startswith(
        "The 4 minters online now stay online, and 4 of them share 77 % of the batch;"
    )


async def test_who_is_no_member_of_the_minting_group_shares_nothing(main_net: MainNet) -> None:
    main_net.online += [online(other, 5, member=False) for other in OTHERS[3:50]]
    assert (await main_net.profile())["expectedPayout"]["assumes"].startswith("The 4 minters online now")
    main_net.groups, main_net.online[0] = [1, 2], online(ALICE, 5, member=False)
    profile = await main_net.profile()
    assert (profile["isMintingNow"], profile["isInMintingGroup"], profile["expectedPayout"]) == (
        False,
        False,
        None,
    )
    assert (
        profile["whyNotMinting"]
        == "It is not a member of the minting group 694, so nothing is counted or paid."
    )


async def test_a_recipient_expects_its_share_and_the_minter_the_rest(main_net: MainNet) -> None:
    whole = Decimal("3000") * 77 / 100 / 4
    main_net.online[0] = online(ALICE, 5, ERIN, "key")
    main_net.shares = [share(ALICE, ERIN, "25.00", "key")]
    assert Decimal((await main_net.profile())["expectedPayout"]["amount"]) == whole * 75 / 100
    main_net.online[0] = online(BOB, 5, ALICE, "key")
    main_net.shares = [share(BOB, ALICE, "25.00", "key")]
    profile = await main_net.profile()
    assert Decimal(profile["expectedPayout"]["amount"]) == whole * 25 / 100
    assert profile["isMintingNow"] is False
    assert profile["whyNotMinting"] == "It has no reward share as a minter, and a node mints with one."


async def test_an_account_that_is_not_online_hears_so(main_net: MainNet) -> None:
    main_net.online = main_net.online[1:]
    profile = await main_net.profile()
    assert profile["whyNotMinting"] == "None of its reward shares is online: no node mints with them now."
    assert (profile["isMintingNow"], profile["expectedPayout"]) == (False, None)


async def test_a_node_that_does_not_tell_who_is_online_leaves_it_open(main_net: MainNet) -> None:
    main_net.changes = {"/addresses/online": fails(304), f"/groups/member/{ALICE}": fails()}
    profile = await main_net.profile()
    assert profile["isMintingNow"] is profile["whyNotMinting"] is profile["isInMintingGroup"] is None
    assert profile["nextLevel"]["level"] == 6


async def test_at_the_highest_level_nothing_is_next(main_net: MainNet) -> None:
    main_net.account = {"address": ALICE, "level": 10, "blocksMinted": 5_000_000}
    assert (await main_net.profile())["nextLevel"] is None


async def test_a_node_that_does_not_say_which_chain_it_has_is_taken_for_the_main_net(
    main_net: MainNet,
) -> None:
    del main_net.info["isTestNet"]
    profile = await main_net.profile()
    assert profile["nextLevel"]["level"] == 6
    assert (
        "The node does not say which chain it has; nextLevel and expectedPayout assume the main net."
        in profile["notes"]
    )


WEEK = [2_291_000 + 1000 * number for number in range(10)]


@pytest.mark.promise(
    "Data of the chain",
    "What an account earned is summed exactly from the node's own record, or the answer says how to switch it on.",
)
async def test_earnings_of_a_week_are_summed_from_the_record(main_net: MainNet) -> None:
    for number, height in enumerate(range(2_280_000, 2_301_000, 1000)):
        main_net.records(height, **{BOB: "99.00000000", ALICE: f"{number}.00000001"})
    profile = await main_net.profile()
    earnings = profile["earnings"]
    assert [row["toHeight"] - 10 for row in earnings["payouts"]] == WEEK
    amounts = [Decimal(main_net.paid[height - 10, height + 10][ALICE]) for height in WEEK]
    assert (
        Decimal(earnings["total"])
        == sum(amounts)
        == sum(Decimal(row["amount"]) for row in earnings["payouts"])
    )
    assert (earnings["complete"], earnings["unit"]) == (True, "QORT")
    assert earnings["range"]["fromHeight"] == TIP - 7 * 1440 + 1
    assert earnings["range"]["toHeight"] == TIP
    assert "page" not in profile
    assert "notes" not in profile


async def test_spans_that_meet_share_no_payout_and_lose_none(main_net: MainNet) -> None:
    main_net.records(*WEEK, **{ALICE: "0.30000001"})
    # Within a recorded range, just after its payout.
    between = main_net.at(WEEK[4] + 1)["timestamp"]
    for times in ({"since": "7d", "until": between}, {"since": between - 1}):
        earnings = (await main_net.profile(**times))["earnings"]
        assert earnings["complete"] is True
        assert Decimal(earnings["total"]) == Decimal("0.30000001") * 5


async def test_the_pages_of_a_year_end_where_the_year_does(main_net: MainNet) -> None:
    main_net.records(*range(2_200_000, 2_301_000, 1000), **{ALICE: "1.00000000"})
    arguments: dict[str, Any] = {"since": "1y", "until": "7d"}
    total, pages = Decimal(0), 0
    while arguments:
        profile = await main_net.profile(**arguments)
        total, pages = total + Decimal(profile["earnings"]["total"]), pages + 1
        arguments = {**profile.get("page", {}).get("next", {})}
        arguments.pop("address", None)
    assert total == 101 - len(WEEK)
    assert pages > 1


async def test_without_a_record_the_answer_says_how_to_switch_it_on(main_net: MainNet) -> None:
    profile = await main_net.profile()
    assert profile["earnings"] is None
    note, count = profile["notes"]
    assert "balanceRecorderEnabled" in note
    assert "settings.json" in note
    assert count == "10 batches of rewards were paid in that time; see expectedPayout."
    main_net.changes = {"/assets/balancedynamicranges": fails()}
    assert (await main_net.profile())["earnings"] is None


async def test_payouts_that_were_not_recorded_make_a_sum_incomplete(main_net: MainNet) -> None:
    main_net.records(*WEEK[3:], **{ALICE: "1.00000000"})
    profile = await main_net.profile()
    assert (profile["earnings"]["total"], profile["earnings"]["complete"]) == ("7.00000000", False)
    assert "The node has no record yet, or no longer, of 3 of 10 payouts in that time." in profile["notes"]


async def test_an_account_is_found_on_whatever_page_it_is_or_earned_nothing(main_net: MainNet) -> None:
    crowd = dict.fromkeys(OTHERS, "2.00000000")
    main_net.records(*WEEK[:-1], **crowd, **{ALICE: "1.00000000"})
    main_net.records(WEEK[-1], **crowd)
    async with main_net.asked() as (call, source):
        profile = await answer_of(call, "get_minting_profile", address=ALICE)
    assert profile["earnings"]["total"] == "9.00000000"
    assert profile["earnings"]["complete"] is True
    assert len(profile["earnings"]["payouts"]) == 9
    assert len(source.asked) <= 200


@pytest.mark.parametrize("crowd", [0, 1000])
async def test_long_times_are_continued_until_the_last_payout(main_net: MainNet, crowd: int) -> None:
    heights = range(2_200_000, 2_301_000, 1000)
    main_net.records(*heights, **dict.fromkeys(OTHERS[:crowd], "2.00000000"), **{ALICE: "0.10000001"})
    total, seen, arguments, pages = Decimal(0), list[int](), {"address": ALICE, "since": "1y"}, 0
    while True:
        async with main_net.asked() as (call, source):
            profile = await answer_of(call, "get_minting_profile", **arguments)
        assert len(source.asked) <= 200
        earnings, pages = profile["earnings"], pages + 1
        assert earnings["complete"] is False or "page" not in profile
        total += Decimal(earnings["total"])
        seen += [row["toHeight"] - 10 for row in earnings["payouts"]]
        if "page" not in profile:
            break
        assert profile["page"]["returned"] == len(earnings["payouts"]) <= 40
        assert earnings["range"]["toHeight"] == seen[-1] + 10
        arguments = profile["page"]["next"]
    assert seen == list(heights)
    assert total == Decimal("0.10000001") * len(heights)
    assert pages > 2


async def test_blocks_that_were_recorded_twice_are_counted_once(main_net: MainNet) -> None:
    main_net.records(*WEEK, **{ALICE: "1.00000000"})
    main_net.paid[WEEK[4] - 5, WEEK[4] + 15] = {ALICE: "1.00000000"}
    earnings = (await main_net.profile())["earnings"]
    assert (earnings["total"], earnings["complete"]) == ("10.00000000", True)


async def test_a_range_with_more_accounts_than_one_call_may_read_is_left_open(main_net: MainNet) -> None:
    main_net.records(*WEEK, **{f"x{number}": "1.00000000" for number in range(20_000)})
    profile = await main_net.profile()
    assert (profile["earnings"]["total"], profile["earnings"]["complete"]) == ("0.00000000", False)
    assert "page" not in profile
    assert profile["notes"] == [
        "The first payout in that time went to more accounts than one call may read; try a later since."
    ]


async def test_a_record_that_was_dropped_meanwhile_counts_as_missing(main_net: MainNet) -> None:
    main_net.records(*WEEK, **{ALICE: "1.00000000"})
    main_net.changes = {f"/assets/balancedynamicamounts/{WEEK[0] - 10}/{WEEK[0] + 10}": fails(125)}
    earnings = (await main_net.profile())["earnings"]
    assert (earnings["total"], earnings["complete"]) == ("9.00000000", False)


HOSTILE: list[Any] = [
    pytest.param("/assets/balancedynamicranges", [{"begin": 0, "end": 2**62, "isRewardDistribution": True}], id="range"),
    pytest.param("/addresses/rewardshares", [share(BOB, ALICE, "\u202e lots", "key")], id="percent"),
    pytest.param("/blocks/last", {"signature": "x", "height": 2**31 - 1, "timestamp": 253_402_300_799_000}, id="last-day"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "said"), HOSTILE)
async def test_nonsense_of_a_node_is_left_out(main_net: MainNet, path: str, said: Any) -> None:
    main_net.online.append(online(BOB, 5, ALICE, "key"))
    main_net.online[0] = online(BOB, 2**60, ALICE, "key")
    main_net.changes = {path: said}
    profile = await main_net.profile(since="2020-01-01")
    assert "\u202e" not in json.dumps(profile, ensure_ascii=False)


async def test_a_penalty_of_any_size_gives_no_date(main_net: MainNet) -> None:
    main_net.account["blocksMintedPenalty"] = -(2**62)
    level = (await main_net.profile())["nextLevel"]
    assert level["blocksLeft"] == 964_000 - 700_000 + 2**62
    assert level["atHeight"] is level["time"] is None


@pytest.mark.parametrize("address", [ALICE, BOB, CHLOE, JUDY, DILBERT, ERIN])
async def test_on_the_sample_chain_earnings_are_those_of_its_record(call: Call, address: str) -> None:
    raw = "/assets/balancedynamicamounts/{begin}/{end}"
    paid = Decimal(0)
    for begin, end in ((534, 575), (579, 580)):
        rows = await answer_of(
            call, "read_core", endpoint=raw, values={"begin": begin, "end": end, "limit": 100}
        )
        paid += sum(Decimal(row["amount"]) for row in rows["rows"] if row["address"] == address)
    profile = await answer_of(call, "get_minting_profile", address=address)
    assert Decimal(profile["earnings"]["total"]) == paid
    assert profile["earnings"]["complete"] is False
    assert "The node recorded nothing before block 527." in profile["notes"]
    assert profile["nextLevel"] is profile["expectedPayout"] is profile["isInMintingGroup"] is None
    assert any(note.startswith("This is a test chain") for note in profile["notes"])
    assert profile["isMintingNow"] is (address in (ALICE, CHLOE))


@pytest.mark.parametrize("end", ["since", "until"])
async def test_a_record_that_an_end_of_the_time_cuts_is_named_on_a_chain_of_unknown_rules(
    call: Call, end: str
) -> None:
    at = (await answer_of(call, "get_block", height=550))["timestamp"]
    # The record begins before block 530.
    begin = (await answer_of(call, "get_block", height=530))["timestamp"]
    times = {"since": at} if end == "since" else {"since": begin, "until": at}
    earnings = await answer_of(call, "get_minting_profile", address=ALICE, **times)
    assert earnings["earnings"]["complete"] is False
    note = "Not counted: what was paid in blocks 535 to 575, of which only a part is in that time."
    assert note in earnings["notes"]


async def test_earnings_after_a_time_leave_out_what_was_paid_before(call: Call) -> None:
    # The time of block 579.
    profile = await answer_of(call, "get_minting_profile", address=ALICE, since=1794775643884)
    assert profile["earnings"]["total"] == "59.86563928"
    assert profile["earnings"]["complete"] is True
    assert profile["earnings"]["range"]["fromHeight"] == 580
