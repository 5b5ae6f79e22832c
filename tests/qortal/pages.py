"""Lists of a tool, followed page by page to their end."""

from typing import Any

from .conftest import Call

# No list of the sample chain has as many rows.
MOST_PAGES = 2000


async def every_page(call: Call, tool: str, /, **arguments: Any) -> list[dict[str, Any]]:
    """The answers of a list tool, from the first call on through each `page.next`."""
    pages: list[dict[str, Any]] = []
    following: dict[str, Any] | None = arguments
    while following is not None:
        assert len(pages) < MOST_PAGES, "the pages go in circles"
        page = (await call(tool, **following))["structuredContent"]
        pages.append(page)
        following = page["page"].get("next")
    return pages


async def every_row(call: Call, tool: str, noun: str, /, **arguments: Any) -> list[dict[str, Any]]:
    """The rows of all pages; each page tells how many it has."""
    pages = await every_page(call, tool, **arguments)
    assert [page["page"]["returned"] for page in pages] == [len(page[noun]) for page in pages]
    return [row for page in pages for row in page[noun]]
