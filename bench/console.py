"""The page at `/`: how long until a browser that has nothing of it yet shows the whole overview, and what goes over the wire."""

import time
from typing import Any

from tests.console.browser import programs
from tests.console.browser.chromium import launch
from tests.console.browser.watching import Watch, settle

from bench.contestants import OURS, running
from bench.figures import Budget, Figure
from bench.processes import Failed
from bench.run import Run

PART = "console"
_READY = Budget(1000, "value")
_WIRE = Budget(150, "value")


def measure(run: Run) -> list[Figure]:
    if reason := programs.no_browser():
        raise Failed(reason)
    from playwright.sync_api import sync_playwright

    ready, sent = [], []
    command = run.contestants.ours("uvloop", "--sample")
    with sync_playwright() as driver, running(f"{OURS} console", command) as child:
        origin = f"http://127.0.0.1:{child.port()}"
        browser = launch(driver)
        for number in range(run.rounds + 1):
            ms, kilobytes = _open(browser, origin)
            if number == 0:
                continue  # the first one reads files from disk
            ready.append(ms)
            sent.append(kilobytes)
            run.say(f"console, round {number}: ready after {ms:.0f} ms")
        browser.close()
    return [
        Figure(PART, "cold page, until the overview is complete", OURS, "ms", tuple(ready), budget=_READY),
        Figure(PART, "files of the page over the wire", OURS, "kB", tuple(sent), budget=_WIRE),
    ]


def _open(browser: Any, origin: str) -> tuple[float, float]:
    """Milliseconds until a page without a cache is complete, and the kilobytes of its files. Raises: Failed."""
    context = browser.new_context()
    page = context.new_page()
    watch = Watch(page, origin)
    began = time.perf_counter()
    page.goto(f"{origin}/")
    settle(page)
    ready = (time.perf_counter() - began) * 1000
    if watch.faults:
        raise Failed(f"the page reports: {watch.faults[0]}")
    sizes: list[float] = page.evaluate(
        "() => ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))"
        ".filter((one) => !one.name.endsWith('/mcp')).map((one) => one.encodedBodySize)"
    )
    context.close()
    return ready, sum(sizes) / 1000
