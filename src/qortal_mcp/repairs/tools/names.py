"""Names of tools that clients or model providers refuse. Who applies the repairs keeps the name that the server knows."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from ..repair import ALL, Change, Repair, repair
from ..subjects import ToolEntry
from .listed import tool_of

_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
# What the APIs of model providers accept.
_LONGEST = 64
_DIGEST_CHARS = 8


def _name(entry: ToolEntry) -> str:
    tool = tool_of(entry)
    name = None if tool is None else tool.get("name")
    return name if isinstance(name, str) else ""


def _rename(entry: ToolEntry, before: str, after: str) -> Change:
    entry.value["name"] = after if after not in entry.taken else _free(after, entry.taken)
    return Change(path="name", before=before, after=entry.value["name"])


def _digest(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]


@repair("tool-name-empty", ALL, ToolEntry, makes="The tool is left out: no client can call it.")
def name_empty(entry: ToolEntry) -> Iterator[Change]:
    """A tool with an empty name."""
    tool = tool_of(entry)
    if tool is not None and tool.get("name") == "":
        entry.is_lost = True
        yield Change(before=tool)


@repair(
    "tool-name-charset",
    ALL,
    ToolEntry,
    makes="_ in place of each such character; calls reach the tool under its own name.",
)
def name_charset(entry: ToolEntry) -> Iterator[Change]:
    """A name with characters other than A-Z a-z 0-9 _ and -."""
    name = _name(entry)
    if _REFUSED.search(name):
        after = _REFUSED.sub("_", name)
        # Of a name in another script nothing would be left to tell it by.
        yield _rename(entry, name, after if after.strip("_-") else f"tool_{_digest(name)}")


@repair(
    "tool-name-length",
    ALL,
    ToolEntry,
    makes="The name is cut and ends with a digest of the whole; calls reach the tool under its own name.",
)
def name_length(entry: ToolEntry) -> Iterator[Change]:
    """A name of more than 64 characters."""
    name = _name(entry)
    if len(name) > _LONGEST:
        yield _rename(entry, name, f"{name[: _LONGEST - _DIGEST_CHARS - 1]}_{_digest(name)}")


@repair(
    "tool-name-duplicate",
    ALL,
    ToolEntry,
    makes="The first keeps the name, the others get a number; calls reach all of them under the one name.",
)
def name_duplicate(entry: ToolEntry) -> Iterator[Change]:
    """Two tools with the same name."""
    name = _name(entry)
    if name and name in entry.taken:
        yield _rename(entry, name, name)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while True:
        ending = f"_{number}"
        free = name[: _LONGEST - len(ending)] + ending
        if free not in taken:
            return free
        # Past the first few, numbers that are not used yet: ten thousand of a name must not be counted through.
        number = number + 1 if number < 10 else max(number, len(taken)) + 1


NAMES: tuple[Repair[Any], ...] = (name_charset, name_length, name_duplicate)
