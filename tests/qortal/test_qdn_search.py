"""Finding what was published: by topic, by publisher, in a time; each resource once, or every version."""

import random
from collections import Counter
from typing import Any

import pytest

from qortal_mcp.qortal.sample.chain import Chain, sample_chain
from qortal_mcp.qortal.words.base58 import encode
from qortal_mcp.qortal.words.services import service_name

from .changed_chain import ChangedChain, asking
from .conftest import Call
from .outcomes import answer_of, code_of, text_of
from .pages import every_page, every_row
from .told_node import fails
from .world import ALICE, BOB, CHLOE, NOBODY

SAMPLE = sample_chain()
PUBLIC = [row for row in SAMPLE["resources"] if not row["service"].endswith("_PRIVATE")]
DOC = 800


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """What makes a resource, in rows of Core and of the tool."""
    service = row.get("serviceName") or row["service"]
    return (
        service_name(service) if isinstance(service, int) else service,
        row["name"],
        row.get("identifier"),
    )


def version(number: int, identifier: str, height: int | None, **others: Any) -> dict[str, Any]:
    row = {
        "type": "ARBITRARY",
        "timestamp": SAMPLE["blocks"][0]["timestamp"] + 1000 * number,
        "signature": encode(b"\x07" + number.to_bytes(63, "big")),
        "txGroupId": 0,
        "creatorAddress": BOB,
        "service": DOC,
        "size": number,
        "name": "Bob",
        "identifier": identifier,
        **others,
    }
    return row if height is None else {**row, "blockHeight": height}


def published(versions: list[dict[str, Any]], **about: Any) -> Chain:
    """The sample chain with nothing on QDN but these publications, oldest first."""
    listed: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in versions:
        known = listed.get(key_of(row))
        listed[key_of(row)] = {
            "name": row["name"],
            "service": service_name(row["service"]),
            "identifier": row["identifier"],
            "latestSignature": row["signature"],
            "size": row["size"],
            "created": row["timestamp"] if known is None else known["created"],
            **({} if known is None else {"updated": row["timestamp"]}),
            "metadata": {"title": f"Title of {row['identifier']}", **about},
        }
    by_signature = {**SAMPLE["transactionBySignature"], **{row["signature"]: row for row in versions}}
    return ChangedChain(
        arbitraryTransactions=versions, resources=list(listed.values()), transactionBySignature=by_signature
    )


@pytest.mark.promise(
    "Data of the chain", "A QDN search lists each resource once, as its latest version with title and tags."
)
async def test_each_resource_is_listed_once_as_its_latest_version(call: Call) -> None:
    for service in {row["service"] for row in PUBLIC}:
        rows = await every_row(call, "search_qdn", "resources", service=service, limit=2)
        expected = [row for row in PUBLIC if row["service"] == service]
        assert {row["signature"] for row in rows} == {row["latestSignature"] for row in expected}
        assert len(rows) == len(expected)
        for row in rows:
            (listed,) = [each for each in expected if key_of(each) == key_of(row)]
            about = listed.get("metadata", {})
            assert row["size"] == listed["size"]
            assert row["timestamp"] == listed.get("updated", listed["created"])
            assert row.get("tags", []) == about.get("tags", [])
            assert ("title" in row, "description" in row) == ("title" in about, "description" in about)


async def test_history_lists_every_version_as_it_was_published(call: Call) -> None:
    rows = await every_row(call, "search_qdn", "resources", name="Bob", history=True, limit=3)
    recorded = [row for row in SAMPLE["arbitraryTransactions"] if row["name"] == "Bob"]
    assert [row["signature"] for row in rows] == [row["signature"] for row in recorded[::-1]]
    assert not any("title" in row for row in rows)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [1, 3, 10, 20])
async def test_pages_have_each_resource_once_however_often_it_was_updated(seed: int, limit: int) -> None:
    chance = random.Random(seed)
    versions = [version(number, f"doc-{chance.randrange(15)}", 1 + number) for number in range(90)]
    async with asking(published(versions)) as (call, _):
        rows = await every_row(call, "search_qdn", "resources", name="Bob", limit=limit)
    newest = {row["identifier"]: row["signature"] for row in versions}
    assert [row["signature"] for row in rows] == [
        row["signature"] for row in versions[::-1] if row["signature"] in newest.values()
    ]
    assert all(row["title"] == f"Title of {row['identifier']}" for row in rows)


@pytest.mark.parametrize("limit", [1, 2, 20])
async def test_a_resource_whose_update_is_not_in_a_block_yet_stays_in_the_list(limit: int) -> None:
    versions = [version(number, f"doc-{number % 5}", 1 + number) for number in range(10)]
    versions.append(version(11, "doc-0", None))
    async with asking(published(versions)) as (call, _):
        rows = await every_row(call, "search_qdn", "resources", name="Bob", limit=limit)
        waiting = await every_row(call, "search_qdn", "resources", name="Bob", status="UNCONFIRMED")
        both = await every_row(call, "search_qdn", "resources", name="Bob", status="BOTH", limit=limit)
    assert [row["signature"] for row in rows] == [row["signature"] for row in versions[9:4:-1]]
    assert [row["signature"] for row in waiting] == [versions[10]["signature"]]
    assert [row["signature"] for row in both] == [
        row["signature"] for row in [versions[10], *versions[9:5:-1]]
    ]


@pytest.mark.parametrize("limit", [1, 3, 20])
async def test_private_resources_are_listed_once_and_never_asked_for(limit: int) -> None:
    versions = [version(number, f"doc-{number % 4}", 1, service=801) for number in range(30)]
    async with asking(published(versions)) as (call, source):
        rows = await every_row(call, "search_qdn", "resources", name="Bob", limit=limit)
    assert [row["signature"] for row in rows] == [row["signature"] for row in versions[:25:-1]]
    assert not any("title" in row for row in rows)
    assert not any("DOCUMENT_PRIVATE" in target for target in source.asked)


@pytest.mark.parametrize("limit", [1, 20])
async def test_what_a_buyer_of_the_name_updated_is_listed_for_both_publishers(limit: int) -> None:
    versions = [version(0, "site", 1), version(1, "site", 2, creatorAddress=CHLOE)]
    async with asking(published(versions)) as (call, _):
        for address, row in ((BOB, versions[0]), (CHLOE, versions[1])):
            rows = await every_row(call, "search_qdn", "resources", address=address, limit=limit)
            assert [each["signature"] for each in rows] == [row["signature"]]


async def test_a_range_shows_the_newest_version_within_it() -> None:
    versions = [version(number, "doc", 10 + number) for number in range(30)]
    async with asking(published(versions)) as (call, _):
        answer = await answer_of(call, "search_qdn", name="Bob", from_height=10, heights=5)
    assert [row["signature"] for row in answer["resources"]] == [versions[4]["signature"]]
    assert answer["resources"][0]["created"] == versions[0]["timestamp"]


@pytest.mark.parametrize("limit", [1, 2, 20])
async def test_a_range_in_the_past_has_each_resource_once(limit: int) -> None:
    versions = [version(number, f"doc-{number % 7}", 1 + number) for number in range(100)]
    async with asking(published(versions)) as (call, _):
        rows = await every_row(
            call, "search_qdn", "resources", name="Bob", from_height=11, heights=50, limit=limit
        )
    assert [row["signature"] for row in rows] == [row["signature"] for row in versions[59:52:-1]]


async def test_resources_that_an_earlier_page_may_have_shown_are_noted() -> None:
    versions = [version(number, "doc", 1) for number in range(1000)]
    async with asking(published([*versions, version(1001, "doc", None)])) as (call, source):
        answer = await answer_of(call, "search_qdn", name="Bob", offset=900, limit=1)
    assert len(answer["resources"]) == 1
    assert any("an earlier page may have shown them" in note for note in answer["notes"])
    assert len(source.asked) < 20


async def test_a_publisher_with_very_many_versions_is_read_within_bounds() -> None:
    versions = [version(number, f"doc-{number % 2}", 1) for number in range(4000)]
    async with asking(published(versions)) as (call, source):
        pages = await every_page(call, "search_qdn", name="Bob")
    rows = [row for page in pages for row in page["resources"]]
    assert [row["signature"] for row in rows] == [versions[3999]["signature"], versions[3998]["signature"]]
    assert len(source.asked) / len(pages) <= 200
    assert any("page.next goes on from there" in note for note in pages[0]["notes"])


async def test_what_is_listed_by_time_lies_within_it(call: Call) -> None:
    blocks = {row["height"]: row["timestamp"] for row in SAMPLE["blocks"]}
    since, until = blocks[582], blocks[592]
    rows = await every_row(
        call, "search_qdn", "resources", service="JSON", since=str(since), until=str(until), limit=1
    )
    rows += await every_row(
        call, "search_qdn", "resources", service="BLOG_POST", since=str(since), until=str(until), limit=1
    )
    assert {row["signature"] for row in rows} == {
        row["signature"]
        for row in SAMPLE["arbitraryTransactions"]
        if row["service"] in (777, 1110) and since < blocks[row["blockHeight"]] < until
    }
    assert len(rows) == 2


async def test_nothing_lies_within_a_time_without_blocks(call: Call) -> None:
    answer = await answer_of(call, "search_qdn", service="JSON", since="2031-01-01")
    assert (answer["resources"], answer["page"]) == ([], {"returned": 0})


@pytest.mark.promise("Data of the chain", "Apps, sites and posts on QDN are found by words of a topic.")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("chart", {("BLOG_POST", "dilbert", "post-howto")}),
        ("CHART guide", {("BLOG_POST", "dilbert", "post-howto")}),
        ("notes markets", {("BLOG_POST", "Bob", "post-markets")}),
        ("manual rocket", {("DOCUMENT", "Rocket 🚀 Team", "manual-1")}),
        ("chart shop", set()),
        ("%%%", set()),
        ("_", set()),
    ],
)
async def test_a_topic_finds_what_has_all_its_words(call: Call, query: str, found: set[Any]) -> None:
    rows = await every_row(call, "search_qdn", "resources", query=query, limit=1)
    assert {key_of(row) for row in rows} == found


@pytest.mark.parametrize("limit", [1, 3, 20])
@pytest.mark.parametrize(
    "arguments", [{"query": "a"}, {"query": "post"}, {"query": "o", "service": "DOCUMENT"}]
)
async def test_a_topic_reaches_every_resource_that_has_its_word(
    call: Call, arguments: dict[str, str], limit: int
) -> None:
    rows = await every_row(call, "search_qdn", "resources", **arguments, limit=limit)
    expected = []
    for row in SAMPLE["resources"]:
        about = row.get("metadata", {})
        texts = [
            row["name"],
            row.get("identifier", ""),
            about.get("title", ""),
            about.get("description", ""),
        ]
        if row["service"] == arguments.get("service", row["service"]) and any(
            arguments["query"] in text.lower() for text in texts
        ):
            expected.append(row)
    expected.sort(key=lambda row: -row["created"])
    assert [row["signature"] for row in rows] == [row["latestSignature"] for row in expected]


async def test_who_published_what_a_topic_finds_is_in_its_transaction(call: Call) -> None:
    rows = await every_row(call, "search_qdn", "resources", query="t")
    recorded = {row["signature"]: row for row in SAMPLE["arbitraryTransactions"]}
    assert len(rows) > 10
    for row in rows:
        transaction = recorded[row["signature"]]
        assert row["publisher"] == transaction["creatorAddress"]
        assert row["blockHeight"] == transaction["blockHeight"]
        assert row["service"] == transaction["service"]
        assert row["timestamp"] == transaction["timestamp"]


async def test_a_topic_is_searched_under_the_names_of_an_account(call: Call) -> None:
    answer = await answer_of(call, "search_qdn", query="app", address="@Bob")
    assert {row["name"] for row in answer["resources"]} == {"Bob"}
    assert "Searched are the names that this account owns now." in answer["notes"]
    nameless = await answer_of(call, "search_qdn", query="app", address=NOBODY)
    assert nameless["resources"] == []


async def test_a_topic_under_a_name_takes_other_spellings_of_it(call: Call) -> None:
    plain = await answer_of(call, "search_qdn", query="app", name="Bob")
    other = await answer_of(call, "search_qdn", query="app", name="B0B")
    assert plain["resources"] == other["resources"]
    assert len(plain["resources"]) == 1
    assert other["notes"][0] == 'The registered name is "Bob".'


async def test_a_topic_with_a_time_is_about_the_first_version(call: Call) -> None:
    created = next(row["created"] for row in SAMPLE["resources"] if row.get("identifier") == "doc1")
    before = await answer_of(call, "search_qdn", query="doc", name="Bob", until=str(created + 1))
    after = await answer_of(call, "search_qdn", query="doc1", name="Bob", since=str(created))
    assert [row["identifier"] for row in before["resources"]] == ["doc1"]
    assert after["resources"] == []
    assert "With query, since and until are about the first version." in after["notes"]


async def test_the_ratings_of_apps_and_sites_are_shown(call: Call) -> None:
    (site,) = (await answer_of(call, "search_qdn", service="WEBSITE"))["resources"]
    apps = (await answer_of(call, "search_qdn", service="APP"))["resources"]
    rated = {row["appName"]: row for row in (await answer_of(call, "list_app_ratings"))["ratings"]}
    assert site["rating"] == {
        "average": rated["alice-test"]["averageByVotes"],
        "votes": rated["alice-test"]["totalVotes"],
    }
    assert {row["name"]: row.get("rating") for row in apps} == {
        "Bob": {"average": "3.33", "votes": 3},
        "dilbert": None,
    }
    one = await answer_of(call, "get_qdn_resource", service="APP", name="Bob")
    assert one["rating"] == {"average": "3.33", "votes": 3}


async def test_a_node_without_ratings_still_lists_apps() -> None:
    async with asking(SAMPLE, {"/polls/apps/ratings": fails()}) as (call, _):
        answer = await answer_of(call, "search_qdn", service="APP")
    assert len(answer["resources"]) == 2
    assert not any("rating" in row for row in answer["resources"])


async def test_how_often_something_was_published_is_counted() -> None:
    versions = [version(number, f"doc-{number % 7 % 2}", 1 + number) for number in range(200)]
    async with asking(published(versions)) as (call, _):
        for identifier in ("doc-0", "doc-1"):
            answer = await answer_of(
                call, "get_qdn_resource", service="DOCUMENT", name="Bob", identifier=identifier
            )
            own = [row for row in versions if row["identifier"] == identifier]
            assert answer["versions"] == len(own)
            assert (answer["timestamp"], answer["updated"]) == (own[0]["timestamp"], own[-1]["timestamp"])


@pytest.mark.promise(
    "Data of the chain",
    "A QDN search says of each resource how often it was published, or that it cannot tell.",
)
async def test_a_search_says_how_often_each_was_published() -> None:
    versions = [version(number, f"doc-{number % 7 % 3}", 1 + number) for number in range(200)]
    versions.append(version(200, "once", 201))
    async with asking(published(versions)) as (call, _):
        rows = await every_row(call, "search_qdn", "resources", name="Bob", limit=3)
        found = await answer_of(call, "search_qdn", name="Bob", query="doc")
    own = Counter(row["identifier"] for row in versions)
    assert {row["identifier"]: row["versions"] for row in rows} == own
    assert {row["identifier"]: row["versions"] for row in found["resources"]} == own - Counter(["once"])


async def test_a_search_leaves_out_how_often_if_that_takes_too_much() -> None:
    versions = [version(number, "doc", 1) for number in range(400)]
    async with asking(published([*versions, version(401, "once", 2)])) as (call, source):
        answer = await answer_of(call, "search_qdn", name="Bob", query="doc")
        assert len(source.asked) <= 30
        once = await answer_of(call, "search_qdn", name="Bob", query="once")
    assert "versions" not in answer["resources"][0]
    assert any("get_qdn_resource counts" in note for note in answer["notes"])
    assert once["resources"][0]["versions"] == 1


async def test_too_many_versions_are_not_counted_and_that_is_said() -> None:
    versions = [version(number, "doc", 1) for number in range(2100)]
    async with asking(published(versions)) as (call, source):
        answer = await answer_of(call, "get_qdn_resource", service="DOCUMENT", name="Bob", identifier="doc")
    assert answer["versions"] is None
    assert any("to count the versions" in note for note in answer["notes"])
    assert len(source.asked) <= 200


CONTRADICTIONS = [
    ({"query": " "}, "Invalid query."),
    ({"query": ""}, "Invalid query."),
    ({"query": "x" * 101}, "Invalid query."),
    ({"query": "x", "heights": 5}, "Invalid query."),
    ({"query": "x", "history": True}, "Invalid query."),
    ({"query": "x", "status": "BOTH"}, "Invalid query."),
    ({"query": "x", "name": "Bob", "address": ALICE}, "Invalid address."),
    ({"name": "Bob", "heights": 5, "since": "1d"}, "Invalid arguments."),
    ({"name": "Bob", "status": "UNCONFIRMED", "since": "2026-01-01"}, "Invalid status."),
    ({"name": "Bob", "since": "yesterday"}, "Invalid since."),
    ({"since": "1d"}, "Invalid arguments."),
    ({"history": True}, "Invalid arguments."),
]


@pytest.mark.parametrize(("arguments", "sentence"), CONTRADICTIONS)
async def test_searches_that_contradict_themselves_are_refused(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    result = await call("search_qdn", **arguments)
    assert text_of(result).startswith(sentence)
    assert code_of(result) == "INVALID_ARGUMENT"


async def test_titles_of_strangers_are_cleaned_cut_and_within_the_page() -> None:
    versions = [version(number, f"doc-{number}", 1) for number in range(20)]
    chain = published(versions, title="\u202e" * 80, description="d\u200b" * 120, tags=["\x1b" * 20] * 30)
    async with asking(chain) as (call, _):
        default = await call("search_qdn", name="Bob")
        rows = await every_row(call, "search_qdn", "resources", name="Bob")
        topical = await every_row(call, "search_qdn", "resources", query="doc", name="Bob", limit=20)
    assert len(default["content"][0]["text"].encode()) <= 8 * 1024
    assert [row["identifier"] for row in rows] == [f"doc-{number}" for number in range(19, -1, -1)]
    assert {row["identifier"] for row in topical} == {row["identifier"] for row in rows}
    text = default["content"][0]["text"]
    assert not {"\u202e", "\u200b", "\x1b"} & set(text)
    assert "more characters" in rows[0]["description"]


@pytest.mark.parametrize("latest", ["../../admin/stop", "", "x" * 5000, None])
async def test_a_listing_that_makes_no_sense_does_not_end_a_search(latest: str | None) -> None:
    versions = [version(number, "doc", 1) for number in range(3)]
    row = {"name": "Bob", "service": "DOCUMENT", "latestSignature": latest}
    async with asking(published(versions), {"/arbitrary/resources": [row]}) as (call, source):
        rows = await every_row(call, "search_qdn", "resources", name="Bob", limit=1)
        topical = await answer_of(call, "search_qdn", query="bob", name="Bob")
    assert rows[0]["signature"] == versions[2]["signature"]
    assert topical["resources"][0]["publisher"] is None
    assert not any("admin/stop" in target for target in source.asked)


async def test_names_that_cannot_be_asked_for_are_listed_without_a_title() -> None:
    versions = [version(number, "i" * 500, 1, name="n" * 300) for number in range(2)]
    async with asking(ChangedChain(arbitraryTransactions=versions)) as (call, _):
        answer = await answer_of(call, "search_qdn", address=BOB)
    assert len(answer["resources"]) == 1
    assert "title" not in answer["resources"][0]
