"""A server: what it offers, and how it answers. Messages come in through `Receiver.receive`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Unpack, overload

from msgspec import UNSET

from ..protocol import errors, jsonrpc, messages
from ..protocol.inbound import Arrival, Rejection, Route, judge
from .methods import METHOD_TABLE
from .offers.catalogue import Catalogue, Offer, Prepared
from .offers.prompt import Completer, Prompt, completer, prompt
from .offers.resource import Resource, resource
from .offers.tool import Tool, ToolOptions, titled, tool
from .options import OldForms, ServerOptions
from .peer import Peer
from .receiver import Handler, Receiver
from .subscriptions import Listing

_DEFAULT = ServerOptions()
_NO_OLD_FORMS = OldForms()
# What people look for on a server, which knows no transport -> what to write.
_ELSEWHERE = {
    "run": "write run(server), with run imported from qortal_mcp",
    "http_app": "write HttpApp(server), with HttpApp imported from qortal_mcp.transports.http",
}

Lifespan = Callable[["Server"], AbstractAsyncContextManager[Any]]
_Function = Callable[..., Any]


class Server(Receiver):
    """An MCP server: what it offers, and how it answers. Knows no transport.

    `tools=[...]` is short for an offer of tools alone, and takes plain functions, too. A `Prepared` offer is listed now and
    loaded when it is first used. `lifespan` is a function that takes the server and gives an async context manager, entered
    before the first request: its value is `ctx.lifespan`, and fills parameters of its class.
    """

    def __init__(
        self,
        name: str,
        version: str = "0",
        *,
        title: str | None = None,
        instructions: str | None = None,
        tools: Iterable[Tool | _Function] = (),
        offer: Offer | Prepared | None = None,
        options: ServerOptions = _DEFAULT,
        old_forms: OldForms | None = None,
        lifespan: Lifespan | None = None,
    ) -> None:
        if not isinstance(name, str) or not isinstance(version, str):
            raise TypeError('a server has a name and a version: Server("shelf", "1.0", tools=[...])')
        made = tuple(titled(each) for each in tools)
        if made and offer is not None:
            raise TypeError("a server takes its tools in `tools` or in `offer`, not in both")
        super().__init__(messages.Implementation(name=name, version=version, title=title or UNSET), options)
        self.instructions = instructions
        self.old_forms = old_forms
        self.catalogue = Catalogue(
            offer or Offer(made),
            old_forms or _NO_OLD_FORMS,
            self.limits,
            has_lifespan=lifespan is not None,
        )
        self._offered = self._capabilities()
        if lifespan is not None:
            self._begin_with(lifespan)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _ELSEWHERE:
                raise AttributeError(f"a server has no {name}: {_ELSEWHERE[name]}", name=name, obj=self)
            raise AttributeError(f"a server has no {name}", name=name, obj=self)

    def _begin_with(self, lifespan: Lifespan) -> None:
        from .life import Life  # only servers that have one pay for it

        def begun(value: Any) -> None:
            self.lifespan = value
            self.catalogue.provide(value if isinstance(value, tuple | list) else (value,))

        self.life = Life(lambda: lifespan(self), begun, self.limits.shutdown_seconds)

    def _capabilities(self) -> frozenset[str]:
        options = self.options
        offered = set(self.catalogue.capabilities(options.client_logging, options.announces_changes))
        if options.announces_changes or options.resource_updates:
            offered.add("listen")
        return frozenset(offered)

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

    def add_tool(self, function: Tool | _Function) -> Tool:
        """Offer a tool. Clients that listen are told; this may be called from any thread.

        Raises: ValueError, TypeError if it cannot be offered; RuntimeError if clients were told that lists do not change.
        """
        made = titled(function)
        self._change("tools", lambda: self.catalogue.add(made))
        return made

    def remove_tool(self, name: str) -> None:
        """Offer a tool no longer; calls that are worked on are finished.

        Raises: LookupError if there is none of that name; RuntimeError as above.
        """
        self._change("tools", lambda: self.catalogue.remove("tools", name))

    def add_resource(self, made: Resource) -> Resource:
        """Offer a resource or a template, as `add_tool` does a tool."""
        self._change("resources", lambda: self.catalogue.add(made))
        return made

    def remove_resource(self, uri: str) -> None:
        """Offer the resource or template with this URI no longer, as `remove_tool` does a tool."""
        self._change("resources", lambda: self.catalogue.remove("resources", uri))

    def add_prompt(self, function: Prompt | _Function) -> Prompt:
        """Offer a prompt, as `add_tool` does a tool."""
        made = function if isinstance(function, Prompt) else Prompt(function)
        self._change("prompts", lambda: self.catalogue.add(made))
        return made

    def remove_prompt(self, name: str) -> None:
        """Offer a prompt no longer, as `remove_tool` does a tool."""
        self._change("prompts", lambda: self.catalogue.remove("prompts", name))

    def _change(self, listing: Listing | None, change: Callable[[], None]) -> None:
        if self.catalogue.is_known and not self.options.announces_changes:
            raise RuntimeError(
                "clients were told that the lists of this server do not change; "
                "to change them while it runs, make it with options=ServerOptions(announces_changes=True)"
            )
        change()
        self._offered = self._capabilities()
        if listing is not None and self.options.announces_changes:
            self.hub.list_changed(listing)

    @overload
    def tool(self, title: _Function, /) -> Tool: ...
    @overload
    def tool(
        self, title: str | None = None, /, **options: Unpack[ToolOptions]
    ) -> Callable[[_Function], Tool]: ...
    def tool(self, title: str | _Function | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Make a tool of a function, as `@tool` does, and offer it here."""
        if callable(title):
            return self.add_tool(title)
        make = tool(title, **options)
        return lambda function: self.add_tool(make(function))

    def resource(
        self, uri: str, title: str | None = None, *, mime_type: str = "text/plain", quick: bool = False
    ) -> Callable[[_Function], Resource]:
        """Make a resource of a function, as `@resource` does, and offer it here."""
        make = resource(uri, title, mime_type=mime_type, quick=quick)
        return lambda function: self.add_resource(make(function))

    @overload
    def prompt(self, title: _Function, /) -> Prompt: ...
    @overload
    def prompt(
        self, title: str | None = None, /, *, quick: bool = False
    ) -> Callable[[_Function], Prompt]: ...
    def prompt(self, title: str | _Function | None = None, /, *, quick: bool = False) -> Any:
        """Make a prompt of a function, as `@prompt` does, and offer it here."""
        if callable(title):
            return self.add_prompt(title)
        make = prompt(title, quick=quick)
        return lambda function: self.add_prompt(make(function))

    def completer(self, of: str, argument: str, *, quick: bool = False) -> Callable[[_Function], Completer]:
        """Make a completer of a function, as `@completer` does, and use it here."""
        make = completer(of, argument, quick=quick)

        def use(function: _Function) -> Completer:
            made = make(function)
            self._change(None, lambda: self.catalogue.add(made))
            return made

        return use
