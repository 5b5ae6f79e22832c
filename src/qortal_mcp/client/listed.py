"""What servers list, read leniently: a bad item costs that item, never the list."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from msgspec import Raw, Struct

from ..protocol.decoding import decode_as
from ..protocol.headers import HeaderParam, header_params
from .pending import Reply

T = TypeVar("T")


class ListedTool(Struct, frozen=True, kw_only=True):
    """A null counts as an absent member: real servers send it."""

    name: str
    inputSchema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    outputSchema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None

    def header_params(self) -> tuple[HeaderParam, ...]:
        """Raises: ValueError if an annotation is not acceptable."""
        return header_params(self.inputSchema)


class ListedResource(Struct, frozen=True, kw_only=True):
    """A resource as a server lists it."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mimeType: str | None = None
    size: int | None = None


class ListedTemplate(Struct, frozen=True, kw_only=True):
    """A resource template as a server lists it."""

    uriTemplate: str
    name: str
    title: str | None = None
    description: str | None = None
    mimeType: str | None = None


class ListedArgument(Struct, frozen=True, kw_only=True):
    name: str
    description: str | None = None
    required: bool | None = None


class ListedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt as a server lists it."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[ListedArgument] | None = None


class OddItem(Struct, frozen=True):
    """A listed item that could not be read, and why."""

    raw: Raw
    reason: str


class Listing(Struct, Generic[T], frozen=True):
    """All pages of a list. `raw` has the readable items as they came, in the order of `items`."""

    items: list[T]
    raw: list[Raw]
    odd: list[OddItem]
    pages: list[Reply]

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Page(Struct, frozen=True):
    """One page: its items, not yet decoded, and where the next page starts. An absent or null cursor ends the list."""

    items: list[Raw]
    cursor: str | None


class Kind(Struct, Generic[T], frozen=True):
    """One list method: its name, the member that holds its items, and their type."""

    method: str
    member: str
    type: type[T]
    # A further check, which raises ValueError for an odd item.
    check: Callable[[T], object] | None = None

    def page(self, reply: Reply) -> Page:
        """Raises: MalformedReply if it is not a page at all."""
        members = reply.read(dict[str, Raw])
        items = Reply(members.get(self.member, Raw(b"null")), reply.raw).read(list[Raw])
        cursor = Reply(members.get("nextCursor", Raw(b"null")), reply.raw).read(str | None)  # type: ignore[arg-type]
        return Page(items, cursor)

    def item(self, raw: Raw) -> T | OddItem:
        try:
            found = decode_as(raw, self.type)
            if self.check is not None:
                self.check(found)
        except (ValueError, RecursionError) as exc:  # msgspec's errors and bad UTF-8 are ValueErrors
            return OddItem(raw, str(exc))
        return found


TOOLS = Kind("tools/list", "tools", ListedTool)
# Clients of 2026-07-28 over HTTP must leave out a tool whose header annotations they cannot honour.
TOOLS_WITH_HEADERS = Kind("tools/list", "tools", ListedTool, ListedTool.header_params)
RESOURCES = Kind("resources/list", "resources", ListedResource)
TEMPLATES = Kind("resources/templates/list", "resourceTemplates", ListedTemplate)
PROMPTS = Kind("prompts/list", "prompts", ListedPrompt)
