"""A browser for the tests of the page.

- `page`: an empty tab. It may ask `console` and nobody else; at the end of the test it must not have reported an error.
- `console`: the page of a running `serve --sample`, one for each module: `page.goto(console.at("account", ALICE))`.
- `open_page(console, …)`: a tab for another server, another width, dark colours, or errors that the test provokes.
- `serve("--node", url, VARIABLE="value")`: the page of another server, which runs until all tabs of the test are closed.
- `picture(page, name)`: a screenshot, if CONSOLE_PICTURES names a folder to put it in.

`settle(page)` of `watching.py` waits until a view is complete; `judging.py` says what is wrong with a page; `nodes.py` has
a node that can be old, changed or gone.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.console.browser import programs
from tests.console.browser.chromium import launch
from tests.console.browser.consoles import Console, open_console
from tests.console.browser.require import require
from tests.console.browser.watching import Watch

# A view is there in a tenth of a second; a loaded machine may take long.
PATIENCE_MS = 20_000
Picture = Callable[[Any, str], None]
Serve = Callable[..., Console]


class OpenPage(Protocol):
    def __call__(self, console: Console, *, expects: tuple[str, ...] = (), **options: Any) -> Any:
        """A tab that may ask this console only. `expects`: patterns of errors that are provoked on purpose.
        `options`: of Playwright's `new_context`, such as `color_scheme="dark"`."""


@contextmanager
def running(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Playwright's loop counts as the running one only in tests that use it: others run loops of their own."""
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Any, asyncio.AbstractEventLoop]]:
    """The browser of this process, and the loop that serves it."""
    require(programs.no_browser())
    from playwright.sync_api import sync_playwright

    driver = sync_playwright().start()
    loop = asyncio.get_running_loop()
    browser = launch(driver)
    asyncio._set_running_loop(None)
    yield browser, loop
    with running(loop):
        browser.close()
        driver.stop()


@pytest.fixture
def browser(chromium: tuple[Any, asyncio.AbstractEventLoop]) -> Iterator[Any]:
    """Playwright's `Browser`."""
    browser, loop = chromium
    with running(loop):
        yield browser


@pytest.fixture(scope="module")
def console() -> Iterator[Console]:
    """The page of a server on the sample chain."""
    require(programs.no_browser())
    with open_console("--sample") as console:
        yield console


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as started:
        yield lambda *options, **environment: started.enter_context(
            open_console(*options, environment=environment)
        )


@pytest.fixture
def open_page(serve: Serve, browser: Any) -> Iterator[OpenPage]:
    watches: list[Watch] = []
    with ExitStack() as opened:

        def open_one(console: Console, *, expects: tuple[str, ...] = (), **options: Any) -> Any:
            context = browser.new_context(
                **{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | options
            )
            opened.callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            page = context.new_page()
            watches.append(Watch(page, console.origin, expects))
            return page

        yield open_one
    faults = [fault for watch in watches for fault in watch.faults]
    assert not faults, "\n".join(faults)


@pytest.fixture
def page(open_page: OpenPage, console: Console) -> Any:
    return open_page(console)


@pytest.fixture
def picture() -> Picture:
    folder = os.environ.get("CONSOLE_PICTURES")

    def take(page: Any, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return take
