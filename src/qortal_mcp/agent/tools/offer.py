"""Tools of servers as a model is offered them: descriptions that can be shown, schemas that endpoints accept, and one
name for each. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...repairs.chosen import Page
from ...schemas.json_schema import children
from ...text import printable, shortened
from ..model.messages import Function

# What the APIs of models accept.
_REFUSED = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64
_LONGEST_PREFIX = 24
_DIGEST_CHARS = 8
# Real descriptions have some hundred characters, the longest about 3,000.
_DESCRIPTION_CHARS = 4_000
_BETWEEN = "__"


class Tool(Struct, frozen=True, kw_only=True):
    """A tool of one server. `name` is one that models accept, `own_name` the one that the server knows."""

    name: str
    own_name: str
    description: str
    parameters: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    # As it declares itself, which is all that anybody can know.
    is_read_only: bool = False


class Offer(Struct, frozen=True, kw_only=True):
    """A tool as a model is offered it, and as its server calls it."""

    name: str
    tool: str
    # The label of the server.
    server: str
    description: str
    parameters: dict[str, Any]
    output_schema: dict[str, Any] | None = None

    @property
    def function(self) -> Function:
        return Function(name=self.name, description=self.description, parameters=self.parameters)


def tools_on(page: Page) -> list[Tool]:
    """The tools on a page of a list after its repairs."""
    listed = page.value.get("tools") if isinstance(page.value, dict) else None
    return [
        _tool(entry, page.names.get(entry["name"], entry["name"]))
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    ]


def _tool(entry: dict[str, Any], own_name: str) -> Tool:
    texts = (entry.get("description"), entry.get("title"))
    description = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return Tool(
        name=entry["name"],
        own_name=own_name,
        description=_shown(description),
        parameters=_parameters(entry.get("inputSchema")),
        output_schema=_plain(entry.get("outputSchema")),
        is_read_only=_declares_read_only(entry.get("annotations")),
    )


def _declares_read_only(annotations: Any) -> bool:
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True


def _shown(text: str) -> str:
    return shortened(printable(text), _DESCRIPTION_CHARS)


def _parameters(schema: Any) -> dict[str, Any]:
    """The schema as it came, unless endpoints refuse it: some want `properties` even if there are none."""
    plain = _plain(schema) or {"type": "object"}
    if not isinstance(plain.get("properties"), dict):
        plain = {**plain, "properties": {}}
    for _, part in children(plain, ""):
        for name in ("title", "description"):
            if isinstance(text := part.get(name), str):
                part[name] = _shown(text)
    return plain


def _plain(schema: Any) -> dict[str, Any] | None:
    """A schema with its numbers read. None if there is none, or one of its numbers is out of range."""
    if not isinstance(schema, dict):
        return None
    try:
        plain: dict[str, Any] = decode(values.write(schema))
    except UNREADABLE:
        return None
    return plain


def offered(servers: Sequence[tuple[str, Sequence[Tool]]]) -> dict[str, tuple[int, Offer]]:
    """What a model is offered, by name, each with the place of its server.

    A name that several servers have gets the label of its server before it, on each of them. So does one that begins
    like this label of another server: a tool must not look like one of theirs.
    """
    counted = Counter(name for _, tools in servers for name in {tool.name for tool in tools})
    prefixes = _prefixes(label for label, _ in servers)
    claimed = [_beginnings(prefixes, place) for place in range(len(servers))]
    taken = {
        tool.name
        for place, (_, tools) in enumerate(servers)
        for tool in tools
        if counted[tool.name] == 1 and not tool.name.lower().startswith(claimed[place])
    }
    found: dict[str, tuple[int, Offer]] = {}
    for place, (label, tools) in enumerate(servers):
        for tool in tools:
            name = tool.name
            if counted[name] > 1 or name.lower().startswith(claimed[place]):
                name = _free(f"{prefixes[place]}{_BETWEEN}{name}", taken)
                taken.add(name)
            found[name] = (place, _offer(name, tool, label))
    return found


def _offer(name: str, tool: Tool, label: str) -> Offer:
    return Offer(
        name=name,
        tool=tool.own_name,
        server=label,
        description=tool.description,
        parameters=tool.parameters,
        output_schema=tool.output_schema,
    )


def _prefixes(labels: Iterable[str]) -> list[str]:
    """One for each label, in characters that are accepted, all different."""
    found: list[str] = []
    for label in labels:
        reduced = _REFUSED.sub("_", label).strip("_-")[:_LONGEST_PREFIX].strip("_-") or "server"
        number, prefix = 1, reduced
        while prefix in found:
            number += 1
            prefix = f"{reduced}{number}"
        found.append(prefix)
    return found


def _beginnings(prefixes: Sequence[str], place: int) -> tuple[str, ...]:
    """How the names of all servers but one may begin."""
    return tuple(f"{prefix}{_BETWEEN}".lower() for at, prefix in enumerate(prefixes) if at != place)


def _free(name: str, taken: set[str]) -> str:
    """The name, cut with a digest of the whole if it is too long, and with a number if another tool has it."""
    if len(name) > _LONGEST_NAME:
        digest = sha256(name.encode()).hexdigest()[:_DIGEST_CHARS]
        name = f"{name[: _LONGEST_NAME - _DIGEST_CHARS - 1]}_{digest}"
    number, free = 1, name
    while free in taken:
        number += 1
        ending = f"_{number}"
        free = name[: _LONGEST_NAME - len(ending)] + ending
    return free
