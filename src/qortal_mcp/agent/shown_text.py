"""What a person sees of a model's words while they arrive."""

import re
from collections.abc import Callable, Collection

from .inert import InertPieces
from .secrets import Secrets, SecretsInPieces
from .written.calls import may_become_call, may_become_tag

# The first characters of what may be a call: they decide.
_DECISIVE_CHARS = 200
# Where a call may begin: a tag anywhere, everything else at the beginning of a line.
_MAY_BEGIN = re.compile(r"[<\[{`]")


class ShownText:
    """Passes text on as it comes, except what may turn out to be a call written as text, or may be asked for again."""

    def __init__(
        self,
        show: Callable[[str], None],
        secrets: Secrets,
        *,
        tools: Collection[str] = (),
        holds_back: bool = False,
    ) -> None:
        """`tools`: the names that a call may begin with. `holds_back`: show nothing before the end."""
        self._show = show
        self._tools = tools
        self._secrets = SecretsInPieces(secrets)
        self._inert = InertPieces()
        # What has arrived and is not yet passed on; all that follows is held too if it begins like a call.
        self._held: list[str] = []
        self._is_holding = holds_back
        self._is_first = True
        self._is_line_blank = True
        self._last = ""

    def add(self, piece: str) -> None:
        self._held.append(piece)
        if self._is_holding:
            return
        text = "".join(self._held)
        at = self._shown_until(text)
        self._held = [text[at:]] if at < len(text) else []
        self._last = text[:at][-1:] or self._last
        self._pass_on(text[:at])

    def finish(self) -> None:
        """It was an answer after all: show what was held back."""
        self._pass_on("".join(self._held))
        self.drop()

    def drop(self) -> None:
        """What was held back was a call. What was said before it is shown to its end."""
        self._held = []
        self._put(self._inert.add(self._secrets.end()) + self._inert.end())

    def _shown_until(self, text: str) -> int:
        """Where a call may begin in a text; its end if that is nowhere."""
        if self._is_first:
            if self._may_become(may_become_call(text[:_DECISIVE_CHARS], self._tools), text):
                return 0
            self._is_first = False
        line = 0
        for found in _MAY_BEGIN.finditer(text):
            at = found.start()
            if (newline := text.rfind("\n", line, at)) >= 0:
                line, self._is_line_blank = newline + 1, True
            self._is_line_blank = self._is_line_blank and not text[line:at].strip()
            beginning = text[at : at + _DECISIVE_CHARS]
            # In backticks it is the name of a tag.
            is_quoted = (text[at - 1] if at else self._last) == "`"
            may = (
                may_become_call(beginning)
                if self._is_line_blank
                else may_become_tag(beginning) and not is_quoted
            )
            if self._may_become(may, text[at:] if may else ""):
                return at
            line, self._is_line_blank = at, False
        if (newline := text.rfind("\n", line)) >= 0:
            line, self._is_line_blank = newline + 1, True
        self._is_line_blank = self._is_line_blank and not text[line:].strip()
        return len(text)

    def _may_become(self, may: bool, held: str) -> bool:
        self._is_holding = may and len(held) >= _DECISIVE_CHARS
        return may

    def _pass_on(self, piece: str) -> None:
        self._put(self._inert.add(self._secrets.add(piece)))

    def _put(self, text: str) -> None:
        if text:
            self._show(text)
