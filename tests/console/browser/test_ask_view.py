"""The ask view: an answer with its calls, numbers that lead to them, and a conversation that stays in its tab."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agent.asked import then
from tests.agent.scripted_endpoint import Script, ScriptedEndpoint, calls, says
from tests.cli.running import SECONDS
from tests.console.browser.conftest import OpenPage, Serve
from tests.console.browser.consoles import Console, open_console
from tests.console.browser.judging import serious_faults, too_wide
from tests.console.browser.watching import settle

ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
ANSWER = f"""\
🙂 The name **alice-test** belongs to {ALICE}, who has **1,001,427.51 QORT**, about $70,000:

- `get_name` says who owns it;
- a payment costs 0.01 QORT.

| what | value |
|---|---|
| fee | 0.01 QORT |
| sum | 1,001,427.52 |

The question names 4711."""
FOUND = then(
    calls(
        ("get_name", {"name": "alice-test"}),
        ("get_balance", {"address": ALICE}),
        ("get_fee", {"type": "PAYMENT"}),
        ("get_balance", {"address": "12345"}),
        text="Let me look that up.",
    ),
    says(ANSWER),
)
QUESTION = "Who owns alice-test, and what about 4711?"


@contextmanager
def asking(serve: Serve, script: Script) -> Iterator[tuple[Console, ScriptedEndpoint]]:
    """A server that asks this model. It outlives the tabs of the test, which would report that it is gone."""
    with ScriptedEndpoint(script) as endpoint:
        yield serve(*asks(endpoint), NO_PROXY="*"), endpoint


def asks(endpoint: ScriptedEndpoint) -> tuple[str, ...]:
    return "--sample", "--base-url", endpoint.base_url, "--model", "qwen3:8b"


@pytest.fixture(scope="module")
def found() -> Iterator[Console]:
    with (
        ScriptedEndpoint(FOUND) as endpoint,
        open_console(*asks(endpoint), environment={"NO_PROXY": "*"}) as console,
    ):
        yield console


def open_ask(page: Any, console: Console, **query: str) -> None:
    page.goto(console.at("ask", **query))
    settle(page)


def ask(page: Any, question: str = QUESTION) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def ask_and_wait(page: Any, question: str = QUESTION) -> Any:
    """The place of the newest answer."""
    ask(page, question)
    settle(page)
    return page.locator(".turn").last


def announced(page: Any) -> str:
    text: str = page.locator("#announcements").inner_text()
    return text


def test_an_answer_stands_beside_the_calls_it_rests_on(
    open_page: OpenPage, found: Console, picture: Callable[..., Path]
) -> None:
    page = open_page(found)
    open_ask(page, found)
    turn = ask_and_wait(page)
    assert turn.get_by_role("heading", name=QUESTION).is_visible()
    assert turn.locator(".answer").get_attribute("aria-busy") == "false"
    assert turn.locator(".answer li").count() == 2
    assert turn.locator(".answer table tbody tr").count() == 2
    assert "**" not in turn.locator(".answer").inner_text()
    lines = turn.locator(".calls summary").all_inner_texts()
    assert [line.split()[0] for line in lines] == ["get_name", "get_balance", "get_fee", "get_balance"]
    assert ["failed" in line for line in lines] == [False, False, False, True]
    assert "sample · height 596 · 2026-11-15 21:05:45 UTC" in turn.locator(".about").inner_text()
    assert "4 calls in 1 round" in turn.locator("footer").inner_text()
    assert announced(page).startswith("Answer: 🙂 The name")
    picture(page, "ask")
    assert serious_faults(page) == []


@pytest.mark.promise("Console", "Each number of an answer says which call it came from, or that none has it.")
def test_a_number_leads_to_the_call_it_came_from(
    open_page: OpenPage, found: Console, picture: Callable[..., Path]
) -> None:
    page = open_page(found)
    open_ask(page, found)
    turn = ask_and_wait(page)
    number = turn.get_by_role("button", name="1,001,427.51", exact=True)
    assert number.get_attribute("title") == "From call 2"
    number.click()
    opened = turn.locator("details[open]")
    assert opened.count() == 1
    assert '"balance":"1001427.50833805"' in opened.inner_text()
    assert opened.evaluate("open => open.firstElementChild === document.activeElement")
    turn.get_by_role("button", name=ALICE).first.click()
    assert turn.locator("mark").inner_text() == ALICE
    picture(page, "ask-followed")
    turn.get_by_role("link", name=f"Page of {ALICE}").click()
    assert page.url == found.at("account", ALICE)


@pytest.mark.promise("Console", "Each number of an answer says which call it came from, or that none has it.")
def test_what_no_tool_has_said_is_marked_for_those_who_look_and_those_who_listen(
    open_page: OpenPage, found: Console
) -> None:
    page = open_page(found)
    open_ask(page, found)
    turn = ask_and_wait(page)
    marked = turn.locator(".unfound").all_text_contents()
    assert marked == ["70,000 (not from a tool)", "1,001,427.52 (not from a tool)", "4711 (in your question)"]
    assert "Not from a tool: 70,000, 1,001,427.52, 4711 (in your question)." in turn.inner_text()


def test_a_follow_up_takes_the_conversation_along_and_a_reload_keeps_it(
    open_page: OpenPage, serve: Serve
) -> None:
    with asking(serve, FOUND) as (console, endpoint):
        page = open_page(console)
        open_ask(page, console)
        ask_and_wait(page)
        page.reload()
        settle(page)
        assert page.locator(".turn").count() == 1
        ask_and_wait(page, "And their balance?")
        messages = endpoint.chats[-2].body["messages"]
        assert [message["content"] for message in messages[1:]] == [QUESTION, ANSWER, "And their balance?"]
        other = page.context.new_page()
        other.goto(console.at("ask"))
        assert other.get_by_role("heading", name="For example").is_visible()
        page.get_by_role("button", name="New conversation").click()
        assert page.locator(".turn").count() == 0
        ask_and_wait(page, "Who?")
        assert len(endpoint.chats[-2].body["messages"]) == 2


# A model that calls a tool, begins to speak and says no more. Before its first call, what it says is held back: an endpoint on this
# machine may not have read the whole prompt.
SPEAKING = then(
    calls(("get_fee", {"type": "PAYMENT"})), says("Well, let me think about it", end="hangs", events=5)
)


@pytest.mark.promise("Console", "A question ends when the client leaves.")
def test_stop_ends_the_question_and_keeps_what_was_said(
    open_page: OpenPage, serve: Serve, picture: Callable[..., Path]
) -> None:
    with asking(serve, SPEAKING) as (console, endpoint):
        page = open_page(console)
        open_ask(page, console)
        ask(page)
        answer = page.locator(".turn .answer")
        page.get_by_text("Well, let me").wait_for()
        assert answer.get_attribute("aria-busy") == "true"
        assert announced(page) == ""
        picture(page, "ask-streaming")
        page.get_by_role("button", name="Stop").click()
        assert endpoint.was_left.wait(SECONDS)
        settle(page)
        assert page.get_by_text("Stopped.").first.is_visible()
        assert "Well, let me" in answer.inner_text()
        assert page.get_by_role("button", name="Ask", exact=True).is_visible()


def test_leaving_the_view_ends_the_question(open_page: OpenPage, serve: Serve) -> None:
    with asking(serve, SPEAKING) as (console, endpoint):
        page = open_page(console)
        open_ask(page, console)
        ask(page)
        page.get_by_text("Well, let me").wait_for()
        page.goto(console.at("connect"))
        assert endpoint.was_left.wait(SECONDS)


def test_a_refusal_gives_the_question_back(open_page: OpenPage, serve: Serve) -> None:
    with asking(serve, lambda request: says("Hello.", usage=(1_000_000, 1))) as (console, _):
        page = open_page(console, expects=("429",))
        open_ask(page, console)
        ask_and_wait(page)
        ask(page, "And now?")
        alert = page.get_by_role("alert").filter(has_text="tokens that a caller gets")
        alert.wait_for()
        assert page.get_by_label("Your question").input_value() == "And now?"
        assert page.locator(".turn").count() == 1


def test_a_server_that_stops_says_why_the_answer_ends(open_page: OpenPage, serve: Serve) -> None:
    with asking(serve, SPEAKING) as (console, _):
        page = open_page(console, expects=("Failed to load resource", "ERR_"))
        open_ask(page, console)
        ask(page)
        page.get_by_text("Well, let me").wait_for()
        console.door.process.terminate()
        page.locator(".answer").get_by_text("The server is shutting down").wait_for()


def test_an_endpoint_that_fails_is_told_with_its_reason(open_page: OpenPage, serve: Serve) -> None:
    with asking(serve, lambda request: says("", finish="content_filter")) as (console, _):
        page = open_page(console)
        open_ask(page, console)
        turn = ask_and_wait(page)
        assert "content filter" in turn.get_by_role("alert").inner_text()


def test_without_a_model_the_page_says_how_to_get_one(
    open_page: OpenPage, serve: Serve, picture: Callable[..., Path]
) -> None:
    console = serve("--sample", "--base-url", "http://127.0.0.1:1/v1", NO_PROXY="*")
    page = open_page(console)
    open_ask(page, console)
    assert page.get_by_role("heading", name="No language model can be asked").is_visible()
    assert "qortal-mcp serve --base-url" in page.locator("pre").first.inner_text()
    assert page.get_by_label("Your question").count() == 0
    picture(page, "ask-off")


HOSTILE = "<img src=x onerror=alert(1)> **<b>bold</b>** [link](javascript:alert(1)) `</script>`"


@pytest.mark.promise("Console", "Nothing from a model or a tool is ever run as HTML.")
def test_what_a_model_says_is_text_whatever_it_says(open_page: OpenPage, serve: Serve) -> None:
    script = then(calls(("get_name", {"name": "<script>alert(1)</script>"})), says(HOSTILE))
    with asking(serve, script) as (console, _):
        page = open_page(console)
        open_ask(page, console)
        turn = ask_and_wait(page, "<b>hi</b>")
        turn.locator("summary").click()
        shown = turn.locator(".answer").text_content().replace(" (not from a tool)", "")
        assert shown == HOSTILE.replace("**", "").replace("`", "")
        assert turn.locator("img, script, b, a[href^=javascript]").count() == 0
        assert turn.get_by_role("heading", name="<b>hi</b>").is_visible()


def test_it_can_be_used_with_the_keyboard_alone(open_page: OpenPage, found: Console) -> None:
    page = open_page(found)
    open_ask(page, found, q="Who owns alice-test?")
    page.get_by_label("Your question").focus()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("And what does it cost?")
    page.keyboard.press("Enter")
    settle(page)
    turn = page.locator(".turn").last
    assert turn.get_by_role("heading", level=2).inner_text() == "Who owns alice-test?\nAnd what does it cost?"
    turn.get_by_role("button", name="1,001,427.51", exact=True).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(
    open_page: OpenPage, found: Console, picture: Callable[..., Path], scheme: str
) -> None:
    page = open_page(found, viewport={"width": 375, "height": 700}, color_scheme=scheme)
    open_ask(page, found)
    picture(page, f"ask-phone-empty-{scheme}")
    turn = ask_and_wait(page)
    turn.get_by_role("button", name="1,001,427.51", exact=True).click()
    picture(page, f"ask-phone-{scheme}")
    assert too_wide(page) == []
    assert serious_faults(page) == []


def test_what_was_kept_and_cannot_be_read_is_forgotten(open_page: OpenPage, found: Console) -> None:
    page = open_page(found)
    open_ask(page, found)
    for kept in ("{", json.dumps([1, {"question": "a"}]), '"x"'):
        page.evaluate("kept => sessionStorage.setItem('qortal-mcp-conversation', kept)", kept)
        page.reload()
        settle(page)
        assert page.locator(".turn").count() == 0
        assert page.get_by_label("Your question").is_visible()


def test_rubbish_in_a_run_that_was_kept_is_dropped_and_the_others_stay(
    open_page: OpenPage, found: Console
) -> None:
    page = open_page(found)
    open_ask(page, found)
    ask_and_wait(page)
    page.evaluate(
        """() => {
          const [run] = JSON.parse(sessionStorage.getItem('qortal-mcp-conversation'));
          const wrong = [{ calls: [null] }, { sources: [7] }, { notices: [{}] }, { spent: {} }];
          const kept = [...wrong.map((part) => ({ ...run, ...part })), run];
          sessionStorage.setItem('qortal-mcp-conversation', JSON.stringify(kept));
        }"""
    )
    page.reload()
    settle(page)
    assert page.locator(".turn").count() == 1
    assert page.get_by_role("button", name="New conversation").is_visible()


@pytest.mark.parametrize(
    "text",
    ["|" * 20_000 + "\n|--|\n" + ("|" * 1000 + "\n") * 40, "|a|\n|--|\n" + "|b|\n" * 600, "**a** " * 6000],
    ids=["wide", "long", "bold"],
)
def test_what_would_become_too_many_elements_is_shown_as_it_is_written(
    open_page: OpenPage, serve: Serve, text: str
) -> None:
    with asking(serve, lambda request: says(text, piece=4000)) as (console, _):
        page = open_page(console)
        open_ask(page, console)
        turn = ask_and_wait(page)
        assert turn.locator("*").count() < 6000
        assert turn.locator(".answer table, .answer strong").count() == 0
        assert turn.locator(".answer pre").inner_text().startswith(text[:20])
        page.reload()
        settle(page)
        assert page.locator(".answer pre").is_visible()


def test_nothing_hides_in_the_arguments_of_a_call(open_page: OpenPage, serve: Serve) -> None:
    script = then(calls(("get_name", {"name": "a\u202eb\u200bc"})), says("Nothing."))
    with asking(serve, script) as (console, _):
        page = open_page(console)
        open_ask(page, console)
        turn = ask_and_wait(page)
        turn.locator("summary").click()
        turn.get_by_role("heading", name="Arguments").wait_for()
        shown = turn.locator("aside").text_content()
        assert shown.count(r"a\u{202E}b\u{200B}c") >= 2
        assert "\u202e" not in shown
        assert "\u200b" not in shown


def test_an_endpoint_that_cannot_be_reached_gives_the_question_back(
    open_page: OpenPage, serve: Serve
) -> None:
    console = serve("--sample", "--base-url", "http://127.0.0.1:1/v1", "--model", "gone", NO_PROXY="*")
    page = open_page(console)
    open_ask(page, console)
    turn = ask_and_wait(page)
    assert "127.0.0.1:1" in turn.get_by_role("alert").inner_text()
    assert page.get_by_label("Your question").input_value() == QUESTION
