"""What a server says about itself: its handshake and its tools, read after each connect and put right."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Raw

from ...client import lost_sessions
from ...client.envelope import Params
from ...client.eras import Terms
from ...client.errors import ClientError, HttpRefused, MalformedReply, RequestTimeout, ServerError
from ...client.pending import Reply
from ...protocol import errors
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.versions import is_modern
from ...repairs import values
from ...repairs.chosen import DROPPED, Outcome, Page
from ...repairs.passing import old_name
from ...repairs.repair import Change
from ...repairs.subjects import Asked
from ...repairs.tools.page import list_not_wrapped, list_paginated
from ..journal import Journal
from ..way import Way
from .known_tools import Cursor, KnownTools
from .opening import Opening

log = logging.getLogger(__name__)

# Asks the server; raises ClientError.
Request = Callable[[str, Params], Awaitable[Reply]]
# Names of methods in an older dialect.
_OLD_NAMES = {"tools/list": "list_tools", "tools/call": "call_tool"}


class Survey:
    """The newest reading. What could not be read again stays as it was."""

    def __init__(self, way: Way, journal: Journal, opening: Opening, misfits: set[str]) -> None:
        self.tools = KnownTools(way.read_only, way.hidden, misfits, way.chosen)
        self.handshake: dict[str, Any] = {}
        self._way = way
        self._journal = journal
        self._opening = opening
        # Whether the server is: the lists of an old one are put right for old clients, whoever asks for them.
        self._is_modern = False
        self._names: Mapping[str, str] = {}
        self._answer: Reply | ServerError | None = None

    def method(self, name: str) -> str:
        """How the server calls a method."""
        return self._names.get(name, name)

    def shaken(self, answer: Reply | ServerError) -> Reply:
        """The answer to `initialize` as it should have been. Raises: ServerError."""
        if isinstance(answer, ServerError) and self._answer is not None and _is_second(answer):
            answer = self._answer  # on a new connection, the server still knows us: what it said holds
        outcome = self._repaired(answer)
        if outcome.result is None:
            assert isinstance(answer, ServerError), "a result stays one"
            raise answer
        self._answer = answer
        return Reply(outcome.result, answer.raw if isinstance(answer, Reply) else b"")

    def _repaired(self, answer: Reply | ServerError, serves: Mapping[str, bool] | None = None) -> Outcome:
        asked = Asked(revision=self._opening.handshake, method="initialize")
        result, error = (answer.result, None) if isinstance(answer, Reply) else (None, answer.raw)
        return self._way.repairs.handshake(result, error, asked, self._way.name, answer.changes, serves)

    async def take(self, request: Request, terms: Terms) -> bool:
        """After a handshake: read everything. True if the tools differ from before. Raises: ClientError."""
        self._names = {}
        self._is_modern = terms.is_modern
        if terms.is_modern:
            self.handshake = _as_handshake(terms)
            return "tools" in terms.capabilities and await self.read_tools(request)
        is_changed = await self.read_tools(request)
        await self._settle_handshake(request, terms.capabilities)
        return is_changed

    async def _settle_handshake(self, request: Request, declared: Mapping[str, Any]) -> None:
        """Read the handshake again, now that it is known which lists are answered."""
        assert self._answer is not None, "there was a handshake"
        codes = self._way.repairs.codes
        serves: dict[str, bool] = {}
        # Other lists that are not declared are asked for only if that of the tools was forgotten as well.
        is_silent = (
            "capability-not-declared" in codes and self.tools.are_known and not _declares_tools(self._answer)
        )
        if is_silent:
            serves = {"tools": True}
        if is_silent or "capability-not-served" in codes:
            asked = [kind for kind in ("resources", "prompts") if is_silent or kind in declared]
            found = await asyncio.gather(*(self._is_served(request, kind) for kind in asked))
            serves |= {
                kind: is_served for kind, is_served in zip(asked, found, strict=True) if is_served is not None
            }
        outcome = self._repaired(self._answer, serves)
        self._journal.repaired(outcome.changes)
        try:
            tree = values.read(outcome.result or b"{}")
        except UNREADABLE as exc:
            raise MalformedReply(f"the answer to initialize cannot be read: {exc}") from None
        self.handshake = self._without_secrets(tree) if isinstance(tree, dict) else {}

    def _without_secrets(self, handshake: dict[str, Any]) -> dict[str, Any]:
        """What was taken out is kept for clients, who are not told the secrets that the server may have repeated."""
        meta = handshake.get("_meta")
        if not isinstance(meta, dict) or not isinstance(dropped := meta.get(DROPPED), dict):
            return handshake
        shown = {
            name: self._way.mask(part) if isinstance(part, str) else part for name, part in dropped.items()
        }
        return {**handshake, "_meta": {**meta, DROPPED: shown}}

    async def _is_served(self, request: Request, kind: str) -> bool | None:
        """Whether a list is answered; None if that cannot be determined."""
        try:
            reply = await request(f"{kind}/list", {})
        except ServerError as exc:
            return False if exc.code == errors.METHOD_NOT_FOUND else None
        except ClientError:
            return None
        asked = self._asked(f"{kind}/list")
        outcome = self._way.repairs.other(reply.result, None, asked)
        return outcome.error is None

    async def read_tools(self, request: Request) -> bool:
        """Read the whole list. True if it differs from before. A list that ends in an error never makes ours shorter.

        Raises: ClientError if the connection is lost.
        """
        notices = self.tools.notices
        pages: dict[Cursor, Page] = {}
        taken: set[str] = set()
        cursor: Cursor = None
        try:
            for _ in range(self._way.client.limits.list_pages):
                page = await self._read_page(request, cursor, taken)
                pages[cursor] = page
                following = page.value.get("nextCursor") if isinstance(page.value, dict) else None
                if not isinstance(following, str) or not following or following in pages:
                    break
                cursor = following
        except (ServerError, MalformedReply, RequestTimeout, HttpRefused) as exc:
            reason = self._way.mask(str(exc))
            log.info("the tools cannot be listed", extra={"qortal_mcp.reason": reason})
            if not pages or len(taken) < len(self.tools):
                return False
        if len(pages) > 1 and list_paginated.code in self._way.repairs.codes:
            cut = Change(code=list_paginated.code, path="nextCursor", before=list(pages)[1])
            self._journal.repaired((cut,))
        if self.tools.notices != notices:
            # It changed meanwhile: a list that somebody has begun to read since is newer.
            return self.tools.read_at is None and self.tools.replace(pages, None)
        is_changed = self.tools.replace(pages, asyncio.get_running_loop().time())
        for name in self.tools.hidden_in_vain():
            self._journal.warn("--hide-tool names a tool that the server does not have", name)
        return is_changed

    async def _read_page(self, request: Request, cursor: Cursor, taken: set[str]) -> Page:
        params: Params = {} if cursor is None else {"cursor": Raw(values.write(cursor))}
        try:
            return self.page_of(await request(self.method("tools/list"), params), taken)
        except ServerError as exc:
            if not self._tries_old_names(exc):
                raise
        page = self.page_of(await request(_OLD_NAMES["tools/list"], params), taken)
        self._names = _OLD_NAMES
        self._journal.count(old_name.code)
        return page

    def _tries_old_names(self, error: ServerError) -> bool:
        return (
            error.code == errors.METHOD_NOT_FOUND
            and not self._names
            and old_name.code in self._way.repairs.codes
        )

    def _asked(self, method: str, revision: str = "") -> Asked:
        """For a client of this revision; of the one that the connection was opened for, if none is given."""
        revision = revision or (self._opening.revision if self._is_modern else self._opening.handshake)
        return Asked(revision=revision, is_modern=is_modern(revision), method=method)

    def page_of(self, reply: Reply, taken: set[str] | None = None, revision: str = "") -> Page:
        """A page of tools after its repairs.

        Raises: ServerError if it is an error in the dress of a result; MalformedReply.
        """
        asked = self._asked("tools/list", revision)
        outcome = self._way.repairs.other(reply.result, None, asked, reply.changes)
        if outcome.result is None:
            self._journal.repaired(outcome.changes)
            raise _as_error(outcome, reply)
        try:
            page = self._way.repairs.page(outcome.result, "tools", asked, taken, outcome.changes)
        except UNREADABLE as exc:
            raise MalformedReply(f"the list of tools cannot be read: {exc}") from None
        if not isinstance(page.value, dict) and list_not_wrapped.code in self._way.repairs.codes:
            raise MalformedReply("the list of tools is not an object", (reply.raw,))
        self._journal.repaired(page.changes)
        return page


def _as_handshake(terms: Terms) -> dict[str, Any]:
    """What a modern server says about itself, in the words of the legacy era."""
    found: dict[str, Any] = {"capabilities": terms.capabilities}
    if terms.info is not None:
        found["serverInfo"] = terms.info
    if terms.instructions is not None:
        found["instructions"] = terms.instructions
    return found


def _is_second(error: ServerError) -> bool:
    said = lost_sessions.Refused(code=error.code, text=error.message, opens=True)
    return lost_sessions.form_of(said) is not None


def _declares_tools(answer: Reply | ServerError) -> bool:
    """Whether the server itself says that it has tools."""
    try:
        told: Any = values.read(answer.result) if isinstance(answer, Reply) else None
    except UNREADABLE:
        return False
    capabilities = told.get("capabilities") if isinstance(told, dict) else None
    return isinstance(capabilities, dict) and "tools" in capabilities


def _as_error(outcome: Outcome, reply: Reply) -> ServerError:
    found = values.read(outcome.error or b"{}")
    error = errors.ErrorObject(found.get("code", errors.INTERNAL_ERROR), str(found.get("message", "")))
    return ServerError(error, (reply.raw,), reply.status, outcome.error, outcome.changes)
