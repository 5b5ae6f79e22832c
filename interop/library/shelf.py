from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from qortal_mcp import Server, ToolError, run

server = Server("shelf")
BOOKS = {"Emma": 1815, "Dracula": 1897}


@dataclass
class Book:
    title: str
    year: int


@server.tool
def get_book(title: Annotated[str, Meta(description="The title of a book.", max_length=100)]) -> Book:
    """One book on the shelf: its title and year."""
    if title not in BOOKS:
        raise ToolError("NOT_FOUND", "Book not found.", f"On the shelf: {', '.join(BOOKS)}.")
    return Book(title, BOOKS[title])


@server.tool
def list_books(after: int | None = None) -> list[Book]:
    """The books on the shelf, or those after a year."""
    return [Book(title, year) for title, year in BOOKS.items() if after is None or year > after]


@server.resource("shelf://books/{title}")
def one_book(title: str) -> str:
    """The year of a book."""
    return str(BOOKS[title])


@server.prompt
def recommend(mood: str) -> str:
    """Asks for a recommendation from the shelf."""
    return f"Recommend one book of this shelf to somebody in the mood for {mood}."


if __name__ == "__main__":
    run(server)
