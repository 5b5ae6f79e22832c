"""What a server offers, looked up by name and listed page by page. Refuses two of a name."""

import threading
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...limits import Limits
from ...protocol import cursors
from ...protocol.results import known_members
from ...protocol.versions import COMPLETIONS, REVISIONS
from ..context import Context
from ..options import OldForms
from .functions import LATER
from .prompt import BoundCompleter, Completer, Prompt
from .resource import Resource, ResourceNotFound
from .tool import BoundTool, Tool

Kind = Literal["tools", "resources", "resourceTemplates", "prompts"]
Bound = Callable[[Mapping[str, Any], Context | None], Any]
Definitions = Sequence[Mapping[str, Any]]
Changes = Callable[[Mapping[str, str]], AsyncIterator[None]]

# A name that resembles the wrong one less than this was not meant, nor is one longer than names of tools are.
_LIKENESS = 0.75
_NAME_CHARS = 64
_encode = msgspec.json.Encoder().encode


class Offer(Struct, frozen=True):
    """Everything a server offers, and the objects that its functions ask for."""

    tools: Sequence[Tool] = ()
    resources: Sequence[Resource] = ()
    prompts: Sequence[Prompt] = ()
    completers: Sequence[Completer] = ()
    provide: Sequence[object] = ()
    # URI of a resource or a template -> a function that takes the template's variables and yields whenever the
    # resource reads differently. It raises ResourceNotFound or ToolError at once if there can be nothing to read.
    changes: Mapping[str, Changes] = {}


class Prepared(Struct, frozen=True):
    """An offer that can be listed before it is loaded: clients wait for the lists at every start, and for the first call.

    `definitions` is what the loaded offer would list; whoever prepares it has a test that keeps the two equal.
    """

    definitions: Mapping[Kind, Definitions]
    completes: bool
    load: Callable[[], Offer]
    # Tools that are not offered here -> what to tell a caller of one.
    absent: Mapping[str, str] = {}
    # One tool alone, for a call that comes before the rest is loaded; None if that has to be loaded for it.
    load_tool: Callable[[str], Tool | None] = lambda name: None
    # What the offer will provide, for a tool that is loaded alone.
    provide: Callable[[], Sequence[object]] = tuple


class BoundResource(Struct, frozen=True):
    resource: Resource
    call: Bound


class Watchable(Struct, frozen=True):
    """A resource that can be subscribed to."""

    uri: str
    # The same for all spellings of its URI.
    thing: Hashable
    # Yields whenever it reads differently; None if that never happens.
    changes: AsyncIterator[None] | None


class BoundPrompt(Struct, frozen=True):
    prompt: Prompt
    call: Bound


class Catalogue:
    """An offer, bound to what it needs when it is first asked for more than its lists."""

    def __init__(
        self,
        offer: Offer | Prepared,
        old_forms: OldForms,
        limits: Limits,
        *,
        has_lifespan: bool = False,
    ) -> None:
        self._offer = offer
        self._later: Sequence[object] = (LATER,) if has_lifespan else ()
        # Whether a client has been told what is offered, and whether that is not what the offer says any more.
        self.is_known = False
        self._is_changed = False
        self._tool_aliases = old_forms.tools
        self._synonyms = old_forms.arguments
        self._page_items = limits.page_items
        self._pages: dict[tuple[Kind, str], list[bytes]] = {}
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None
        self._loaded_alone: dict[str, BoundTool] = {}
        if isinstance(offer, Offer):
            self.load()

    def load(self) -> "_Loaded":
        """Load and bind everything, once. May be called from a thread while others ask."""
        with self._loading:
            if self._loaded is None:
                offer = self._offer if isinstance(self._offer, Offer) else self._offer.load()
                self._loaded = _Loaded(offer, self._synonyms, self._later)
                self._loaded_alone = {}
            return self._loaded

    def provide(self, objects: Sequence[object]) -> None:
        """Bind everything again, now that these objects are there.

        Raises: TypeError if something is still missing.
        """
        with self._changing() as loaded:
            self._later = objects
            self._loaded = loaded.bound_to(objects)

    def add(self, thing: Tool | Resource | Prompt | Completer) -> None:
        """Offer one thing more. May be called from a thread.

        Raises: ValueError if there is one of that name; TypeError if it needs what is not provided.
        """
        with self._changing() as loaded:
            loaded.add(thing)
            self._forget_pages()

    def remove(self, kind: Literal["tools", "resources", "prompts"], name: str) -> None:
        """Offer one thing less; calls of it that are worked on go on. May be called from a thread.

        Raises: LookupError if there is none of that name.
        """
        with self._changing() as loaded:
            loaded.remove(kind, name)
            self._forget_pages()

    @contextmanager
    def _changing(self) -> Iterator["_Loaded"]:
        self.load()
        with self._loading:
            # As it is now: another thread may have bound everything again meanwhile.
            assert self._loaded is not None, "it is loaded, and never unloaded"
            yield self._loaded

    def _forget_pages(self) -> None:
        self._is_changed = True
        # A new dict: pages that are being made of the old list end in the old one.
        self._pages = {}

    @property
    def _all(self) -> "_Loaded":
        return self._loaded or self.load()

    @property
    def tools(self) -> Mapping[str, BoundTool]:
        return self._all.tools

    @property
    def prompts(self) -> Mapping[str, BoundPrompt]:
        return self._all.prompts

    @property
    def tool_aliases(self) -> dict[str, str]:
        return {old: new for old, new in self._tool_aliases.items() if new in self.tools}

    def tool(self, name: str) -> BoundTool | None:
        if self._loaded is None and (alone := self._tool_alone(name)):
            return alone
        tools = self._all.tools
        return tools.get(name) or tools.get(self._tool_aliases.get(name, ""))

    def _tool_alone(self, name: str) -> BoundTool | None:
        name = self._tool_aliases.get(name, name)
        kept = self._loaded_alone
        if name not in kept and isinstance(self._offer, Prepared) and (tool := self._offer.load_tool(name)):
            provided = self._offer.provide() if tool.signature.needs_services else ()
            kept[name] = tool.bind(provided, self._synonyms.get(name))
        return kept.get(name)

    def hint_for(self, name: str) -> str:
        """A few words for a caller of a tool that is not here; empty if no name is similar."""
        if isinstance(self._offer, Prepared) and name in self._offer.absent:
            return self._offer.absent[name]
        if len(name) > _NAME_CHARS:
            return ""
        from difflib import get_close_matches  # only mistakes pay for it

        listed = [bound.name for bound in self._all.tools.values() if bound.tool.listed]
        near = get_close_matches(name, listed, n=3, cutoff=_LIKENESS)
        return f"Did you mean {' or '.join(near)}?" if near else ""

    def find_resource(self, uri: str) -> tuple[BoundResource, dict[str, str]] | None:
        """The resource at a URI, and the values of its variables if it is a template."""
        fixed = self._all.resources.get(uri)
        if fixed is not None:
            return fixed, {}
        for candidate in self._all.templates:
            variables = candidate.resource.match(uri)
            if variables is not None:
                return candidate, variables
        return None

    def watchable(self, uri: str) -> Watchable:
        """The resource at a URI, for a subscriber.

        Raises: ResourceNotFound, ToolError.
        """
        found = self.find_resource(uri)
        if found is None:
            raise ResourceNotFound
        bound, variables = found
        begin = self._all.changes.get(bound.resource.uri)
        thing = (bound.resource.uri, *variables.items())
        return Watchable(uri, thing, None if begin is None else begin(variables))

    def completer(self, of: str, argument: str) -> BoundCompleter | None:
        """Who suggests values for an argument.

        Raises: KeyError if there is no prompt, resource or template of that name.
        """
        loaded = self._all
        known = of in loaded.prompts or of in loaded.resources
        if not known and all(bound.resource.uri != of for bound in loaded.templates):
            raise KeyError(of)
        return loaded.completers.get((of, argument))

    def capabilities(self, client_logging: bool, announces_changes: bool) -> dict[str, dict[str, bool]]:
        """What to declare; which of it a revision knows is `capabilities_in`'s question."""
        lists: dict[str, tuple[Kind, ...]] = {
            "tools": ("tools",),
            "resources": ("resources", "resourceTemplates"),
            "prompts": ("prompts",),
        }
        offers = {
            name: {"listChanged": announces_changes}
            for name, kinds in lists.items()
            if announces_changes or any(self._definitions(kind, REVISIONS[-1]) for kind in kinds)
        }
        if self._offer.completes if isinstance(self._offer, Prepared) else self._all.completers:
            offers["completions"] = {}
        if client_logging:
            offers["logging"] = {}
        return offers

    def page(self, kind: Kind, revision: str, cursor: str | None) -> bytes:
        """One page of a list, as the body of its result.

        Raises: ProtocolError for a cursor that is not ours.
        """
        self.is_known = True
        kept = self._pages
        pages = kept.get((kind, revision))
        if pages is None:
            assert revision in REVISIONS, "only judged requests get here"
            pages = kept[kind, revision] = self._render(kind, revision)
        if cursor is None:
            return pages[0]
        offset = cursors.read(cursor, self._page_items, len(pages) * self._page_items)
        return pages[offset // self._page_items]

    def _render(self, kind: Kind, revision: str) -> list[bytes]:
        items = [known_members(item, revision) for item in self._definitions(kind, revision)]
        pages = []
        for start in range(0, max(len(items), 1), self._page_items):
            page: dict[str, Any] = {kind: items[start : start + self._page_items]}
            if start + self._page_items < len(items):
                page["nextCursor"] = cursors.write(start + self._page_items)
            pages.append(_encode(page))
        return pages

    def _definitions(self, kind: Kind, revision: str) -> Definitions:
        if isinstance(self._offer, Prepared) and not self._is_changed:
            return self._offer.definitions.get(kind, ())
        return self._all.definitions(kind, revision)


class _Loaded:
    """An offer with everything bound, by name. What is in use is never changed, only replaced: a thread may add to it."""

    def __init__(
        self, offer: Offer, synonyms: Mapping[str, Mapping[str, str]], later: Sequence[object] = ()
    ) -> None:
        self._offer = offer
        self._synonyms = synonyms
        self._provide = provide = (*offer.provide, *later)
        self.tools = _unique(
            "tools", ((tool.name, tool.bind(provide, synonyms.get(tool.name))) for tool in offer.tools)
        )
        resources = _unique(
            "resources", ((r.uri, BoundResource(r, r.signature.bind(provide))) for r in offer.resources)
        )
        self.resources = {uri: bound for uri, bound in resources.items() if not bound.resource.is_template}
        self.templates = [bound for bound in resources.values() if bound.resource.is_template]
        self.prompts = _unique(
            "prompts", ((p.name, BoundPrompt(p, p.signature.bind(provide))) for p in offer.prompts)
        )
        self.changes = offer.changes
        self._completers = offer.completers
        self.completers = {(c.of, c.argument): c.bind(provide) for c in offer.completers}

    def bound_to(self, later: Sequence[object]) -> "_Loaded":
        """Everything again, with what the lifespan brings."""
        offer = msgspec.structs.replace(
            self._offer,
            tools=[bound.tool for bound in self.tools.values()],
            resources=[bound.resource for bound in (*self.resources.values(), *self.templates)],
            prompts=[bound.prompt for bound in self.prompts.values()],
            completers=self._completers,
        )
        return _Loaded(offer, self._synonyms, later)

    def add(self, thing: Tool | Resource | Prompt | Completer) -> None:
        if isinstance(thing, Tool):
            bound = thing.bind(self._provide, self._synonyms.get(thing.name))
            self.tools = _unique("tools", [*self.tools.items(), (thing.name, bound)])
        elif isinstance(thing, Prompt):
            written = BoundPrompt(thing, thing.signature.bind(self._provide))
            self.prompts = _unique("prompts", [*self.prompts.items(), (thing.name, written)])
        elif isinstance(thing, Resource):
            read = BoundResource(thing, thing.signature.bind(self._provide))
            templates = [(each.resource.uri, each) for each in self.templates]
            _unique("resources", [*self.resources.items(), *templates, (thing.uri, read)])
            if thing.is_template:
                self.templates = [*self.templates, read]
            else:
                self.resources = {**self.resources, thing.uri: read}
        else:
            self._completers = [*self._completers, thing]
            self.completers = {**self.completers, (thing.of, thing.argument): thing.bind(self._provide)}

    def remove(self, kind: Literal["tools", "resources", "prompts"], name: str) -> None:
        before = len(self.tools) + len(self.resources) + len(self.templates) + len(self.prompts)
        if kind == "tools":
            self.tools = _without(self.tools, name)
        elif kind == "prompts":
            self.prompts = _without(self.prompts, name)
        else:
            self.resources = _without(self.resources, name)
            self.templates = [each for each in self.templates if each.resource.uri != name]
        if before == len(self.tools) + len(self.resources) + len(self.templates) + len(self.prompts):
            raise LookupError(f"there is no {kind.removesuffix('s')} called {name}")

    def definitions(self, kind: Kind, revision: str) -> Definitions:
        """What everything of a kind says of itself."""
        found: Iterable[Any] = {
            "tools": (t.definition_for(revision) for t in self.tools.values() if t.tool.listed),
            "prompts": (bound.prompt.definition for bound in self.prompts.values()),
            "resources": (bound.resource.definition for bound in self.resources.values()),
            "resourceTemplates": (bound.resource.definition for bound in self.templates),
        }[kind]
        items: list[dict[str, Any]] = msgspec.to_builtins(list(found))
        return items


def capabilities_in(revision: str, offers: Mapping[str, dict[str, bool]], subscribe: bool) -> dict[str, Any]:
    """The capability object of one revision: only what it knows and what its wire can keep."""
    known = {name: dict(flags) for name, flags in offers.items()}
    if revision < COMPLETIONS:
        known.pop("completions", None)
    if subscribe and "resources" in known:
        known["resources"]["subscribe"] = True
    return known


def _unique(what: str, named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, thing in named:
        if name in found:
            raise ValueError(f"two {what} are called {name}")
        found[name] = thing
    return found


def _without(named: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: thing for key, thing in named.items() if key != name}
