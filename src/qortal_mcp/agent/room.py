"""How much a model can take in: which tools fit, how much of a result, how much of what was said before."""

from collections.abc import Sequence

from msgspec.structs import replace

from . import fitting, words
from .limits import AgentLimits
from .model.messages import Function, Message, Usage

# What a model needs for its own words.
_ANSWER_TOKENS = 1024
_CHARS_PER_TOKEN = 4
# Of a window: one result, and everything that was said before.
_RESULT_SHARE = 4
_HISTORY_SHARE = 4
# No endpoint cuts a smaller prompt.
_SMALLEST_CUT = 1500
# No window is so small that a question without tools would not fit.
_SMALLEST_WINDOW = 1024


class Room:
    """The window of a model, as far as it is known."""

    def __init__(self, limits: AgentLimits, window: int | None, hint: str, *, may_cut: bool) -> None:
        """`hint` says how a person can make the window larger; `may_cut`: the endpoint may cut prompts silently."""
        self._limits = limits
        self._window = window
        self._hint = hint
        self._may_cut = may_cut
        # Whether a person knows that the window is small.
        self._is_told = False

    def may_be_cut(self, sent: int) -> bool:
        """Whether the answer to a prompt should not be shown before it is known how much of it was read."""
        return self._may_cut and self._window is None and sent >= _SMALLEST_CUT

    @property
    def result_bytes(self) -> int:
        """What a model gets of one result."""
        return min(self._limits.result_bytes, self._share(_RESULT_SHARE))

    @property
    def history_chars(self) -> int:
        return min(self._limits.history_chars, self._share(_HISTORY_SHARE))

    def _share(self, part: int) -> int:
        if self._window is None:
            return max(self._limits.result_bytes, self._limits.history_chars)
        return self._window * _CHARS_PER_TOKEN // part

    def functions(
        self, offered: Sequence[Function], messages: Sequence[Message], question: str
    ) -> tuple[tuple[Function, ...], str]:
        """Those that fit beside the messages, and what a person should know if some do not."""
        needed = fitting.weight(messages, offered)
        if self._window is None or needed + _ANSWER_TOKENS <= self._window:
            return tuple(offered), ""
        left = self._window - _ANSWER_TOKENS - fitting.weight(messages, ())
        chosen = fitting.fitting(offered, question, max(left, 0))
        said = "" if self._is_told else words.small_window(needed, self._window, self._hint)
        self._is_told = True
        return chosen, f"{said} {words.fewer_tools(len(chosen), len(offered))}".strip()

    def learn(self, sent: int, usage: Usage | None) -> str:
        """What a person should know if the endpoint read less than it was sent; the window is known then."""
        self._may_cut = False
        if self._window is not None or usage is None or not fitting.was_cut(sent, usage.prompt_tokens):
            return ""
        self._window = max(usage.prompt_tokens, _SMALLEST_WINDOW)
        self._is_told = True
        return words.cut_prompt(sent, usage.prompt_tokens, self._hint)

    def shrink(self, sent: int, refusal: str) -> str:
        """What a person should know if a prompt was refused as too long; empty if it cannot be made shorter."""
        window = sent * 3 // 4
        if window < _SMALLEST_WINDOW:
            return ""
        self._window = window
        self._is_told = True
        return refusal

    def making_room(self, messages: list[Message], functions: Sequence[Function]) -> list[Message]:
        """The messages with the oldest results left out, as far as needed. The newest round stays whole."""
        if self._window is None:
            return messages
        over = fitting.weight(messages, functions) + _ANSWER_TOKENS - self._window
        newest = max((at for at, one in enumerate(messages) if one.calls), default=0)
        for at, message in enumerate(messages[:newest]):
            if over <= 0:
                break
            if message.role == "tool" and len(message.content) > len(words.LEFT_OUT):
                shorter = words.LEFT_OUT.format(size=len(message.content))
                over -= (len(message.content) - len(shorter)) // _CHARS_PER_TOKEN
                messages[at] = replace(message, content=shorter)
        return messages
