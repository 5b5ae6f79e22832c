"""What a server tells somebody who traces its requests. The server itself knows no tracing library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ...protocol import jsonrpc
    from ..methods.call import Call, Running
    from ..peer import Peer


class Span(Protocol):
    """One request while it is worked on."""

    def inside(self, run: Running) -> Running:
        """The same work, so that what it asks for becomes part of this span."""

    def end(self, call: Call[Any], error_type: str, code: str) -> None: ...


class Spans(Protocol):
    """Makes a span of each request."""

    def begin(self, call: Call[Any]) -> Span: ...

    def refused(
        self, request: jsonrpc.Request, peer: Peer, error_type: str, code: str, seconds: float
    ) -> None:
        """A request that nobody worked on."""
