"""Chromium as everything here starts it: without anything that reaches beyond this machine."""

from typing import Any

from tests.console.browser import programs

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    # No other name or address resolves.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def launch(driver: Any) -> Any:
    """Playwright's `Browser`; `driver` is what `sync_playwright()` gives."""
    return driver.chromium.launch(executable_path=programs.chromium(), args=_FLAGS)
