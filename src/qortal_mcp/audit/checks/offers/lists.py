"""`tools/list` and its siblings as lists: wrapping, pages, order, weight."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ...judging.check import ADVICE, MUST, PORTABILITY, SHOULD, Check, Defect, check
from ...subjects import LISTS, Listing, Reply

_LISTING = "server/tools: listing tools"
_PAGES = "server/utilities/pagination"
# A common estimate for JSON.
_CHARACTERS_PER_TOKEN = 4
# A tenth of a context of 200,000 tokens, before the conversation starts.
_HEAVY_TOKENS = 20_000


@check(
    "tools-list-not-wrapped",
    MUST,
    Listing,
    clause=_LISTING,
    expected="The result is an object that holds the list in its member: tools, prompts, resources or resourceTemplates.",
    fix='Send {"tools": [...]}.',
)
def tools_list_not_wrapped(listing: Listing) -> Iterator[Defect]:
    """A list that is not inside its member."""
    member = LISTS[listing.only]
    for page, data in zip(listing.pages, listing.data, strict=False):
        if isinstance(page, dict) and ("error" in page or isinstance(page.get(member), list)):
            continue
        if isinstance(page, dict | list):
            yield Defect(path=f"result.{member}", evidence=data)


@check(
    "cursor-empty-string",
    SHOULD,
    Listing,
    clause=_PAGES,
    expected="nextCursor is absent on the last page; an empty string is a cursor like any other.",
    fix="Leave out nextCursor on the last page.",
)
def cursor_empty_string(listing: Listing) -> Iterator[Defect]:
    """nextCursor is an empty string."""
    for page in listing.pages:
        if isinstance(page, dict) and page.get("nextCursor") == "":
            yield Defect(path="result.nextCursor", evidence={"nextCursor": ""})
            return


@check(
    "tools-list-paginated",
    PORTABILITY,
    Listing,
    only="tools/list",
    clause=_PAGES,
    expected="All tools are on one page: some clients read only the first.",
    fix="Send all tools at once, or put the most important ones on the first page.",
)
def tools_list_paginated(listing: Listing) -> Iterator[Defect]:
    """The tools come in several pages."""
    if sum(1 for page in listing.pages if isinstance(page, dict) and page.get("tools")) > 1:
        yield Defect(
            path="result.nextCursor", evidence=listing.data[0][-200:], note=f"{len(listing.pages)} pages"
        )


@check(
    "pagination-endless",
    MUST,
    Listing,
    clause=_PAGES,
    expected="Following nextCursor comes to an end.",
    fix="Leave nextCursor out on the last page, and never send the same one twice.",
)
def pagination_endless(listing: Listing) -> Iterator[Defect]:
    """The same cursor comes again."""
    given = [
        page["nextCursor"]
        for page in listing.pages
        if isinstance(page, dict) and isinstance(page.get("nextCursor"), str) and page["nextCursor"]
    ]
    twice = next((cursor for cursor, count in Counter(given).items() if count > 1), None)
    if twice is not None:
        yield Defect(path="result.nextCursor", evidence={"nextCursor": twice})


@check(
    "tool-name-duplicate",
    SHOULD,
    Listing,
    only="tools/list",
    clause="server/tools: tool names are unique",
    expected="Each name occurs once.",
    fix="Rename one of them; clients keep only one, and not always the same one.",
)
def tool_name_duplicate(listing: Listing) -> Iterator[Defect]:
    """Two tools with the same name."""
    names = Counter(item["name"] for item in listing.items if isinstance(item.get("name"), str))
    for name, count in names.items():
        if count > 1:
            yield Defect(path=f"tool {name}", evidence=name, note=f"{count} times")


@check(
    "tools-list-heavy",
    ADVICE,
    Listing,
    only="tools/list",
    expected=f"The list takes less than {_HEAVY_TOKENS:,} tokens of the model's context.",
    fix="Shorten descriptions and schemas, or offer groups of tools that can be switched off.",
)
def tools_list_heavy(listing: Listing) -> Iterator[Defect]:
    """The list of tools takes much of the model's context."""
    tokens = tokens_of(listing.items)
    if tokens > _HEAVY_TOKENS:
        yield Defect(path="result.tools", evidence=listing.data[0], note=f"about {tokens:,} tokens")


def tokens_of(tools: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens a list costs: what reaches a model is the name, the description and the arguments."""
    shown = [
        {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}
        for tool in tools
    ]
    try:
        return len(msgspec.json.encode(shown)) // _CHARACTERS_PER_TOKEN
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError, msgspec.MsgspecError):
        return 0


# The members that each item of a list must have as strings.
_REQUIRED = {
    "prompts/list": ("name",),
    "resources/list": ("uri", "name"),
    "resources/templates/list": ("uriTemplate", "name"),
}


@check(
    "list-item-malformed",
    MUST,
    Reply,
    only=_REQUIRED,
    clause="schema: Prompt, Resource, ResourceTemplate",
    expected="A prompt has a name, a resource a uri and a name, a template a uriTemplate and a name.",
    fix="Add the missing member as a string.",
)
def list_item_malformed(reply: Reply) -> Iterator[Defect]:
    """A prompt or resource that lacks a name or address."""
    member = LISTS[reply.step.name]
    items = reply.result.get(member) if isinstance(reply.result, dict) else None
    for at, item in enumerate(items if isinstance(items, list) else ()):
        for name in _REQUIRED[reply.step.name]:
            if not isinstance(item, dict) or not isinstance(item.get(name), str):
                yield Defect(path=f"result.{member}[{at}].{name}", evidence=item)
                break


CHECKS: tuple[Check[Any], ...] = (
    tools_list_not_wrapped,
    cursor_empty_string,
    tools_list_paginated,
    pagination_endless,
    tool_name_duplicate,
    tools_list_heavy,
    list_item_malformed,
)
