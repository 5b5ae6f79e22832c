"""Text of strangers, wherever it stands: it is shown, and it is only ever shown."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.running import ALICE
from tests.console.browser.conftest import OpenPage
from tests.console.browser.consoles import Console, open_console
from tests.console.browser.nodes import stub_node
from tests.console.browser.watching import settle

MARKUP = (
    '<img src=x onerror="window.ran=1"><script>window.ran=1</script>"\'><a href="javascript:window.ran=1">'
)
# Members of what a node answers that hold what somebody wrote.
WRITTEN = {"description", "data", "groupName", "optionName"}
ELEMENTS = (
    "main script, main img, main iframe, main object, main base, main style, main link, main form[action]"
)
# Names of the sample chain that look like a way out of it, or like something else.
NAMES = ["../admin/stop", "100%real", "Grace & Söhne GmbH", "Rocket 🚀 Team"]


def changed(value: Any) -> Any:
    """A reply in which every text that somebody wrote is markup."""
    if isinstance(value, list):
        return [changed(one) for one in value]
    if isinstance(value, dict):
        return {
            name: MARKUP if name in WRITTEN and isinstance(one, str) else changed(one)
            for name, one in value.items()
        }
    return value


@pytest.fixture(scope="module")
def hostile() -> Iterator[Console]:
    with stub_node() as node:
        node.change = changed
        with open_console("--node", node.url) as console:
            yield console


@pytest.mark.promise("Console", "Text from the chain is never markup, script or a link of its own.")
@pytest.mark.parametrize(
    "parts",
    [
        ("name", "alice-test"),
        ("group", 3),
        ("poll", "Best fruit?"),
        ("asset", 3),
        ("account", ALICE, "groups"),
        ("search", 3),
        ("tools", "list_groups"),
    ],
    ids=lambda parts: parts[0],
)
def test_markup_from_a_node_is_only_text(
    open_page: OpenPage, hostile: Console, parts: tuple[Any, ...]
) -> None:
    page = open_page(hostile)
    page.goto(hostile.at(*parts, **({"args": "{}"} if parts[0] == "tools" else {})))
    settle(page)
    assert "<script>" in page.locator("main").inner_text()
    assert page.locator(ELEMENTS).count() == 0
    assert page.evaluate("() => window.ran") is None
    links = page.eval_on_selector_all("a[href]", "(links) => links.map((link) => link.protocol)")
    assert set(links) == {"http:"}


@pytest.mark.parametrize("name", NAMES)
def test_a_strange_name_leads_to_its_own_page(page: Any, console: Console, name: str) -> None:
    page.goto(console.at("search", name))
    settle(page)
    assert page.url == console.at("name", name)
    assert page.locator("h1").inner_text() == f"Name {name}"
    owner = page.locator("main section a[href^='#/account/']").first
    assert owner.get_attribute("href") != f"#/account/{ALICE}"


@pytest.mark.parametrize("text", [MARKUP, "javascript:alert(1)", "\u202eabc", "a" * 300, "%00", "{{7*7}}"])
def test_what_a_person_types_is_only_text_too(page: Any, console: Console, text: str) -> None:
    page.goto(console.at("search", text))
    settle(page)
    assert page.locator(ELEMENTS).count() == 0
    assert page.evaluate("() => window.ran") is None


def test_letters_that_turn_the_text_around_are_shown_as_what_they_are(page: Any, console: Console) -> None:
    page.goto(console.at("tools", "list_polls", args="{}"))
    settle(page)
    shown = page.locator("main").inner_text()
    assert "\u202e" not in shown
    assert "\\u{202E}" in shown
