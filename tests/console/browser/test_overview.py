"""The overview: the figures that the tools answer, and charts that say in words what they show."""

from typing import Any

import pytest
from tests.console.browser.consoles import Console
from tests.console.browser.watching import settle


@pytest.fixture
def overview(page: Any, console: Console) -> Any:
    page.goto(console.at())
    settle(page)
    return page


def panel(page: Any, title: str) -> Any:
    return page.get_by_role("region", name=title, exact=True)


def answer(console: Console, tool: str, **arguments: Any) -> Any:
    return console.door.call(tool, **arguments)["structuredContent"]


def test_the_figures_are_those_of_the_tools(overview: Any, console: Console) -> None:
    status, day = answer(console, "get_node_status"), answer(console, "get_network_overview")
    node = panel(overview, "Node").inner_text()
    assert str(status["height"]) in node
    assert status["version"].removeprefix("qortal-") in node
    shown = panel(overview, "Last 24 hours").inner_text()
    assert str(day["last24Hours"]["transactionCount"]) in shown
    assert f"Minters online: {day['onlineMinters']['total']}" in shown


def test_every_part_names_the_call_it_comes_from(overview: Any, console: Console) -> None:
    sources = overview.locator("main section footer")
    assert sources.count() == 6
    assert all("height 596" in text for text in sources.all_inner_texts())
    sources.locator("a", has_text="get_network_overview").click()
    settle(overview)
    assert overview.locator("h1").inner_text() == "Tool get_network_overview"


def test_small_charts_have_a_bar_for_each_block_and_say_what_they_show(overview: Any) -> None:
    charts = panel(overview, "Block times").get_by_role("img")
    assert charts.count() == 2
    assert "median" in charts.first.get_attribute("aria-label")
    assert charts.first.locator("rect").count() == 59
    heights = charts.first.locator("rect").evaluate_all(
        "(bars) => bars.map((bar) => Number(bar.getAttribute('height')))"
    )
    assert max(heights) > 0


def test_bars_are_as_long_as_their_numbers(overview: Any) -> None:
    table = overview.get_by_role("table", name="Transactions of the last 24 hours by type")
    counts = [int(text.replace("\u202f", "")) for text in table.locator("td.figure").all_inner_texts()]
    widths = table.locator("rect").evaluate_all(
        "(bars) => bars.map((bar) => bar.getBoundingClientRect().width)"
    )
    ratios = [width / count for width, count in zip(widths, counts, strict=True)]
    assert max(ratios) / min(ratios) < 1.05


def test_prices_are_told_by_pointer_and_by_arrow_keys(overview: Any, console: Console) -> None:
    chart = overview.get_by_role("slider")
    trades = [
        trade
        for trade in answer(console, "list_completed_trades", limit=100)["trades"]
        if trade["foreignCurrency"] == "LITECOIN"
    ]
    newest, oldest = trades[0], trades[-1]
    assert newest["price"] in chart.get_attribute("aria-valuetext")
    assert len(chart.locator("polyline").get_attribute("points").split()) == len(trades)
    chart.focus()
    overview.keyboard.press("Home")
    assert oldest["price"] in chart.locator("output").inner_text()
    assert chart.get_attribute("aria-valuenow") == "1"
    overview.keyboard.press("ArrowRight")
    assert chart.get_attribute("aria-valuenow") == "2"
    box = chart.locator("svg").bounding_box()
    overview.mouse.move(box["x"] + 8, box["y"] + 60)
    assert chart.get_attribute("aria-valuenow") == "1"
    overview.mouse.move(0, 0)
    assert newest["price"] in chart.get_attribute("aria-valuetext")


def test_each_coin_has_its_own_chart(overview: Any) -> None:
    coins = overview.get_by_role("group", name="Coin").get_by_role("button")
    assert coins.count() == 6
    for at in range(coins.count()):
        coins.nth(at).click()
        assert coins.nth(at).get_attribute("aria-pressed") == "true"
        name = coins.nth(at).inner_text()
        assert (
            overview.get_by_role("slider").get_attribute("aria-label").startswith(f"Price of QORT in {name}")
        )


def test_more_blocks_are_shown_below_the_first(overview: Any) -> None:
    blocks = panel(overview, "Newest blocks")
    assert blocks.locator("tbody tr").count() == 10
    blocks.get_by_role("button", name="Show more").click()
    settle(overview)
    assert blocks.locator("tbody tr").count() == 20
    heights = [int(text) for text in blocks.locator("tbody tr td:first-child").all_inner_texts()]
    assert heights == list(range(596, 576, -1))
