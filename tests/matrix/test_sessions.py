"""Sessions of the legacy era over HTTP: their life, their streams, their bounds."""

import asyncio
from typing import Any

import pytest
from tests.matrix import rawhttp
from tests.matrix.conftest import Connect
from tests.matrix.wires import CLIENT_INFO, LEGACY, SessionWire, unique

pytestmark = [pytest.mark.parametrize("transport", ["sessions"])]
legacy = pytest.mark.parametrize("revision", LEGACY)
newest = pytest.mark.parametrize("revision", ["2025-11-25"])
JSON = ("Content-Type", "application/json")


async def open_session(connect: Connect, **more: Any) -> SessionWire:
    wire = await connect(**more)
    assert isinstance(wire, SessionWire)
    return wire


@pytest.mark.promise(
    "Library", "A session has an id that nobody can guess, and a lost stream is resumed where it broke."
)
@legacy
async def test_a_session_has_an_id_that_nobody_can_guess(connect: Connect) -> None:
    wires = [await open_session(connect) for _ in range(3)]
    ids = [wire.session_id or "" for wire in wires]
    assert len(set(ids)) == 3
    assert all(len(id_) >= 32 and all(0x21 <= ord(letter) <= 0x7E for letter in id_) for id_ in ids)


@legacy
async def test_a_session_that_was_deleted_is_gone(connect: Connect) -> None:
    wire = await open_session(connect)
    reply, _ = await wire.ask("DELETE", wire.headers_of({}))
    assert reply.status == 200
    headers = [JSON, *wire.headers_of({})]
    for method, body in (
        ("POST", b'{"jsonrpc":"2.0","id":1,"method":"ping"}'),
        ("POST", b'{"jsonrpc":"2.0","method":"notifications/initialized"}'),
        ("DELETE", b""),
        ("GET", b""),
    ):
        reply, _ = await wire.ask(method, [*headers, ("Accept", "text/event-stream")], body)
        assert (method, reply.status) == (method, 404)


@legacy
async def test_an_unknown_session_is_not_found_and_a_missing_one_is_asked_for(connect: Connect) -> None:
    wire = await open_session(connect)
    accept = ("Accept", "text/event-stream")
    for method in ("GET", "DELETE"):
        reply, _ = await wire.ask(method, [accept, ("Mcp-Session-Id", "unknown")])
        assert reply.status == 404
        reply, _ = await wire.ask(method, [accept])
        assert reply.status == 400
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    reply, _ = await wire.ask("POST", [JSON, ("Mcp-Session-Id", "unknown")], body)
    assert reply.status == 404


@newest
async def test_deleting_a_session_ends_what_it_was_doing(connect: Connect) -> None:
    wire = await open_session(connect)
    other = await open_session(connect)
    key = unique("deleted")
    message = wire.message("tools/call", {"name": "hang", "arguments": {"key": key}})
    for accept in ("application/json", "application/json, text/event-stream"):
        wire.accept = accept
        post = await wire.post({**message, "id": accept})
        await other.call("wait_for", {"mark": f"{key} started"})
    stream = wire.listen()
    assert await stream.status() == 200
    reply, _ = await wire.ask("DELETE", wire.headers_of({}))
    wire.session_id = None
    assert reply.status == 200
    assert (await other.call("wait_for", {"mark": f"{key} ended"})).text == f"{key} ended"
    await stream.done()
    await post.done()
    # Both requests were closed, and the door still answers.
    replies = [await wire.receive() for _ in range(2)]
    assert {reply["error"]["code"] for reply in replies} == {-32800}
    assert (await other.call("echo", {"text": "still here"})).text == "still here"


@legacy
async def test_a_session_has_one_stream_for_what_belongs_to_no_request(connect: Connect) -> None:
    wire = await open_session(connect)
    first = wire.listen()
    assert await first.status() == 200
    assert (await first.head).media_type == "text/event-stream"
    second = wire.listen()
    assert await second.status() == 409
    await first.drop()
    async with asyncio.timeout(30):
        while await (third := wire.listen()).status() == 409:
            await third.done()
            wire.inbox.get_nowait()
    assert await third.status() == 200


@legacy
async def test_a_stream_needs_a_client_that_takes_events(connect: Connect) -> None:
    wire = await open_session(connect)
    reply, _ = await wire.ask("GET", [*wire.headers_of({}), ("Accept", "application/json")])
    assert reply.status == 406


@legacy
async def test_only_the_newest_legacy_clients_get_a_priming_event(connect: Connect) -> None:
    wire = await open_session(connect)
    headers = [*wire.headers_of({}), ("Accept", "text/event-stream")]
    async with asyncio.timeout(30), await rawhttp.Client.open(wire.port) as client:
        await client.send(rawhttp.request_bytes("GET", "/mcp", headers))
        reply = await client.reply()
        await wire.post(wire.message("tools/call", {"name": "announce", "arguments": {"listing": "tools"}}))
        events = reply.events()
        first = await anext(events)
        if wire.revision >= "2025-11-25":
            assert first["data"] == ""
            assert first["id"]
            assert int(first["retry"]) > 0
            first = await anext(events)
        assert "tools/list_changed" in first["data"]
        await events.aclose()


@pytest.mark.promise(
    "Library", "A session has an id that nobody can guess, and a lost stream is resumed where it broke."
)
@legacy
async def test_a_lost_stream_is_resumed_where_it_broke(connect: Connect) -> None:
    wire = await open_session(connect)
    key = unique("resumed")
    arguments = {"key": key}
    message = wire.message(
        "tools/call", {"name": "hang_aloud", "arguments": arguments}, meta={"progressToken": 1}, id="lost"
    )
    post = await wire.post(message)
    assert (await wire.receive())["method"] == "notifications/progress"
    (event_id,) = [id_ for id_ in post.event_ids if not id_.endswith("-0")]
    await post.drop()
    # What happens meanwhile is kept for whoever comes back.
    await (await wire.notify("notifications/cancelled", {"requestId": "lost"})).done()
    await wire.call("wait_for", {"mark": f"{key} ended"})
    resumed = wire.listen(event_id)
    assert (await wire.reply_to("lost"))["error"]["code"] == -32800
    await resumed.done()
    # From the start of the stream everything comes once more.
    again = wire.listen(event_id.rpartition("-")[0] + "-0")
    assert (await wire.receive())["method"] == "notifications/progress"
    assert (await wire.receive())["id"] == "lost"
    await again.done()


@newest
async def test_a_tool_may_close_its_connection_and_answer_on_another(connect: Connect) -> None:
    wire = await open_session(connect)
    post = await wire.post(wire.message("tools/call", {"name": "part", "arguments": {}}, id="parted"))
    await post.done()
    (priming,) = post.event_ids
    resumed = wire.listen(priming)
    reply = await wire.reply_to("parted")
    assert reply["result"]["content"][0]["text"] == "fetched later"
    await resumed.done()


@pytest.mark.parametrize("revision", [revision for revision in LEGACY if revision < "2025-11-25"])
async def test_a_tool_cannot_close_the_connection_of_a_client_that_could_not_come_back(
    connect: Connect,
) -> None:
    wire = await open_session(connect)
    answer = await wire.call("part", {})
    assert answer.reply["result"]["content"][0]["text"] == "fetched later"


@newest
async def test_what_nobody_read_is_kept_for_the_next_stream(connect: Connect) -> None:
    wire = await open_session(connect)
    await wire.request("resources/subscribe", {"uri": "note://fixed"})
    assert (await wire.call("touch", {"uri": "note://fixed"})).before == []
    wire.listen()
    assert (await wire.receive())["method"] == "notifications/resources/updated"


@newest
async def test_an_event_id_of_no_stream_of_this_session_is_refused(connect: Connect) -> None:
    wire, other = await open_session(connect), await open_session(connect)
    answer = await other.call("steps", meta={"progressToken": 1})
    theirs = answer.post.event_ids[-1]
    for event_id in ("nonsense", "p99-1", "g-x", "-1", theirs, "p1-99999999999"):
        headers = [*wire.headers_of({}), ("Accept", "text/event-stream"), ("Last-Event-ID", event_id)]
        reply, _ = await wire.ask("GET", headers)
        assert (event_id, reply.status) == (event_id, 400)


@newest
async def test_the_oldest_session_makes_room_for_a_new_one(connect: Connect) -> None:
    wires = [await open_session(connect, limits={"sessions": 2}) for _ in range(3)]
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    statuses = []
    for wire in wires:
        reply, _ = await wire.ask("POST", [JSON, *wire.headers_of({})], body)
        statuses.append(reply.status)
    assert statuses == [404, 200, 200]


@newest
async def test_finished_streams_are_forgotten_in_bounds(connect: Connect) -> None:
    wire = await open_session(connect, limits={"session_streams": 2})
    ids = []
    for _ in range(4):
        answer = await wire.call("steps", meta={"progressToken": 1})
        ids.append(answer.post.event_ids[0])
    statuses = []
    for id_ in ids:
        headers = [*wire.headers_of({}), ("Accept", "text/event-stream"), ("Last-Event-ID", id_)]
        reply, _ = await wire.ask("GET", headers)
        statuses.append(reply.status)
    assert statuses == [400, 400, 200, 200]


@newest
async def test_a_failed_handshake_opens_no_session(connect: Connect) -> None:
    wire = await connect(shake=False)
    answer = await wire.request("initialize", {"clientInfo": CLIENT_INFO})
    assert "mcp-session-id" not in answer.post.head.result().headers
