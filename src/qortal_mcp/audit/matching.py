"""Which reply belongs to which question: pieces of bytes to messages, messages to the steps they answer. Pure."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from ..protocol import lenient
from .evidence import Heard, Step, Visit
from .subjects import Json, Match, Piece, Reply, Said

# The longest run of lines that is tried as one message.
_MOST_LINES = 400
# Bytes of lines that may be joined without success in one step, and what an attempt costs besides its bytes.
_LEAST_WASTED = 64_000
_MOST_WASTED = 4_000_000
_AN_ATTEMPT = 100
# Replies of a visit that miss their question in one way; many fewer are reported.
_MOST_MISMATCHED = 10_000


def pieces_of(visit: Visit, step: Step) -> Iterator[Piece]:
    """The pieces of a step. Lines that are a message only together come as one."""
    heard = step.heard
    joiner = _Joiner(visit, step)
    at = 0
    before = b""
    while at < len(heard):
        piece = _piece(visit, step, heard[at : at + 1], at, before)
        if "unreadable" in piece.slips and visit.transport == "stdio":
            piece = joiner.message_from(at, piece.data) or piece
        yield piece
        at += piece.lines
        before = heard[at - 1].data


class _Joiner:
    """Reads lines together that are a message only together, and gives up after too many failed attempts."""

    def __init__(self, visit: Visit, step: Step) -> None:
        self._visit = visit
        self._step = step
        # How many bytes may still be wasted: hostile lines could ask to be joined in every possible way.
        self._left: int | None = None
        self._closing: dict[bytes, list[int]] = {b"}": [], b"]": []}

    def _prepare(self) -> int:
        size = 0
        for at, piece in enumerate(self._step.heard):
            data = piece.data
            size += len(data)
            # Only a line that closes something can be the last.
            if (line := data.rstrip()) in self._closing:
                self._closing[line].append(at)
        return min(max(_LEAST_WASTED, 4 * size), _MOST_WASTED)

    def message_from(self, at: int, first: bytes) -> Piece | None:
        """A message that begins with this line and ends some lines later."""
        closing = {b"{": b"}", b"[": b"]"}.get(first.lstrip()[:1])
        if closing is None:
            return None
        if self._left is None:
            self._left = self._prepare()
        ends = self._closing[closing]
        for end in islice(ends, bisect_right(ends, at), bisect_right(ends, at + _MOST_LINES - 1)):
            if self._left <= 0:
                return None
            piece = _piece(self._visit, self._step, self._step.heard[at : end + 1], at)
            if "unreadable" not in piece.slips:
                return piece
            self._left -= len(piece.data) + _AN_ATTEMPT
        return None


def _piece(visit: Visit, step: Step, heard: tuple[Heard, ...], index: int = 0, before: bytes = b"") -> Piece:
    data = b"".join(piece.data for piece in heard)
    reading = lenient.read(data)
    return Piece(
        visit=visit,
        step=step,
        heard=heard[0],
        data=data,
        values=reading.values,
        slips=reading.slips,
        lines=len(heard),
        index=index,
        before=before,
    )


def _sent_in(step: Step) -> Any:
    """The one value that was sent; None where there was none or several. Not to be changed: it is kept."""
    return _only_value(step.text, step.base64)


# A hostile server can send a million replies to one question.
@lru_cache(maxsize=1_000)
def _only_value(text: str, base64: bytes) -> Any:
    values = lenient.read(base64 or text.encode()).values
    return values[0] if len(values) == 1 else None


def question_of(step: Step) -> Json | None:
    """The request that was sent; None for notifications, batches and bytes that are not a message."""
    if step.name.startswith("raw"):
        return None
    value = _sent_in(step)
    return value if isinstance(value, dict) and "id" in value and "method" in value else None


def _asked_ids(step: Step) -> list[Any]:
    """The ids that a reply to a step may have: one, or those of a batch."""
    question = question_of(step)
    if question is not None:
        return [question["id"]]
    value = _sent_in(step)
    batch = value if isinstance(value, list) else []
    return [part["id"] for part in batch if isinstance(part, dict) and "id" in part]


def is_reply(value: Any) -> bool:
    return isinstance(value, dict) and "method" not in value and ("result" in value or "error" in value)


class _Found(Struct):
    step: Step
    value: Json
    piece: Piece
    batched: bool


def matched(visit: Visit, pieces: list[Piece]) -> tuple[list[Reply], list[Said]]:
    questions = {}
    for step in visit.steps:
        for id_ in _asked_ids(step):
            questions[_key(id_)] = step
    found, said = _messages(visit, pieces)
    answered = {_key(one.value.get("id")) for one in found if _key(one.value.get("id")) in questions}
    causes = _causes(visit)
    mismatched: Counter[Match] = Counter()
    seen: set[Any] = set()
    replies = []
    for one in found:
        to, match = _owner(one, questions, answered, causes, seen)
        mismatched[match] += 1
        if match != "same" and mismatched[match] > _MOST_MISMATCHED:
            continue
        replies.append(
            Reply(
                visit=visit,
                step=to,
                value=one.value,
                data=one.piece.data,
                match=match,
                batched=one.batched,
                index=one.piece.index,
            )
        )
    first = {id(reply.step): reply.index for reply in reversed(replies) if reply.match in _PREFERENCE}
    return replies, [
        msgspec.structs.replace(one, is_early=one.index < first.get(id(one.step), one.index + 1))
        for one in said
    ]


def _messages(visit: Visit, pieces: list[Piece]) -> tuple[list[_Found], list[Said]]:
    found: list[_Found] = []
    said: list[Said] = []
    for piece in pieces:
        for value in piece.values:
            batched = isinstance(value, list)
            for part in value if isinstance(value, list) else [value]:
                if is_reply(part) and not _is_error_page(piece.step, part):
                    found.append(_Found(piece.step, part, piece, batched))
                elif isinstance(part, dict) and "method" in part:
                    said.append(
                        Said(visit=visit, step=piece.step, value=part, data=piece.data, index=piece.index)
                    )
    return found, said


def _is_error_page(step: Step, part: Json) -> bool:
    """The body of an HTTP refusal, such as {"error":"forbidden"}: a gateway wrote it, it is not a message."""
    status = step.http.status if step.http is not None else None
    return (status or 0) >= 400 and not {"jsonrpc", "id"} & part.keys()


def _key(id_: Any) -> Any:
    """An id with its type: 1 and "1" and true are three."""
    return (type(id_).__name__, id_) if isinstance(id_, str | int | float) or id_ is None else repr(id_)


def _owner(
    one: _Found,
    questions: dict[Any, Step],
    answered: set[Any],
    causes: Mapping[int, Step | None],
    seen: set[Any],
) -> tuple[Step, Match]:
    id_ = one.value.get("id")
    key = _key(id_)
    if key in questions:
        if key in seen:
            return questions[key], "again"
        seen.add(key)
        return questions[key], "same"
    waiting = _is_waiting(one.step, answered)
    if id_ is not None and (other := _other_type(id_)) in questions and other not in answered:
        return questions[other], "type"
    if id_ is None:
        if waiting or (question_of(one.step) is None and not is_notice(one.step)):
            return one.step, "none"
        cause = causes[id(one.step)]
        if cause is None:
            return one.step, "none"
        return cause, "notice" if is_notice(cause) else "none"
    if is_notice(one.step):
        return one.step, "notice"
    # An id of its own making, while the question asked here has its answer: it is for the notification before.
    cause = None if waiting else causes[id(one.step)]
    return (cause, "notice") if cause is not None and is_notice(cause) else (one.step, "wrong")


def _is_waiting(step: Step, answered: set[Any]) -> bool:
    question = question_of(step)
    return question is not None and _key(question["id"]) not in answered


def is_notice(step: Step) -> bool:
    """Whether what was sent is a notification, which must not be answered."""
    if step.name.startswith("raw"):
        return False
    value = _sent_in(step)
    return isinstance(value, dict) and "method" in value and "id" not in value


def _causes(visit: Visit) -> dict[int, Step | None]:
    """By the id() of a step: the last notification or invalid message sent until then, which a reply without id must be for."""
    causes: dict[int, Step | None] = {}
    last = None
    for step in visit.steps:
        if step.name.startswith("raw") or is_notice(step):
            last = step
        causes[id(step)] = last
    return causes


def _other_type(id_: Any) -> Any:
    """The key of an id that says the same number as another type: 1 and "1" and 1.0."""
    if isinstance(id_, str):
        return ("int", int(id_)) if id_.isascii() and id_.isdigit() and len(id_) < 16 else None
    if isinstance(id_, float):
        return ("int", int(id_)) if id_.is_integer() else None
    # An audit never sends longer ones, and Python refuses to write the longest as text.
    return ("str", str(id_)) if isinstance(id_, int) and abs(id_) < 10**16 else None


_PREFERENCE: tuple[Match, ...] = ("same", "type", "none", "wrong")


def best_replies(replies: list[Reply]) -> dict[int, Reply]:
    """By the id() of a step: the reply to its question, or what stands in for it."""
    best: dict[int, Reply] = {}
    for reply in replies:
        if reply.match in _PREFERENCE:
            held = best.get(id(reply.step))
            if held is None or _PREFERENCE.index(reply.match) < _PREFERENCE.index(held.match):
                best[id(reply.step)] = reply
    return best
