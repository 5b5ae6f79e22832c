"""The search box: what a text can mean, and the pages of things with the links between them."""

from typing import Any

import pytest
from tests.console.browser.consoles import Console
from tests.console.browser.watching import settle

ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
ALICE_KEY = "2tiMr5LTpaWCgbRvkPK8TFd7k63DyHJMMFFsz9uBf1ZP"
PAYMENT = "4yfhViFnBA1cxvktzaiPAKXBoH7HHMn6A4qzbKLEfRPdy4h8z99qq7AorQY99SAwU2V8Jchh9g28MuAMLLRBee6D"
BLOCK_298 = "FgVa2fyF7WJqoiqBj3woD9WrnkTamWGYGER5p5Zye8tKLwt9kvBzieV5xRffwFm3YtqCKtbFDH1Wfg9gBXTjiKCuj3EWT7pdKSXGDR9wX4uJCyrijcgcgpJ4fHeJESECrdMz7mN3YBmHfLLr37R3c3KnxmmZa4amG5wk132u6PAvgWc"
TRADE = "AG2JdKPoC9L3584iGF2Sn6sfMeEgbygue1"


def search(page: Any, console: Console, text: str) -> None:
    if page.url == "about:blank":
        page.goto(console.at())
        settle(page)
    box = page.get_by_role("combobox", name="Look up")
    box.fill(text)
    box.press("Enter")
    settle(page)


LEADS_TO = [
    pytest.param(ALICE, ("account", ALICE), id="an address"),
    pytest.param(f"  {ALICE[:10]} {ALICE[10:]} ", ("account", ALICE), id="an address with blanks"),
    pytest.param(ALICE_KEY, ("account", ALICE), id="a public key"),
    pytest.param("dilbert", ("name", "dilbert"), id="a name"),
    pytest.param("@dilbert", ("name", "dilbert"), id="a name with its mark"),
    pytest.param("dilb", ("name", "dilbert"), id="the beginning of a name"),
    pytest.param("596", ("block", 596), id="a height"),
    pytest.param("#596", ("block", 596), id="a height with a mark"),
    pytest.param("block 3", ("block", 3), id="a height with its kind"),
    pytest.param("group 3", ("group", 3), id="a group with its kind"),
    pytest.param("asset: 3", ("asset", 3), id="an asset with its kind"),
    pytest.param(PAYMENT, ("transaction", PAYMENT), id="a transaction's signature"),
    pytest.param(BLOCK_298, ("block", 298), id="a block's signature"),
    pytest.param("Open Lounge", ("group", 3), id="a group's name"),
    pytest.param("empty poll", ("poll", "empty poll"), id="a poll's name"),
    pytest.param("2026-11-15 19:12:30", ("block", 256), id="a moment"),
    pytest.param("2026-11-15T19:12:30Z", ("block", 256), id="a moment in ISO 8601"),
    pytest.param("2026-11-15T20:12:30+01:00", ("block", 256), id="a moment with its zone"),
    pytest.param("1794769950000", ("block", 256), id="milliseconds"),
    pytest.param("1794769950", ("block", 256), id="seconds"),
    pytest.param("2026-11-16", ("block", 596), id="a day after the last block"),
    pytest.param("2027-01-01 10:00", ("block", 596), id="a moment to come"),
    pytest.param("Bob", ("name", "Bob"), id="a name that others begin with"),
    pytest.param("bob", ("name", "Bob"), id="a name in lower case"),
    pytest.param("16.11.2026", ("block", 596), id="a day written the other way round"),
    pytest.param("Nov 16, 2026", ("block", 596), id="a day with the name of its month"),
]


@pytest.mark.parametrize(("text", "thing"), LEADS_TO)
def test_a_text_that_means_one_thing_leads_to_its_page(
    page: Any, console: Console, text: str, thing: tuple[str, ...]
) -> None:
    search(page, console, text)
    page.wait_for_url(console.at(*thing))
    settle(page)
    assert page.locator("main .failed").count() == 0


def test_a_text_that_means_several_things_lists_them_with_the_block_first(
    page: Any, console: Console
) -> None:
    search(page, console, "3")
    rows = page.locator(".found li").all_inner_texts()
    assert [row.split("\n")[0] for row in rows] == ["block", "group", "asset"]
    assert "Open Lounge" in rows[1]
    assert "no name" in page.locator("main").inner_text()


@pytest.mark.parametrize("text", ["1,234", "1 234", "1.234", "1'234", "1_234", "1\u202f234"])
def test_separators_are_dropped(page: Any, console: Console, text: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    search(page, console, text)
    assert any('"get_block"' in body and '"height":1234' in body for body in asked)


@pytest.mark.parametrize("text", ["2026-11-15", "15.11.2026", "15 Nov 2026"])
def test_a_day_has_a_first_and_a_last_block(page: Any, console: Console, text: str) -> None:
    search(page, console, text)
    rows = page.locator(".found li").all_inner_texts()
    assert ["Block 1" in rows[0], "the first of 2026-11-15" in rows[0]] == [True, True]
    assert ["Block 596" in rows[1], "the last of 2026-11-15" in rows[1]] == [True, True]


def test_what_only_resembles_the_text_is_listed_and_not_opened(page: Any, console: Console) -> None:
    search(page, console, "poll x")
    assert page.url == console.at("search", "poll x")
    assert page.locator(".found li").count() >= 1


REASONS = [
    pytest.param(f"{ALICE[:-1]}w", "its checksum is wrong", id="a mistyped address"),
    pytest.param("99999", "The newest block is 596.", id="a height to come"),
    pytest.param(ALICE[:-2], "has 34 characters", id="part of an address"),
]


@pytest.mark.parametrize(("text", "reason"), REASONS)
def test_why_nothing_was_found_is_said_as_far_as_it_is_known(
    page: Any, console: Console, text: str, reason: str
) -> None:
    search(page, console, text)
    assert reason in page.locator("main").inner_text()


def test_the_examples_are_of_this_chain_and_lead_somewhere(page: Any, console: Console) -> None:
    page.goto(console.at("search"))
    settle(page)
    examples = [link.get_attribute("href") for link in page.locator(".hints").first.locator("a").all()]
    assert len(examples) == 8
    for example in examples:
        page.goto(f"{console.origin}/{example}")
        settle(page)
        assert "Nothing found" not in page.locator("main").inner_text()


def test_a_trade_and_its_contract_are_both_offered(page: Any, console: Console) -> None:
    search(page, console, TRADE)
    kinds = [row.split("\n")[0] for row in page.locator(".found li").all_inner_texts()]
    assert kinds == ["trade", "contract"]


def test_a_resource_on_qdn_is_found_by_its_address(page: Any, console: Console) -> None:
    resource = console.door.call("search_qdn", name="alice-test")["structuredContent"]["resources"][0]
    parts = [resource["serviceName"], resource["name"], *filter(None, [resource["identifier"]])]
    search(page, console, "qortal://" + "/".join(parts))
    page.wait_for_url(console.at("qdn", *parts))
    settle(page)
    assert parts[1] in page.locator("main dl").inner_text()


def test_what_is_not_there_is_said(page: Any, console: Console) -> None:
    search(page, console, "no such thing anywhere")
    assert "Nothing found: no name, no group, no poll." in page.locator("main").inner_text()


@pytest.mark.parametrize("text", ["%", "\\", "'\"<b>", "../..", "٣", "x" * 300, "a/b/c?d#e", "\u202ealice"])
def test_odd_texts_are_answered_like_any_other(page: Any, console: Console, text: str) -> None:
    search(page, console, text)
    assert page.locator("main").inner_text().strip()


def test_suggestions_come_while_typing_and_are_chosen_with_the_keyboard(page: Any, console: Console) -> None:
    page.goto(console.at())
    settle(page)
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Look up")
    box.press_sequentially("alice")
    page.get_by_role("option").first.wait_for()
    settle(page)
    options = page.get_by_role("option").all_inner_texts()
    assert any("alice-test" in option for option in options)
    box.press("ArrowDown")
    assert page.get_by_role("option", selected=True).count() == 1
    assert box.get_attribute("aria-activedescendant") == "suggestion-0"
    box.press("Enter")
    page.wait_for_function("location.hash.startsWith('#/name/')")
    settle(page)
    assert page.get_by_role("option").count() == 0


def test_escape_closes_the_suggestions_and_keeps_the_text(page: Any, console: Console) -> None:
    page.goto(console.at())
    box = page.get_by_role("combobox", name="Look up")
    box.press_sequentially("alice")
    page.get_by_role("option").first.wait_for()
    box.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"
    assert box.input_value() == "alice"


def test_things_link_to_each_other_and_the_back_button_returns(page: Any, console: Console) -> None:
    page.goto(console.at("transaction", PAYMENT))
    settle(page)
    page.get_by_role("link", name="256", exact=True).click()
    page.wait_for_url(console.at("block", 256))
    settle(page)
    page.get_by_role("link", name="257 →").click()
    page.wait_for_url(console.at("block", 257))
    page.go_back()
    page.go_back()
    settle(page)
    assert page.url == console.at("transaction", PAYMENT)
    page.get_by_role("link", name=ALICE).first.click()
    settle(page)
    page.get_by_role("link", name="alice-test").first.click()
    settle(page)
    assert page.url == console.at("name", "alice-test")


def test_a_found_name_does_not_trap_the_back_button(page: Any, console: Console) -> None:
    page.goto(console.at("block", 5))
    settle(page)
    search(page, console, "dilbert")
    page.wait_for_url(console.at("name", "dilbert"))
    page.go_back()
    settle(page)
    assert page.url == console.at("block", 5)


THINGS = [
    pytest.param(("account", ALICE), ["1\u202f001\u202f427.50833805 QORT", "alice-test"], id="account"),
    pytest.param(("account", ALICE, "trades"), ["Bitcoin".upper(), "BTC per QORT"], id="its trades"),
    pytest.param(("account", ALICE, "published"), ["alice-test"], id="what it published"),
    pytest.param(("account", ALICE, "groups"), ["Open Lounge"], id="its groups"),
    pytest.param(("account", ALICE, "minting"), ["Sponsees"], id="its minting"),
    pytest.param(("account", ALICE, "blocks"), ["596"], id="its blocks"),
    pytest.param(("block", 256), ["2026-11-15 19:12:28 UTC", "REGISTER_NAME"], id="block"),
    pytest.param(("transaction", PAYMENT), ["12.50000000 QORT", "PAYMENT"], id="transaction"),
    pytest.param(("name", "B0b"), ["looks like it", "bob data"], id="a look-alike name"),
    pytest.param(("group", 3), ["Open Lounge", "erin-for-sale"], id="group"),
    pytest.param(("group", 3, "bans"), ["Bans"], id="its bans"),
    pytest.param(("poll", "empty poll"), ["By votes"], id="poll"),
    pytest.param(("asset", 3), ["GOLD", "--toolsets +assets"], id="asset"),
    pytest.param(("trade", TRADE), ["REDEEMED", "4.75000000 QORT"], id="trade"),
    pytest.param(("contract", TRADE), ["--toolsets +contracts"], id="contract"),
]


@pytest.mark.parametrize(("thing", "pieces"), THINGS)
def test_a_thing_has_a_page_that_says_where_it_comes_from(
    page: Any, console: Console, thing: tuple[str, ...], pieces: list[str]
) -> None:
    page.goto(console.at(*thing))
    settle(page)
    shown = page.locator("main").inner_text()
    for piece in pieces:
        assert piece in shown
    assert "sample · height 596" in shown
    assert page.locator("main .failed").count() == 0


def test_more_rows_come_below_the_first_ones(page: Any, console: Console) -> None:
    page.goto(console.at("account", ALICE))
    settle(page)
    rows = page.get_by_role("region", name="Transactions").locator("tbody tr")
    before = rows.count()
    page.get_by_role("button", name="Show more").click()
    settle(page)
    assert rows.count() > before


def test_a_thing_that_is_not_there_is_said_without_alarm(page: Any, console: Console) -> None:
    page.goto(console.at("name", "nobody-has-this"))
    settle(page)
    assert page.locator("main .missing").inner_text().startswith("Name not found.")
    page.goto(console.at("nonsense"))
    assert "There is no page at this address." in page.locator("main").inner_text()
