"""The node behind the page: in sync, behind, gone and back, with a new block. All of it in words, without a reload."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.console.browser.conftest import OpenPage, Serve
from tests.console.browser.consoles import Console
from tests.console.browser.nodes import StubNode, stub_node
from tests.console.browser.watching import settle

# A node that failed is left alone for ten seconds; then it is looked at again.
BACK_MS = 60_000
PILL = "status-pill"


@pytest.fixture
def node() -> Iterator[StubNode]:
    with stub_node() as node:
        yield node


def says(page: Any, words: str, where: str = PILL) -> None:
    """Wait until a place says this."""
    page.locator(where, has_text=re.compile(words)).first.wait_for(timeout=BACK_MS)


def test_a_node_in_sync_is_called_that(node: StubNode, serve: Serve, open_page: OpenPage) -> None:
    console = serve("--node", node.url)
    page = open_page(console)
    page.goto(console.at())
    says(page, "In sync.*596")
    settle(page)
    assert page.locator(PILL).get_attribute("data-tone") == "good"


def test_a_stale_node_is_said_to_be_behind_and_by_how_much(
    node: StubNode, serve: Serve, open_page: OpenPage
) -> None:
    node.age_seconds = 3 * 3600
    console = serve("--node", node.url)
    page = open_page(console, expects=("status of 503",))
    page.goto(console.at())
    says(page, "Behind by 3 hours")
    says(page, "Check that it has peers", ".verdict")
    assert page.locator(PILL).get_attribute("data-tone") == "warn"
    console = serve("--node", node.url, "--max-tip-age", "1d")
    page = open_page(console)
    page.goto(console.at())
    says(page, "In sync")


@pytest.mark.promise(
    "Console", "A node that goes away and comes back is told in words, and the page fills again by itself."
)
def test_a_node_goes_away_and_comes_back(node: StubNode, serve: Serve, open_page: OpenPage) -> None:
    console = serve("--node", node.url)
    page = open_page(console, expects=("status of 50[0-9]",))
    page.goto(console.at())
    says(page, "In sync")
    settle(page)
    node.stop()
    says(page, "Node does not answer")
    says(page, "Is Qortal Core running", ".verdict")
    page.goto(console.at("block", 12))
    says(page, "Node unreachable", "main [role=alert]")
    node.start()
    says(page, "In sync")
    # The part that had failed asks again by itself.
    page.locator("main dl").first.wait_for(timeout=BACK_MS)
    assert page.locator("main [role=alert]").count() == 0


def test_a_page_opened_while_the_node_is_gone_says_so(
    node: StubNode, serve: Serve, open_page: OpenPage
) -> None:
    node.stop()
    try:
        console = serve("--node", node.url)
        page = open_page(console, expects=("status of 50[0-9]",))
        page.goto(console.at())
        says(page, "Node does not answer")
        assert page.locator("main [role=alert]").count() >= 1
    finally:
        node.start()


def test_a_new_block_appears_without_a_reload(node: StubNode, serve: Serve, open_page: OpenPage) -> None:
    console = serve("--node", node.url)
    page = open_page(console)
    page.goto(console.at())
    says(page, "596")
    settle(page)
    page.evaluate("() => (window.isSamePage = true)")
    node.more_blocks = 1
    says(page, "597")
    says(page, "597", "section[aria-label=Node]")
    assert page.evaluate("() => window.isSamePage") is True


def test_a_server_that_is_gone_is_told_apart_from_a_node(serve: Serve, open_page: OpenPage) -> None:
    console = serve("--sample")
    page = open_page(console, expects=("ERR_",))
    page.goto(console.at())
    says(page, "Sample chain")
    settle(page)
    console.door.stop()
    says(page, "Server does not answer")


def test_the_sample_chain_is_called_that(page: Any, console: Console) -> None:
    page.goto(console.at())
    says(page, "Sample chain")
    says(page, "Test data, not the real chain", ".verdict")
