"""What a page must never do, noted while a test uses it: report errors, break its policy, ask anybody but its server.
And what it waits for."""

import re
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

# Errors, and warnings too: of a policy, of a module that is preloaded and not used, of what browsers will drop.
_COMPLAINTS = ("error", "warning")
# The stream that stays open for as long as the page does.
_STREAM = "subscriptions/listen"
_IS_BUSY = """async () => {
  await new Promise(requestAnimationFrame);
  return !document.querySelector('main')?.childElementCount || Boolean(document.querySelector('[aria-busy="true"]'));
}"""
# A view is there within a few frames; a loaded machine may need many.
_FRAMES = 2000

_watches: "WeakKeyDictionary[Any, Watch]" = WeakKeyDictionary()


class Watch:
    """The faults of one page. `expects` are patterns of what the test provokes on purpose."""

    def __init__(self, page: Any, origin: str, expects: Iterable[str] = ()) -> None:
        self._origin = origin
        self._expected = [re.compile(pattern) for pattern in expects]
        self._seen: list[str] = []
        self.pending: set[Any] = set()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._seen.append(f"uncaught: {error}"))
        page.on("dialog", self._interrupted)
        page.on("crash", lambda _: self._seen.append("the page crashed"))
        page.on("request", self._asked)
        page.on("requestfinished", self._answered)
        page.on("requestfailed", self._answered)
        _watches[page] = self

    @property
    def faults(self) -> list[str]:
        return [seen for seen in self._seen if not any(pattern.search(seen) for pattern in self._expected)]

    def _said(self, message: Any) -> None:
        if message.type in _COMPLAINTS:
            self._seen.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Any) -> None:
        if _STREAM not in (request.post_data or ""):
            self.pending.add(request)
        if not request.url.startswith((f"{self._origin}/", f"blob:{self._origin}/")):
            self._seen.append(f"asked elsewhere: {request.url}")

    def _interrupted(self, dialog: Any) -> None:
        self._seen.append(f"{dialog.type} box: {dialog.message}")
        dialog.dismiss()

    def _answered(self, request: Any) -> None:
        self.pending.discard(request)


def settle(page: Any) -> None:
    """Wait until the page shows everything it asked for: nothing is under way, and nothing says that it is busy."""
    watch = _watches[page]
    quiet = 0
    for _ in range(_FRAMES):
        quiet = 0 if page.evaluate(_IS_BUSY) or watch.pending else quiet + 1
        if quiet == 3:
            return
    asked = [request.url for request in watch.pending]
    raise AssertionError(f"the page does not come to rest; it waits for {asked} and reported {watch.faults}")
