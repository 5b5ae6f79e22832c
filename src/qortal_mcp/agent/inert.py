"""What models say, made safe for a terminal."""

import re

from ..text import visible

_LONGEST_HELD = 64
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# What may go on in the next piece: characters of which several make one emoji, keycap, word or surrogate pair, the
# beginning of what looks like an escape, half a line break.
_OPEN_END = re.compile(
    "(?:[0-9#*\u00a9\u00ae\u0620-\u06ff\u200c\u200d\u203c-\u3299\ud800-\udfff\ufe0f\U0001f000-\U0001faff]+"
    "|\\\\u?|\r)\\Z"
)


def inert(text: str) -> str:
    """What a model said, safe for a terminal: nothing in it hides, moves or controls. Lines and tabs stay."""
    joined = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return visible(joined.replace("\r\n", "\n"))


class InertPieces:
    """The same for a text that arrives in pieces: together they come out as the whole would."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """What can be shown now. A character that may belong to the next piece is held back."""
        text = self._held + piece
        end = _OPEN_END.search(text, max(0, len(text) - _LONGEST_HELD))
        at = len(text) if end is None else end.start()
        self._held = text[at:]
        return inert(text[:at])

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return inert(held)
