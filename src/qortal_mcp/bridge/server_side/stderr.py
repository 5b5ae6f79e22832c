"""The last lines that a program wrote to its standard error: they usually say why it ended."""

from collections import deque
from collections.abc import Callable

from ...text import printable, shortened
from ..limits import BridgeLimits

_LINE_CHARS = 300


class Tail:
    """Keeps a few lines, printable, with secrets masked."""

    def __init__(self, limits: BridgeLimits, mask: Callable[[str], str]) -> None:
        self._lines: deque[str] = deque(maxlen=limits.stderr_lines)
        self._most = limits.stderr_chars
        self._mask = mask
        # The last lines of the program before this one.
        self.former = ""

    def take(self, line: bytes) -> None:
        text = line[: 4 * _LINE_CHARS].decode("utf-8", "replace").strip()
        if text:
            self._lines.append(shortened(printable(self._mask(text)), _LINE_CHARS))

    def begin(self) -> None:
        """A new program starts: what the last one wrote is kept apart."""
        if self._lines:
            self.former = self.text
        self._lines.clear()

    @property
    def text(self) -> str:
        return shortened("\n".join(self._lines), self._most)
