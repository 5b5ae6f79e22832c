"""All chats of an account at a glance: how much was said since when, by whom, and what came last."""

import base64
from collections import Counter
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.words.base58 import encode
from qortal_mcp.qortal.words.times import iso
from qortal_mcp.server.dispatch import Server

from .changed_chain import ChangedChain, asking
from .conftest import Call
from .outcomes import answer_of, code_of, text_of
from .pages import every_page, every_row
from .world import ALICE, BOB, CHLOE, NOBODY, WRONG_CHECKSUM

CHAIN = sample_chain()
BEGIN = 1794770000000
LONG_AGO = "2026-01-01"
PEOPLE = [ALICE, BOB, CHLOE]


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="chat")


def message(number: int, group: int, text: str = "hello", **others: Any) -> dict[str, Any]:
    return {
        "timestamp": BEGIN + number,
        "txGroupId": group,
        "reference": encode(b"\x09" + number.to_bytes(63, "big")),
        "sender": PEOPLE[number % 3],
        "senderName": f"name-{number % 3}",
        "encoding": "BASE64",
        "data": base64.b64encode(text.encode()).decode(),
        "isText": True,
        "isEncrypted": False,
        "signature": encode(bytes([8, group]) + number.to_bytes(62, "big")),
        **others,
    }


def talkative(groups: dict[int, list[dict[str, Any]]], direct: dict[str, Any] | None = None) -> ChangedChain:
    names = [{"groupId": number, "groupName": f"Group {number}"} for number in groups]
    return ChangedChain(
        chatGroups={str(number): rows for number, rows in groups.items()},
        chatDirect=direct or {},
        groupsByMember={BOB: names},
    )


@pytest.mark.promise(
    "Data of the chain",
    "A digest of all chats of an account counts messages and senders, and shows the last message of each chat.",
)
@pytest.mark.parametrize("limit", [1, 2, 20])
@pytest.mark.parametrize("address", PEOPLE)
async def test_a_digest_says_what_the_messages_themselves_say(call: Call, address: str, limit: int) -> None:
    pages = await every_page(call, "get_chat_digest", address=address, since=LONG_AGO, limit=limit)
    chats = [chat for page in pages for chat in page["chats"]]
    active = await every_row(call, "list_active_chats", "chats", address=address)
    spoken = [row for row in active if "timestamp" in row]
    assert [row["timestamp"] for row in spoken] == [chat["last"]["timestamp"] for chat in chats]
    assert {page["chatCount"] for page in pages} == {len(spoken)}
    assert {page["silentGroups"] for page in pages} == {len(active) - len(spoken)}
    for chat in chats:
        who = (
            {"group_id": chat["groupId"]} if "groupId" in chat else {"involving": [address, chat["address"]]}
        )
        said = await every_row(call, "get_chat_messages", "messages", **who)
        assert chat["messages"] == len(said)
        assert chat["encrypted"] == sum(row["kind"] == "encrypted" for row in said)
        assert chat["binary"] == sum(row["kind"] == "binary" for row in said)
        counts = Counter(row["sender"] for row in said)
        assert chat["senders"] == len(counts)
        assert [row["messages"] for row in chat["mostActive"]] == [
            count for _, count in counts.most_common(3)
        ]
        assert chat["last"]["signature"] == said[0]["signature"]
        assert chat["complete"] is True


async def test_only_what_was_said_since_then_counts(call: Call) -> None:
    rows = CHAIN["chatGroups"]["3"]
    since, until = rows[9]["timestamp"], rows[15]["timestamp"]
    answer = await answer_of(
        call, "get_chat_digest", address=ALICE, since=str(since), until=str(until), limit=20
    )
    (lounge,) = [chat for chat in answer["chats"] if chat.get("groupId") == 3]
    within = [row for row in rows if since < row["timestamp"] < until]
    assert lounge["messages"] == len(within) == 5
    assert lounge["last"]["signature"] == within[-1]["signature"]
    assert answer["range"] == {"since": iso(since), "until": iso(until)}


async def test_a_day_is_meant_if_nothing_is_said(call: Call) -> None:
    answer = await answer_of(call, "get_chat_digest", address="@Bob")
    assert answer["range"]["since"] == "2026-11-14T21:05:45.315Z"
    assert answer["complete"] is True
    assert not any("24 hours" in note for note in answer["notes"])
    longer = await answer_of(call, "get_chat_digest", address=BOB, since="7d")
    assert longer["notes"][0] == "Nodes keep chat for 24 hours: what was said before is not counted."


async def test_who_does_not_chat_has_an_empty_digest(call: Call) -> None:
    answer = await answer_of(call, "get_chat_digest", address=NOBODY)
    assert (answer["chats"], answer["chatCount"], answer["silentGroups"]) == ([], 0, 0)
    assert answer["page"] == {"returned": 0}


@pytest.mark.parametrize("limit", [1, 4])
async def test_what_is_said_meanwhile_does_not_move_the_pages(limit: int) -> None:
    groups = {number: [message(10 * number, number)] for number in range(1, 8)}
    async with asking(talkative(groups)) as (call, _):
        first = await answer_of(call, "get_chat_digest", address=BOB, since=LONG_AGO, limit=limit)
    groups[2].append(message(500, 2))
    groups[9] = [message(501, 9)]
    async with asking(talkative(groups)) as (call, _):
        rest = await every_row(call, "get_chat_digest", "chats", **first["page"]["next"])
    found = [*first["chats"], *rest]
    assert [chat["groupId"] for chat in found] == [7, 6, 5, 4, 3, 2, 1]
    assert {chat["messages"] for chat in found} == {1}


@pytest.mark.parametrize("count", [99, 100, 101, 2500])
async def test_long_chats_are_counted_to_their_end(count: int) -> None:
    rows = [message(number, 1, isEncrypted=number % 5 == 0) for number in range(count)]
    async with asking(talkative({1: rows, 2: [message(1, 2)]})) as (call, source):
        answer = await answer_of(call, "get_chat_digest", address=BOB, since=LONG_AGO)
    chat = answer["chats"][0] if count > 2 else answer["chats"][1]
    assert (chat["messages"], chat["complete"], answer["complete"]) == (count, True, True)
    assert chat["encrypted"] == len([row for row in rows if row["isEncrypted"]])
    assert sum(row["messages"] for row in chat["mostActive"]) == count
    assert len(source.asked) <= 200


@pytest.mark.promise("Limits and abuse", "A digest of chats takes at most 200 requests to the node.")
async def test_more_than_one_call_may_read_is_counted_and_said() -> None:
    window = [message(number, 1) for number in range(100)]
    told = {"/chat/messages/count": "31415", "/chat/messages?": window}
    groups = {number: [message(number, number)] for number in range(1, 21)}
    async with asking(talkative(groups), told) as (call, source):
        answer = await answer_of(call, "get_chat_digest", address=BOB, since=LONG_AGO, limit=20)
    assert answer["complete"] is False
    assert {chat["messages"] for chat in answer["chats"]} == {31415}
    assert not any(chat["complete"] for chat in answer["chats"])
    assert len(source.asked) <= 200


async def test_notes_to_oneself_are_a_chat_of_their_own() -> None:
    direct = {
        "x": [
            message(1, 0, sender=BOB, recipient=BOB, recipientName="Bob"),
            message(2, 0, sender=BOB, recipient=ALICE, recipientName="alice-test"),
        ]
    }
    async with asking(talkative({}, direct)) as (call, _):
        chats = (await answer_of(call, "get_chat_digest", address=BOB, since=LONG_AGO))["chats"]
    assert [(chat["address"], chat["messages"]) for chat in chats] == [(ALICE, 1), (BOB, 1)]


@pytest.mark.promise("Data of the chain", "Encrypted or binary messages are marked as such and not shown.")
async def test_an_encrypted_last_message_is_counted_and_not_shown() -> None:
    rows = [
        message(1, 1),
        message(2, 1, base64.b64encode(b"qortalGroupEncryptedData secret").decode()),
        message(3, 1, "secret", isEncrypted=True),
    ]
    async with asking(talkative({1: rows})) as (call, _):
        result = await call("get_chat_digest", address=BOB, since=LONG_AGO)
    (chat,) = result["structuredContent"]["chats"]
    assert (chat["messages"], chat["encrypted"]) == (3, 2)
    assert (chat["last"]["kind"], chat["last"]["text"]) == ("encrypted", None)
    assert "secret" not in result["content"][0]["text"]


async def test_texts_of_strangers_are_cleaned_and_cut_and_fit_the_page() -> None:
    groups = {
        number: [
            message(number + each, number, "\u202e" * 1200, senderName="\x1b" * 400) for each in range(3)
        ]
        for number in range(1, 31)
    }
    async with asking(talkative(groups)) as (call, _):
        default = await call("get_chat_digest", address=BOB, since=LONG_AGO)
        chats = await every_row(call, "get_chat_digest", "chats", address=BOB, since=LONG_AGO)
    text = default["content"][0]["text"]
    assert len(text.encode()) <= 64 * 1024
    assert not {"\u202e", "\x1b"} & set(text)
    assert "more characters" in chats[0]["last"]["text"]
    assert {chat["groupId"] for chat in chats} == set(groups)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Missing argument address."),
        ({"address": WRONG_CHECKSUM}, "Invalid Qortal address."),
        ({"address": BOB, "since": "yesterday"}, "Invalid since."),
        ({"address": BOB, "since": "2026-02-01", "until": "2026-01-01"}, "Invalid until."),
    ],
)
async def test_wrong_arguments_are_refused(call: Call, arguments: dict[str, str], sentence: str) -> None:
    result = await call("get_chat_digest", **arguments)
    assert text_of(result).startswith(sentence)
    assert code_of(result) == "INVALID_ARGUMENT"


async def test_a_message_from_the_end_of_time_does_not_break_a_digest() -> None:
    chat = {"address": ALICE, "timestamp": 253_402_300_799_999, "sender": ALICE}
    async with asking(ChangedChain(), {"/chat/active/": {"groups": [], "direct": [chat]}}) as (call, _):
        answer = await answer_of(call, "get_chat_digest", address=BOB, since=LONG_AGO)
    assert answer["range"]["until"] == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize("address", ["../../admin/stop", "", "Q" * 300])
async def test_a_chat_with_what_is_no_address_is_an_error_of_the_node(address: str) -> None:
    chat = {"address": address, "timestamp": BEGIN, "sender": BOB}
    async with asking(ChangedChain(), {"/chat/active/": {"groups": [], "direct": [chat]}}) as (call, source):
        result = await call("get_chat_digest", address=BOB, since=LONG_AGO)
    assert code_of(result) == "NODE_ERROR"
    assert not any("admin/stop" in target.partition("?")[0] for target in source.asked)
