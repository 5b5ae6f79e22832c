"""What a server offers, looked up by name and listed page by page. Refuses two of a name."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..limits import Limits
from ..protocol import cursors
from ..protocol.messages import Wire
from ..protocol.results import known_members
from ..protocol.versions import COMPLETIONS, REVISIONS
from .context import Context
from .prompt import Completer, Prompt
from .resource import Resource
from .tool import BoundTool, Tool

_encode = msgspec.json.Encoder().encode

Bound = Callable[[Mapping[str, Any], Context | None], Any]


class PreparedTools(Struct, frozen=True):
    """Tools that can be listed before they are loaded: clients wait for the list at every start.

    `definitions` is what the tools would say of themselves; a test keeps the two equal.
    """

    definitions: Sequence[Mapping[str, Any]]
    # The tools, and what they ask a server to provide.
    load: Callable[[], tuple[Iterable[Tool], Sequence[object]]]


class BoundResource(Struct, frozen=True):
    resource: Resource
    call: Bound


class BoundPrompt(Struct, frozen=True):
    prompt: Prompt
    call: Bound


class Catalogue:
    """Tools, resources, prompts and completers of one server, bound to what it provides."""

    def __init__(
        self,
        tools: Iterable[Tool] | PreparedTools,
        resources: Iterable[Resource],
        prompts: Iterable[Prompt],
        completers: Iterable[Completer],
        provide: Sequence[object],
        tool_aliases: Mapping[str, str],
        argument_synonyms: Mapping[str, Mapping[str, str]],
        limits: Limits,
    ) -> None:
        self._page_items = limits.page_items
        self._provide = provide
        self._synonyms = argument_synonyms
        self._tool_aliases = tool_aliases
        self._prepared = tools if isinstance(tools, PreparedTools) else None
        self._tools: dict[str, BoundTool] | None = None
        self._loading = threading.Lock()
        if not isinstance(tools, PreparedTools):
            self._bind(tools, provide)
        bound = [BoundResource(r, r.bind(provide)) for r in resources]
        self.resources = {r.resource.uri: r for r in bound if not r.resource.is_template}
        self.templates = [r for r in bound if r.resource.is_template]
        if len(self.resources) + len(self.templates) != len(bound):
            raise ValueError("two resources have the same URI")
        self.prompts = {p.name: BoundPrompt(p, p.bind(provide)) for p in prompts}
        self.completers = {(c.of, c.argument): c for c in completers}
        self._pages: dict[tuple[str, str], list[bytes]] = {}

    def _bind(self, tools: Iterable[Tool], provide: Sequence[object]) -> dict[str, BoundTool]:
        bound = _by_name(tool.bind(provide, self._synonyms.get(tool.name)) for tool in tools)
        self._tools = bound
        return bound

    @property
    def tools(self) -> dict[str, BoundTool]:
        """All tools by name, loaded when they are first asked for."""
        return self._tools if self._tools is not None else self.load()

    def load(self) -> dict[str, BoundTool]:
        """Load prepared tools, once. May be called from a thread while others call tools."""
        with self._loading:
            if self._tools is not None:
                return self._tools
            assert self._prepared is not None, "tools that are not there yet can be loaded"
            tools, provide = self._prepared.load()
            return self._bind(tools, (*self._provide, *provide))

    @property
    def tool_aliases(self) -> dict[str, str]:
        return {old: new for old, new in self._tool_aliases.items() if new in self.tools}

    @property
    def has_tools(self) -> bool:
        return bool(self._prepared.definitions if self._prepared is not None else self._tools)

    def tool(self, name: str) -> BoundTool | None:
        return self.tools.get(name) or self.tools.get(self._tool_aliases.get(name, ""))

    def find_resource(self, uri: str) -> tuple[BoundResource, dict[str, str]] | None:
        fixed = self.resources.get(uri)
        if fixed is not None:
            return fixed, {}
        for candidate in self.templates:
            variables = candidate.resource.match(uri)
            if variables is not None:
                return candidate, variables
        return None

    def capabilities(self, client_logging: bool, announces_changes: bool) -> dict[str, dict[str, bool]]:
        """What to declare; which of it a revision knows is `capabilities_in`'s question."""
        offers: dict[str, dict[str, bool]] = {}
        if self.has_tools:
            offers["tools"] = {"listChanged": announces_changes}
        if self.resources or self.templates:
            offers["resources"] = {"listChanged": announces_changes}
        if self.prompts:
            offers["prompts"] = {"listChanged": announces_changes}
        if self.completers:
            offers["completions"] = {}
        if client_logging:
            offers["logging"] = {}
        return offers

    def page(self, kind: str, revision: str, cursor: str | None) -> bytes:
        """One page of a list, as the body of its result.

        Raises: ProtocolError for a cursor that is not ours.
        """
        pages = self._pages.get((kind, revision))
        if pages is None:
            assert revision in REVISIONS, "only judged requests get here"
            pages = self._pages[kind, revision] = self._render(kind, revision)
        if cursor is None:
            return pages[0]
        offset = cursors.read(cursor, self._page_items, len(pages) * self._page_items)
        return pages[offset // self._page_items]

    def _render(self, kind: str, revision: str) -> list[bytes]:
        items = [known_members(item, revision) for item in self._definitions(kind, revision)]
        pages = []
        for start in range(0, max(len(items), 1), self._page_items):
            page: dict[str, Any] = {kind: items[start : start + self._page_items]}
            if start + self._page_items < len(items):
                page["nextCursor"] = cursors.write(start + self._page_items)
            pages.append(_encode(page))
        return pages

    def _definitions(self, kind: str, revision: str) -> Sequence[Mapping[str, Any]]:
        found: list[Wire]
        if kind == "tools":
            if self._prepared is not None:
                return self._prepared.definitions
            found = [t.definition_for(revision) for t in self.tools.values() if t.tool.listed]
        elif kind == "prompts":
            found = [p.prompt.definition for p in self.prompts.values()]
        elif kind == "resources":
            found = [r.resource.definition for r in self.resources.values()]
        else:
            found = [r.resource.definition for r in self.templates]
        items: list[dict[str, Any]] = msgspec.to_builtins(found)
        return items


def capabilities_in(revision: str, offers: Mapping[str, dict[str, bool]], subscribe: bool) -> dict[str, Any]:
    """The capability object of one revision: only what it knows and what its wire can keep."""
    known = {name: dict(flags) for name, flags in offers.items()}
    if revision < COMPLETIONS:
        known.pop("completions", None)
    if subscribe and "resources" in known:
        known["resources"]["subscribe"] = True
    return known


def _by_name(tools: Iterable[BoundTool]) -> dict[str, BoundTool]:
    found: dict[str, BoundTool] = {}
    for tool in tools:
        if tool.name in found:
            raise ValueError(f"two tools are called {tool.name}")
        found[tool.name] = tool
    return found
