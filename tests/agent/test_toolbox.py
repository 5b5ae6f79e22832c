"""Tools of real servers, called as a model calls them."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.agent.replies import CASES, Case
from tests.agent.tool_servers import LIMITS, OPTIONS, Era, Lists, Shop, on_port, over_http, tool, toolbox
from tests.client import fakes
from tests.client.conftest import EVERYTHING, served, websocket_of
from tests.client.everything import make
from tests.client.fakes import Json, child, error, legacy, modern, result, wait_until, web_server

from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.tools.server import Target, ToolServer
from qortal_mcp.agent.tools.toolbox import Toolbox
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

ERAS = pytest.mark.parametrize("era", [legacy, modern])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_a_reply_over_http_is_read_as_it_should_be(case: Case) -> None:
    shop = Shop("t")
    shop.answer = lambda message: f'{{"jsonrpc":"2.0","id":{message["id"]},{case.reply}}}'.encode()
    era = modern if case.is_modern else legacy
    async with over_http(era(shop)) as url, toolbox(url) as box:
        seen = await box.call("t", {})
    assert (seen.text, seen.ok) == (case.text, case.ok)
    assert len(seen.warnings) == bool(case.warning)
    assert case.warning in "".join(seen.warnings)


@ERAS
async def test_a_tool_that_nobody_knew_before_can_be_called(era: Era) -> None:
    shop = Shop("zorble")
    async with over_http(era(shop)) as url, toolbox(url) as box:
        assert list(box.offers) == ["zorble"]
        seen = await box.call("zorble", {"n": 1})
    assert (seen.text, seen.ok, seen.warnings) == ('zorble {"n": 1}', True, ())
    assert box.servers_seen()[0].problem == ""


@ERAS
async def test_a_tool_that_is_added_is_offered_at_the_next_question(era: Era) -> None:
    shop = Shop("old")
    async with over_http(era(shop)) as url, toolbox(url) as box:
        shop.tools.append(tool("new"))
        await box.refresh()
        assert list(box.offers) == ["old", "new"]
        assert (await box.call("new", {})).ok


async def test_a_tool_that_is_gone_gives_an_error_and_is_offered_no_more() -> None:
    shop = Shop("stays", "goes")
    async with over_http(legacy(shop)) as url, toolbox(url) as box:
        del shop.tools[1]
        seen = await box.call("goes", {})
        assert (seen.text, seen.ok) == ("Unknown tool: goes (-32602)", False)
        await box.refresh()
        assert list(box.offers) == ["stays"]
        asked = len(shop.calls)
        seen = await box.call("goes", {})
    assert (seen.text, seen.ok) == ("There is no tool goes. The tools are: stays.", False)
    assert len(shop.calls) == asked


async def test_a_name_that_two_servers_have_reaches_each_of_them() -> None:
    here, there = Shop("search", "here"), Shop("search", "there")
    async with over_http(legacy(here)) as one, over_http(modern(there)) as two:
        servers = [
            ToolServer(one, label="My wiki", options=OPTIONS),
            ToolServer(two, label="Läden", options=OPTIONS),
        ]
        async with toolbox(*servers) as box:
            assert list(box.offers) == ["My_wiki__search", "here", "L_den__search", "there"]
            assert (await box.call("L_den__search", {})).text == "search {}"
            assert (len(here.calls), len(there.calls)) == (0, 1)
            assert (await box.call("here", {})).ok


async def test_a_server_that_takes_the_name_of_another_is_told_from_it() -> None:
    ours, theirs = Shop("get_balance"), Shop("get_balance", "qortal__get_balance")
    async with over_http(legacy(ours)) as one, over_http(legacy(theirs)) as two:
        servers = [
            ToolServer(url, label=label, options=OPTIONS) for url, label in ((one, "qortal"), (two, "Qortal"))
        ]
        async with toolbox(*servers) as box:
            assert list(box.offers) == [
                "qortal__get_balance",
                "Qortal2__get_balance",
                "Qortal2__qortal__get_balance",
            ]
            assert [seen.name for seen in box.servers_seen()] == ["qortal", "Qortal2"]
            assert box.offers["Qortal2__get_balance"].server == "Qortal2"
            await box.call("qortal__get_balance", {})
            assert (len(ours.calls), len(theirs.calls)) == (1, 0)


async def test_calls_run_side_by_side() -> None:
    together = asyncio.Barrier(2)

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        if message.get("method") != "tools/call":
            return web.json_response(json.loads(result(message, {"tools": [tool("t")]})))
        await together.wait()
        is_error = message["params"]["arguments"]["bad"]
        value = {"content": [{"type": "text", "text": "x"}], "isError": is_error}
        return web.json_response(json.loads(result(message, value)))

    async with asyncio.timeout(30), web_server(fakes.answering(reply)) as url, toolbox(url) as box:
        both = await asyncio.gather(box.call("t", {"bad": True}), box.call("t", {"bad": False}))
    assert [seen.ok for seen in both] == [False, True]


async def test_without_servers_there_are_no_tools() -> None:
    async with toolbox() as box:
        seen = await box.call("x\x1b", {})
    assert seen.text == "There is no tool x\\u{001B}. No tools are available."


async def test_a_call_without_an_answer_ends_in_time_and_is_cancelled() -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        if message.get("method") != "tools/call":
            return web.json_response(json.loads(result(message, {"tools": [tool("slow")]})))
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            over.set()
        return web.Response()

    limits = AgentLimits(call_seconds=0.2)
    async with (
        asyncio.timeout(30),
        web_server(fakes.answering(reply)) as url,
        toolbox(url, limits=limits) as box,
    ):
        seen = await box.call("slow", {})
        assert (seen.text, seen.ok) == ("slow timed out after 0.2 s", False)
        await over.wait()
        begun.clear()
        over.clear()
        call = asyncio.ensure_future(box.call("slow", {}))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await over.wait()


async def test_a_reply_to_another_request_is_not_taken() -> None:
    shop = Shop("t")
    shop.answer = lambda message: result({"id": 99}, {"content": [{"type": "text", "text": "stolen"}]})
    async with over_http(legacy(shop)) as url, toolbox(url, limits=AgentLimits(call_seconds=1)) as box:
        seen = await box.call("t", {})
    assert not seen.ok
    assert "stolen" not in seen.text


BROKEN = [
    pytest.param(
        web.Response(status=500, text="boom at http://u:hush@db/x?key=hush"), "HTTP status 500", id="500"
    ),
    pytest.param(
        web.Response(text="<html><h1>Hello</h1></html>", content_type="text/html"),
        "cannot be read",
        id="html",
    ),
    pytest.param(web.Response(status=401), "wants a sign-in", id="401"),
]


@pytest.mark.parametrize(("response", "words"), BROKEN)
async def test_an_answer_that_is_not_a_reply_is_explained_in_one_sentence(
    response: web.Response, words: str
) -> None:
    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        if message.get("method") != "tools/call":
            return web.json_response(json.loads(result(message, {"tools": [tool("t")]})))
        return web.Response(status=response.status, body=response.body, content_type=response.content_type)

    async with (
        web_server(fakes.answering(reply)) as url,
        toolbox(ToolServer(f"{url}/mcp?key=hush", label="shop", options=OPTIONS)) as box,
    ):
        seen = await box.call("t", {})
    assert not seen.ok
    assert seen.text.startswith("shop ")
    assert words in seen.text
    assert "hush" not in seen.text
    assert "\n" not in seen.text


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


async def test_a_server_that_is_down_is_worked_around_until_it_is_there() -> None:
    port = free_port()
    up, late = Shop("up"), Shop("late")
    async with over_http(legacy(up)) as url, toolbox(url, f"http://127.0.0.1:{port}/mcp?key=hush") as box:
        assert list(box.offers) == ["up"]
        seen = box.servers_seen()
        assert seen[1].problem == f"127.0.0.1:{port} cannot be reached: connection refused."
        await box.refresh()
        assert list(box.offers) == ["up"]
        async with on_port(port, legacy(late)):
            await box.refresh()
            assert list(box.offers) == ["up", "late"]
            assert box.servers_seen()[1].problem == ""
            assert (await box.call("late", {})).ok
        seen_now = await box.call("late", {})
        assert (seen_now.ok, seen_now.text) == (False, "fake cannot be reached: connection refused.")
        await box.refresh()
        assert list(box.offers) == ["up"]


async def test_a_server_of_the_workshop_works_without_a_handshake() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method != "POST" or request.path != "/message":
            return web.Response(status=405)
        message = await request.json()
        reply: Json = {"jsonrpc": "2.0", "id": message.get("id"), "result": None, "error": None}
        if message["method"] == "tools/list":
            reply["result"] = {"tools": [tool("get_weather", title="Weather")]}
        elif message["method"] == "tools/call":
            value = {"sky": "clear"}
            text = json.dumps(value, indent=2)
            reply["result"] = {
                "content": [{"type": "text", "text": text}],
                "structuredContent": value,
                "isError": False,
            }
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        return web.json_response(reply)

    async with web_server(handle) as url, toolbox(f"{url}/message") as box:
        assert list(box.offers) == ["get_weather"]
        seen = await box.call("get_weather", {"location": "Oslo"})
    assert (seen.text, seen.ok) == ('{"sky":"clear"}', True)
    assert ["rpc-result-and-error" in warning for warning in seen.warnings] == [True]
    assert box.servers_seen()[0].name == url.removeprefix("http://")


async def test_a_server_with_the_old_names_of_methods_is_understood() -> None:
    def script(message: Json) -> list[bytes]:
        if message["method"] == "list_tools":
            return [result(message, {"tools": [tool("t")]})]
        if message["method"] == "call_tool":
            return [result(message, {"content": [{"type": "text", "text": message["params"]["name"]}]})]
        return [error(message, -32601, "Method not found")]

    async with over_http(legacy(script)) as url, toolbox(url) as box:
        assert (await box.call("t", {})).text == "t"


async def test_names_that_models_refuse_are_mapped_and_mapped_back() -> None:
    shop = Shop("files.read/all", "x" * 70)
    async with over_http(legacy(shop)) as url, toolbox(url) as box:
        short, cut = box.offers
        assert short == "files_read_all"
        assert len(cut) == 64
        await box.call(short, {})
        await box.call(cut, {})
    assert [call["name"] for call in shop.calls] == ["files.read/all", "x" * 70]


async def test_all_pages_of_a_list_are_read() -> None:
    def script(message: Json) -> list[bytes]:
        at = int(message["params"].get("cursor", "0"))
        page: Json = {"tools": [tool(f"t{at}")]}
        if at < 3:
            page["nextCursor"] = str(at + 1)
        return [result(message, page)]

    async with over_http(legacy(script)) as url, toolbox(url) as box:
        assert list(box.offers) == ["t0", "t1", "t2", "t3"]


async def test_a_list_that_goes_round_in_circles_ends() -> None:
    def script(message: Json) -> list[bytes]:
        return [result(message, {"tools": [tool("t")], "nextCursor": "again"})]

    async with asyncio.timeout(30), over_http(legacy(script)) as url, toolbox(url) as box:
        assert list(box.offers) == ["t"]


LINES = {
    "tools__list": [
        '{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}'
    ],
    "tools__call": ['{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"from a child"}]}}'],
}


async def test_a_program_is_started_and_called() -> None:
    async with toolbox(child(**LINES)) as box:
        assert (await box.call("t", {})).text == "from a child"
        assert box.servers_seen()[0].name == "fake"


async def test_a_program_that_ends_during_a_call_is_started_again_for_the_next_one_only(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "calls"
    program = f"""
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        value = {json.dumps(fakes.INITIALIZED)}
    elif method == "tools/list":
        value = {{"tools": [{{"name": "t", "inputSchema": {{"type": "object"}}}}]}}
    elif method == "tools/call":
        with open({str(notes)!r}, "a") as file:
            file.write("x")
        if os.path.getsize({str(notes)!r}) == 1:
            sys.exit(3)
        value = {{"content": [{{"type": "text", "text": "done"}}]}}
    elif "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "error": {{"code": -32601, "message": "no"}}}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": value}}), flush=True)
"""
    async with toolbox([sys.executable, "-c", program]) as box:
        first = await box.call("t", {})
        second = await box.call("t", {})
    assert first.text == (
        "The connection to fake was lost before it answered: the program ended with exit code 3. "
        "Whether the call ran is not known."
    )
    assert second.text == "done"
    assert notes.read_text() == "xx"


async def test_a_program_that_does_not_start_says_why_without_secrets() -> None:
    code = "import sys; print('no database at sesame\\x1b', file=sys.stderr); sys.exit(2)"
    broken = ToolServer(
        [sys.executable, "-c", code],
        label="shop",
        options=OPTIONS,
        mask=lambda text: text.replace("sesame", "***"),
    )
    async with toolbox(broken) as box:
        assert box.offers == {}
    assert box.servers_seen()[0].problem == (
        "shop cannot be reached: the program ended with exit code 2. Its last output: no database at ***\\u{001B}"
    )


async def test_a_program_that_does_not_exist_is_named() -> None:
    async with toolbox(["/nowhere/shop", "--key=hush"]) as box:
        assert box.servers_seen()[0].problem == "shop cannot be started: there is no such program."


async def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    async def hang(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    began = time.monotonic()
    limits = AgentLimits(start_seconds=0.5)
    async with web_server(hang) as url, toolbox(f"{url}/mcp", limits=limits) as box:
        assert box.servers_seen()[0].problem.endswith("did not answer within 0.5 s.")
    assert time.monotonic() - began < 5


async def test_a_notice_that_the_list_changed_is_heard_from_a_program() -> None:
    opening = json.loads(fakes.LINES["initialize"][0].replace("ID", "0"))["result"]
    opening["capabilities"] = {"tools": {"listChanged": True}}
    lines = {
        **LINES,
        "initialize": ['{"jsonrpc":"2.0","id":ID,"result":' + json.dumps(opening) + "}"],
        "tools__call": [
            '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
            *LINES["tools__call"],
        ],
    }
    lists = Lists()
    async with toolbox(ToolServer(child(**lines), options=lists.options)) as box:
        await box.refresh()
        assert lists.count == 1
        await box.call("t", {})
        await box.refresh()
        assert lists.count == 2


async def test_a_modern_server_that_announces_changes_is_asked_only_then() -> None:
    server, lists = make(), Lists()
    async with asyncio.timeout(30), toolbox(ToolServer(server, options=lists.options)) as box:
        await wait_until(lambda: b"acknowledged" in lists.last)
        await box.refresh()
        heard = lists.count
        await box.refresh()
        assert lists.count == heard
        server.hub.list_changed("tools")
        while lists.count == heard:
            await asyncio.sleep(0)
            await box.refresh()
        server.close()
        await box.refresh()
        heard = lists.count
        await asyncio.sleep(0)
        await box.refresh()
        assert lists.count == heard + 1


@pytest.mark.parametrize("wire", ["memory", "stdio", "http", "websocket"])
async def test_a_right_server_is_used_on_every_wire(wire: str) -> None:
    with served() if wire in ("http", "websocket") else nullcontext("") as url:
        targets: dict[str, Callable[[], Target]] = {
            "memory": make,
            "stdio": lambda: [sys.executable, EVERYTHING],
            "http": lambda: url,
            "websocket": lambda: websocket_of(url),
        }
        async with asyncio.timeout(20), toolbox(targets[wire]()) as box:
            assert (await box.call("add", {"a": 1, "b": 2})).text == '{"result":3}'
            assert (await box.call("look_up", {"city": "Köln"})).text == '{"result":"found Köln"}'
            failed = await box.call("fail", {})
            assert (failed.text, failed.ok, failed.warnings) == ("Nothing there.", False, ())
            asked = await box.call("ask_name", {})
            assert not asked.ok
            assert box.servers_seen()[0].name == "everything"


async def test_our_own_server_is_offered_in_this_process() -> None:
    node = Node.sample()
    lists = Lists()
    server = ToolServer(make_server(node), is_ours=True, options=lists.options)
    async with toolbox(server) as box:
        await box.refresh()
        assert lists.count == 1
        assert "get_node_status" in box.offers
        seen = await box.call("get_node_status", {})
        assert seen.ok
        assert seen.structured["asOf"]["height"] > 0
        assert seen.warnings == ()
        bad = await box.call("get_balance", {"address": "12345"})
        assert (bad.text, bad.ok) == ("Invalid Qortal address.", False)
        assert box.servers_seen()[0].name == "qortal-mcp-server"
    await node.close()


async def test_a_closed_toolbox_answers_at_once() -> None:
    async with over_http(legacy(Shop("t"))) as url, toolbox(url) as box:
        await box.close()
        seen = await box.call("t", {})
    assert (seen.ok, seen.text) == (False, "The connection to fake is closed.")


async def test_closing_while_a_server_is_being_opened_leaves_nothing_open() -> None:
    shop = Shop("t")
    async with over_http(legacy(shop)) as url:
        box = Toolbox([ToolServer(url, options=OPTIONS)], LIMITS)
        opening = asyncio.ensure_future(box.open())
        await asyncio.sleep(0)
        await box.close()
        await opening
    assert box.offers == {}
    assert box.servers[0].tools == ()


ODD_LISTS = [
    pytest.param([tool("t")], ["t"], "", id="bare-list"),
    pytest.param({"tools": {"t": {"description": "d"}}}, ["t"], "", id="by-name"),
    pytest.param({"tools": None}, [], "", id="null"),
    pytest.param({"tools": ["x", 1, {}, tool("t")]}, ["t"], "", id="odd-entries"),
    pytest.param("tools", [], "the list of tools is not a list", id="text"),
    pytest.param({"error": {"code": -32000, "message": "later"}}, [], "later (-32000)", id="error-as-result"),
    pytest.param({"tools": [{"name": "t", "inputSchema": {"minimum": 1e300}}]}, ["t"], "", id="large-number"),
]


@pytest.mark.parametrize(("listed", "wanted", "problem"), ODD_LISTS)
async def test_an_odd_list_gives_the_tools_that_are_in_it(
    listed: object, wanted: list[str], problem: str
) -> None:
    async with over_http(legacy(lambda message: [result(message, listed)])) as url, toolbox(url) as box:
        assert list(box.offers) == wanted
        assert problem in box.servers_seen()[0].problem
        assert bool(problem) == bool(box.servers_seen()[0].problem)


@pytest.mark.parametrize(
    "data", ["[" * 3000 + "]" * 3000, '{"tools":[{"name":"t","x":' + "[" * 3000 + "]" * 3000 + "}]}"]
)
async def test_a_list_that_is_nested_too_deeply_is_a_problem(data: str) -> None:
    def script(message: Json) -> list[bytes]:
        return [f'{{"jsonrpc":"2.0","id":{message["id"]},"result":{data}}}'.encode()]

    async with over_http(legacy(script)) as url, toolbox(url) as box:
        assert box.offers == {}
        assert "cannot be read" in box.servers_seen()[0].problem


async def test_a_list_that_ends_in_an_error_gives_what_came_before() -> None:
    def script(message: Json) -> list[bytes]:
        if message["params"].get("cursor"):
            return [error(message, -32603, "broken")]
        return [result(message, {"tools": [tool("t")], "nextCursor": "2"})]

    async with over_http(legacy(script)) as url, toolbox(url) as box:
        assert list(box.offers) == ["t"]


@pytest.mark.parametrize(
    ("declared", "problem"), [({}, ""), ({"tools": {}}, "answered with an error: no (-32601).")]
)
async def test_a_server_without_tools_is_fine_unless_it_claims_to_have_some(
    declared: Json, problem: str
) -> None:
    def script(message: Json) -> list[bytes]:
        if message["method"] == "initialize":
            return [result(message, {**fakes.INITIALIZED, "capabilities": declared})]
        return [error(message, -32601)] if "id" in message else []

    async with over_http(script) as url, toolbox(url) as box:
        assert box.offers == {}
        assert box.servers_seen()[0].problem.endswith(problem)
        assert bool(problem) == bool(box.servers_seen()[0].problem)


async def test_a_server_that_refuses_the_handshake_is_a_problem() -> None:
    def script(message: Json) -> list[bytes]:
        return [error(message, -32001, "go away")] if "id" in message else []

    async with over_http(script) as url, toolbox(url) as box:
        assert "go away (-32001)" in box.servers_seen()[0].problem


async def test_tools_stay_while_they_cannot_be_listed_again() -> None:
    shop = Shop("t")
    is_broken = False

    def script(message: Json) -> list[bytes]:
        is_list = message["method"] == "tools/list"
        return [error(message, -32603, "broken")] if is_broken and is_list else shop(message)

    async with over_http(legacy(script)) as url, toolbox(url) as box:
        is_broken = True
        shop.tools.append(tool("new"))
        await box.refresh()
        assert list(box.offers) == ["t"]
        assert (await box.call("t", {})).ok
        is_broken = False
        await box.refresh()
        assert list(box.offers) == ["t", "new"]


@pytest.mark.parametrize(("status", "wanted"), [(403, ["t"]), (503, [])])
async def test_a_refusal_at_the_next_question_costs_the_tools_only_if_the_server_is_down(
    status: int, wanted: list[str]
) -> None:
    is_refusing = False
    answer = fakes.HttpScript(legacy(Shop("t")))

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status) if is_refusing else await answer(request)

    async with web_server(handle) as url, toolbox(url) as box:
        is_refusing = True
        await box.refresh()
        assert list(box.offers) == wanted


async def test_a_target_that_is_not_a_server_costs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async with over_http(legacy(Shop("t"))) as url, toolbox(url, object(), "nonsense", "http://[", []) as box:
        assert list(box.offers) == ["t"]
        assert all(seen.problem for seen in box.servers_seen()[1:])
        assert [seen.name for seen in box.servers_seen()[1:]] == ["server", "server2", "server3", "server4"]
    assert "internal error" in caplog.text


async def test_arguments_that_cannot_be_sent_are_an_error_of_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with over_http(legacy(Shop("t"))) as url, toolbox(url) as box:
        seen = await box.call("t", {"x": object()})
    assert (seen.ok, seen.text) == (False, "t failed: its arguments or its reply cannot be processed.")
    assert "internal error" in caplog.text


async def test_a_label_is_short_and_printable() -> None:
    def script(message: Json) -> list[bytes]:
        if message["method"] == "initialize":
            info = {"name": " \x1b[31m" + "n" * 100, "version": "1"}
            return [result(message, {**fakes.INITIALIZED, "serverInfo": info})]
        return [result(message, {"tools": []})] if "id" in message else []

    async with over_http(script) as url, toolbox(url) as box:
        assert box.servers_seen()[0].name == "\\u{001B}[31m" + "n" * 27 + "…"


async def test_a_websocket_that_was_closed_is_opened_again_for_the_next_call() -> None:
    sockets: list[web.WebSocketResponse] = []
    lost = asyncio.Event()
    options = replace(OPTIONS, on_lost=lambda error: lost.set())
    async with (
        asyncio.timeout(30),
        fakes.websocket_server(legacy(Shop("t")), sockets) as url,
        toolbox(ToolServer(url, options=options)) as box,
    ):
        assert (await box.call("t", {})).ok
        await sockets[-1].close()
        await lost.wait()
        assert (await box.call("t", {"n": 2})).text == 't {"n": 2}'
    assert len(sockets) == 2


async def test_a_program_that_does_not_want_to_end_is_ended() -> None:
    stubborn = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        + fakes.CHILD
        + "\nwhile True: signal.pause()"
    )
    command = child(**LINES)
    command[2] = stubborn
    began = time.monotonic()
    async with toolbox(command) as box:
        assert (await box.call("t", {})).ok
    assert time.monotonic() - began < 8


async def test_a_program_that_talks_without_end_is_given_up_in_time() -> None:
    flood = "while True: print('x' * 1000)"
    began = time.monotonic()
    async with toolbox([sys.executable, "-c", flood], limits=AgentLimits(start_seconds=1)) as box:
        assert box.servers_seen()[0].problem.endswith("did not answer within 1 s.")
    assert time.monotonic() - began < 8


async def test_many_calls_at_once_all_get_their_own_answer() -> None:
    async with asyncio.timeout(30), toolbox(child(**LINES), make()) as box:
        calls = [box.call("add", {"a": number, "b": 0}) for number in range(50)]
        found = await asyncio.gather(*calls, *(box.call("t", {}) for _ in range(20)))
    assert [seen.text for seen in found[:50]] == [f'{{"result":{number}}}' for number in range(50)]
    assert {seen.text for seen in found[50:]} == {"from a child"}


async def test_calls_in_flight_end_when_the_toolbox_is_closed() -> None:
    async with asyncio.timeout(30), toolbox(make()) as box:
        call = asyncio.ensure_future(box.call("wait", {}))
        while (await box.call("how_many_wait", {})).text != '{"result":1}':
            pass
        await box.close()
        seen = await call
    assert not seen.ok
    assert seen.text.startswith("The connection to everything was lost before it answered")


@pytest.mark.promise(
    "Asking a model", "With --read-only, a model is offered only tools that declare themselves read-only."
)
async def test_with_read_only_no_other_tool_is_offered_or_called() -> None:
    shop = Shop()
    shop.tools = [
        tool("reads", annotations={"readOnlyHint": True}),
        tool("writes", annotations={"readOnlyHint": False}),
        tool("says_nothing"),
        tool("says_it_wrongly", annotations={"readOnlyHint": "true"}),
    ]
    async with over_http(legacy(shop)) as url:
        async with toolbox(ToolServer(url, options=OPTIONS, read_only=True)) as box:
            assert "reads" in box.offers
            assert not box.offers.keys() & {"writes", "says_nothing"}
            assert (await box.call("reads", {})).ok
            assert not (await box.call("writes", {})).ok
        async with toolbox(ToolServer(url, options=OPTIONS)) as box:
            assert len(box.offers) == 4
    assert [call["name"] for call in shop.calls] == ["reads"]
