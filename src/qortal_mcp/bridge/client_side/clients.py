"""Where the messages of one server go: to the call they belong to, to its client, or to everybody who shares it."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, Literal

from msgspec import UNSET, Raw

from ...client.errors import AnswerRefused
from ...limits import Limits
from ...protocol import errors, jsonrpc
from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE, Notification
from ...repairs import values
from ...repairs.chosen import Repairs
from ...repairs.passing import progress_unknown
from ...repairs.subjects import Asked
from ...server.peer import Peer
from ...server.subscriptions import Hub
from ..journal import Journal
from ..limits import BridgeLimits
from .open_call import OpenCall
from .outlet import Outlet

Kind = Literal["tools", "prompts", "resources"]
_LISTS: dict[str, Kind] = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}
_NOT_SHARED = "several clients share this server: it cannot ask one of them"
_UNCLEAR = "several calls are open: nobody knows to which of them this request belongs"
_NOBODY = "no call is open that this request could belong to"
_NO_ROUNDS = "the client made this request in a way that cannot be interrupted by questions"
_NOT_DECLARED = "the client did not declare this capability"


class ClientSide:
    """The clients of one connection to the server, and their open calls."""

    def __init__(
        self,
        repairs: Repairs,
        journal: Journal,
        limits: Limits,
        bounds: BridgeLimits,
        *,
        is_shared: bool,
        can_be_asked: bool = True,
        beside: ClientSide | None = None,
    ) -> None:
        """`beside`: the clients of another connection, whose subscribers hear what is said here."""
        self.hub: Hub = Hub(limits) if beside is None else beside.hub
        self._has_own_hub = beside is None
        self.is_shared = is_shared
        self._can_be_asked = can_be_asked
        # Lists of which a client was told that they may change.
        self.announced: set[str] = set() if beside is None else beside.announced
        self._bounds = bounds
        self._outlet: Outlet | None = None
        self._repairs = repairs
        self._journal = journal
        self._limits = limits
        self._calls: list[OpenCall] = []
        self._tokens = itertools.count(1)
        self._progress: dict[int, OpenCall] = {}
        self._room = asyncio.Event()

    def take_over(self, peer: Peer) -> None:
        """Notices go to this client, who has the server for itself; the server waits while the client does not read."""
        if peer.write is not None:
            self._outlet = Outlet(peer.write, self._bounds, self.made_room)
            peer.post = self._outlet.say

    def leave(self) -> None:
        """The client is gone."""
        if self._has_own_hub:
            self.hub.close()
        if self._outlet is not None:
            self._outlet.close()

    def open(self, call: OpenCall) -> int | None:
        """A call begins. The token under which the server may report progress, if the client wants to hear of it."""
        self._calls.append(call)
        wanted = call.progress_token
        if wanted is UNSET or wanted is None:
            return None
        token = next(self._tokens)
        self._progress[token] = call
        return token

    def close(self, call: OpenCall, token: int | None) -> None:
        self._calls.remove(call)
        if token is not None:
            del self._progress[token]
        self._room.set()

    async def room(self) -> None:
        """Wait until the clients have read something."""
        while self.is_crowded:
            self._room.clear()
            await self._room.wait()

    def made_room(self) -> None:
        """A client has read something."""
        self._room.set()

    @property
    def is_crowded(self) -> bool:
        """Whether the server should wait, because its client does not read what it says.

        One client of several must not hold up the others: what it does not read is dropped.
        """
        if self.is_shared:
            return False
        return any(call.is_full for call in self._calls) or (
            self._outlet is not None and self._outlet.is_full
        )

    def hear(self, notification: Notification, call: OpenCall | None = None) -> None:
        """A notification of the server; about this call, if the server has said so."""
        said = self._repairs.said(notification.method, notification.params, Asked(revision=""))
        self._journal.repaired(said.changes)
        if said.method == "notifications/progress":
            self._progressed(said.params)
        elif said.method in _LISTS:
            self.list_changed(_LISTS[said.method])
        elif said.method == "notifications/resources/updated":
            self._updated(said.params)
        else:
            self._pass_on(said.method, said.params, call)

    def list_changed(self, kind: Kind) -> None:
        """Tell the clients, unless they were told that this list never changes."""
        if kind in self.announced:
            self.hub.list_changed(kind)

    def _progressed(self, params: Raw | None) -> None:
        """Pass progress on under the client's own token. Unknown tokens are dropped: the call is over."""
        try:
            told: Any = values.read(params or b"null")
        except UNREADABLE:
            return
        token = told.get("progressToken") if isinstance(told, dict) else None
        call = self._progress.get(token) if type(token) is int else None
        if call is None:
            self._journal.count(progress_unknown.code)
            return
        call.is_alive()
        if call.progress_token is UNSET:
            return  # its client is away
        body = values.write({**told, "progressToken": call.progress_token})
        call.say(jsonrpc.notification("notifications/progress", body))

    def _updated(self, params: Raw | None) -> None:
        try:
            told = decode(params or b"null")
        except UNREADABLE:
            return
        if isinstance(told, dict) and isinstance(told.get("uri"), str):
            self.hub.resource_updated(told["uri"])

    def _pass_on(self, method: str, params: Raw | None, call: OpenCall | None) -> None:
        message = jsonrpc.notification(method, None if params is None else bytes(params))
        if call is not None:
            if self._may_hear(call, method, params):
                call.say(message)
            return
        if self.is_shared or not self._peers():
            # Nobody can tell whose call this belongs to, unless there is only one.
            if len(self._calls) == 1 and self._may_hear(self._calls[0], method, params):
                self._calls[0].say(message)
            return
        if self._calls and self._may_hear(self._calls[0], method, params):
            self._calls[0].say(message)
        elif not self._calls:
            for peer in self._peers():
                if peer.revision is not None:
                    peer.notify(message)

    def _may_hear(self, call: OpenCall, method: str, params: Raw | None) -> bool:
        """A modern client hears of logs only if it asked for them, and of nothing else."""
        if not call.is_modern:
            return True
        if method != "notifications/message" or params is None:
            return False
        try:
            told = decode(params)
        except UNREADABLE:
            return False
        return isinstance(told, dict) and call.wants_log(told.get("level"))

    def _peers(self) -> list[Peer]:
        return list(self.hub.peers)

    async def ask(self, method: str, params: Raw, call: OpenCall | None = None) -> bytes:
        """A request of the server. It goes to the client of this call; if it is not known whose it is, to the client of
        the newest call that can be asked.

        Raises: AnswerRefused.
        """
        capability = method.partition("/")[0]
        if call is None:
            call = self._newest(capability)
        if not call.may_be_asked(capability):
            raise AnswerRefused(_NOT_DECLARED, errors.METHOD_NOT_FOUND)
        if call.is_modern and call.held is None:
            raise AnswerRefused(_NO_ROUNDS, errors.METHOD_NOT_FOUND)
        try:
            return bytes(await call.ask(method, params, self._limits.ask_seconds))
        except errors.ProtocolError as exc:
            raise AnswerRefused(exc.error.message, exc.error.code, exc.error.data) from None
        except TimeoutError:
            raise AnswerRefused("Nobody answered in time") from None

    def _newest(self, capability: str) -> OpenCall:
        """Raises: AnswerRefused."""
        if not self._can_be_asked:
            raise AnswerRefused(_NOT_SHARED, errors.METHOD_NOT_FOUND)
        if not self._calls:
            raise AnswerRefused(_NOBODY, errors.METHOD_NOT_FOUND)
        if self.is_shared and len(self._calls) > 1:
            raise AnswerRefused(_UNCLEAR, errors.METHOD_NOT_FOUND)
        fitting = [call for call in self._calls if call.may_be_asked(capability)]
        return (fitting or self._calls)[-1]
