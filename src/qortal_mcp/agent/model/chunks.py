"""Puts the pieces of a model's reply together, in every shape that servers send them. Pure; raises for errors only."""

import contextlib
import re
from typing import Any

import msgspec
from msgspec import Struct

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ...text import printable
from ..limits import AgentLimits
from .messages import Completion, Usage, WantedCall
from .refusals import EndpointError, error_of
from .thinking import Thinking

# Half a character, which some servers send if a piece ends in the middle of it. It is not valid JSON.
_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


class _Begun(Struct):
    """A call as far as it has arrived."""

    id: str = ""
    name: str = ""
    pieces: list[str] = []
    size: int = 0


def decoded(data: str) -> Any:
    """The JSON in an event; None if it is not readable."""
    for is_exact in (True, False):
        text = data if is_exact else _HALF.sub(r"\\ufffd", data)
        with contextlib.suppress(*UNREADABLE):
            return decode(text.encode("utf-8", "replace"))
    return None


class Assembly:
    """One reply. `take` gets each decoded chunk, or the whole reply as the only one."""

    def __init__(
        self, limits: AgentLimits, *, first_id: int = 0, key: str | None = None, waits: bool = False
    ) -> None:
        """`first_id`: the number of the first call that comes without an id. `key`: not to be repeated in errors.
        `waits`: the model reasons first, without saying where that begins."""
        self._key = key
        self._limits = limits
        self._first_id = first_id
        self._thinking = Thinking(limits.answer_chars, waits=waits)
        self._calls: list[_Begun] = []
        self._by_index: dict[int, _Begun] = {}
        self._usage: Usage | None = None
        self._finish = ""
        self._has_deltas = False
        # Whether anything of it was a completion.
        self.is_completion = False

    @property
    def is_finished(self) -> bool:
        """Whether the model has said why it stopped."""
        return bool(self._finish)

    @property
    def reasons_first(self) -> bool:
        """Whether the model has ended a reasoning that it had not begun."""
        return self._thinking.is_never_opened

    @property
    def is_full(self) -> bool:
        return self._thinking.is_full

    def take(self, chunk: Any) -> str:
        """The text in it that can be shown now.

        Raises: EndpointError if the chunk is an error.
        """
        if not isinstance(chunk, dict):
            return ""
        if chunk.get("error"):
            said = error_of(chunk, self._key)
            raise EndpointError(
                f"The model's endpoint reports an error: {said.sentence} Try again, or use another model.",
                said.status,
            )
        self._usage = _usage_of(chunk.get("usage")) or self._usage
        choice = _first(chunk.get("choices"))
        if choice is None:
            return ""
        self.is_completion = True
        text = self._take_delta(self._delta_of(choice))
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = printable(finish[:100])
        return text

    def close(self) -> str:
        """The text that was held back until now."""
        return self._thinking.close()

    def completion(self, *, is_whole: bool = True) -> Completion:
        """Calls of a reply that broke off are left out: their arguments may not be complete."""
        finish = "length" if self.is_full else self._finish
        calls = self._named_calls() if is_whole else ()
        return Completion(
            text=self._thinking.text, calls=calls, finish=finish, usage=self._usage, is_whole=is_whole
        )

    def _delta_of(self, choice: dict[str, Any]) -> dict[str, Any]:
        delta = choice.get("delta")
        if isinstance(delta, dict) and delta:
            self._has_deltas = True
            return delta
        message = choice.get("message")
        # After pieces, a message repeats the whole.
        return message if isinstance(message, dict) and not self._has_deltas else {}

    def _take_delta(self, delta: dict[str, Any]) -> str:
        calls = delta.get("tool_calls")
        if isinstance(calls, dict):
            calls = [calls]
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._take_call(call)
        old = delta.get("function_call")
        if isinstance(old, dict):
            self._take_call({"index": 0, "function": old})
        text = _text_of(delta.get("content")) or _text_of(delta.get("refusal"))
        return self._thinking.feed(text) if text else ""

    def _take_call(self, call: dict[str, Any]) -> None:
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        name = _string(function.get("name"))
        begun = self._begun(call.get("index"), _string(call.get("id")), name)
        if begun is None:
            return
        # Some servers repeat the name in every piece; a name in pieces comes before any argument.
        if name and name != begun.name and not begun.size:
            begun.name = (begun.name + name)[:256]
        arguments = function.get("arguments")
        if isinstance(arguments, dict | list):
            arguments = "" if begun.size else msgspec.json.encode(arguments).decode()
        if isinstance(arguments, str) and begun.size <= self._limits.argument_chars:
            begun.pieces.append(arguments)
            begun.size += len(arguments)

    def _begun(self, index: Any, id_: str, name: str) -> _Begun | None:
        """The call that a piece belongs to. None: there are too many."""
        found: _Begun | None
        if isinstance(index, int) and not isinstance(index, bool):
            found = self._by_index.get(index)
            # Some servers number every call 0.
            if found is not None and not (name and id_ and found.id and found.id != id_):
                found.id = found.id or id_
                return found
        elif id_:
            index = None
            found = next((begun for begun in self._calls if begun.id == id_), None)
            if found is not None:
                return found
        else:
            index = None
            if not name:
                return self._calls[-1] if self._calls else None
        if len(self._calls) >= 4 * self._limits.round_calls:
            return None
        begun = _Begun(id=id_)
        self._calls.append(begun)
        if index is not None:
            self._by_index[index] = begun
        return begun

    def _named_calls(self) -> tuple[WantedCall, ...]:
        calls: list[WantedCall] = []
        used: set[str] = set()
        for begun in self._calls:
            if not begun.name:
                continue
            id_ = begun.id
            if not id_ or id_ in used:
                # Nine letters and digits: some servers accept no other ids.
                id_ = f"call{self._first_id + len(calls):05d}"
            used.add(id_)
            # One character too many shows that they were too long.
            arguments = "".join(begun.pieces)[: self._limits.argument_chars + 1]
            calls.append(WantedCall(id=id_, name=begun.name, arguments=arguments))
        return tuple(calls)


def _first(choices: Any) -> dict[str, Any] | None:
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            return choice
    return None


def _string(value: Any) -> str:
    return value[:256] if isinstance(value, str) else ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (
        part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in ("text", None)
    )
    return "".join(text for text in texts if isinstance(text, str))


def _usage_of(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    return Usage(prompt_tokens=prompt or 0, completion_tokens=completion or 0)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
