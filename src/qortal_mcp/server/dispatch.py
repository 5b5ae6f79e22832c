"""A server: what it offers, and how it answers. Messages come in through `Receiver.receive`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET

from ..protocol import errors, jsonrpc, messages
from ..protocol.inbound import Arrival, Rejection, Route, judge
from .methods import METHOD_TABLE
from .offers.catalogue import Catalogue, Offer, Prepared
from .offers.tool import Tool
from .options import OldForms, ServerOptions
from .peer import Peer
from .receiver import Handler, Receiver

_DEFAULT = ServerOptions()
_NO_OLD_FORMS = OldForms()


class Server(Receiver):
    """An MCP server: what it offers, and how it answers. Knows no transport.

    `tools=[...]` is short for an offer of tools alone. A `Prepared` offer is listed now and loaded when it is first used.
    """

    def __init__(
        self,
        name: str,
        version: str = "0",
        *,
        title: str | None = None,
        instructions: str | None = None,
        tools: Iterable[Tool] = (),
        offer: Offer | Prepared | None = None,
        options: ServerOptions = _DEFAULT,
        old_forms: OldForms | None = None,
    ) -> None:
        tools = tuple(tools)
        if tools and offer is not None:
            raise TypeError("a server takes its tools in `tools` or in `offer`, not in both")
        super().__init__(messages.Implementation(name=name, version=version, title=title or UNSET), options)
        self.instructions = instructions
        self.old_forms = old_forms
        self.catalogue = Catalogue(offer or Offer(tools), old_forms or _NO_OLD_FORMS, self.limits)
        self._offered = set(self.catalogue.capabilities(options.client_logging, options.announces_changes))
        if options.announces_changes or options.resource_updates:
            self._offered.add("listen")

    def handler(self, method: str) -> Handler:
        return METHOD_TABLE[method]

    def offers(self, route: Route, peer: Peer) -> bool:
        if route.method.capability in ("subscribe", "logging"):
            # Only on a connection, or in a session that exists already: elsewhere nobody remembers it.
            options = self.options
            wanted = (
                options.resource_updates if route.method.capability == "subscribe" else options.client_logging
            )
            return wanted and peer.post is not None and peer.revision is not None
        return route.method.capability in self._offered

    def reconsider(
        self, request: jsonrpc.Request, rejection: Rejection, arrival: Arrival
    ) -> tuple[jsonrpc.Request, Route | Rejection]:
        """Old names of methods are understood in the legacy era."""
        if self.old_forms is None or rejection.modern or rejection.error.code != errors.METHOD_NOT_FOUND:
            return request, rejection
        method = self.old_forms.methods.get(request.method)
        if method is None:
            return request, rejection
        renamed = jsonrpc.Request(request.id, method, request.params)
        return renamed, judge(renamed, arrival)

    def load(self) -> None:
        """Load what is listed but not loaded yet, rather than at the first call."""
        self.catalogue.load()
