"""A bridge whose clients are watched: every message from them and to them goes into the capture."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...audit.evidence import Transport
from ...client.transcript import Direction, Recorder
from ...protocol import headers, jsonrpc
from ...protocol.versions import ASSUMED
from ...server.batch import Batch
from ...server.context import Context
from ...server.methods.call import Call
from ...server.options import ServerOptions
from ...server.peer import Peer
from ...server.receiver import Handler
from ...server.reply import Failure, Reply
from ...server.work import Work
from ..bridge import Bridge
from ..way import Way
from .capture import Capture

# Single requests that may be open at once; the oldest are over.
_MOST_PASSING = 4_096
# Clients that send every request with the same id fill one each; there is nothing new in more.
_MOST_GROUPS = 100


class WatchedBridge(Bridge):
    """A bridge with a capture. `lasting` is the transport of clients that have a connection of their own."""

    def __init__(self, way: Way, options: ServerOptions, capture: Capture, lasting: Transport) -> None:
        super().__init__(way, options)
        self._capture = capture
        self._lasting: Transport = lasting
        self._clients: dict[Peer, Recorder] = {}
        # Of single requests.
        self._passing: OrderedDict[Peer, Recorder] = OrderedDict()
        # Requests that stand alone, put together as long as no id comes twice.
        self._alone: list[tuple[str, set[object], Recorder]] = []
        self._not_kept = Recorder(capture.leave_out)
        self._answered: Reply | None = None

    def receive(
        self, data: bytes, peer: Peer, http: headers.Mirrored | None = None
    ) -> Reply | Work | Batch | None:
        if peer.lasting:
            if peer not in self._clients:
                self._clients[peer] = self._new(self._lasting)
        elif peer not in self._clients:
            self._passing[peer] = self._recorder(data, http)
            if len(self._passing) > _MOST_PASSING:
                self._passing.popitem(last=False)
        self._keep(peer, "sent", data)
        outcome = super().receive(data, peer, http)
        if isinstance(outcome, Reply) and outcome is not self._answered:
            self._keep(peer, "received", outcome.body)
        return outcome

    def _recorder(self, data: bytes, http: headers.Mirrored | None) -> Recorder:
        """For a request that stands alone, or begins a session."""
        message = jsonrpc.read(data)
        if isinstance(message, jsonrpc.Request) and message.method == "initialize":
            return self._new("http")
        id_ = message.id if isinstance(message, jsonrpc.Request) else object()
        revision = (http and http.version) or ASSUMED
        if not self._capture.is_full:
            for known, ids, recorder in self._alone:
                if known == revision and id_ not in ids:
                    ids.add(id_)
                    return recorder
            if len(self._alone) < _MOST_GROUPS:
                self._alone.append((revision, {id_}, self._new("http", revision)))
                return self._alone[-1][2]
        return self._not_kept

    def _new(self, transport: Transport, revision: str = "") -> Recorder:
        return Recorder(self._capture.client(transport, revision))

    def _keep(self, peer: Peer, direction: Direction, data: bytes) -> None:
        recorder = self._clients.get(peer) or self._passing.get(peer)
        if recorder is not None and data:
            recorder.note(direction, "message", data)

    def handler(self, method: str) -> Handler:
        inner = super().handler(method)

        def watched(call: Call[Any]) -> Any:
            outcome = inner(call)
            if isinstance(outcome, bytes):
                return outcome
            run = outcome

            async def shown(context: Context | None) -> bytes:
                if context is not None:
                    context.watch(lambda message: self._keep(call.peer, "received", message))
                return await run(context)

            return shown

        return watched

    def finish(self, call: Call[Any], outcome: bytes | Failure, started: float) -> Reply:
        self._answered = reply = super().finish(call, outcome, started)
        self._keep(call.peer, "received", reply.body)
        return reply

    def join(self, peer: Peer) -> None:
        super().join(peer)
        if (recorder := self._passing.pop(peer, None)) is not None:
            self._clients[peer] = recorder
        if (post := peer.post) is not None:
            peer.post = self._posting(peer, post)

    def _posting(self, peer: Peer, post: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
        def shown(message: bytes) -> bool:
            self._keep(peer, "received", message)
            return post(message)

        return shown

    def leave(self, peer: Peer) -> None:
        super().leave(peer)
        self._clients.pop(peer, None)
        self._passing.pop(peer, None)
