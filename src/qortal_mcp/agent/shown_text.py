"""What a person sees of a model's words while they arrive."""

from collections.abc import Callable

from .framing import InertPieces
from .secrets import Secrets, SecretsInPieces
from .written_calls import may_become_call

_DECISIVE_CHARS = 200


class ShownText:
    """Passes text on as it comes, except what may turn out to be a call written as text, or may be asked for again."""

    def __init__(self, show: Callable[[str], None], secrets: Secrets, *, holds_back: bool = False) -> None:
        self._show = show
        self._secrets = SecretsInPieces(secrets)
        self._inert = InertPieces()
        self._held: list[str] = []
        # The first characters of what is held: they decide.
        self._beginning = ""
        self._is_holding = True
        self._holds_back = holds_back

    def add(self, piece: str) -> None:
        if not self._is_holding:
            self._pass_on(piece)
            return
        self._held.append(piece)
        if len(self._beginning) < _DECISIVE_CHARS:
            self._beginning += piece
        if not self._holds_back and not may_become_call(self._beginning):
            self._release()

    def finish(self) -> None:
        """It was an answer after all: show what was held back."""
        if self._is_holding:
            self._release()
        self._put(self._inert.add(self._secrets.end()) + self._inert.end())

    def _release(self) -> None:
        self._is_holding = False
        self._pass_on("".join(self._held))
        self._held = []

    def _pass_on(self, piece: str) -> None:
        self._put(self._inert.add(self._secrets.add(piece)))

    def _put(self, text: str) -> None:
        if text:
            self._show(text)
