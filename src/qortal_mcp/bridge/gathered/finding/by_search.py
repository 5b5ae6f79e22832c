"""The four tools of `--tools-by-search`: what they answer, and which call stands behind one of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ....protocol.decoding import decoder
from ....protocol.jsonrpc import UNREADABLE
from ....protocol.results import structured_result
from ....server.tool_errors import ToolError, invalid_argument, refused
from ..limits import GatheredLimits
from ..links.lists import Part
from ..names import near
from . import search
from .search import Searched

_Wanted = TypeVar("_Wanted")
_encode = msgspec.json.Encoder().encode


class _Find(Struct, forbid_unknown_fields=True):
    query: str = ""
    server: str | None = None
    limit: int | None = None


class _Describe(Struct, forbid_unknown_fields=True):
    name: str


class _Call(Struct, forbid_unknown_fields=True):
    name: str
    arguments: Raw | UnsetType = UNSET


_decode_find = decoder(_Find)
_decode_describe = decoder(_Describe)
_decode_call = decoder(_Call)


def searched(parts: Iterable[Part], hidden: frozenset[str]) -> list[Searched]:
    """Every tool that can be found."""
    return [
        Searched(part.member.name, item, fields, part.is_away)
        for part in parts
        if part.known is not None
        for item, fields in zip(part.known.items, part.known.searchable(), strict=True)
        if item["name"] not in hidden
    ]


def find(arguments: Raw | None, parts: list[Part], tools: list[Searched], limits: GatheredLimits) -> bytes:
    """The answer of `find_tools`. Raises: ToolError."""
    wanted = _read(_decode_find, arguments)
    names = [part.member.name for part in parts]
    if wanted.server is not None and wanted.server not in names:
        raise invalid_argument(
            f"There is no server {wanted.server[:100]!r}.", f"There are: {', '.join(names)}."
        )
    if wanted.server is not None:
        tools = [one for one in tools if one.server == wanted.server]
    limit = min(max(wanted.limit or limits.found_tools, 1), limits.most_found_tools)
    if wanted.query.strip():
        best, total = search.found(tools, wanted.query, limit)
    elif wanted.server is not None:
        best, total = tools[:limit], len(tools)
    else:
        return structured_result(_encode({"servers": [_server(part, tools) for part in parts]}))
    answer: dict[str, Any] = {"tools": [search.shown(one) for one in best], "matches": total}
    if not best:
        answer["note"] = (
            "No tool has any of these words. Try others, or leave the query out to see the servers."
        )
    return structured_result(_encode(answer))


def _server(part: Part, tools: list[Searched]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "server": part.member.name,
        "tools": sum(one.server == part.member.name for one in tools),
    }
    if part.is_away:
        told["note"] = "It does not answer now."
    return told


_SUGGESTIONS = 3


def described(arguments: Raw | None) -> str:
    """The tool that `describe_tool` is about. Raises: ToolError."""
    return _read(_decode_describe, arguments).name


def definition(tools: Mapping[str, Searched], name: str) -> bytes:
    """The answer of `describe_tool`. Raises: ToolError."""
    tool = tools.get(name)
    if tool is None:
        raise unknown(name, near(name, list(tools))[:_SUGGESTIONS])
    return structured_result(_encode(tool.definition))


def called(arguments: Raw | None) -> tuple[str, Raw]:
    """The call that is meant by `call_tool` or `call_read_only_tool`. Raises: ToolError."""
    wanted = _read(_decode_call, arguments)
    given = wanted.arguments
    return wanted.name, Raw(b"{}") if isinstance(given, UnsetType) else given


def check_read_only(tools: Iterable[Searched], name: str) -> None:
    """Of two tools with one name, nobody can tell which is called: all of them have to be read-only. Raises: ToolError."""
    meant = [one for one in tools if one.name == name]
    if not meant:
        raise unknown(name)
    if not all(search.is_read_only(one.definition) for one in meant):
        raise refused(f"{name} does not declare itself read-only; use {search.CALL}.")


def unknown(name: str, nearest: Sequence[str] = ()) -> ToolError:
    hint = f"Did you mean {', '.join(nearest)}? " if nearest else ""
    return invalid_argument(f"There is no tool {name[:100]!r}.", f"{hint}Use {search.FIND} to find one.")


def _read(decode: Callable[[Raw | bytes], _Wanted], arguments: Raw | None) -> _Wanted:
    try:
        return decode(arguments or b"{}")
    except UNREADABLE as exc:
        raise invalid_argument("Invalid arguments.", f"{str(exc)[:200]}.") from None
