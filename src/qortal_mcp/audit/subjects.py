"""What the checks look at: pieces, messages, handshakes, lists, tools, results. Only their forms."""

from typing import Any, Literal, TypeVar

from msgspec import Struct

from ..protocol.lenient import Slip
from ..protocol.versions import MODERN
from .evidence import Evidence, Heard, Step, Visit

Json = dict[str, Any]
SubjectT = TypeVar("SubjectT", bound="Subject")
MISSING: Any = object()
_UNFINISHED = ("input_required", "task")
# The lists of a server, and the member of the result that holds each.
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


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
    # Items of a list in it that are not among its values: there were too many.
    left_out: int = 0

    @property
    def only(self) -> str:
        return self.visit.transport


# same     it repeats the id of its question
# type     the same id, but a string where a number was sent or the other way round
# none     it has no id, or null
# wrong    it has an id that was never sent
# again    its question was answered already
# notice   it answers a notification, which must not be answered
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

    @property
    def is_error(self) -> bool:
        """`error: null` beside a result is a slip of the envelope; the result still counts."""
        return self.error is not MISSING and self.error is not None


class Said(Subject, frozen=True, kw_only=True):
    """What a server sent unasked: a notification or a request. Its `step` is the one it came in."""

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
        """MISSING also for the null that some servers write beside an error."""
        if self.reply is None or (self.reply.result is None and self.reply.is_error):
            return MISSING
        return self.reply.result

    @property
    def is_refused(self) -> bool:
        """Refused with an HTTP error and without the id of the request: its method was never looked up."""
        http = self.step.http
        is_nameless = self.reply is not None and self.reply.match == "none"
        return http is not None and (http.status or 0) >= 400 and is_nameless

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
    def structured(self) -> Any:
        """MISSING where there is none."""
        return self.result.get("structuredContent", MISSING) if isinstance(self.result, dict) else MISSING

    @property
    def is_unfinished(self) -> bool:
        """It is not the final answer, so it needs no content."""
        result = self.result
        return isinstance(result, dict) and (result.get("resultType") in _UNFINISHED or "task" in result)

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
    # No result stands beside the error.
    is_clear: bool = True


class Exchange(Subject, frozen=True, kw_only=True):
    """A step over HTTP. `only` is the HTTP method."""

    reply: Reply | None
    # The server is reached at an address of this machine alone.
    is_loopback: bool = False

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


def items_of(result: Any, member: str) -> list[Any]:
    """The items of a page, also where the page is not wrapped as it should be."""
    if isinstance(result, list):
        return result
    items = result.get(member) if isinstance(result, dict) else None
    return items if isinstance(items, list) else []
