"""How much a model can take in: which tools fit, how much of a result, how much of what was said before."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from .. import words
from ..limits import AgentLimits
from ..model.messages import Function, Message, Usage
from ..model.refusals import PromptTooLong
from . import fitting
from .framing import shorter

# What a model needs for its own words.
_ANSWER_TOKENS = 1024
# Of a small window: those words, what tools return, and everything that was said before this question.
_ANSWER_SHARE = 4
_RESULTS_SHARE = 4
_HISTORY_SHARE = 8
_CHARS_PER_TOKEN = 4
# Addresses and signatures have fewer characters per token than words.
_RESULT_BYTES_PER_TOKEN = 3
# No window that is smaller is of any use.
_SMALLEST_WINDOW = 1024
# How an endpoint that refuses a prompt names the size of its window.
_SAID_WINDOW = re.compile(
    r"(?:context (?:length|size|window)|n_ctx|maximum number of tokens|> )\D{0,30}([0-9]{4,8})\b",
    re.IGNORECASE,
)
# Tokens of a call, of the lines around its result, and of a few words between them.
_LEAST_PER_CALL = 120
# Arguments of earlier calls that are left out if room is needed.
_LONG_ARGUMENTS = 200


class Space(Struct, frozen=True):
    """How many bytes of one result, and of all results of a round, a model gets."""

    one: int
    all: int

    def each(self, sizes: Iterable[int]) -> int:
        """What each of these results gets at most: small ones are whole, large ones share the rest."""
        left = self.all
        waiting = sorted(sizes)
        for at, size in enumerate(waiting):
            fair = left // (len(waiting) - at)
            if size > fair:
                return min(self.one, fair)
            left -= size
        return self.one


class Room:
    """The window of a model, as far as it is known."""

    def __init__(self, limits: AgentLimits, window: int | None, hint: str, *, may_cut: bool) -> None:
        """`hint` says how a person can make the window larger; `may_cut`: the endpoint may cut prompts silently."""
        self._limits = limits
        self._window = window
        self._hint = hint
        self._may_cut = may_cut
        # The longest prompt that the endpoint has read in full, as it counts.
        self._read = 0
        # Whether a person knows that the window is small, and that some tools are not offered.
        self._is_told = False
        self._is_counted = False

    @property
    def _size(self) -> int:
        """What a request and its answer have together."""
        most = self._limits.prompt_tokens
        return most if self._window is None else min(self._window, most)

    @property
    def _prompt(self) -> int:
        """What a request has without its answer."""
        return self._size - min(_ANSWER_TOKENS, self._size // _ANSWER_SHARE)

    def may_be_cut(self, sent: int) -> bool:
        """Whether the answer to a prompt should not be shown before it is known how much of it was read."""
        return self._may_cut and self._window is None and fitting.may_exceed_window(sent, self._read)

    @property
    def history_chars(self) -> int:
        return min(self._limits.history_chars, self._size // _HISTORY_SHARE * _CHARS_PER_TOKEN)

    def functions(
        self, offered: Sequence[Function], beginning: Sequence[Message], question: str
    ) -> tuple[tuple[Function, ...], str]:
        """Those that fit beside the messages up to the question, and what a person should know if some do not.

        Raises: PromptTooLong if not one of them fits.
        """
        taken = fitting.weight(beginning, ())
        left = self._prompt - self._size // _RESULTS_SHARE - taken
        chosen = fitting.fitting(offered, question, max(left, 0))
        if offered and not chosen:
            raise PromptTooLong(words.no_room(taken, self._size, self._hint))
        if len(chosen) == len(offered):
            return chosen, ""
        said = "" if self._is_told else self._too_small(fitting.weight(beginning, offered))
        counted = "" if self._is_counted else words.fewer_tools(len(chosen), len(offered))
        self._is_told = self._is_counted = True
        return chosen, f"{said} {counted}".strip()

    def _too_small(self, needed: int) -> str:
        if self._window is None or self._window > self._size:
            return words.too_many_tools(needed, self._size)
        return words.small_window(needed, self._window, self._hint)

    def most_calls(self, taken: int) -> int:
        """How many calls of one round fit beside what is `taken`, with the least of a result for each."""
        return max((self._prompt - taken) // _LEAST_PER_CALL, 1)

    def space(self, taken: int, since: Sequence[Message]) -> Space:
        """What there is for the results of a round beside what is `taken` and what was said since the question.

        At least half of it: older results make room.
        """
        whole = max(self._prompt - taken, 0)
        left = max(whole - fitting.weight(since, ()), whole // 2) * _RESULT_BYTES_PER_TOKEN
        return Space(min(self._limits.result_bytes, left), left)

    def learn(self, sent: int, usage: Usage | None) -> str:
        """What a person should know if the endpoint read less than it was sent; the window is known then."""
        counted = usage.prompt_tokens if usage is not None else 0
        if not counted:
            self._may_cut = False
        # Fewer tokens than it has read before: it counts only what is new.
        if counted < self._read or not fitting.was_cut(sent, counted):
            self._read = max(self._read, counted)
            return ""
        self._window = max(counted, _SMALLEST_WINDOW)
        self._is_told = True
        return words.cut_prompt(sent, counted, self._hint)

    def shrink(self, sent: int, refusal: str) -> str:
        """What a person should know if a prompt was refused as too long; empty if it cannot be made shorter."""
        said = _SAID_WINDOW.search(refusal)
        window = min(int(said[1]), sent * 3 // 4) if said else sent // 2
        if window < _SMALLEST_WINDOW:
            return ""
        self._window = window
        self._is_told, self._is_counted = True, False
        return f"{refusal} {self._hint}".rstrip()

    def making_room(self, since: Sequence[Message], taken: int) -> list[Message]:
        """What was said since the question, so that it fits beside what is `taken`: the oldest results are left out
        as far as needed, and those of the newest round are cut shorter. Every call keeps its result."""
        messages = list(since)
        newest = max((at for at, one in enumerate(messages) if one.calls), default=0)
        results = [at for at, one in enumerate(messages) if one.role == "tool"]
        steps = [(at, _left_out(messages[at])) for at in results if at < newest]
        steps += [(at, _short_calls(one)) for at, one in enumerate(messages[:newest]) if one.calls]
        over = taken + fitting.weight(messages, ()) - self._prompt
        for at, shortened in steps:
            if over <= 0:
                return messages
            over -= fitting.weight([messages[at]], ()) - fitting.weight([shortened], ())
            messages[at] = shortened
        if over > 0:
            current = [at for at in results if at > newest]
            sizes = [len(messages[at].content.encode("utf-8", "replace")) for at in current]
            room = Space(self._limits.result_bytes, max(sum(sizes) - over * _CHARS_PER_TOKEN, 0))
            for at in current:
                messages[at] = replace(messages[at], content=shorter(messages[at].content, room.each(sizes)))
        return messages


def _left_out(message: Message) -> Message:
    mark = words.LEFT_OUT.format(size=len(message.content))
    return message if len(message.content) <= len(mark) else replace(message, content=mark)


def _short_calls(message: Message) -> Message:
    calls = tuple(
        replace(call, arguments="{}") if len(call.arguments) > _LONG_ARGUMENTS else call
        for call in message.calls
    )
    return replace(message, calls=calls)
