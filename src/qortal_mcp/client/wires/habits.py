"""Which headers a legacy server wants, learnt from its refusals while nothing has worked yet."""

from msgspec import Struct

from ...protocol.versions import LEGACY
from ..forgiving import STRICT, Code, Forgiving
from .replies import answers
from .wire import Outgoing

# The legacy revisions that have an MCP-Protocol-Version header.
_VERSION_HEADER = frozenset(revision for revision in LEGACY if revision >= "2025-06-18")
_DETAILS: dict[Code, str] = {
    "protocol-header-refused": "400 as long as MCP-Protocol-Version was sent",
    "protocol-header-demanded": "400 as long as MCP-Protocol-Version was not sent",
    "session-id-not-issued": "400 as long as no session id was sent, but none was issued",
}


class Habits(Struct):
    """As specified, until a server answers 400 to that. Not repeated: what a server may have worked on."""

    forgiving: Forgiving = STRICT
    # What has been changed, and what has been tried in vain.
    changed: set[Code] = set()
    vain: set[Code] = set()
    # A request has been answered: the headers are right.
    is_settled: bool = False

    def sends_version(self, revision: str) -> bool:
        if "protocol-header-refused" in self.changed:
            return False
        return revision in _VERSION_HEADER or "protocol-header-demanded" in self.changed

    @property
    def invents_session(self) -> bool:
        return "session-id-not-issued" in self.changed

    def change(self, message: Outgoing, refusal: bytes, *, has_session: bool) -> Code | None:
        """After a 400: what to change before the message is sent once more; None: nothing."""
        is_legacy = message.revision is not None and not message.headers
        if self.is_settled or not is_legacy or answers(refusal, message.id):
            return None
        code: Code
        if b"session" in refusal.lower():
            if has_session:
                return None
            code = "session-id-not-issued"
        elif self.sends_version(message.revision or ""):
            code = "protocol-header-refused"
        else:
            code = "protocol-header-demanded"
        if code not in self.forgiving or code in self.vain or code in self.changed:
            return None
        self.changed.add(code)
        return code

    def judge(self, code: Code, message: Outgoing, *, worked: bool) -> None:
        """After the second attempt: keep the change, or take it back."""
        if worked:
            self.forgiving.applied(code, _DETAILS[code])
            return
        self.changed.discard(code)
        if message.id is not None:  # a notification may be refused for what it is
            self.vain.add(code)
