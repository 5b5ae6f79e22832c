"""The tools view: a form for each tool, one value behind form and JSON, and the exchange as it went over the wire."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.console.browser.conftest import OpenPage, Serve
from tests.console.browser.consoles import Console
from tests.console.browser.watching import settle

ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"


def open_tool(page: Any, console: Console, tool: str, arguments: str | None = None) -> None:
    page.goto(console.at("tools", tool, **({} if arguments is None else {"args": arguments})))
    settle(page)


def field(page: Any, name: str) -> Any:
    return page.locator(f"#argument-{name}")


def arguments_in(page: Any) -> str:
    """What the address says the last call was."""
    return unquote(page.url.partition("?args=")[2])


def press_call(page: Any) -> None:
    page.get_by_role("button", name="Call", exact=True).click()
    settle(page)


def as_json(page: Any) -> str:
    page.get_by_role("button", name="JSON", exact=True).click()
    text: str = page.get_by_label("Arguments as JSON").input_value()
    return text


def test_a_call_through_the_form_shows_its_answer_with_links(page: Any, console: Console) -> None:
    open_tool(page, console, "get_balance")
    field(page, "address").fill(ALICE)
    press_call(page)
    answer = page.get_by_role("region", name="Answer")
    assert "1\u202f001\u202f427.50833805 QORT" in answer.inner_text()
    answer.get_by_role("link", name=ALICE).click()
    assert page.url == console.at("account", ALICE)


def test_the_focus_goes_to_the_answer_of_a_call(page: Any, console: Console) -> None:
    open_tool(page, console, "get_fee")
    field(page, "type").fill("PAYMENT")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate("document.activeElement.textContent") == "Answer"


def test_every_tool_has_a_form_with_each_of_its_arguments(page: Any, console: Console) -> None:
    reply = console.door.rpc("tools/list")
    page.goto(console.at("tools"))
    settle(page)
    for tool in reply["result"]["tools"]:
        open_tool(page, console, tool["name"])
        for name in tool["inputSchema"].get("properties", {}):
            assert field(page, name).count() == 1, f"{tool['name']} {name}"


def test_a_tool_that_fails_says_why_and_shows_the_exchange(page: Any, console: Console) -> None:
    open_tool(page, console, "get_balance", '{"address":"Qnonsense"}')
    answer = page.get_by_role("region", name="Answer")
    assert "Invalid Qortal address." in answer.inner_text()
    answer.get_by_role("button", name="Raw").click()
    assert '"isError":true' in answer.inner_text()


LOSSLESS = [
    pytest.param('{"height":9007199254740993}', id="an integer above 2^53"),
    pytest.param('{"height":1.0}', id="a number with a point"),
    pytest.param('{"height":1e2}', id="an exponent"),
    pytest.param('{"height":null,"signature":null}', id="null"),
    pytest.param('{"height":"5"}', id="text in place of a number"),
    pytest.param('{"height":{"a":[1,{"b":null}],"__proto__":{"x":1}}}', id="nested"),
    pytest.param('{"unknown":[true,false],"time":""}', id="an unknown argument and an empty text"),
    pytest.param('{"position":"middle","minting":"yes"}', id="what is not among the choices"),
    pytest.param('{"time":"\\u202e\\n\\"ä😀"}', id="text that must be escaped"),
]


@pytest.mark.parametrize("written", LOSSLESS)
def test_arguments_survive_the_way_from_json_to_the_form_and_back(
    page: Any, console: Console, written: str
) -> None:
    open_tool(page, console, "get_block")
    as_json(page)
    page.get_by_label("Arguments as JSON").fill(written)
    page.get_by_role("button", name="Form", exact=True).click()
    back = as_json(page)
    assert same(back) == same(written)
    page.get_by_role("button", name="Form", exact=True).click()
    press_call(page)
    assert same(arguments_in(page)) == same(written)


def same(text: str) -> Any:
    """A JSON text as a value in which numbers are what was written."""
    return json.loads(text, parse_int=lambda digits: f"#{digits}", parse_float=lambda digits: f"#{digits}")


def test_the_form_and_the_json_change_each_other(page: Any, console: Console) -> None:
    open_tool(page, console, "search_transactions")
    field(page, "types").fill("PAYMENT\nARBITRARY")
    field(page, "limit").fill("2")
    field(page, "status").select_option("BOTH")
    assert json.loads(as_json(page)) == {"types": ["PAYMENT", "ARBITRARY"], "limit": 2, "status": "BOTH"}
    page.get_by_label("Arguments as JSON").fill('{"types":["PAYMENT"],"limit":3}')
    page.get_by_role("button", name="Form", exact=True).click()
    assert field(page, "types").input_value() == "PAYMENT"
    assert field(page, "limit").input_value() == "3"
    assert field(page, "status").input_value() == "not set"


def test_json_that_cannot_be_read_says_where_and_is_not_lost(page: Any, console: Console) -> None:
    open_tool(page, console, "get_block")
    as_json(page)
    page.get_by_label("Arguments as JSON").fill('{\n "height": 1,\n}')
    assert "line 3, column 1" in page.locator("#json-problem").inner_text()
    page.get_by_role("button", name="Form", exact=True).click()
    assert page.get_by_label("Arguments as JSON").input_value() == '{\n "height": 1,\n}'


def heights(page: Any) -> list[str]:
    found: list[str] = page.locator("section.result tbody td:first-child").all_inner_texts()
    return found


def test_pages_follow_each_other_and_the_back_button_returns(page: Any, console: Console) -> None:
    open_tool(page, console, "list_blocks", '{"limit":5}')
    assert heights(page) == ["596", "595", "594", "593", "592"]
    page.get_by_role("link", name="Next page").click()
    settle(page)
    assert heights(page) == ["591", "590", "589", "588", "587"]
    page.go_back()
    settle(page)
    assert heights(page) == ["596", "595", "594", "593", "592"]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_the_raw_exchange_is_the_bytes_of_the_chosen_revision(
    page: Any, console: Console, revision: str
) -> None:
    open_tool(page, console, "validate_address")
    page.get_by_label("Revision").select_option(revision)
    field(page, "address").fill(ALICE)
    with page.expect_response(lambda reply: "validate_address" in (reply.request.post_data or "")) as caught:
        press_call(page)
    page.get_by_role("button", name="Raw").click()
    request, reply = page.locator("section.result pre").all_inner_texts()[:2]
    assert f"mcp-protocol-version: {revision}" in request
    assert caught.value.request.post_data in request
    assert caught.value.body().decode() in reply
    assert ("io.modelcontextprotocol/protocolVersion" in request) == (revision == "2026-07-28")


def test_digits_are_shown_as_they_came(page: Any, console: Console) -> None:
    def large(route: Any) -> None:
        body = json.loads(route.request.post_data)
        value = '{"isValid":9007199254740993.10}'
        if body["method"] != "tools/call":
            route.continue_()
            return
        result = f'{{"content":[{{"type":"text","text":"x"}}],"structuredContent":{value},"isError":false}}'
        route.fulfill(
            body=f'{{"jsonrpc":"2.0","id":{body["id"]},"result":{result}}}', content_type="application/json"
        )

    page.route("**/mcp", large)
    open_tool(page, console, "validate_address", f'{{"address":"{ALICE}"}}')
    answer = page.get_by_role("region", name="Answer")
    assert "9\u202f007\u202f199\u202f254\u202f740\u202f993.10" in answer.inner_text()
    answer.get_by_role("button", name="Raw").click()
    assert '"isValid":9007199254740993.10' in answer.inner_text()


def test_a_long_reply_is_shown_by_its_head_and_downloaded_whole(
    page: Any, console: Console, tmp_path: Path
) -> None:
    text = "x" * 150_000

    def long(route: Any) -> None:
        body = json.loads(route.request.post_data)
        if body["method"] != "tools/call":
            route.continue_()
            return
        reply = {"content": [], "structuredContent": {"isValid": text}, "isError": False}
        route.fulfill(json={"jsonrpc": "2.0", "id": body["id"], "result": reply})

    page.route("**/mcp", long)
    open_tool(page, console, "validate_address", f'{{"address":"{ALICE}"}}')
    page.get_by_role("button", name="Raw").click()
    shown = page.locator("section.result pre").nth(1).inner_text()
    assert 50_000 < len(shown) < 60_000
    with page.expect_download() as caught:
        page.get_by_role("button", name=re.compile("Download all")).click()
    caught.value.save_as(tmp_path / "reply.json")
    assert json.loads((tmp_path / "reply.json").read_text())["result"]["structuredContent"]["isValid"] == text


def test_a_call_is_named_kept_opened_again_and_forgotten(page: Any, console: Console) -> None:
    open_tool(page, console, "get_block")
    field(page, "height").fill("256")
    page.get_by_label("Name for this call").fill("<b>my block</b>")
    page.get_by_role("button", name="Keep").click()
    page.goto(console.at("tools"))
    page.reload()
    settle(page)
    page.get_by_role("link", name="<b>my block</b>").click()
    settle(page)
    assert json.loads(arguments_in(page)) == {"height": 256}
    assert "2026-11-15 19:12:28 UTC" in page.get_by_role("region", name="Answer").inner_text()
    page.get_by_role("button", name="Forget <b>my block</b>").click()
    assert page.get_by_role("link", name="<b>my block</b>").count() == 0


def test_calls_of_the_tab_are_listed_newest_first(page: Any, console: Console) -> None:
    open_tool(page, console, "get_block", '{"height":1}')
    open_tool(page, console, "get_fee", '{"type":"NONSENSE"}')
    page.locator(".history summary").click()
    first, second = page.locator(".history li").all_inner_texts()[:2]
    assert first.startswith("get_fee failed,")
    assert second.startswith("get_block")


def test_a_storage_full_of_rubbish_does_not_disturb_anybody(page: Any, console: Console) -> None:
    page.goto(console.at("tools"))
    rubbish = [
        "{",
        '{"a":1}',
        '[1,null,{"tool":5},{"tool":"x","args":"{"},{"tool":"x","args":"1e999"}]',
        '[{"tool":"get_fee","name":"x","args":"{\\"type\\":\\"\\ud800\\"}"}]',
        '"x"',
    ]
    for one in rubbish:
        page.evaluate(
            "text => { localStorage.setItem('qortal-mcp-kept-calls', text); sessionStorage.setItem('qortal-mcp-calls', text); }",
            one,
        )
        page.reload()
        settle(page)
        assert page.get_by_role("link", name="get_block", exact=True).first.is_visible()


ODD_ANSWERS = [
    '[{"a":1},2]',
    '[[{"a":1}]]',
    '[1,[2,[3,{"c":"d"}]]]',
    '{"a":{"b":[null,{}]}}',
    "[]",
    '{"__proto__":1}',
]


@pytest.mark.parametrize("value", ODD_ANSWERS)
def test_an_answer_of_any_shape_is_shown(page: Any, console: Console, value: str) -> None:
    def odd(route: Any) -> None:
        body = json.loads(route.request.post_data)
        if body["method"] != "tools/call":
            route.continue_()
            return
        result = f'{{"content":[],"structuredContent":{{"isValid":{value}}},"isError":false}}'
        route.fulfill(
            body=f'{{"jsonrpc":"2.0","id":{body["id"]},"result":{result}}}', content_type="application/json"
        )

    page.route("**/mcp", odd)
    open_tool(page, console, "validate_address", f'{{"address":"{ALICE}"}}')
    answer = page.get_by_role("region", name="Answer")
    assert answer.get_by_role("heading", name="Answer").is_visible()
    answer.get_by_role("button", name="Raw").click()
    assert f'"isValid":{value}' in answer.inner_text()


def test_a_required_argument_that_is_missing_is_shown_at_its_field(page: Any, console: Console) -> None:
    open_tool(page, console, "get_balance")
    press_call(page)
    assert page.evaluate("document.activeElement.id") == "argument-address"
    assert field(page, "address").get_attribute("aria-invalid") == "true"
    field(page, "address").fill(ALICE)
    assert field(page, "address").get_attribute("aria-invalid") is None


def test_the_copied_command_gives_the_same_answer(open_page: OpenPage, serve: Serve) -> None:
    console = serve("--sample", "--toolsets", "all")
    page = open_page(console, permissions=["clipboard-read", "clipboard-write"])
    open_tool(page, console, "get_asset")
    field(page, "asset").fill("GOLD'; echo $(id)")
    page.get_by_role("button", name="command").click()
    command = page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert "not found" in done.stdout + done.stderr
    field(page, "asset").fill("GOLD")
    page.get_by_role("button", name="command").click()
    command = page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "GOLD" in done.stdout


def test_a_link_whose_arguments_cannot_be_read_says_so_and_calls_nothing(page: Any, console: Console) -> None:
    for wrong in ("{height:1}", "1e999", "[1]", "null"):
        open_tool(page, console, "get_block", wrong)
        assert "cannot be read" in page.get_by_role("alert").first.inner_text()
        assert page.locator("section.result").inner_text() == ""


def test_an_unknown_tool_is_named(page: Any, console: Console) -> None:
    open_tool(page, console, "get_chat_messages")
    assert "offers no tool get_chat_messages" in page.locator("main").inner_text()
