"""Getting around: by the keyboard alone, by links, back and forward, and by an address that somebody sent."""

from typing import Any

import pytest
from tests.console.browser.consoles import Console
from tests.console.browser.judging import focused, tab_stops
from tests.console.browser.views import TRADE
from tests.console.browser.watching import settle


@pytest.mark.promise("Console", "Everything can be reached and used with the keyboard alone.")
def test_the_keyboard_alone_finds_a_block_and_comes_back(page: Any, console: Console) -> None:
    page.goto(console.at())
    settle(page)
    stops = []
    for stop in tab_stops(page):
        stops.append(stop)
        if stop.startswith("input Look up"):
            break
    assert stops[0] == "a Skip to the content"
    assert stops[2:8] == ["a Overview", "a Look up", "a Tools", "a Ask", "a Connect", "a Audit"]
    page.keyboard.type("3")
    page.get_by_role("option").nth(2).wait_for()
    settle(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("option", selected=True)
    assert "Group 3" in chosen.inner_text()
    assert page.get_by_role("combobox").get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    settle(page)
    assert page.url == console.at("block", 3)
    # Whoever listens hears where they are.
    assert focused(page) == "h1 Block 3"
    page.go_back()
    settle(page)
    assert page.url == console.at()
    assert page.locator("h1").inner_text() == "Overview"


def test_a_slash_leads_to_the_search_box_and_escape_closes_its_list(page: Any, console: Console) -> None:
    page.goto(console.at("block", 3))
    settle(page)
    page.keyboard.press("/")
    assert focused(page).startswith("input Look up")
    page.keyboard.type("590")
    page.get_by_role("option").first.wait_for()
    settle(page)
    page.keyboard.press("Escape")
    assert page.get_by_role("listbox").count() == 0
    assert page.get_by_role("combobox").get_attribute("aria-expanded") == "false"


def test_the_skip_link_leads_past_the_header(page: Any, console: Console) -> None:
    page.goto(console.at("block", 3))
    settle(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.localName") == "main"
    assert page.locator("h1").inner_text() == "Block 3"


def test_links_lead_from_thing_to_thing_and_back_leads_the_same_way(page: Any, console: Console) -> None:
    page.goto(console.at("name", "alice-test"))
    settle(page)
    trail = [page.url]
    for kind in ("account", "transaction", "block"):
        page.locator(f"main section a[href^='#/{kind}/']").first.click()
        settle(page)
        trail.append(page.url)
    assert [url.split("/")[4] for url in trail] == ["name", "account", "transaction", "block"]
    for url in reversed(trail[:-1]):
        page.go_back()
        settle(page)
        assert page.url == url
    page.go_forward()
    settle(page)
    assert page.url == trail[1]


def test_neighbouring_blocks_are_linked(page: Any, console: Console) -> None:
    page.goto(console.at("block", 590))
    settle(page)
    page.locator("a[rel=next]").click()
    settle(page)
    assert page.url == console.at("block", 591)
    page.goto(console.at("block", 1))
    settle(page)
    assert page.locator("a[rel=prev]").count() == 0


def test_an_address_that_was_shared_opens_the_same_page(page: Any, console: Console) -> None:
    page.goto(console.at("trade", TRADE))
    settle(page)
    assert page.locator("main").get_by_role("link", name="Qa7AN7PAhrDcNakiZyJdd1tuQUDK7NEeLB").count() >= 1


@pytest.mark.parametrize(
    "path", ["%", "account/%E0%A4", "block/../../mcp", "constructor", "__proto__", "a?b?c=%"]
)
def test_an_address_that_makes_no_sense_is_answered_in_words(page: Any, console: Console, path: str) -> None:
    page.goto(f"{console.origin}/#/{path}")
    settle(page)
    assert page.locator("h1").count() == 1
    assert len(page.locator("main .view").inner_text()) > 10
