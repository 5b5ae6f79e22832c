from dataclasses import dataclass
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import Field

mcp = FastMCP("shelf")
BOOKS = {"Emma": 1815, "Dracula": 1897}


@dataclass
class Book:
    title: str
    year: int


@mcp.tool
def get_book(title: Annotated[str, Field(description="The title of a book.", max_length=100)]) -> Book:
    """One book on the shelf: its title and year."""
    if title not in BOOKS:
        raise ToolError(f"Book not found. On the shelf: {', '.join(BOOKS)}.")
    return Book(title, BOOKS[title])


@mcp.tool
def list_books(after: int | None = None) -> list[Book]:
    """The books on the shelf, or those after a year."""
    return [Book(title, year) for title, year in BOOKS.items() if after is None or year > after]


@mcp.resource("shelf://books/{title}")
def one_book(title: str) -> str:
    """The year of a book."""
    return str(BOOKS[title])


@mcp.prompt
def recommend(mood: str) -> str:
    """Asks for a recommendation from the shelf."""
    return f"Recommend one book of this shelf to somebody in the mood for {mood}."


if __name__ == "__main__":
    mcp.run(show_banner=False)
