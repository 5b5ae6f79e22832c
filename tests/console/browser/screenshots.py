"""The pictures of the README: `python -m tests.console.browser.screenshots`, run by scripts/screenshots."""

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.cli.running import ALICE
from tests.console.browser import programs
from tests.console.browser.chromium import launch
from tests.console.browser.consoles import Console, open_console
from tests.console.browser.png import with_palette
from tests.console.browser.watching import Watch, settle

FOLDER = programs.ROOT / "docs" / "images"
PICTURES = {"overview": (), "account": ("account", ALICE)}
_SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 120_000
# What the clock says in the pictures, so that they do not change from day to day.
_SINCE_THE_TIP = timedelta(seconds=40)


def take(driver: Any, console: Console, folder: Path) -> None:
    """Each picture in a tab of its own. Raises: AssertionError if the page reports a fault or a picture is too big."""
    tip = datetime.fromisoformat(console.door.call("get_node_status")["structuredContent"]["asOf"]["time"])
    browser = launch(driver)
    for name, parts in PICTURES.items():
        context = browser.new_context(viewport=_SIZE, color_scheme="light", reduced_motion="reduce")
        page = context.new_page()
        watch = Watch(page, console.origin)
        page.clock.set_fixed_time(tip + _SINCE_THE_TIP)
        page.goto(console.at(*parts))
        settle(page)
        file = folder / f"{name}.png"
        file.write_bytes(with_palette(page.screenshot()))
        context.close()
        assert not watch.faults, watch.faults
        assert file.stat().st_size < MOST_BYTES, f"{file.name} has {file.stat().st_size} bytes"
        print(f"{file.relative_to(programs.ROOT)}: {file.stat().st_size:,} bytes")
    browser.close()


def main() -> int:
    if reason := programs.no_browser():
        print(f"scripts/screenshots: {reason}", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver, open_console("--sample") as console:
        take(driver, console, FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
