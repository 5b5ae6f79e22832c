# mypy: ignore-errors
"""A server with fifty tools on stdio: the server that the audit is measured with."""

from typing import Annotated

from msgspec import Meta

from qortal_mcp.server import READ_ONLY, Server, tool
from qortal_mcp.transports.run import run

Query = Annotated[str, Meta(description="What to look for.", max_length=200)]
Limit = Annotated[int, Meta(description="How many to return.", ge=1, le=100)]


def make(number):
    @tool(f"Search {number}", name=f"search_{number}", annotations=READ_ONLY)
    def search(query: Query = "", limit: Limit = 10) -> dict[str, str]:
        """Searches one of fifty places and returns the query."""
        return {"query": query, "place": str(number), "limit": str(limit)}

    return search


if __name__ == "__main__":
    run(Server("fifty-tools", "1", tools=[make(number) for number in range(50)]))
