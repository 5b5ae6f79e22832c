"""A server with a token: the page asks for it once, keeps it for the tab, and says when it is wrong."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.console.browser.conftest import OpenPage
from tests.console.browser.consoles import Console, open_console
from tests.console.browser.judging import serious_faults
from tests.console.browser.watching import settle

TOKEN = "the-token-of-the-tests"
REFUSED = ("status of 401",)


@pytest.fixture(scope="module")
def guarded() -> Iterator[Console]:
    with open_console("--sample", environment={"QORTAL_MCP_TOKEN": TOKEN}) as console:
        yield console


def give(page: Any, token: str) -> None:
    page.get_by_role("dialog").wait_for()
    page.get_by_role("textbox", name="Token").fill(token)
    page.keyboard.press("Enter")


def test_the_page_asks_once_and_then_shows_everything(open_page: OpenPage, guarded: Console) -> None:
    page = open_page(guarded)
    page.goto(guarded.at("block", 12))
    give(page, TOKEN)
    settle(page)
    assert page.get_by_role("dialog").count() == 0
    assert page.locator("main dl").count() >= 1
    page.locator("header nav a", has_text="Overview").click()
    settle(page)
    assert page.locator("main .stats").count() >= 1
    assert page.get_by_role("dialog").count() == 0


@pytest.mark.promise("Console", "A token is asked for once, kept for the tab, and in no address.")
def test_the_token_is_kept_for_the_tab_alone(open_page: OpenPage, guarded: Console) -> None:
    page = open_page(guarded, expects=REFUSED)
    page.goto(guarded.at())
    give(page, TOKEN)
    settle(page)
    page.reload()
    settle(page)
    assert page.get_by_role("dialog").count() == 0
    assert TOKEN not in page.url
    assert page.evaluate("() => JSON.stringify([{...localStorage}, document.cookie])") == '[{},""]'
    other = open_page(guarded, expects=REFUSED)
    other.goto(guarded.at())
    other.get_by_role("dialog").wait_for()


def test_a_wrong_token_is_said_to_be_wrong(open_page: OpenPage, guarded: Console) -> None:
    page = open_page(guarded, expects=REFUSED)
    page.goto(guarded.at("block", 12))
    give(page, "guessed")
    page.get_by_role("dialog").get_by_text("This token is not the right one.").wait_for()
    assert page.get_by_role("textbox", name="Token").input_value() == ""
    give(page, TOKEN)
    settle(page)
    assert page.locator("main dl").count() >= 1


@pytest.mark.parametrize("token", ["ключ-от-сервера", "a\u200bb"])
def test_a_token_that_no_header_can_carry_is_a_wrong_one(
    open_page: OpenPage, guarded: Console, token: str
) -> None:
    page = open_page(guarded)
    page.goto(guarded.at("block", 12))
    give(page, token)
    page.get_by_role("dialog").get_by_text("This token is not the right one.").wait_for()
    give(page, TOKEN)
    settle(page)
    assert page.locator("main dl").count() >= 1


def test_the_question_is_readable_for_everybody_and_keeps_the_focus(
    open_page: OpenPage, guarded: Console
) -> None:
    page = open_page(guarded, expects=REFUSED, viewport={"width": 375, "height": 700})
    page.goto(guarded.at())
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("() => document.activeElement.name") == "token"
    assert serious_faults(page) == []
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 1
