"""What a program wrote last to its standard error: it usually says why the program ended."""

from collections import deque
from collections.abc import Callable

from ...text import printable, shortened

_LINES = 3
_LINE_CHARS = 200


class LastLines:
    """Keeps a few different lines, printable, with secrets masked."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask
        self._lines: deque[str] = deque(maxlen=_LINES)

    def take(self, line: bytes) -> None:
        text = " ".join(line[: 4 * _LINE_CHARS].decode("utf-8", "replace").split())
        shown = shortened(printable(self._mask(text)), _LINE_CHARS)
        if shown and shown not in self._lines:
            self._lines.append(shown)

    def clear(self) -> None:
        self._lines.clear()

    @property
    def text(self) -> str:
        return " / ".join(self._lines)
