"""Results that are neither of a tool nor a list of tools, and what lists of resources, templates and prompts hold."""

from collections.abc import Iterator
from typing import Any

from . import nulls, spoken
from .reads import READS
from .repair import ABSENT, SAFE, Change, Repair, repair
from .subjects import OtherEntry, OtherResult
from .unknown import error_of, is_error

# The members that an item of each list must have: its address, and its name.
_ADDRESS = {"prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
_OPTIONAL = ("title", "description", "mimeType", "annotations", "size", "icons", "arguments", "_meta")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "annotations": dict,
    "icons": list,
    "arguments": list,
    "_meta": dict,
}
_OF_RESULTS = {
    "prompts/get": ("description", "_meta"),
    "completion/complete": ("_meta",),
    "resources/read": ("_meta", "ttlMs", "cacheScope"),
}
# Their result says nothing but that they are done.
_EMPTY = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")


@repair(
    "list-item-malformed",
    SAFE,
    OtherEntry,
    makes="A name is taken from the title or the address; an item without an address is left out, so that the others stay.",
)
def list_item_malformed(entry: OtherEntry) -> Iterator[Change]:
    """A prompt, resource or template that lacks a name or address, or has a member of the wrong type."""
    item = entry.value
    address = _ADDRESS.get(entry.member, "name")
    if address == "uriTemplate" and isinstance(item, dict) and address not in item and "uri" in item:
        item[address] = item.pop("uri")
        yield Change(path="uri", before=item[address])
    if not isinstance(item, dict) or not isinstance(item.get(address), str):
        entry.is_lost = True
        yield Change(before=item)
        return
    if not isinstance(before := item.get("name"), str):
        title = item.get("title")
        item["name"] = title if isinstance(title, str) and title else item[address]
        yield Change(path="name", before=before, after=item["name"], keep=True)
    for name, kind in _KINDS.items():
        if item.get(name) is not None and not isinstance(item[name], kind):
            yield Change(path=name, before=item.pop(name))
    for name in ("title", "description"):
        if item.get(name) is not None and not isinstance(before := item[name], str):
            item[name] = spoken.text(before)
            yield Change(path=name, before=before, after=item[name])


@repair("optional-null", SAFE, OtherEntry, makes="The member is left out.")
def item_null(entry: OtherEntry) -> Iterator[Change]:
    """null where a member of a prompt, resource or template should be left out."""
    if not entry.is_lost:
        yield from nulls.dropped(entry.value, _OPTIONAL)


@repair(
    "prompt-argument-malformed",
    SAFE,
    OtherEntry,
    makes="An argument without a name is left out; required becomes a boolean.",
)
def prompt_argument_malformed(entry: OtherEntry) -> Iterator[Change]:
    """An argument of a prompt that is not an object with a name, or has a member of the wrong type."""
    given = entry.value.get("arguments") if isinstance(entry.value, dict) and not entry.is_lost else None
    if entry.member != "prompts" or not isinstance(given, list):
        return
    good: list[Any] = []
    for at, argument in enumerate(given):
        place = f"arguments[{at}]"
        if not isinstance(argument, dict) or not isinstance(argument.get("name"), str):
            yield Change(path=place, before=argument)
            continue
        good.append(argument)
        yield from nulls.dropped(argument, ("title", "description", "required"), place)
        before = argument.get("required", False)
        if not isinstance(before, bool):
            meant = spoken.boolean(before)
            argument["required"] = meant is True
            yield Change(path=f"{place}.required", before=before, after=argument["required"], keep=True)
    if len(good) < len(given):
        entry.value["arguments"] = good


@repair(
    "method-error-in-result",
    SAFE,
    OtherResult,
    makes="The error -32601, or the one that it says it is.",
)
def method_error_in_result(result: OtherResult) -> Iterator[Change]:
    """An error inside a result."""
    value = result.value
    if result.error is not ABSENT or not isinstance(value, dict):
        return
    if is_error(value):
        result.value, result.error = ABSENT, error_of(value)
        yield Change(path="error", before=value, after=result.error)
    elif "error" in value and value["error"] is None:
        del value["error"]
        yield Change(path="error", before=None)


@repair("result-not-object", SAFE, OtherResult, makes="An empty object.")
def result_not_object(result: OtherResult) -> Iterator[Change]:
    """null in place of a result, or anything in place of an empty one."""
    value = result.value
    if value is ABSENT or isinstance(value, dict):
        return
    if value is None or result.asked.method in _EMPTY:
        result.value = {}
        yield Change(path="result", before=value)


@repair("optional-null", SAFE, OtherResult, makes="The member is left out.")
def result_null(result: OtherResult) -> Iterator[Change]:
    """null where a member of a result should be left out."""
    if result.error is ABSENT:
        yield from nulls.dropped(result.value, _OF_RESULTS.get(result.asked.method, ("_meta",)))


OTHERS: tuple[Repair[Any], ...] = (
    list_item_malformed,
    item_null,
    prompt_argument_malformed,
    method_error_in_result,
    result_not_object,
    result_null,
    *READS,
)
