"""One page of a list, of tools or of anything else: where its items are, and what comes after it."""

from collections.abc import Iterator
from typing import Any

from .. import nulls, values
from ..repair import ALL, SAFE, Change, Repair, repair
from ..subjects import ListPage

# What a page may have beside its list.
_BESIDE = ("nextCursor", "_meta", "resultType", "ttlMs", "cacheScope")


@repair(
    "tools-list-not-wrapped",
    SAFE,
    ListPage,
    makes="The list is put into its member: tools, prompts, resources or resourceTemplates.",
)
def list_not_wrapped(page: ListPage) -> Iterator[Change]:
    """A list that is not inside its member, or whose member is null or an object by names."""
    value, member = page.value, page.member
    if value is None or isinstance(value, list):
        page.value = {member: value or []}
        yield Change(before=value, after=page.value)
        return
    if not isinstance(value, dict) or "error" in value or isinstance(value.get(member), list):
        return
    found = _found(value, member)
    if found is not None:
        before = value.get(member)
        value[member] = found
        yield Change(path=member, before=before, after=found)


def _found(value: dict[str, Any], member: str) -> list[Any] | None:
    """The items of a page that has no list in its member. None: there may be some, but not where they can be found."""
    beside = [name for name in value if name not in _BESIDE and value[name] is not None]
    if not beside:
        return []
    only = value[beside[0]] if len(beside) == 1 else None
    if isinstance(only, list):
        del value[beside[0]]
        return only
    if not isinstance(only, dict):
        return None
    if beside == [member]:
        return [{"name": name, **one} if isinstance(one, dict) else one for name, one in only.items()]
    inner = only.get(member)
    if isinstance(inner, list):
        del value[beside[0]]
        return inner
    return None


@repair("optional-null", SAFE, ListPage, makes="The member is left out.")
def page_null(page: ListPage) -> Iterator[Change]:
    """nextCursor or another optional member of a list is null."""
    yield from nulls.dropped(page.value, ("nextCursor", "_meta", "ttlMs", "cacheScope"))


@repair(
    "cursor-not-string",
    SAFE,
    ListPage,
    makes="A number is written as a string; anything else is left out.",
)
def cursor_not_string(page: ListPage) -> Iterator[Change]:
    """nextCursor is not a string."""
    cursor = page.value.get("nextCursor", "") if isinstance(page.value, dict) else ""
    if isinstance(cursor, str):
        return
    if values.is_number(cursor):
        page.value["nextCursor"] = values.text_of(cursor)
        yield Change(path="nextCursor", before=cursor, after=page.value["nextCursor"])
    else:
        del page.value["nextCursor"]
        yield Change(path="nextCursor", before=cursor)


@repair("cursor-empty-string", ALL, ListPage, makes="The member is left out: it was the last page.")
def cursor_empty_string(page: ListPage) -> Iterator[Change]:
    """nextCursor is an empty string."""
    if isinstance(page.value, dict) and page.value.get("nextCursor") == "":
        del page.value["nextCursor"]
        yield Change(path="nextCursor", before="")


# Done where all pages are known: one page alone does not hold the tools of the others.
list_paginated: Repair[ListPage] = Repair(
    code="tools-list-paginated",
    level=ALL,
    about=ListPage,
    apply=None,
    title="The list of tools comes in several pages, and some clients read only the first",
    makes="All tools are listed on one page.",
)

PAGE: tuple[Repair[Any], ...] = (
    list_not_wrapped,
    page_null,
    cursor_not_string,
    cursor_empty_string,
    list_paginated,
)
