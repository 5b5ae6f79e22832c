"""From evidence to what the checks look at. Nothing is judged here."""

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from msgspec import structs

from ..evidence import Evidence, Visit
from ..matching import best_replies, matched, pieces_of, question_of
from ..subjects import (
    LISTS,
    MISSING,
    Asked,
    Called,
    Discovery,
    Exchange,
    Failed,
    Handshake,
    Listing,
    Piece,
    Session,
    Subject,
    Tool,
    Whole,
    items_of,
)


def subjects_of(evidence: Evidence, most_items: int) -> list[Subject]:
    """Everything there is to look at; of each list in each visit, so many items."""
    found: list[Subject] = []
    for visit in evidence.visits:
        found += _of_visit(visit, most_items, is_loopback=_is_loopback(evidence.target))
    first = next((visit for visit in evidence.visits if visit.steps), None)
    if first is not None:
        found.append(Whole(visit=first, step=first.steps[0], evidence=evidence, subjects=tuple(found)))
    return found


def _of_visit(visit: Visit, most_items: int, *, is_loopback: bool) -> list[Subject]:
    left = dict.fromkeys(_LONG, most_items)
    # Each is cut as soon as it is read: five million tools take gigabytes.
    pieces = [_cut(piece, left) for step in visit.steps for piece in pieces_of(visit, step)]
    replies, said = matched(visit, pieces)
    best = best_replies(replies)
    asked = [
        Asked(visit=visit, step=step, reply=best.get(id(step)))
        for step in visit.steps
        if question_of(step) is not None
    ]
    found: list[Subject] = [*pieces, *replies, *said, *asked]
    opened = _handshakes(asked)
    found += opened
    found += [
        Session(
            visit=visit,
            step=one.step,
            capabilities=one.result.get("capabilities"),
            asked=tuple(asked),
            said=tuple(said),
        )
        for one in opened[:1]
        if visit.revision
    ]
    found += (listings := _listings(asked))
    tools = [tool for listing in listings if listing.only == "tools/list" for tool in _tools(listing)]
    found += tools
    found += _calls(asked, tools)
    found += [
        Exchange(visit=visit, step=step, reply=best.get(id(step)), is_loopback=is_loopback)
        for step in visit.steps
        if step.http is not None
    ]
    return found


def _is_loopback(target: str) -> bool:
    try:
        host = (urlsplit(target).hostname or "").rstrip(".")
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:  # a name, or not an address at all
        return False


# What can be long in an answer. A call has one result, a list many pages.
_LONG = {**LISTS, "tools/call": "content"}


def _cut(piece: Piece, left: dict[str, int]) -> Piece:
    """A piece without the items that are more than may be looked at; `left` counts down over the pages."""
    name = piece.step.name
    member = _LONG.get(name)
    if member is None:
        return piece
    left_out = 0
    for value in piece.values:
        for message in value if isinstance(value, list) else (value,):
            if not isinstance(message, dict):
                continue
            items = items_of(message.get("result"), member)
            more = len(items) - left[name]
            if more > 0:
                del items[left[name] :]
                left_out += more
            if name in LISTS:
                left[name] -= len(items)
    return structs.replace(piece, left_out=left_out) if left_out else piece


def _handshakes(asked: list[Asked]) -> list[Handshake | Discovery]:
    found: list[Handshake | Discovery] = []
    for one in asked:
        if one.reply is None or not isinstance(one.result, dict):
            continue
        if one.step.name == "initialize":
            found.append(Handshake(visit=one.visit, step=one.step, result=one.result, data=one.reply.data))
        elif one.step.name == "server/discover":
            found.append(Discovery(visit=one.visit, step=one.step, result=one.result, data=one.reply.data))
    return found


def _listings(asked: list[Asked]) -> list[Listing]:
    found = []
    for method, member in LISTS.items():
        pages = [one for one in asked if one.step.name == method and one.reply is not None]
        good = [one for one in pages if one.result is not MISSING]
        if not good:
            continue
        items = [item for one in good for item in items_of(one.result, member) if isinstance(item, dict)]
        found.append(
            Listing(
                visit=good[0].visit,
                step=good[0].step,
                pages=tuple(one.result for one in good),
                data=tuple(one.reply.data for one in good if one.reply is not None),
                items=tuple(items),
            )
        )
    return found


def _tools(listing: Listing) -> list[Tool]:
    tools = [tool for page in listing.pages for tool in items_of(page, "tools")]
    return [
        Tool(
            visit=listing.visit,
            step=listing.step,
            tool=tool,
            label=_label(tool, at),
            data=listing.data[0],
        )
        for at, tool in enumerate(tools)
    ]


def _label(tool: Any, at: int) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) and name else f"tools[{at}]"


def _calls(asked: list[Asked], tools: list[Tool]) -> list[Subject]:
    by_name = {
        tool.tool["name"]: tool.tool
        for tool in tools
        if isinstance(tool.tool, dict) and isinstance(tool.tool.get("name"), str)
    }
    found: list[Subject] = []
    for one in asked:
        if one.step.name != "tools/call" or one.reply is None:
            continue
        if one.result is not MISSING and not one.reply.is_error:
            found.append(
                Called(
                    visit=one.visit,
                    step=one.step,
                    result=one.result,
                    tool=by_name.get(one.step.subject, {}),
                    data=one.reply.data,
                )
            )
        else:
            found.append(
                Failed(
                    visit=one.visit,
                    step=one.step,
                    error=one.reply.error,
                    data=one.reply.data,
                    is_clear=one.reply.result is MISSING,
                )
            )
    return found
