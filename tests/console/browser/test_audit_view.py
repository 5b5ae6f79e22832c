"""The audit view: a server by its address, findings with what to do about them, and the report to take away."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.console.browser.conftest import OpenPage, Serve
from tests.console.browser.consoles import Console
from tests.console.browser.judging import serious_faults, too_wide
from tests.console.browser.watching import settle

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


class Broken(BaseHTTPRequestHandler):
    """A server whose tool has a hostile name, and whose results are bare objects."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": HOSTILE, "version": "1"},
            },
            "tools/list": {
                "tools": [
                    {
                        "name": HOSTILE,
                        "inputSchema": {"type": "object"},
                        "annotations": {"readOnlyHint": True},
                    }
                ]
            },
        }
        result = results.get(asked["method"], {HOSTILE: HOSTILE})
        body = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in asked else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) if "id" in asked else 0))
        self.end_headers()
        if "id" in asked:
            self.wfile.write(body)

    def log_message(self, format: str, *words: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def broken() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Broken)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


def audit(page: Any, console: Console, url: str | None = None) -> str:
    page.goto(console.at("audit"))
    settle(page)
    if url is not None:
        page.get_by_label("Address of the server").fill(url)
    page.get_by_role("button", name="Start").click()
    page.locator(".audit-results .verdict, .audit-results [role=alert]").first.wait_for()
    settle(page)
    shown: str = page.locator("main").inner_text()
    return shown


def test_our_own_server_conforms(page: Any, console: Console) -> None:
    assert "It conforms: no violation found" in audit(page, console)


def test_findings_say_what_is_wrong_how_to_fix_it_and_who_breaks_on_it(
    page: Any, console: Console, broken: str, picture: Callable[..., Path]
) -> None:
    shown = audit(page, console, broken)
    assert "violates" in shown.lower()
    assert "Codex" in shown
    picture(page, "audit")
    assert serious_faults(page) == []


@pytest.mark.promise("Console", "What a server under audit says is shown as text and never run.")
def test_what_a_server_under_audit_says_is_text(page: Any, console: Console, broken: str) -> None:
    shown = audit(page, console, broken)
    assert "<img src=x onerror=alert(1)>" in shown
    assert "\u202e" not in shown
    assert page.locator("main img").count() == 0


def test_it_fits_a_phone(open_page: OpenPage, console: Console, broken: str) -> None:
    page = open_page(console, viewport={"width": 375, "height": 700}, color_scheme="dark")
    audit(page, console, broken)
    assert too_wide(page) == []
    assert serious_faults(page) == []


def test_the_report_is_taken_away_in_both_forms(
    page: Any, console: Console, broken: str, tmp_path: Path
) -> None:
    audit(page, console, broken)
    for name in ("JSON", "Markdown"):
        with page.expect_download() as caught:
            page.get_by_role("button", name=f"Download as {name}").click()
        caught.value.save_as(tmp_path / name)
    assert json.loads((tmp_path / "JSON").read_text())["verdict"] == "violates"
    assert (tmp_path / "Markdown").read_text().startswith("#")


def test_an_address_elsewhere_is_refused_with_the_option_that_allows_it(
    open_page: OpenPage, console: Console
) -> None:
    page = open_page(console, expects=("status of 403",))
    assert "--audit-targets any" in audit(page, console, "http://192.0.2.1/mcp")


def test_a_link_fills_in_the_address_and_starts_nothing(page: Any, console: Console) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.goto(console.at("audit", url="http://127.0.0.1:9/mcp"))
    settle(page)
    assert page.get_by_label("Address of the server").input_value() == "http://127.0.0.1:9/mcp"
    assert f"POST {console.origin}/console/audit" not in asked


def test_where_audits_are_off_the_page_says_how_they_are_switched_on(
    serve: Serve, open_page: OpenPage
) -> None:
    console = serve("--sample", "--audit-targets", "off")
    page = open_page(console)
    page.goto(console.at("audit"))
    settle(page)
    assert "--audit-targets loopback" in page.locator("main").inner_text()


def test_a_verdict_counts_in_words_and_leads_to_each_broken_rule(
    page: Any, console: Console, broken: str
) -> None:
    shown = audit(page, console, broken)
    assert re.search(r"It violates the specification: \d+ rules are broken in \d+ places\.", shown)
    assert re.search(r"\d+ demands of the specification are not met, in \d+ places;", shown)
    rule = page.locator("section[aria-label=Verdict] button").first
    code = rule.inner_text()
    rule.click()
    assert page.evaluate("() => document.activeElement.textContent").endswith(code)


def test_where_something_else_is_served_one_sentence_says_so_and_offers_the_usual_path(
    page: Any, console: Console
) -> None:
    shown = audit(page, console, f"{console.origin}/nothing/here")
    assert shown.count("nothing is served at this path") == 1
    assert "Effort" not in shown
    assert f"Did you mean {console.origin}/mcp?" in shown
    page.locator("main").get_by_role("link", name=f"{console.origin}/mcp").click()
    settle(page)
    assert page.get_by_label("Address of the server").input_value() == f"{console.origin}/mcp"


def test_what_needs_a_terminal_is_a_command_to_copy(page: Any, console: Console) -> None:
    shown = audit(page, console)
    assert f"audit {console.origin}/mcp --call-all" in shown
    assert "answered with an error (no violation by itself, listed at the end)" in shown


def test_where_a_token_is_needed_the_command_that_takes_one_is_offered(
    serve: Serve, open_page: OpenPage
) -> None:
    console = serve("--sample", QORTAL_MCP_TOKEN="the-token-of-the-tests")
    page = open_page(console)
    page.goto(console.at("audit"))
    page.get_by_role("textbox", name="Token").fill("the-token-of-the-tests")
    page.keyboard.press("Enter")
    shown = audit(page, console)
    command = f"audit {console.origin}/mcp --header-file FILE"
    assert command in page.locator("section[aria-label=Verdict]").inner_text()
    assert command in page.locator(".audit-form").inner_text()
    assert "the-token-of-the-tests" not in shown


def test_an_address_that_is_none_leaves_no_report_of_another(page: Any, console: Console) -> None:
    audit(page, console)
    page.get_by_label("Address of the server").fill("not an address")
    page.get_by_role("button", name="Start").click()
    assert page.locator(".audit-results").inner_text() == ""
