"""The tools of the server behind, as last listed, and which of them clients get to see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...protocol.decoding import decode
from ...protocol.headers import HeaderParam, header_params
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...repairs.chosen import REPAIRED, Page
from ...repairs.subjects import KnownTool
from ...repairs.tools.page import list_paginated

# A cursor of the server; None is the first page.
Cursor = str | None


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as clients know it, and the name that the server knows."""

    upstream_name: str
    known: KnownTool
    is_read_only: bool
    # Calling it twice does no more than calling it once.
    may_repeat: bool
    # Arguments that modern clients repeat in headers.
    header_params: tuple[HeaderParam, ...] = ()


class KnownTools:
    """What the pages of one server hold."""

    def __init__(
        self,
        read_only: bool,
        hidden: frozenset[str],
        misfits: set[str],
        chosen: frozenset[str] | None = None,
    ) -> None:
        self._read_only = read_only
        self._hidden = hidden
        self._chosen = chosen
        self._pages: dict[Cursor, Any] = {}
        self._tools: dict[str, Tool] = {}
        # Names that the server knows, of which some entry does not say that the tool is read-only, or may be repeated:
        # of two tools with one name, nobody can tell which is called.
        self._writing: set[str] = set()
        self._once: set[str] = set()
        # Tools whose results did not fit what they declare: their schema is not listed any more, on no connection.
        self._misfits = misfits
        # When the pages were read, in the loop's time; None: never, or something changed since.
        self.read_at: float | None = None
        # How often the server has said that something changed.
        self.notices = 0

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def are_known(self) -> bool:
        return bool(self._pages)

    @property
    def are_complete(self) -> bool:
        """Whether every page is known that another one names as the next."""
        cursors = [page.get("nextCursor") for page in self._pages.values() if isinstance(page, dict)]
        return all(cursor in self._pages for cursor in cursors if isinstance(cursor, str) and cursor)

    @property
    def declare_results(self) -> bool:
        """Whether a result can contradict what is listed."""
        return any(tool.known.output_schema is not None for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        """A tool that clients may call."""
        tool = self._tools.get(name)
        if tool is None or not self._shows(name, tool):
            return None
        return replace(tool, may_repeat=False) if tool.upstream_name in self._once else tool

    def withhold(self, name: str) -> bool:
        """Whether clients must not call a tool that the server knows by this name."""
        if self._chosen is not None and name not in self._chosen:
            return True
        return name in self._hidden or (
            bool(self._hidden)
            and any(
                one.upstream_name == name and not self._shows(key, one) for key, one in self._tools.items()
            )
        )

    def outdate(self) -> None:
        """The server says that something changed."""
        self.notices += 1
        self.read_at = None

    def hidden_in_vain(self) -> list[str]:
        """Names that are to be hidden, and that no tool has. Nothing can be said while a page is missing."""
        if not self.are_complete:
            return []
        names = {name for key, tool in self._tools.items() for name in (key, tool.upstream_name)}
        return sorted(self._hidden - names)

    def replace(self, pages: Mapping[Cursor, Page], now: float | None) -> bool:
        """Take a list that was just read in full. True if it differs from the one before. Without a time: it is out of
        date already."""
        before = self._tools
        self._pages, self._tools = {}, {}
        self._writing.clear()
        self._once.clear()
        for cursor, page in pages.items():
            self.take(cursor, page)
        self.read_at = now
        return before != self._tools

    def take(self, cursor: Cursor, page: Page) -> None:
        """Take one page; what others hold stays."""
        self._pages[cursor] = page.value
        for entry in _entries(page.value):
            name = entry["name"]
            annotations = entry.get("annotations")
            hints = annotations if isinstance(annotations, dict) else {}
            schema = entry.get("outputSchema")
            upstream_name = page.names.get(name, name)
            read_only = hints.get("readOnlyHint") is True
            may_repeat = read_only or hints.get("idempotentHint") is True
            if not read_only:
                self._writing.add(upstream_name)
            if not may_repeat:
                self._once.add(upstream_name)
            self._tools[name] = Tool(
                upstream_name=upstream_name,
                known=KnownTool(
                    name=name,
                    output_schema=None if name in self._misfits else _plain(schema),
                    is_wrapped=name in page.wrapped,
                ),
                is_read_only=read_only,
                may_repeat=may_repeat,
                header_params=_header_params(entry.get("inputSchema")),
            )

    def misfit(self, name: str) -> bool:
        """A result contradicts its tool's schema. True if that is new."""
        tool = self._tools.get(name)
        if tool is None or tool.known.output_schema is None:
            return False
        self._misfits.add(name)
        self._tools[name] = replace(tool, known=KnownTool(name=name, is_wrapped=tool.known.is_wrapped))
        return True

    def page(self, cursor: Cursor) -> dict[str, Any] | None:
        """A page as clients get it; None if there is no such page."""
        value = self._pages.get(cursor)
        return None if value is None else self.shown(value)

    def all_in_one(self) -> dict[str, Any] | None:
        """Every tool on one page, in the order of the server; None if there is no page, or one is not a list."""
        pages = list(self._pages.values())
        if not pages or not all(_is_list(page) for page in pages):
            return None
        whole = {**pages[0], "tools": [entry for page in pages for entry in page["tools"]]}
        whole.pop("nextCursor", None)
        if len(pages) > 1:
            whole["_meta"] = _marked(pages)
        shown: dict[str, Any] = self.shown(whole)
        return shown

    def shown(self, value: Any) -> Any:
        """A page without what clients must not see."""
        if not _is_list(value):
            return value
        return {**value, "tools": list(self._visible(value["tools"]))}

    def _visible(self, entries: list[Any]) -> Iterator[Any]:
        for entry in entries:
            name = entry.get("name") if isinstance(entry, dict) else None
            tool = self._tools.get(name) if isinstance(name, str) else None
            if tool is None:
                if not self._read_only and self._chosen is None:
                    yield entry
            elif self._shows(str(name), tool):
                if name in self._misfits:
                    entry = {key: part for key, part in entry.items() if key != "outputSchema"}
                yield entry

    def _shows(self, name: str, tool: Tool) -> bool:
        if name in self._hidden or tool.upstream_name in self._hidden:
            return False
        if self._chosen is not None and not {name, tool.upstream_name} & self._chosen:
            return False
        return not self._read_only or tool.upstream_name not in self._writing


def _is_list(page: Any) -> bool:
    return isinstance(page, dict) and isinstance(page.get("tools"), list)


def _marked(pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The `_meta` of pages that became one: that of the first, and what was repaired in all of them."""
    found = [meta for page in pages if isinstance(meta := page.get("_meta"), dict)]
    lists = [codes for meta in found if isinstance(codes := meta.get(REPAIRED), list)]
    codes = dict.fromkeys(code for codes in lists for code in codes if isinstance(code, str))
    return {**(found[0] if found else {}), REPAIRED: [*codes, list_paginated.code]}


def _plain(schema: Any) -> dict[str, Any] | None:
    """A schema as a validator takes it: with its numbers read."""
    if not isinstance(schema, dict):
        return None
    try:
        plain: dict[str, Any] = decode(values.write(schema))
    except UNREADABLE:
        return schema  # a number is out of range: no result is held to it
    return plain


def _header_params(schema: Any) -> tuple[HeaderParam, ...]:
    try:
        return header_params(schema) if isinstance(schema, dict) else ()
    except (ValueError, RecursionError):
        return ()  # no client can repeat them


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    for entry in value["tools"] if _is_list(value) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry
