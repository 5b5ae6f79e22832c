"""Polls: what is asked, how the votes stand, and what apps are worth to their users."""

import json
from typing import Any

import msgspec
import pytest

from qortal_mcp.qortal.endpoints.polls import POLL_VOTES
from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import Chain, sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .outcomes import answer_of
from .pages import every_page, every_row
from .told_node import ToldNode
from .world import ALICE


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="polls")


@pytest.mark.parametrize("limit", [1, 3, 4, 8, 100])
async def test_pages_reach_the_oldest_poll_from_the_newest_one(call: Call, limit: int) -> None:
    rows = await every_row(call, "list_polls", "polls", limit=limit)
    times = [row["published"] for row in sample_chain()["polls"]]
    assert [row["published"] for row in rows] == sorted(times, reverse=True)
    oldest_first = await every_row(call, "list_polls", "polls", limit=limit, reverse=True)
    assert oldest_first == rows[::-1]


@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_polls_since_a_time(call: Call, limit: int) -> None:
    since = 1794769973890
    rows = await every_row(call, "list_polls", "polls", limit=limit, since=str(since))
    times = [row["published"] for row in sample_chain()["polls"]]
    assert [row["published"] for row in rows] == sorted((ms for ms in times if ms > since), reverse=True)
    assert await every_row(call, "list_polls", "polls", since="2026-11-16") == []
    assert len(await every_row(call, "list_polls", "polls", since="1d")) == len(times)


async def test_the_newest_of_many_polls_come_first_whatever_their_names() -> None:
    times = [number * 7919 % 1009 for number in range(950)]
    polls = [{"pollName": f"p{n:04d}", "owner": ALICE, "published": ms} for n, ms in enumerate(times)]

    def tell(target: str) -> Any:
        if not target.startswith("/polls?"):
            return None
        first = int(target.partition("offset=")[2].partition("&")[0])
        return polls[first : first + 100]

    source = ToldNode(tell)
    node = Node([source])
    rows = await every_row(caller(make_server(node, toolsets="polls")), "list_polls", "polls", limit=100)
    await node.close()
    assert [row["published"] for row in rows] == sorted(times, reverse=True)
    # Ten pages are read side by side, and kept for the calls that follow.
    assert len([target for target in source.asked if target.startswith("/polls?")]) <= 16


async def test_polls_without_end_are_read_up_to_a_bound_and_noted() -> None:
    def tell(target: str) -> Any:
        if not target.startswith("/polls?"):
            return None
        first = int(target.partition("offset=")[2].partition("&")[0])
        return [{"pollName": f"p{n}", "owner": ALICE, "published": n} for n in range(first, first + 100)]

    source = ToldNode(tell)
    node = Node([source])
    answer = await answer_of(caller(make_server(node, toolsets="polls")), "list_polls", limit=1)
    await node.close()
    asked = len([target for target in source.asked if target.startswith("/polls?")])
    assert 150 <= asked <= 200
    assert answer["polls"][0]["published"] == 100 * asked - 1
    assert answer["notes"] == [f"Only the first {100 * asked:,} polls by name were read; there are more."]


async def test_a_poll_in_a_list_tells_what_is_asked(call: Call) -> None:
    row = (await call("list_polls"))["structuredContent"]["polls"][-1]
    assert row["pollName"] == "Best fruit?"
    assert row["owner"] == ALICE
    assert row["options"] == ["Apple", "Banana", "Cherry 🍒"]
    assert row["optionCount"] == 3
    assert row["publishedTime"] == "2026-11-15T19:12:53.669Z"


async def test_results_come_by_count_and_by_weight_in_the_order_of_the_poll(call: Call) -> None:
    answer = (await call("get_poll", name="Best fruit?"))["structuredContent"]
    assert [(o["name"], o["votes"], o["weight"]) for o in answer["options"]] == [
        ("Apple", 2, 579),
        ("Banana", 2, 320),
        ("Cherry 🍒", 1, 0),
    ]
    assert [(o["votesPercent"], o["weightPercent"]) for o in answer["options"]] == [
        ("40.00", "64.40"),
        ("40.00", "35.60"),
        ("20.00", "0.00"),
    ]
    assert (answer["totalVotes"], answer["totalWeight"]) == (5, 899)


@pytest.mark.promise(
    "Data of the chain",
    "A name or poll whose name holds characters that are never sent in a path is found through the search or the list.",
)
async def test_a_poll_whose_name_is_never_sent_in_a_path_is_found_in_the_list(call: Call) -> None:
    answer = (await call("get_poll", name="governance/2026 #1"))["structuredContent"]
    assert (answer["pollName"], answer["description"]) == ("governance/2026 #1", "a name with a slash")
    assert [option["name"] for option in answer["options"]] == ["Yes", "No", "Abstain"]
    assert {option["votes"] for option in answer["options"]} == {None}
    assert (answer["totalVotes"], answer["totalWeight"]) == (None, None)
    assert answer["notes"][0].startswith("The votes of a poll whose name contains /")


@pytest.mark.parametrize("name", ["governance/2026", "Governance/2026 #1", "..", "100%"])
async def test_only_the_exact_name_of_such_a_poll_is_found(call: Call, name: str) -> None:
    assert (await call("get_poll", name=name))["content"][0]["text"] == "Poll not found."


async def test_shares_are_rounded_to_two_places(call: Call) -> None:
    answer = (await call("get_poll", name="Best fruit?"))["structuredContent"]
    assert [o["weightPercent"] for o in answer["options"]] == ["64.40", "35.60", "0.00"]
    assert [o["votesPercent"] for o in answer["options"]] == ["40.00", "40.00", "20.00"]


async def test_a_poll_without_votes_has_no_shares(call: Call) -> None:
    answer = (await call("get_poll", name="empty poll"))["structuredContent"]
    assert answer["totalVotes"] == 0
    assert {option["votesPercent"] for option in answer["options"]} == {None}


@pytest.mark.parametrize("name", ["best fruit?", "no such poll", "votes", "apps"])
async def test_an_unknown_poll_is_not_found(call: Call, name: str) -> None:
    result = await call("get_poll", name=name)
    assert result["content"][0]["text"] == "Poll not found."


@pytest.mark.parametrize("name", ["Hidden \u202epoll\u202c text", "Hidden \\u{202E}poll\\u{202C} text"])
async def test_hidden_characters_of_a_poll_are_shown_and_can_be_asked_for_as_shown(
    call: Call, name: str
) -> None:
    result = await call("get_poll", name=name)
    answer = result["structuredContent"]
    assert answer["pollName"] == "Hidden \\u{202E}poll\\u{202C} text"
    assert [option["name"] for option in answer["options"]] == ["\\u{202E}evil", "plain"]
    assert "\u202e" not in result["content"][0]["text"]


async def test_only_counts_of_votes_are_asked_for() -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        await caller(make_server(node, toolsets="polls"))("get_poll", name="Best fruit?")
        await node.close()
    assert [target for target in watched.asked if "votes" in target] == [
        "/polls/votes/Best%20fruit%3F?onlyCounts=true"
    ]


async def test_a_sum_of_weights_that_overflowed_in_core_is_put_right() -> None:
    votes = {
        "totalVotes": 2,
        "totalWeight": -294967296,
        "voteCounts": [{"optionName": "B", "voteCount": 1}, {"optionName": "A", "voteCount": 1}],
        "voteWeights": [
            {"optionName": "B", "voteWeight": 2000000000},
            {"optionName": "A", "voteWeight": 2000000000},
        ],
    }
    async with FaultyNode() as large:
        large.behaviours["/polls/votes/empty%20poll"] = replies(json.dumps(votes))
        node = Node.at([large.url])
        answer = (await caller(make_server(node, toolsets="polls"))("get_poll", name="empty poll"))[
            "structuredContent"
        ]
        await node.close()
    assert answer["totalWeight"] == 4_000_000_000


async def test_a_poll_with_much_text_is_short_in_a_list_and_whole_by_itself() -> None:
    poll = {
        "pollName": "long",
        "owner": ALICE,
        "description": "x" * 4000,
        "published": 1794769973669,
        "pollOptions": [{"optionName": f"option {number}"} for number in range(100)],
    }
    async with FaultyNode() as wordy:
        wordy.behaviours["/polls"] = replies(json.dumps([poll]))
        wordy.behaviours["/polls/long"] = replies(json.dumps(poll))
        wordy.behaviours["/polls/votes/long"] = replies('{"totalVotes":0,"totalWeight":0}')
        node = Node.at([wordy.url])
        call = caller(make_server(node, toolsets="polls"))
        row = (await call("list_polls"))["structuredContent"]["polls"][0]
        whole = (await call("get_poll", name="long"))["structuredContent"]
        await node.close()
    assert (row["optionCount"], len(row["options"])) == (100, 10)
    assert row["description"] == "x" * 120 + "… [3880 more characters]"
    assert whole["description"] == "x" * 4000
    assert [option["name"] for option in whole["options"]] == [f"option {number}" for number in range(100)]


async def test_ratings_are_averages_by_votes_and_by_weight(call: Call) -> None:
    rows = await every_row(call, "list_app_ratings", "ratings")
    assert [(row["appName"], row["service"], row["totalVotes"]) for row in rows] == [
        ("Bob", "APP", 3),
        ("alice-test", "WEBSITE", 1),
    ]
    assert (rows[0]["averageByVotes"], rows[0]["averageByWeight"]) == ("3.33", "3.58")
    assert rows[0]["votes"] == {"1": 1, "2": 0, "3": 0, "4": 1, "5": 1}


@pytest.mark.parametrize("service", ["APP", "WEBSITE"])
async def test_ratings_of_one_kind(call: Call, service: str) -> None:
    rows = await every_row(call, "list_app_ratings", "ratings", service=service)
    assert [row["service"] for row in rows] == [service]


async def test_an_unknown_kind_of_rating_is_refused(call: Call) -> None:
    result = await call("list_app_ratings", service="FILE")
    assert result["content"][0]["text"] == "Invalid service. service takes one of: APP, WEBSITE."


def rating(number: int) -> dict[str, Any]:
    marks = {str(mark): number * mark % 7 for mark in range(1, 6)} | {"initialValue-4": 0}
    return {
        "pollName": f"app-library-APP-rating-app {number:03d}",
        "service": "APP",
        "appName": f"app {number:03d}",
        "owner": ALICE,
        "published": 1794769973890,
        "totalVotes": sum(marks.values()),
        "totalWeight": 0,
        "voteCounts": [{"optionName": mark, "voteCount": votes} for mark, votes in marks.items()],
        "voteWeights": [{"optionName": mark, "voteWeight": 0} for mark in marks],
    }


@pytest.mark.parametrize("as_entries", [True, False])
async def test_pages_reach_the_last_of_many_ratings_without_cutting_any(as_entries: bool) -> None:
    rows = [rating(number) for number in range(80)]
    plain = {row["pollName"]: row for row in rows}
    entries = {"entry": [{"key": key, "value": value} for key, value in plain.items()]}
    body = {"count": 80, "offset": 0, "ratings": entries if as_entries else plain}
    async with FaultyNode() as busy:
        busy.behaviours["/polls/apps/ratings"] = replies(json.dumps(body))
        node = Node.at([busy.url])
        call = caller(make_server(node, toolsets="polls"))
        pages = await every_page(call, "list_app_ratings", limit=50)
        await node.close()
    found = [row for page in pages for row in page["ratings"]]
    assert {row["pollName"]: row["totalVotes"] for row in found} == {
        row["pollName"]: row["totalVotes"] for row in rows
    }
    assert [row["totalVotes"] for row in found] == sorted((r["totalVotes"] for r in rows), reverse=True)
    assert {row["averageByWeight"] for row in found} == {None}
    assert {target for target in busy.asked if "ratings" in target} == {"/polls/apps/ratings?limit=500"}


class Rated:
    """A node with many rated apps, whose limit and offset count options, as Core's do."""

    origin = "rated"

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.asked: list[str] = []
        self._chain = Chain(
            msgspec.json.encode(
                {
                    **{family: sample_chain()[family] for family in ("node", "blocks")},
                    "appRatings": {"ratings": {"entry": [{"key": "x", "value": row} for row in rows]}},
                }
            )
        )

    async def fetch(self, request: Request) -> RawReply:
        self.asked.append(request.target)
        return answer(request.target, self._chain)

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


async def test_a_poll_that_is_cut_by_a_window_is_put_together_again() -> None:
    # Each has six options, so windows of 500 end inside a poll.
    wanted = [rating(number) for number in range(301)]
    source = Rated(wanted)
    node = Node([source])
    rows = await every_row(
        caller(make_server(node, toolsets="polls")), "list_app_ratings", "ratings", limit=100
    )
    await node.close()
    assert {row["pollName"]: (row["totalVotes"], row["votes"]) for row in rows} == {
        row["pollName"]: (
            row["totalVotes"],
            {each["optionName"]: each["voteCount"] for each in row["voteCounts"]},
        )
        for row in wanted
    }
    asked = [target for target in source.asked if "ratings" in target]
    assert asked[0] == "/polls/apps/ratings?limit=500"
    assert asked[1:4] == [f"/polls/apps/ratings?limit=500&offset={500 * window}" for window in range(1, 4)]


async def test_ratings_without_end_are_read_up_to_a_bound_and_noted() -> None:
    def tell(target: str) -> Any:
        if "ratings" not in target:
            return None
        first = int(target.partition("offset=")[2] or 0)
        rows = [rating(number) for number in range(first, first + 84)]
        return {"ratings": {"entry": [{"key": row["pollName"], "value": row} for row in rows]}}

    source = ToldNode(tell)
    node = Node([source])
    answer = await answer_of(caller(make_server(node, toolsets="polls")), "list_app_ratings")
    await node.close()
    assert len([target for target in source.asked if "ratings" in target]) == 20
    assert answer["ratings"][0]["totalVotes"] == max(rating(number)["totalVotes"] for number in range(84))
    assert answer["notes"] == ["There are more ratings than the 1680 that were read."]


async def test_the_same_ratings_for_every_window_are_all_there_are() -> None:
    rows = [rating(number) for number in range(200)]
    body = {"ratings": {"entry": [{"key": row["pollName"], "value": row} for row in rows]}}
    source = ToldNode(lambda target: body if "ratings" in target else None)
    node = Node([source])
    call = caller(make_server(node, toolsets="polls"))
    found = await every_row(call, "list_app_ratings", "ratings", limit=100)
    await node.close()
    assert {row["pollName"]: row["totalVotes"] for row in found} == {
        row["pollName"]: row["totalVotes"] for row in rows
    }
    assert len([target for target in source.asked if "ratings" in target]) == 2


async def test_single_votes_can_be_read_directly_page_by_page(node: Node) -> None:
    call = caller(make_server(node, toolsets="raw"))
    votes: list[dict[str, Any]] = []
    following: dict[str, Any] = {
        "endpoint": "/polls/votes/{pollName}",
        "values": {"pollName": "Best fruit?", "onlyCounts": False, "limit": 2},
    }
    while following:
        shown = await answer_of(call, "read_core", **following)
        assert shown["result"]["totalVotes"] == 5
        assert shown["page"]["returned"] == len(shown["result"]["votes"]) <= 2
        votes += shown["result"]["votes"]
        following = shown["page"].get("next", {})
    assert votes == sample_chain()["pollVotes"]["Best fruit?"]["votes"]
    counted = await answer_of(
        call, "read_core", endpoint="/polls/votes/{pollName}", values={"pollName": "Best fruit?"}
    )
    assert "votes" not in counted["result"]
    assert "page" not in counted


async def test_single_votes_are_typed(node: Node) -> None:
    reading = node.reading()
    found = await reading.get(POLL_VOTES, pollName="Best fruit?", onlyCounts=False)
    wanted = sample_chain()["pollVotes"]["Best fruit?"]["votes"]
    assert [(vote.voterPublicKey, vote.optionIndex) for vote in found.votes] == [
        (vote["voterPublicKey"], vote["optionIndex"]) for vote in wanted
    ]
    assert found.votes
