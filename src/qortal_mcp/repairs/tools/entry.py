"""What a tool says about itself: whether it is a tool at all, its descriptions and hints, and members that do not belong."""

from collections.abc import Iterator
from typing import Any

from .. import nulls, spoken
from ..repair import ABSENT, ALL, SAFE, Change, Repair, repair
from ..subjects import ToolEntry
from .listed import tool_of

_OPTIONAL = ("title", "description", "annotations", "outputSchema", "icons", "execution", "_meta")
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_KINDS: dict[str, type] = {
    "annotations": dict,
    "outputSchema": dict,
    "icons": list,
    "execution": dict,
    "_meta": dict,
}


def _hints(entry: ToolEntry) -> dict[str, Any]:
    hints = (tool_of(entry) or {}).get("annotations")
    return hints if isinstance(hints, dict) else {}


@repair(
    "tool-malformed",
    SAFE,
    ToolEntry,
    makes="The entry is left out, or its one bad member is, so that the other tools stay.",
)
def tool_malformed(entry: ToolEntry) -> Iterator[Change]:
    """An entry that is not an object with a name, or a member of it that has the wrong type."""
    tool = entry.value
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        entry.is_lost = True
        yield Change(before=tool)
        return
    for name, kind in _KINDS.items():
        if tool.get(name) is not None and not isinstance(tool[name], kind):
            yield Change(path=name, before=tool.pop(name))


@repair("optional-null", SAFE, ToolEntry, makes="The member is left out.")
def tool_null(entry: ToolEntry) -> Iterator[Change]:
    """null where a member of a tool should be left out."""
    if (tool := tool_of(entry)) is not None:
        yield from nulls.dropped(tool, _OPTIONAL)
        yield from nulls.dropped(tool.get("annotations"), ("title", *_HINTS), "annotations")


@repair(
    "tool-description-not-string",
    SAFE,
    ToolEntry,
    makes="The parts are joined, one per line; anything else becomes JSON.",
)
def description_not_string(entry: ToolEntry) -> Iterator[Change]:
    """A description or title that is not a string."""
    if (tool := tool_of(entry)) is None:
        return
    places = ((tool, "description", ""), (tool, "title", ""), (_hints(entry), "title", "annotations."))
    for holder, name, place in places:
        before = holder.get(name, "")
        if not isinstance(before, str | None):
            holder[name] = spoken.text(before)
            yield Change(path=f"{place}{name}", before=before, after=holder[name])


@repair(
    "tool-annotation-not-boolean",
    SAFE,
    ToolEntry,
    makes='"true", "false", 1 and 0 become booleans; a hint that says neither is left out.',
)
def annotation_not_boolean(entry: ToolEntry) -> Iterator[Change]:
    """A hint that is not a boolean."""
    hints = _hints(entry)
    for name in _HINTS:
        before = hints.get(name, False)
        if isinstance(before, bool):
            continue
        meant = spoken.boolean(before)
        if meant is ABSENT:
            del hints[name]
        else:
            hints[name] = meant
        yield Change(path=f"annotations.{name}", before=before, after=meant)


@repair("tool-params-member", SAFE, ToolEntry, makes="The member is left out.")
def params_member(entry: ToolEntry) -> Iterator[Change]:
    """A member params beside inputSchema."""
    tool = tool_of(entry)
    if tool is not None and "params" in tool:
        yield Change(path="params", before=tool.pop("params"))


@repair(
    "tool-description-missing", ALL, ToolEntry, makes="The title or the name is taken as the description."
)
def description_missing(entry: ToolEntry) -> Iterator[Change]:
    """A tool without a description."""
    tool = tool_of(entry)
    if tool is None or tool.get("description", "") != "":
        return
    title = tool.get("title")
    name = title if isinstance(title, str) and title else tool.get("name")
    if isinstance(name, str) and name:
        tool["description"] = f"{name} (the server does not describe this tool)"
        yield Change(path="description", after=tool["description"])


ENTRY: tuple[Repair[Any], ...] = (
    tool_malformed,
    tool_null,
    description_not_string,
    annotation_not_boolean,
    description_missing,
)
