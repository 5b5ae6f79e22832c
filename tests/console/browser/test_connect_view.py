"""The connect view: what each client needs, to be copied as it is."""

import json
import tomllib
from typing import Any

from tests.console.browser.conftest import OpenPage, Serve
from tests.console.browser.consoles import Console
from tests.console.browser.watching import settle

TOKEN = "the-token-of-the-tests"


def test_each_client_has_a_way_with_something_to_copy(page: Any, console: Console) -> None:
    page.goto(console.at("connect"))
    settle(page)
    tabs = page.get_by_role("tab")
    assert tabs.count() >= 14
    for name in tabs.all_inner_texts():
        page.get_by_role("tab", name=name, exact=True).click()
        settle(page)
        assert page.get_by_role("tabpanel").locator("pre, a[href]").count() >= 1, name


def test_the_piece_for_a_settings_file_names_this_server(page: Any, console: Console) -> None:
    page.goto(console.at("connect", "codex", way="http"))
    settle(page)
    pieces = page.get_by_role("tabpanel").locator("pre").all_inner_texts()
    (toml,) = [tomllib.loads(piece) for piece in pieces if piece.startswith("[")]
    assert toml["mcp_servers"]["qortal"]["url"] == f"{console.origin}/mcp"
    page.goto(console.at("connect", "cursor", way="stdio"))
    settle(page)
    pieces = page.get_by_role("tabpanel").locator("pre").all_inner_texts()
    entry = json.loads(next(piece for piece in pieces if piece.startswith("{")))
    assert entry["mcpServers"]["qortal"]["args"] == ["stdio", "--sample"]


def test_the_token_is_named_and_never_written(serve: Serve, open_page: OpenPage) -> None:
    console = serve("--sample", QORTAL_MCP_TOKEN=TOKEN)
    page = open_page(console)
    page.goto(console.at("connect", "codex", way="http"))
    page.get_by_role("textbox", name="Token").fill(TOKEN)
    page.keyboard.press("Enter")
    settle(page)
    assert "QORTAL_MCP_TOKEN" in page.get_by_role("tabpanel").inner_text()
    assert TOKEN not in page.content()
