"""What comes before an answer, or instead of one: progress, log messages, cancellation, subscriptions."""

import asyncio
import json
from typing import Any

import pytest
from tests.matrix import rawhttp
from tests.matrix.conftest import Connect
from tests.matrix.wires import LEGACY, MODERN, HttpWire, SessionWire, WebSocketWire, Wire, unique

INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def call(wire: Wire, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return wire.message("tools/call", {"name": tool, "arguments": arguments or {}}, **more)


@pytest.mark.promise(
    "Messages", "Progress is sent only to those who ask for it, carries their token, and only grows."
)
async def test_progress_has_the_token_and_only_grows(connect: Connect) -> None:
    wire = await connect()
    for token in (0, "", 7, -1, "a token", 2**53):
        answer = await wire.call("steps", meta={"progressToken": token})
        assert answer.text == "done"
        assert [m["method"] for m in answer.before] == ["notifications/progress"] * 3
        params = [m["params"] for m in answer.before]
        assert all(p["progressToken"] == token and type(p["progressToken"]) is type(token) for p in params)
        assert [p["progress"] for p in params] == [1, 1.5, 2]
        assert {p["total"] for p in params} == {2}
        assert params[0]["message"] == "step 1"


@pytest.mark.promise(
    "Messages", "Progress is sent only to those who ask for it, carries their token, and only grows."
)
async def test_without_a_token_nothing_is_told(connect: Connect) -> None:
    wire = await connect()
    answer = await wire.call("steps")
    assert (answer.text, answer.before) == ("done", [])
    if not wire.lasting:
        assert answer.post.head.result().media_type == "application/json"


async def test_a_token_of_another_type_is_refused(connect: Connect) -> None:
    wire = await connect()
    tokens: list[Any] = [1.5, True, None, {}, []]
    for token in tokens:
        answer = await wire.call("steps", meta={"progressToken": token})
        assert (token, answer.code) == (token, INVALID_PARAMS)


async def test_log_messages_come_at_the_level_that_was_asked_for_and_above(connect: Connect) -> None:
    wire = await connect()
    assert (await wire.call("chatter")).before == []  # nobody asked yet
    if wire.transport == "http" and not wire.modern:
        # Every such request stands alone: there is nothing to remember a level in.
        assert (await wire.request("logging/setLevel", {"level": "info"})).code == METHOD_NOT_FOUND
        return
    for at, level in enumerate(LEVELS):
        if wire.modern:
            answer = await wire.call("chatter", meta={LOG_LEVEL: level})
        else:
            assert (await wire.request("logging/setLevel", {"level": level})).result == {}
            answer = await wire.call("chatter")
        heard = [m["params"]["level"] for m in answer.before]
        assert heard == LEVELS[at:]
        for message in answer.before:
            assert message["params"]["data"] == {"said": message["params"]["level"]}
            assert message["params"]["logger"] == "subject"
    if wire.modern:
        assert (await wire.call("chatter")).before == []  # each request asks for itself


async def test_an_unknown_level_is_refused(connect: Connect) -> None:
    wire = await connect()
    for level in ("loud", "", "INFO", 5, None):
        if wire.modern:
            answer = await wire.call("chatter", meta={LOG_LEVEL: level})
        else:
            answer = await wire.request("logging/setLevel", {"level": level})
        remembers = wire.modern or wire.transport != "http"
        assert (level, answer.code) == (level, INVALID_PARAMS if remembers else METHOD_NOT_FOUND)
        assert answer.before == []


@pytest.mark.promise("Messages", "A cancelled request is ended and not answered.")
async def test_a_cancelled_request_is_ended_and_not_answered(connect: Connect) -> None:
    wire = await connect()
    key = unique("cancelled")
    message = call(wire, "hang", {"key": key}, id="to cancel")
    post = await wire.post(message)
    await wire.call("wait_for", {"mark": f"{key} started"})
    if wire.transport == "http" or (not wire.lasting and wire.modern):
        # Nothing connects a notification with another POST: only leaving it cancels. In the modern era, that is.
        await wire.said_nothing(await wire.notify("notifications/cancelled", {"requestId": "to cancel"}))
        assert post.task is not None
        assert not post.task.done()
        await post.drop()
        await wire.call("wait_for", {"mark": f"{key} ended"})
        return
    cancel = await wire.notify("notifications/cancelled", {"requestId": "to cancel", "reason": "enough"})
    await cancel.done()
    if not wire.lasting:
        # The POST of a cancelled request must end somehow.
        assert (await wire.reply_to("to cancel"))["error"]["code"] == -32800
    assert (await wire.call("wait_for", {"mark": f"{key} ended"})).before == []
    assert (await wire.fence()).before == []
    # The id is free again.
    assert (await wire.call("echo", {"text": "again"}, id="to cancel")).text == "again"


# Two POSTs have no order.
@pytest.mark.parametrize("transport", ["memory", "stdio", "websocket"])
async def test_a_request_can_be_cancelled_before_it_started(connect: Connect) -> None:
    wire = await connect()
    message = call(wire, "hang", {"key": unique("early")}, id=5)
    await wire.post(message)
    await wire.said_nothing(await wire.notify("notifications/cancelled", {"requestId": 5}))


async def test_an_id_of_another_type_cancels_nothing(connect: Connect) -> None:
    wire = await connect()
    key = unique("typed")
    post = await wire.post(call(wire, "finish_soon", {"key": key}, id=77))
    await wire.call("wait_for", {"mark": f"{key} started"})
    await (await wire.notify("notifications/cancelled", {"requestId": "77"})).done()
    assert (await wire.reply_to(77))["result"]["content"][0]["text"] == "finished"
    await post.done()


async def test_what_follows_a_cancelled_stream_is_not_sent(connect: Connect) -> None:
    """A request that has sent progress already, and is then given up."""
    wire = await connect()
    key = unique("aloud")
    post = await wire.post(call(wire, "hang_aloud", {"key": key}, meta={"progressToken": 1}, id="aloud"))
    assert (await wire.receive())["method"] == "notifications/progress"
    before = int((await wire.call("tasks")).text)
    if wire.lasting:
        await wire.notify("notifications/cancelled", {"requestId": "aloud"})
    elif isinstance(wire, SessionWire) and not wire.modern:
        await (await wire.notify("notifications/cancelled", {"requestId": "aloud"})).done()
        assert (await wire.reply_to("aloud"))["error"]["code"] == -32800
        await post.done()
    else:
        await post.drop()
    await wire.call("wait_for", {"mark": f"{key} ended"})
    async with asyncio.timeout(30):  # neither the work nor what kept its stream alive is left behind
        while int((await wire.call("tasks")).text) >= before:
            pass
    assert (await wire.fence()).before == []


@pytest.mark.parametrize("transport", ["sessions"])
@pytest.mark.parametrize("revision", LEGACY)
async def test_leaving_is_no_cancellation_in_a_legacy_session(connect: Connect) -> None:
    wire = await connect()
    key = unique("left")
    post = await wire.post(call(wire, "finish_soon", {"key": key}))
    await wire.call("wait_for", {"mark": f"{key} started"})
    await post.drop()
    assert int((await wire.call("busy")).text) >= 1


@pytest.mark.parametrize("revision", LEGACY)
async def test_a_watched_resource_is_told_of_until_it_is_not_watched(connect: Connect) -> None:
    wire = await connect()
    uri = "note://fixed"
    answer = await wire.request("resources/subscribe", {"uri": uri})
    if wire.transport == "http":
        assert (answer.code, answer.status) == (METHOD_NOT_FOUND, 200)
        return
    assert answer.result == {}
    if isinstance(wire, SessionWire):
        assert await wire.listen().status() == 200
    await wire.post(call(wire, "touch", {"uri": uri}, id="touch"))
    await wire.post(call(wire, "touch", {"uri": "note://picture"}, id="other"))
    heard = [await wire.receive() for _ in range(3)]
    told = [message for message in heard if "method" in message]
    assert told == [{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}]
    assert (await wire.request("resources/unsubscribe", {"uri": uri})).result == {}
    assert (await wire.call("touch", {"uri": uri})).before == []


@pytest.mark.parametrize("revision", LEGACY)
async def test_a_resource_that_is_not_there_cannot_be_watched(connect: Connect) -> None:
    wire = await connect()
    answer = await wire.request("resources/subscribe", {"uri": "note://nope"})
    assert answer.code == (METHOD_NOT_FOUND if wire.transport == "http" else -32002)


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
async def test_a_resource_of_a_template_is_looked_at_while_it_is_watched(connect: Connect) -> None:
    wire = await connect()
    shore = unique("north").replace(" ", "-")
    uri = f"note://tide/{shore}"
    assert (await wire.request("resources/subscribe", {"uri": uri})).result == {}
    if isinstance(wire, SessionWire):
        assert await wire.listen().status() == 200
    for turn in (1, 2):
        await wire.post(call(wire, "turn_tide", {"shore": shore}, id=turn))
        heard = [await wire.receive() for _ in range(2)]
        told = [message for message in heard if "method" in message]
        assert told == [
            {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
        ]
    assert shore in (await wire.call("watched_shores")).text
    assert (await wire.request("resources/unsubscribe", {"uri": uri})).result == {}
    assert shore not in (await wire.call("watched_shores")).text


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
@pytest.mark.parametrize(
    ("shore", "reason"),
    [("nowhere", "Invalid shore."), ("dry", "Resource not found"), ("", "Resource not found")],
)
async def test_a_resource_of_a_template_that_cannot_be_read_cannot_be_watched(
    connect: Connect, shore: str, reason: str
) -> None:
    wire = await connect()
    uri = f"note://tide/{shore}"
    answer = await wire.request("resources/subscribe", {"uri": uri})
    assert answer.error == {"code": -32002, "message": reason, "data": {"uri": uri}}


@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_looks_at_resources_of_a_template_until_it_ends(connect: Connect) -> None:
    wire = await connect()
    shore = unique("south").replace(" ", "-")
    uris = [f"note://tide/{shore}", "note://tide/nowhere", "note://tide/dry"]
    post = await wire.post(listening(wire, shore, resourceSubscriptions=uris))
    accepted = (await wire.receive())["params"]["notifications"]
    assert accepted == {"resourceSubscriptions": uris[:1]}
    await wire.post(call(wire, "turn_tide", {"shore": shore}, id="turn"))
    heard = [await wire.receive() for _ in range(2)]
    (told,) = [message for message in heard if "method" in message]
    assert told["params"] == {"uri": uris[0], "_meta": {SUBSCRIPTION_ID: shore}}
    assert shore in (await wire.call("watched_shores")).text
    if wire.lasting:
        await wire.said_nothing(await wire.notify("notifications/cancelled", {"requestId": shore}))
    else:
        await post.drop()
    async with asyncio.timeout(30):
        while shore in (await wire.call("watched_shores")).text:
            pass


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
async def test_more_watched_resources_than_one_caller_may_have_are_refused(connect: Connect) -> None:
    wire = await connect(limits={"caller_watched_resources": 2})
    for shore in ("a", "b", "%61"):
        assert (await wire.request("resources/subscribe", {"uri": f"note://tide/{shore}"})).result == {}
    assert (await wire.request("resources/subscribe", {"uri": "note://tide/c"})).code == INVALID_PARAMS
    assert (await wire.request("resources/subscribe", {"uri": "note://fixed"})).result == {}


@pytest.mark.parametrize("revision", LEGACY)
async def test_every_legacy_connection_hears_that_a_list_changed(connect: Connect) -> None:
    wire = await connect()
    if wire.transport == "http":
        assert (await wire.call("announce", {"listing": "tools"})).before == []
        return
    if isinstance(wire, SessionWire):
        assert await wire.listen().status() == 200
    for listing in ("tools", "prompts", "resources"):
        await wire.post(call(wire, "announce", {"listing": listing}, id=listing))
        heard = [await wire.receive() for _ in range(2)]
        methods = [message["method"] for message in heard if "method" in message]
        assert methods == [f"notifications/{listing}/list_changed"]


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
async def test_more_subscriptions_than_allowed_are_refused(connect: Connect) -> None:
    wire = await connect(limits={"peer_subscriptions": 2})
    for number in (1, 2, 2):
        assert (await wire.request("resources/subscribe", {"uri": f"note://item/{number}"})).result == {}
    assert (await wire.request("resources/subscribe", {"uri": "note://item/3"})).code == INVALID_PARAMS


ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


def listening(wire: Wire, id_: Any, **wanted: Any) -> dict[str, Any]:
    return wire.message("subscriptions/listen", {"notifications": wanted}, id=id_)


@pytest.mark.parametrize("id_", [0, "", 12, "12", "a b"])
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_is_acknowledged_first_and_keeps_its_id(connect: Connect, id_: Any) -> None:
    wire = await connect()
    uris = ["note://fixed", "note://nope", "note://item/5", "note://fixed"]
    post = await wire.post(listening(wire, id_, **ALL, resourceSubscriptions=uris))
    first = await wire.receive()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == {
        **ALL,
        "resourceSubscriptions": ["note://fixed", "note://item/5"],
    }
    await wire.post(call(wire, "announce", {"listing": "prompts"}, id="announce"))
    await wire.post(call(wire, "touch", {"uri": "note://item/5"}, id="touch"))
    heard = [await wire.receive() for _ in range(4)]
    told = {message["method"]: message for message in [first, *heard] if "method" in message}
    assert set(told) == {
        "notifications/subscriptions/acknowledged",
        "notifications/prompts/list_changed",
        "notifications/resources/updated",
    }
    for message in told.values():
        found = message["params"]["_meta"][SUBSCRIPTION_ID]
        assert (found, type(found)) == (id_, type(id_))
    await post.drop()


@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_hears_only_what_it_asked_for(connect: Connect) -> None:
    wire = await connect()
    post = await wire.post(
        listening(wire, "few", toolsListChanged=True, resourceSubscriptions=["note://item/1"])
    )
    accepted = (await wire.receive())["params"]["notifications"]
    assert accepted == {"toolsListChanged": True, "resourceSubscriptions": ["note://item/1"]}
    for listing in ("prompts", "resources"):
        assert (await wire.call("announce", {"listing": listing})).before == []
    assert (await wire.call("touch", {"uri": "note://item/2"})).before == []
    await wire.post(call(wire, "announce", {"listing": "tools"}, id="last"))
    heard = [await wire.receive() for _ in range(2)]
    assert [m["method"] for m in heard if "method" in m] == ["notifications/tools/list_changed"]
    await post.drop()


@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_to_nothing_is_acknowledged_as_such(connect: Connect) -> None:
    wire = await connect()
    post = await wire.post(listening(wire, "nothing"))
    assert (await wire.receive())["params"]["notifications"] == {}
    await post.drop()


@pytest.mark.parametrize("revision", [MODERN])
async def test_two_subscriptions_get_a_copy_each(connect: Connect) -> None:
    wire = await connect()
    posts = [await wire.post(listening(wire, id_, toolsListChanged=True)) for id_ in (1, "1")]
    acknowledged = [await wire.receive() for _ in posts]
    assert {type(m["params"]["_meta"][SUBSCRIPTION_ID]) for m in acknowledged} == {int, str}
    await wire.post(call(wire, "announce", {"listing": "tools"}, id="announce"))
    heard = [await wire.receive() for _ in range(3)]
    copies = [m["params"]["_meta"][SUBSCRIPTION_ID] for m in heard if "method" in m]
    assert sorted(map(str, copies)) == ["1", "1"]
    for post in posts:
        await post.drop()


@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_that_the_server_ends_is_ended_in_good_order(connect: Connect) -> None:
    wire = await connect(own=True)
    post = await wire.post(listening(wire, "ends", toolsListChanged=True))
    await wire.receive()
    ended = await wire.post(call(wire, "end_subscriptions", id="end"))
    before: list[Any] = []
    reply = await wire.reply_to("ends", before)
    methods = [m["method"] for m in before if "method" in m]
    assert methods == (["notifications/cancelled"] if wire.lasting else [])
    assert reply["result"]["resultType"] == "complete"
    assert reply["result"]["_meta"][SUBSCRIPTION_ID] == "ends"
    await post.done()
    await ended.done()


@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_that_the_client_ends_is_over_at_once(connect: Connect) -> None:
    wire = await connect()
    post = await wire.post(listening(wire, "over", toolsListChanged=True))
    await wire.receive()
    if wire.lasting:
        await wire.said_nothing(await wire.notify("notifications/cancelled", {"requestId": "over"}))
    else:
        await post.drop()
    assert (await wire.call("announce", {"listing": "tools"})).before == []


BAD_FILTERS: list[Any] = [{}, {"notifications": []}, {"notifications": None}]
BAD_FILTERS += [
    {"notifications": {"toolsListChanged": "yes"}},
    {"notifications": {"resourceSubscriptions": "x"}},
]


@pytest.mark.parametrize("params", BAD_FILTERS)
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_without_a_filter_is_refused(connect: Connect, params: dict[str, Any]) -> None:
    wire = await connect()
    answer = await wire.request("subscriptions/listen", params)
    assert (answer.code, answer.status) == (INVALID_PARAMS, None if wire.lasting else 400)


@pytest.mark.promise("Limits and abuse", "A connection has a bounded number of subscriptions.")
@pytest.mark.parametrize("revision", [MODERN])
@pytest.mark.parametrize("transport", ["memory", "stdio", "websocket"])
async def test_a_connection_has_a_bounded_number_of_subscriptions(connect: Connect) -> None:
    wire = await connect(limits={"peer_subscriptions": 2})
    for id_ in (1, 2):
        await wire.post(listening(wire, id_, toolsListChanged=True))
        await wire.receive()
    assert (await wire.answer(listening(wire, 3))).code == INVALID_PARAMS


@pytest.mark.parametrize("transport", ["http", "sessions"])
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_subscription_needs_a_client_that_takes_events(connect: Connect) -> None:
    wire = await connect()
    assert isinstance(wire, HttpWire)
    wire.accept = "application/json"
    answer = await wire.answer(listening(wire, "no events"))
    assert (answer.status, answer.code) == (406, -32600)


@pytest.mark.parametrize("transport", ["http", "sessions"])
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
async def test_a_stream_that_says_nothing_is_kept_alive(connect: Connect) -> None:
    wire = await connect(limits={"keep_alive_seconds": 0.05})
    assert isinstance(wire, HttpWire)
    if wire.modern:
        message = listening(wire, "kept", toolsListChanged=True)
        body = json.dumps(message).encode()
        headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")]
        request = rawhttp.request_bytes("POST", "/mcp", [*headers, *wire.headers_of(message)], body)
    elif isinstance(wire, SessionWire):
        headers = [("Accept", "text/event-stream"), *wire.headers_of({})]
        request = rawhttp.request_bytes("GET", "/mcp", headers)
    else:
        return  # without a session there is no such stream in the legacy era
    async with asyncio.timeout(30), await rawhttp.Client.open(wire.port) as client:
        await client.send(request)
        events = (await client.reply()).events()
        first = await anext(events)
        assert first.get("data") is not None
        assert [await anext(events) for _ in range(2)] == [{"": ""}] * 2
        await events.aclose()


@pytest.mark.promise("Limits and abuse", "A client that does not read its notices is let go.")
@pytest.mark.parametrize("transport", ["websocket"])
@pytest.mark.parametrize("revision", ["2025-11-25"])
async def test_a_client_that_does_not_read_its_notices_is_let_go(connect: Connect) -> None:
    limits = {"backlog_messages": 4, "send_seconds": 0.2}
    wire, other = await connect(limits=limits), await connect(limits=limits)
    assert isinstance(wire, WebSocketWire)
    uri = "note://item/" + "x" * 2000
    assert (await wire.request("resources/subscribe", {"uri": uri})).result == {}
    wire.socket.transport.pause_reading()
    before = int((await other.call("tasks")).text)
    # What the operating system does not take any more waits in the server, in bounds.
    async with asyncio.timeout(20):
        while int((await other.call("tasks")).text) >= before:
            for _ in range(50):
                await other.call("touch", {"uri": uri})
    wire.socket.transport.abort()


@pytest.mark.parametrize("transport", ["http"])
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_reader_that_stops_is_let_go_too(connect: Connect) -> None:
    wire = await connect(limits={"backlog_messages": 4, "send_seconds": 0.2})
    assert isinstance(wire, HttpWire)
    uri = "note://item/" + "x" * 2000
    message = listening(wire, "stops", resourceSubscriptions=[uri])
    headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")]
    body = json.dumps(message).encode()
    async with asyncio.timeout(20), await rawhttp.Client.open(wire.port) as client:
        await client.send(rawhttp.request_bytes("POST", "/mcp", [*headers, *wire.headers_of(message)], body))
        assert (await client.reply()).status == 200
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        before = int((await wire.call("tasks")).text)
        while int((await wire.call("tasks")).text) >= before:
            for _ in range(50):
                await wire.call("touch", {"uri": uri})
        client.writer.transport.abort()
