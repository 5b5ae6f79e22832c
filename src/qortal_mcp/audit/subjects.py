"""What the checks look at, taken out of the evidence: pieces, messages, handshakes, lists, tools, results.

Here is decided which reply belongs to which question. Nothing is judged.
"""

from collections.abc import Iterator
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from ..protocol import lenient
from ..protocol.lenient import Slip
from ..protocol.versions import LEGACY, MODERN
from .evidence import Evidence, Heard, Step, Visit

Json = dict[str, Any]
SubjectT = TypeVar("SubjectT", bound="Subject")
MISSING: Any = object()
# The longest run of lines that is tried as one message.
_MOST_LINES = 400


class Subject(Struct, frozen=True, kw_only=True):
    """Something a check looks at, and where it was seen."""

    visit: Visit
    step: Step

    @property
    def revision(self) -> str:
        return self.visit.revision

    @property
    def is_modern(self) -> bool:
        return self.visit.revision in MODERN

    @property
    def only(self) -> str:
        """What a check may restrict itself to."""
        return self.step.name


class Piece(Subject, frozen=True, kw_only=True):
    """Bytes as they came. `lines` > 1 where a message was spread over several pieces."""

    heard: Heard
    data: bytes
    values: tuple[Any, ...] = ()
    slips: frozenset[Slip] = frozenset()
    lines: int = 1
    # Its place among what was heard in its step, and the bytes that came before it there.
    index: int = 0
    before: bytes = b""

    @property
    def only(self) -> str:
        return self.visit.transport


# same     it repeats the id of its question
# type     the same id, but a text where a number was sent or the other way round
# none     it has no id, or null
# wrong    it has an id that nobody asked with
# again    its question was answered already
# notice   it answers a notification, which nobody may
Match = Literal["same", "type", "none", "wrong", "again", "notice"]


class Reply(Subject, frozen=True, kw_only=True):
    """A message that answers. Its `step` is the question it was given to."""

    value: Json
    data: bytes
    match: Match
    # It came inside a JSON array.
    batched: bool = False
    # Its place among what was heard in its step.
    index: int = 0

    @property
    def result(self) -> Any:
        return self.value.get("result", MISSING)

    @property
    def error(self) -> Any:
        return self.value.get("error", MISSING)


class Said(Subject, frozen=True, kw_only=True):
    """What a server said unasked: a notification or a request. Its `step` is the one it came in."""

    value: Json
    data: bytes
    index: int = 0
    # It came before the answer to its step.
    is_early: bool = True

    @property
    def method(self) -> str:
        return str(self.value.get("method"))

    @property
    def is_request(self) -> bool:
        return "id" in self.value

    @property
    def params(self) -> Any:
        return self.value.get("params", MISSING)


class Asked(Subject, frozen=True, kw_only=True):
    """A question and its answer, if there was one. `only` is the name of its step."""

    reply: Reply | None

    @property
    def result(self) -> Any:
        return MISSING if self.reply is None else self.reply.result

    @property
    def code(self) -> Any:
        """The code of the error it was answered with."""
        error = MISSING if self.reply is None else self.reply.error
        return error.get("code") if isinstance(error, dict) else None


class Handshake(Subject, frozen=True, kw_only=True):
    """The result of `initialize`. The version asked for is the subject of its step."""

    result: Json
    data: bytes


class Discovery(Subject, frozen=True, kw_only=True):
    """The result of `server/discover`."""

    result: Json
    data: bytes


class Listing(Subject, frozen=True, kw_only=True):
    """All pages of one list in one visit. `only` is the method."""

    pages: tuple[Any, ...]
    data: tuple[bytes, ...]
    # The items that are objects, in order.
    items: tuple[Json, ...] = ()


class Tool(Subject, frozen=True, kw_only=True):
    """One entry of `tools/list`, an object or not. `label` names it."""

    tool: Any
    label: str
    data: bytes


class Called(Subject, frozen=True, kw_only=True):
    """The result of a tool that exists."""

    result: Any
    tool: Json
    data: bytes

    @property
    def blocks(self) -> list[Any]:
        content = self.result.get("content") if isinstance(self.result, dict) else None
        return content if isinstance(content, list) else []

    @property
    def texts(self) -> list[str]:
        return [
            block["text"]
            for block in self.blocks
            if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
        ]

    @property
    def is_error(self) -> bool:
        return isinstance(self.result, dict) and self.result.get("isError") is True


class Failed(Subject, frozen=True, kw_only=True):
    """A tool that exists, answered with a JSON-RPC error."""

    error: Any
    data: bytes


class Exchange(Subject, frozen=True, kw_only=True):
    """A step over HTTP. `only` is the HTTP method."""

    reply: Reply | None

    @property
    def only(self) -> str:
        return self.step.http.method if self.step.http is not None else ""


class Session(Subject, frozen=True, kw_only=True):
    """A visit in which a revision was agreed on. Its step is the one that agreed."""

    capabilities: Any
    asked: tuple[Asked, ...]
    said: tuple[Said, ...]

    def answers(self, name: str) -> list[Asked]:
        return [one for one in self.asked if one.step.name == name]


class Whole(Subject, frozen=True, kw_only=True):
    """All there is, for what no single visit shows. Its visit and step are the first ones."""

    evidence: Evidence
    subjects: tuple[Subject, ...]

    def all(self, kind: type[SubjectT]) -> list[SubjectT]:
        return [subject for subject in self.subjects if isinstance(subject, kind)]


def subjects_of(evidence: Evidence) -> list[Subject]:
    """Everything there is to look at."""
    found: list[Subject] = []
    for visit in evidence.visits:
        found += _of_visit(visit)
    first = next((visit for visit in evidence.visits if visit.steps), None)
    if first is not None:
        found.append(Whole(visit=first, step=first.steps[0], evidence=evidence, subjects=tuple(found)))
    return found


def _of_visit(visit: Visit) -> list[Subject]:
    pieces = [piece for step in visit.steps for piece in pieces_of(visit, step)]
    replies, said = _matched(visit, pieces)
    asked = [
        Asked(visit=visit, step=step, reply=best_reply(step, replies))
        for step in visit.steps
        if question_of(step) is not None
    ]
    found: list[Subject] = [*pieces, *replies, *said, *asked]
    opened = _handshakes(asked)
    found += opened
    found += [
        Session(
            visit=visit,
            step=one.step,
            capabilities=one.result.get("capabilities"),
            asked=tuple(asked),
            said=tuple(said),
        )
        for one in opened[:1]
        if visit.revision
    ]
    found += (listings := _listings(asked))
    tools = [tool for listing in listings if listing.only == "tools/list" for tool in _tools(listing)]
    found += tools
    found += _calls(asked, tools)
    found += [
        Exchange(visit=visit, step=step, reply=best_reply(step, replies))
        for step in visit.steps
        if step.http is not None
    ]
    return found


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


def _matched(visit: Visit, pieces: list[Piece]) -> tuple[list[Reply], list[Said]]:
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
                if is_reply(part):
                    found.append(_Found(piece.step, part, piece, batched))
                elif isinstance(part, dict) and "method" in part:
                    said.append(
                        Said(visit=visit, step=piece.step, value=part, data=piece.data, index=piece.index)
                    )
    return found, said


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
    return one.step, "wrong"


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
    if isinstance(id_, str):
        return ("int", int(id_)) if id_.isascii() and id_.isdigit() and len(id_) < 16 else None
    return (
        ("str", str(id_)) if isinstance(id_, int) else ("int", int(id_)) if isinstance(id_, float) else None
    )


_PREFERENCE: tuple[Match, ...] = ("same", "type", "none", "wrong")


def best_reply(step: Step, replies: list[Reply]) -> Reply | None:
    """The reply to a question, or what stands in for it."""
    mine = [reply for reply in replies if reply.step is step and reply.match in _PREFERENCE]
    return min(mine, key=lambda reply: _PREFERENCE.index(reply.match), default=None)


# -- what replies say ---------------------------------------------------------------------------------


def _handshakes(asked: list[Asked]) -> list[Handshake | Discovery]:
    found: list[Handshake | Discovery] = []
    for one in asked:
        if one.reply is None or not isinstance(one.result, dict):
            continue
        if one.step.name == "initialize":
            found.append(Handshake(visit=one.visit, step=one.step, result=one.result, data=one.reply.data))
        elif one.step.name == "server/discover":
            found.append(Discovery(visit=one.visit, step=one.step, result=one.result, data=one.reply.data))
    return found


LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def _listings(asked: list[Asked]) -> list[Listing]:
    found = []
    for method, member in LISTS.items():
        pages = [one for one in asked if one.step.name == method and one.reply is not None]
        good = [one for one in pages if one.result is not MISSING]
        if not good:
            continue
        items = [item for one in good for item in items_of(one.result, member) if isinstance(item, dict)]
        found.append(
            Listing(
                visit=good[0].visit,
                step=good[0].step,
                pages=tuple(one.result for one in good),
                data=tuple(one.reply.data for one in good if one.reply is not None),
                items=tuple(items),
            )
        )
    return found


def items_of(result: Any, member: str) -> list[Any]:
    """The items of a page, also where the page is not wrapped as it should be."""
    if isinstance(result, list):
        return result
    items = result.get(member) if isinstance(result, dict) else None
    return items if isinstance(items, list) else []


def _tools(listing: Listing) -> list[Tool]:
    tools = [tool for page in listing.pages for tool in items_of(page, "tools")]
    return [
        Tool(
            visit=listing.visit,
            step=listing.step,
            tool=tool,
            label=_label(tool, at),
            data=listing.data[0],
        )
        for at, tool in enumerate(tools)
    ]


def _label(tool: Any, at: int) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) and name else f"tools[{at}]"


def _calls(asked: list[Asked], tools: list[Tool]) -> list[Subject]:
    by_name = {
        tool.tool["name"]: tool.tool
        for tool in tools
        if isinstance(tool.tool, dict) and isinstance(tool.tool.get("name"), str)
    }
    found: list[Subject] = []
    for one in asked:
        if one.step.name != "tools/call" or one.reply is None:
            continue
        if one.result is not MISSING and not _is_real_error(one.reply):
            found.append(
                Called(
                    visit=one.visit,
                    step=one.step,
                    result=one.result,
                    tool=by_name.get(one.step.subject, {}),
                    data=one.reply.data,
                )
            )
        else:
            found.append(Failed(visit=one.visit, step=one.step, error=one.reply.error, data=one.reply.data))
    return found


def _is_real_error(reply: Reply) -> bool:
    """`error: null` beside a result is a slip of the envelope; the result still counts."""
    return reply.error is not MISSING and reply.error is not None


def era_of(revision: str) -> Literal["legacy", "modern", ""]:
    return "modern" if revision in MODERN else "legacy" if revision in LEGACY else ""
