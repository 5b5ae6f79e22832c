"""Lists of names, groups, polls and chat are never asked for without a bound."""

from typing import Any

import pytest

from qortal_mcp.qortal.endpoints import chat, groups, names, polls
from qortal_mcp.qortal.endpoints.record import Endpoint
from qortal_mcp.server.tool_errors import ToolError

from .world import ALICE, BOB

FAMILIES = [*names.FAMILY, *groups.FAMILY, *polls.FAMILY, *chat.FAMILY]
VALUES: dict[str, Any] = {
    "address": ALICE,
    "name": "Bob",
    "groupid": 3,
    "year": 2026,
    "pollName": "x",
    "signature": "1" * 64,
}
# Where a limit counts rows; that of ratings counts the options of polls.
LISTS = [endpoint for endpoint in FAMILIES if "limit" in endpoint.query and endpoint is not polls.APP_RATINGS]


def path_of(endpoint: Endpoint[Any]) -> dict[str, Any]:
    return {name: VALUES[name] for name in endpoint.path}


@pytest.mark.promise("Tools and their results", "A list always has a limit, even if nobody gives one.")
@pytest.mark.parametrize("endpoint", LISTS, ids=lambda endpoint: endpoint.template)
def test_a_list_has_a_limit_even_if_nobody_gives_one(endpoint: Endpoint[Any]) -> None:
    assert "limit=20" in endpoint.request(path_of(endpoint)).target
    assert "limit=7" in endpoint.request({**path_of(endpoint), "limit": 7}).target


def test_ratings_have_a_limit_even_if_nobody_gives_one() -> None:
    assert polls.APP_RATINGS.request({}).target == "/polls/apps/ratings?limit=500"


@pytest.mark.promise("Tools and their results", "A limit below 1 is refused.")
@pytest.mark.parametrize("limit", [0, -1, 101, 2**31])
@pytest.mark.parametrize("endpoint", LISTS, ids=lambda endpoint: endpoint.template)
def test_no_list_can_be_asked_for_as_a_whole(endpoint: Endpoint[Any], limit: int) -> None:
    with pytest.raises(ToolError):
        endpoint.request({**path_of(endpoint), "limit": limit})


@pytest.mark.parametrize(
    ("endpoint", "values"),
    [
        pytest.param(polls.APP_RATINGS, {"limit": 501}, id="ratings-without-a-bound"),
        pytest.param(polls.APP_RATINGS, {"limit": 0}, id="zero-means-all-to-core"),
        pytest.param(chat.CHAT_MESSAGES, {"txGroupId": 0}, id="group-zero"),
        pytest.param(chat.CHAT_MESSAGES, {"involving": [ALICE]}, id="one-address"),
        pytest.param(chat.CHAT_MESSAGES, {"involving": [ALICE, "Qabc"]}, id="not-an-address"),
        pytest.param(chat.CHAT_MESSAGES, {"txGroupId": 3, "before": 1000}, id="long-ago"),
        pytest.param(chat.CHAT_MESSAGES, {"txGroupId": 3, "encoding": "BASE58"}, id="slow-encoding"),
        pytest.param(chat.CHAT_MESSAGE, {"signature": "1" * 63}, id="short-signature"),
        pytest.param(names.NAME, {"name": ".."}, id="dots"),
        pytest.param(names.NAME, {"name": ""}, id="empty-means-all-names-to-core"),
        pytest.param(names.NAMES_SEARCH, {"query": ""}, id="empty-means-all-to-core"),
        pytest.param(groups.GROUP, {"groupid": "3/members"}, id="text-for-a-number"),
        pytest.param(groups.INVITES_OF, {"address": "Qabc"}, id="core-does-not-check"),
    ],
)
def test_what_core_would_take_amiss_is_not_sent(endpoint: Endpoint[Any], values: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as refusal:
        endpoint.request(values)
    assert refusal.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("endpoint", "values"),
    [
        (chat.CHAT_COUNT, {"txGroupId": 3, "limit": 5}),
        (chat.CHAT_STATS, {"offset": 5}),
        (groups.TOP_BANS, {"year": 2026, "reverse": True}),
    ],
)
def test_parameters_that_mislead_cannot_be_said(endpoint: Endpoint[Any], values: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        endpoint.request(values)


def test_two_addresses_are_written_as_core_reads_them() -> None:
    target = chat.CHAT_MESSAGES.request({"involving": [ALICE, BOB], "limit": 5}).target
    assert target == f"/chat/messages?limit=5&encoding=BASE64&involving={ALICE}&involving={BOB}"
