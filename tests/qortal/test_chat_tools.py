"""Chat: what was said, what cannot be shown, and how much there is of it."""

import base64
import json
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import select
from qortal_mcp.qortal.words.times import iso
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller, request
from .faulty_node import FaultyNode, replies
from .outcomes import answer_of
from .pages import every_page, every_row
from .told_node import ToldNode
from .world import ALICE, BOB, CHLOE, NOBODY, WRONG_CHECKSUM

HELLO = "5VF4HeVx672PyNHnqVG6mPLrtwqzJHj3LwHDhthpKzvsDjXkAJm3ddqnKY19H3P1XAbmBWaWhHZgz8LJ3fjXV1Jj"
EDIT = "34K9YpHxqARC4aqN6QMXisCDietiLsTiv36etMBrmezXySejHFdJeuQp1oX4Hpadc4yX2eZ9eZUKMnwaQWegsb62"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="chat")


def test_chat_is_off_unless_asked_for() -> None:
    assert "chat" not in select()
    assert "chat" in select("+chat")


@pytest.mark.parametrize("limit", [1, 4, 7, 20, 21, 100])
async def test_pages_reach_the_first_message_of_a_group(call: Call, limit: int) -> None:
    rows = await every_row(call, "get_chat_messages", "messages", group_id=3, limit=limit)
    whole = sample_chain()["chatGroups"]["3"]
    assert [row["signature"] for row in rows] == [row["signature"] for row in whole[::-1]]


async def test_messages_between_two_addresses_whoever_is_named_first(call: Call) -> None:
    rows = await every_row(call, "get_chat_messages", "messages", involving=[ALICE, BOB], limit=4)
    assert rows == await every_row(call, "get_chat_messages", "messages", involving=[BOB, ALICE])
    assert len(rows) == 6
    assert {frozenset((row["sender"], row["recipient"])) for row in rows} == {frozenset((ALICE, BOB))}
    assert not any("groupId" in row for row in rows)


async def test_text_is_decoded(call: Call) -> None:
    first = (await call("get_chat_messages", group_id=3, limit=1))["structuredContent"]["messages"][0]
    assert (first["kind"], first["text"], first["bytes"]) == ("text", "Good night everybody", 20)
    assert (first["sender"], first["senderName"]) == (ALICE, "alice-test")
    assert first["time"] == "2026-11-15T21:01:56.798Z"


@pytest.mark.promise("Data of the chain", "Encrypted or binary messages are marked as such and not shown.")
async def test_what_is_encrypted_or_binary_is_marked_and_not_shown(call: Call) -> None:
    group = await every_row(call, "get_chat_messages", "messages", group_id=3)
    direct = await every_row(call, "get_chat_messages", "messages", involving=[ALICE, BOB])
    broken = await every_row(call, "get_chat_messages", "messages", involving=[ALICE, CHLOE])
    hidden = [row for row in (*group, *direct, *broken) if row["kind"] != "text"]
    assert [(row["kind"], row["text"]) for row in hidden] == [
        ("encrypted", None),
        ("encrypted", None),
        ("binary", None),
    ]
    assert all(row["bytes"] > 0 for row in hidden)
    assert "secret for bob" not in json.dumps(direct)


@pytest.mark.promise(
    "Text of strangers",
    "Hidden characters in names, messages and other texts are shown as `\\u{XXXX}` in every answer.",
)
async def test_hidden_characters_in_messages_are_shown(call: Call) -> None:
    result = await call("get_chat_messages", group_id=3, limit=100)
    texts = [row["text"] for row in result["structuredContent"]["messages"] if row["text"]]
    assert any("\\u{202E}\\u{200B}" in text for text in texts)
    assert not set(result["content"][0]["text"]) & set("\u202e\u200b")


@pytest.mark.promise("Data of the chain", "A long text is cut with a mark in a list, and whole by itself.")
async def test_a_long_message_is_cut_in_a_list_and_whole_by_itself(call: Call) -> None:
    listed = (await call("get_chat_messages", group_id=5, limit=1))["structuredContent"]["messages"][0]
    whole = (await call("get_chat_messages", signature=listed["signature"]))["structuredContent"]["messages"][
        0
    ]
    assert whole["bytes"] == len(whole["text"]) > 1000
    assert listed["text"] == f"{whole['text'][:1000]}… [{len(whole['text']) - 1000} more characters]"


async def test_one_message_by_its_signature(call: Call) -> None:
    answer = (await call("get_chat_messages", signature=EDIT))["structuredContent"]
    assert answer["messages"][0]["chatReference"] == HELLO
    assert answer["page"] == {"returned": 1}


async def test_messages_of_one_sender_and_of_a_span_of_time(call: Call) -> None:
    of_alice = await every_row(call, "get_chat_messages", "messages", group_id=3, sender=ALICE, limit=4)
    assert len(of_alice) == 6
    assert {row["sender"] for row in of_alice} == {ALICE}
    span = {"after": 1794770605378, "before": 1794775568770}
    rows = await every_row(call, "get_chat_messages", "messages", group_id=3, **span, limit=3)
    assert [row["timestamp"] for row in rows] == sorted(
        (
            row["timestamp"]
            for row in sample_chain()["chatGroups"]["3"]
            if span["after"] < row["timestamp"] < span["before"]
        ),
        reverse=True,
    )


async def test_what_is_said_meanwhile_does_not_move_the_pages(call: Call) -> None:
    page = (await call("get_chat_messages", group_id=3, limit=2))["structuredContent"]
    assert page["page"]["next"] == {
        "group_id": 3,
        "limit": 2,
        "offset": 2,
        "before": iso(page["messages"][0]["timestamp"] + 1),
    }


async def test_times_of_chat_may_be_written_in_iso_or_in_milliseconds(call: Call) -> None:
    whole = sample_chain()["chatGroups"]["3"]
    middle = whole[len(whole) // 2]["timestamp"]
    by_number = await every_row(call, "get_chat_messages", "messages", group_id=3, after=middle)
    assert by_number == await every_row(call, "get_chat_messages", "messages", group_id=3, after=iso(middle))
    assert 0 < len(by_number) < len(whole)
    # Core refuses times before 2017; everything is later than that.
    everything = await every_row(call, "get_chat_messages", "messages", group_id=3, after="2001-01-01")
    assert len(everything) == len(whole)
    refused = await call("get_chat_messages", group_id=3, before=middle // 1000)
    assert refused["content"][0]["text"].startswith("Invalid before. This looks like seconds.")


async def test_a_name_that_is_only_the_address_again_is_no_name() -> None:
    message = {
        **sample_chain()["chatGroups"]["3"][0],
        "senderName": ALICE,
        "data": base64.b64encode(b"hi").decode(),
    }
    async with FaultyNode() as nameless:
        nameless.behaviours["/chat/messages"] = replies(json.dumps([message]))
        node = Node.at([nameless.url])
        call = caller(make_server(node, toolsets="chat"))
        row = (await call("get_chat_messages", group_id=3))["structuredContent"]["messages"][0]
        await node.close()
    assert (row["senderName"], row["text"]) == (None, "hi")


async def test_data_that_is_no_base64_is_an_error_of_the_node() -> None:
    message = {**sample_chain()["chatGroups"]["3"][0], "data": "***"}
    async with FaultyNode() as broken:
        broken.behaviours["/chat/messages"] = replies(json.dumps([message]))
        node = Node.at([broken.url])
        result = await caller(make_server(node, toolsets="chat"))("get_chat_messages", group_id=3)
        await node.close()
    assert result["content"][0]["text"].startswith("Node error.")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "Invalid arguments. Give exactly one of group_id, involving, signature."),
        (
            {"group_id": 3, "involving": [ALICE, BOB]},
            "Invalid arguments. Give exactly one of group_id, involving, signature.",
        ),
        ({"involving": [ALICE, ALICE]}, "Invalid involving. Give two different addresses."),
        ({"involving": [ALICE]}, "Invalid Qortal address. involving takes a list of 2 addresses."),
        ({"involving": [ALICE, WRONG_CHECKSUM]}, "Invalid Qortal address. See the argument involving."),
        (
            {"group_id": 0},
            "Invalid group_id. Give a whole number from 1; list_groups shows it next to each name.",
        ),
        ({"signature": "1" * 63}, "Invalid signature."),
        ({"signature": "1" * 65}, "Invalid signature."),
        ({"signature": "1" * 64}, "Message not found."),
        ({"group_id": 99}, "Group not found."),
    ],
)
async def test_questions_about_chat_that_have_no_answer(
    call: Call, arguments: dict[str, Any], text: str
) -> None:
    assert (await call("get_chat_messages", **arguments))["content"][0]["text"] == text


async def test_a_silent_group_and_strangers_have_no_messages(call: Call) -> None:
    for arguments in ({"group_id": 7}, {"involving": [ALICE, NOBODY]}):
        answer = (await call("get_chat_messages", **arguments))["structuredContent"]
        assert (answer["messages"], answer["page"]) == ([], {"returned": 0})


async def test_a_default_page_is_small(call: Call) -> None:
    assert len((await call("get_chat_messages", group_id=3))["content"][0]["text"].encode()) <= 8 * 1024


async def test_active_chats_are_groups_and_people_newest_first(call: Call) -> None:
    rows = await every_row(call, "list_active_chats", "chats", address=ALICE)
    assert [row.get("groupId") or row["name"] for row in rows] == [
        3,
        4,
        "Bob",
        5,
        "Rocket 🚀 Team",
        1,
        2,
        6,
        8,
    ]
    assert (rows[0]["kind"], rows[0]["text"]) == ("text", "Good night everybody")
    assert (rows[2]["address"], rows[2]["senderName"]) == (BOB, "Bob")
    assert rows[-1] == {"groupId": 8, "groupName": "Second Lounge"}


@pytest.mark.parametrize("limit", [1, 4, 9])
async def test_pages_reach_the_last_chat(call: Call, limit: int) -> None:
    rows = await every_row(call, "list_active_chats", "chats", address=ALICE, limit=limit)
    assert rows == await every_row(call, "list_active_chats", "chats", address=ALICE)


async def test_an_encrypted_newest_message_is_not_shown() -> None:
    newest = sample_chain()["chatGroups"]["3"][-1]
    async with FaultyNode() as secretive:
        secretive.behaviours[f"/chat/message/{newest['signature']}"] = replies(
            json.dumps({**newest, "isEncrypted": True})
        )
        node = Node.at([secretive.url])
        call = caller(make_server(node, toolsets="chat"))
        result = await call("list_active_chats", address=ALICE, limit=1)
        await node.close()
    assert result["structuredContent"]["chats"][0]["kind"] == "encrypted"
    assert "Good night" not in result["content"][0]["text"]


async def test_someone_who_does_not_chat_has_no_chats(call: Call) -> None:
    assert (await call("list_active_chats", address=NOBODY))["structuredContent"]["chats"] == []


@pytest.mark.promise("Data of the chain", "Counts are true, whatever the limit.")
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"group_id": 3}, 21),
        ({"involving": [ALICE, BOB]}, 6),
        ({"group_id": 7}, 0),
        ({"group_id": 3, "limit": 1}, 21),
    ],
)
async def test_counts_are_true_whatever_the_limit(call: Call, arguments: dict[str, Any], count: int) -> None:
    answer = (await call("get_chat_stats", **arguments))["structuredContent"]
    assert answer["count"] == count
    assert "groups" not in answer


@pytest.mark.promise("Data of the chain", "Counts are true, whatever the limit.")
async def test_counts_above_any_page_are_true() -> None:
    async with FaultyNode() as busy:
        busy.behaviours["/chat/messages/count"] = replies("31415", 200, "text/plain")
        node = Node.at([busy.url])
        call = caller(make_server(node, toolsets="chat"))
        answer = (await call("count_chat_messages", tx_group_id=3, limit=50))["structuredContent"]
        await node.close()
    assert answer["count"] == 31415
    assert not any("limit" in target for target in busy.asked if "count" in target)


async def test_the_busiest_groups_and_senders(call: Call) -> None:
    answer = (await call("get_chat_stats"))["structuredContent"]
    assert [(row["groupId"], row["messages"]) for row in answer["groups"]] == [
        (3, 21),
        (0, None),
        (5, 2),
        (4, 6),
    ]
    assert answer["senders"][0] == {"sender": ALICE, "senderName": "alice-test", "bytes": 10110}
    assert len((await call("get_chat_stats", limit=2))["structuredContent"]["senders"]) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"sender": ALICE}, "Invalid arguments. A filter needs group_id or involving."),
        (
            {"group_id": 3, "involving": [ALICE, BOB]},
            "Invalid arguments. Give exactly one of group_id, involving.",
        ),
        ({"group_id": 99}, "Group not found."),
    ],
)
async def test_counts_of_nothing_in_particular_are_refused(
    call: Call, arguments: dict[str, Any], text: str
) -> None:
    assert (await call("get_chat_stats", **arguments))["content"][0]["text"] == text


async def test_names_of_old_still_work(call: Call) -> None:
    old = {"encoding": "BASE64", "decode_text": True}
    newest = (await call("get_chat_messages", txGroupId=3, limit=1, **old))["structuredContent"]
    oldest = (await call("get_chat_messages", tx_group_id=3, limit=1, reverse=False, **old))[
        "structuredContent"
    ]
    assert newest["messages"][0]["text"] == "Good night everybody"
    assert oldest["messages"][0]["signature"] == HELLO
    edits = (await call("get_chat_messages", group_id=3, hasChatReference=True))["structuredContent"][
        "messages"
    ]
    assert [row["signature"] for row in edits] == [EDIT]
    edit = (await call("get_chat_messages", group_id=3, chat_reference=HELLO))["structuredContent"][
        "messages"
    ]
    assert [row["signature"] for row in edit] == [EDIT]
    one = (await call("get_chat_message_by_signature", signature=HELLO, **old))["structuredContent"]
    assert one["page"] == {"returned": 1}
    chats = (await call("get_active_chats", address=BOB, haschatreference=False, **old))["structuredContent"]
    assert chats["page"] == {"returned": 5}
    assert (await call("count_chat_messages", tx_group_id=4))["structuredContent"]["count"] == 6


async def test_old_pages_go_on_in_their_order(call: Call) -> None:
    pages = await every_page(call, "get_chat_messages", group_id=3, reverse=False, limit=8)
    signatures = [row["signature"] for page in pages for row in page["messages"]]
    assert signatures == [row["signature"] for row in sample_chain()["chatGroups"]["3"]]


async def test_the_signature_of_a_message_has_a_pattern(server: Server) -> None:
    (tool,) = [
        each
        for each in (await request(server, "tools/list", {}))["result"]["tools"]
        if each["name"] == "get_chat_messages"
    ]
    assert tool["inputSchema"]["properties"]["signature"]["pattern"] == "^[1-9A-Za-z]+$"


@pytest.mark.promise(
    "Text of strangers",
    "Encrypted chat and long data in Base64 are shown as their kind and size, never as data.",
)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (base64.b64encode(b"qortalGroupEncryptedData" + bytes(30)), "encrypted"),
        (base64.b64encode(b"qortalEncryptedData" + bytes(31)), "encrypted"),
        (base64.b64encode(bytes(range(256)) * 5), "binary"),
        (b"aGVsbG8=", "text"),
    ],
)
async def test_data_sent_as_text_is_marked_and_not_shown(text: bytes, kind: str) -> None:
    row = {
        **sample_chain()["chatGroups"]["3"][0],
        "data": base64.b64encode(text).decode(),
        "isText": True,
        "isEncrypted": False,
    }
    node = Node([ToldNode(lambda target: [row] if target.startswith("/chat/messages?") else None)])
    answer = await answer_of(caller(make_server(node, toolsets="chat")), "get_chat_messages", group_id=3)
    await node.close()
    (message,) = answer["messages"]
    assert (message["kind"], message["bytes"]) == (kind, len(text))
    assert message["text"] == (text.decode() if kind == "text" else None)
