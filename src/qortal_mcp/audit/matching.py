"""Which reply belongs to which question: pieces of bytes to messages, messages to the steps they answer. Pure."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ..protocol import lenient
from .evidence import Heard, Step, Visit
from .subjects import Json, Match, Piece, Reply, Said

# The longest run of lines that is tried as one message.
_MOST_LINES = 400


# -- bytes --------------------------------------------------------------------------------------------


def pieces_of(visit: Visit, step: Step) -> Iterator[Piece]:
    """The pieces of a step. Lines that are a message only together come as one."""
    heard = step.heard
    at = 0
    while at < len(heard):
        before = heard[at - 1].data if at else b""
        piece = _piece(visit, step, heard[at : at + 1], at, before)
        if "unreadable" in piece.slips and visit.transport == "stdio" and heard[at].data.strip()[:1] in b"{[":
            whole = _several_lines(visit, step, heard, at)
            if whole is not None:
                yield whole
                at += whole.lines
                continue
        yield piece
        at += 1


def _several_lines(visit: Visit, step: Step, heard: tuple[Heard, ...], at: int) -> Piece | None:
    """A message that begins here and ends some lines later."""
    closing = b"}" if heard[at].data.strip()[:1] == b"{" else b"]"
    for end in range(at + 2, min(len(heard), at + _MOST_LINES) + 1):
        # Only a line that closes something can be the last; reading every prefix would be quadratic.
        if heard[end - 1].data.rstrip() == closing:
            piece = _piece(visit, step, heard[at:end], at)
            if "unreadable" not in piece.slips:
                return piece
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


# -- questions and replies ----------------------------------------------------------------------------


def question_of(step: Step) -> Json | None:
    """The request that was sent; None for notifications, batches and bytes that are no message."""
    if step.name.startswith("raw"):
        return None
    values = lenient.read(step.sent).values
    value = values[0] if len(values) == 1 else None
    return value if isinstance(value, dict) and "id" in value and "method" in value else None


def _asked_ids(step: Step) -> list[Any]:
    """The ids that a reply to a step may have: one, or those of a batch."""
    question = question_of(step)
    if question is not None:
        return [question["id"]]
    values = lenient.read(step.sent).values
    batch = values[0] if len(values) == 1 and isinstance(values[0], list) else []
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
    seen: set[Any] = set()
    replies = []
    for one in found:
        to, match = _owner(visit, one, questions, answered, seen)
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
    """The body of a refusal of HTTP, such as {"error":"forbidden"}: the words of a gateway, not a message."""
    status = step.http.status if step.http is not None else None
    return (status or 0) >= 400 and not {"jsonrpc", "id"} & part.keys()


def _key(id_: Any) -> Any:
    """An id with its type: 1 and "1" and true are three."""
    return (type(id_).__name__, id_) if isinstance(id_, str | int | float) or id_ is None else repr(id_)


def _owner(
    visit: Visit, one: _Found, questions: dict[Any, Step], answered: set[Any], seen: set[Any]
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
        cause = _cause_before(visit, one.step)
        if cause is None:
            return one.step, "none"
        return cause, "notice" if is_notice(cause) else "none"
    if is_notice(one.step):
        return one.step, "notice"
    # An id of its own making, while the question asked here has its answer: it is for the notification before.
    cause = None if waiting else _cause_before(visit, one.step)
    return (cause, "notice") if cause is not None and is_notice(cause) else (one.step, "wrong")


def _is_waiting(step: Step, answered: set[Any]) -> bool:
    question = question_of(step)
    return question is not None and _key(question["id"]) not in answered


def is_notice(step: Step) -> bool:
    """Whether what was sent is a notification, which nobody answers."""
    if step.name.startswith("raw"):
        return False
    values = lenient.read(step.sent).values
    return (
        len(values) == 1 and isinstance(values[0], dict) and "method" in values[0] and "id" not in values[0]
    )


def _cause_before(visit: Visit, step: Step) -> Step | None:
    """The last notification or rubbish that was sent before this step: whom else would a reply without id be for?"""
    at = next((number for number, other in enumerate(visit.steps) if other is step), 0)
    before = reversed(visit.steps[: at + 1])
    return next((other for other in before if other.name.startswith("raw") or is_notice(other)), None)


def _other_type(id_: Any) -> Any:
    """The key of an id that says the same number as another type: 1 and "1" and 1.0."""
    if isinstance(id_, str):
        return ("int", int(id_)) if id_.isascii() and id_.isdigit() and len(id_) < 16 else None
    if isinstance(id_, float):
        return ("int", int(id_)) if id_.is_integer() else None
    # Longer ones are nobody's, and Python refuses to write the longest as text.
    return ("str", str(id_)) if isinstance(id_, int) and abs(id_) < 10**16 else None


_PREFERENCE: tuple[Match, ...] = ("same", "type", "none", "wrong")


def best_reply(step: Step, replies: list[Reply]) -> Reply | None:
    """The reply to a question, or what stands in for it."""
    mine = [reply for reply in replies if reply.step is step and reply.match in _PREFERENCE]
    return min(mine, key=lambda reply: _PREFERENCE.index(reply.match), default=None)
