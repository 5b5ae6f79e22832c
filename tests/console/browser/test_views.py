"""Every view: complete, without a fault, readable for everybody, in light and dark, on a phone too."""

import re
from typing import Any

import pytest
from tests.console.browser.conftest import OpenPage, Picture
from tests.console.browser.consoles import Console
from tests.console.browser.judging import serious_faults, too_wide
from tests.console.browser.views import VIEWS
from tests.console.browser.watching import settle

PHONE = {"width": 375, "height": 700}


@pytest.mark.promise(
    "Console", "Every view is complete without an error and without asking anybody but its server."
)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_complete(page: Any, console: Console, picture: Picture, name: str) -> None:
    parts, heading = VIEWS[name]
    page.goto(console.at(*parts))
    settle(page)
    assert page.locator("h1").all_inner_texts() == [heading]
    assert page.title() == f"{heading} · Qortal console"
    assert page.locator("main [role=alert], main .failed").all_inner_texts() == []
    assert page.locator("main .waiting").count() == 0
    assert len(page.locator("main .view").inner_text()) > 20
    links = page.eval_on_selector_all("a[href]", "(links) => links.map((link) => link.getAttribute('href'))")
    assert [link for link in links if not re.match(r"#(/|main$)", link)] == [], "links stay on the page"
    picture(page, name)


@pytest.mark.promise("Console", "No view has a fault that axe-core calls serious, in light or dark.")
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_readable_for_everybody(page: Any, console: Console, picture: Picture, name: str) -> None:
    page.goto(console.at(*VIEWS[name][0]))
    settle(page)
    assert serious_faults(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    picture(page, f"{name} dark")
    assert serious_faults(page, "color-contrast") == []


@pytest.mark.promise("Console", "No view scrolls sideways in a window of 375 pixels.")
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_fits_a_phone(open_page: OpenPage, console: Console, picture: Picture, name: str) -> None:
    page = open_page(console, viewport=PHONE)
    page.goto(console.at(*VIEWS[name][0]))
    settle(page)
    picture(page, f"{name} phone")
    assert too_wide(page) == []


def test_dark_is_dark(open_page: OpenPage, console: Console) -> None:
    brightness = {}
    for colours in ("light", "dark"):
        page = open_page(console, color_scheme=colours)
        page.goto(console.at())
        settle(page)
        colour = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        brightness[colours] = sum(int(part) for part in re.findall(r"\d+", colour)[:3])
    assert brightness["dark"] < 200 < 500 < brightness["light"]


def test_the_menu_leads_to_every_view_and_says_which_one_is_open(page: Any, console: Console) -> None:
    page.goto(console.at())
    for words in page.locator("header nav a").all_inner_texts():
        page.locator("header nav a", has_text=words).click()
        settle(page)
        assert page.locator("h1").inner_text() == words
        assert page.locator("header nav [aria-current=page]").all_inner_texts() == [words]
